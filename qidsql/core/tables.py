"""Tables, columns and column sets, by name. Independent of engines and SQL.

A column set is an `int` bit mask over an ordered list of columns: bit i is column i. Names appear only in requests and
results.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any, TypeAlias

from qidsql.errors import UnknownName, UsageError
from qidsql.measures.profiles import ClassProfile

# The kinds of column values, and how two kinds are compared: never a text with a number implicitly.


class ValueKind(StrEnum):
    """Kinds whose values can be compared, by their names in reports."""

    WHOLE = "whole numbers"
    HUGE = "huge whole numbers"
    DECIMAL = "decimal numbers"
    FLOAT = "numbers"  # of floating point: equal up to its precision
    TEXT = "texts"
    DATE = "dates"
    TIMESTAMP = "timestamps"
    ZONED = "timestamps with time zone"
    TIME = "times of day"
    UUID = "UUIDs"


NUMBERS = (
    ValueKind.WHOLE,
    ValueKind.HUGE,
    ValueKind.DECIMAL,
    ValueKind.FLOAT,
)  # each can represent the earlier ones, up to its precision
WITH_DISTANCES = (*NUMBERS, ValueKind.DATE)  # kinds with distances, among which some lie close together

# Types whose order has a meaning, on any engine: numbers, truth values, dates, times, and enums, which declare theirs.
# Not texts: 100 comes before 11 there.
IN_ORDER = (
    r"u?(tiny|small|medium|big|huge|uhuge)?int(eger|\d+)?|byte|short|long|bignum|(dec(imal)?|numeric)(\(.*\))?"
    r"|double( precision)?|real|float\d*|bool(ean)?|enum|date"
    r"|(datetime|time(stamp)?)(_s|_ms|_ns|_ntz|_ltz|tz)?(\(\d\))?( with(out)? time zone)?"
)


def has_order(type_name: str) -> bool:
    """Whether the order of a type's values has a meaning."""
    return re.fullmatch(IN_ORDER, type_name.lower()) is not None


def kind_of(type_name: str, patterns: Sequence[tuple[ValueKind, str]]) -> ValueKind | None:
    """The kind of the values of a type, by an engine's patterns of its types' names; None if they are not compared.

    Nested values and documents are not compared; neither are truth values: every column of them contains every other.
    """
    return next((kind for kind, pattern in patterns if re.fullmatch(pattern, type_name.lower())), None)


def comparable_on_request(one: ValueKind, other: ValueKind) -> ValueKind | None:
    """The kind in which values of both are compared on request: also texts with numbers."""
    if ValueKind.TEXT in (one, other) and (one in NUMBERS or other in NUMBERS):
        return one if one in NUMBERS else other
    return compared_as(one, other)


def compared_as(one: ValueKind, other: ValueKind) -> ValueKind | None:
    """The kind in which values of both can be compared; None if they cannot."""
    if {one, other} == {ValueKind.HUGE, ValueKind.DECIMAL}:  # no exact type represents both
        return None
    if one in NUMBERS and other in NUMBERS:
        return max(one, other, key=NUMBERS.index)
    return one if one == other else None


Version: TypeAlias = int | datetime  # of a table that keeps its earlier versions: a number, or the time as of which


class Role(StrEnum):
    """The role of a column in the audit."""

    QUASI_IDENTIFIER = "quasi-identifier"
    DIRECT_IDENTIFIER = "direct identifier"
    SENSITIVE = "sensitive"
    ENTITY = "entity"
    EXCLUDED = "excluded"
    UNREADABLE = "unreadable"


class PolicyRole(StrEnum):
    """A column's role as a policy file names it."""

    DIRECT_IDENTIFIER = "direct identifier"
    QUASI_IDENTIFIER = "quasi-identifier"
    SENSITIVE = "sensitive"
    OTHER = "other"


class Comparison(StrEnum):
    """How two values of a column are compared when rows are put into classes."""

    VALUE = "value"  # the engine's own equality
    TEXT = "text"  # the type has no equality: its text form is compared
    BYTES = "bytes"  # the collation merges texts that look different
    PUBLISHED = "published"  # equal values can be published as different texts (70 and 70.00): these are compared
    NUMBER = "number"  # floats: what is not a number has several forms, which are one value


class Nulls(StrEnum):
    """How a NULL compares in two rows."""

    EQUAL = "equal"  # one more value, as in GROUP BY
    WILDCARD = "wildcard"  # it matches anything, as in sdcMicro's frequency counts


# Kinds of tables that are files: a single one, or one of a folder of tables.
FILES = ("file", "data file", "data frame")


@dataclass(frozen=True, slots=True)
class Column:
    """A column as the catalog describes it. `obstacle`: why it is not readable, unless this user lacks the right.
    `base`: the type underlying the type, where the engine has such types; "enum" for those of listed values."""

    name: str
    type: str
    nullable: bool = True
    readable: bool = True
    comparison: Comparison = Comparison.VALUE
    obstacle: str = ""
    base: str = ""

    @property
    def in_order(self) -> bool:
        """Whether its values are compared as those of a type whose order has a meaning."""
        return self.comparison in (Comparison.VALUE, Comparison.NUMBER) and has_order(self.base or self.type)

    @property
    def learned(self) -> "Column":
        """The column as a secret: whoever learns 70 or 70.00 learns the same."""
        return replace(self, comparison=Comparison.VALUE) if self.comparison is Comparison.PUBLISHED else self


@dataclass(frozen=True, slots=True, order=True)
class TableName:
    """A table's full name; parts that an engine does not have are empty."""

    name: str
    schema: str = ""
    catalog: str = ""

    def __str__(self) -> str:
        return f"{self.schema}.{self.name}" if self.schema else self.name

    to_plain = __str__

    @classmethod
    def of_plain(cls, text: str) -> "TableName":
        """The name of this text. A dot within a name cannot be distinguished from the one after the schema."""
        schema, _, name = text.rpartition(".")
        return cls(name, schema)

    @classmethod
    def plain_schema(cls, definitions: Mapping[str, Any]) -> dict[str, Any]:
        return {"type": "string", "description": "the table's name, after its schema where it has one"}


def fits(pattern: str, table: str) -> bool:
    """Whether a table of the catalog, schema.name, matches a pattern; one without a dot matches the bare name too."""
    return fnmatchcase(table, pattern) or ("." not in pattern and fnmatchcase(table.rpartition(".")[2], pattern))


@dataclass(frozen=True, slots=True)
class Condition:
    """Which rows of a table count, in the user's SQL. Only an engine makes one, from a text that it has accepted.

    `time_dependent`: it depends on the time of evaluation. `notes`: facts that a reader of the result needs.
    """

    text: str
    time_dependent: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """A table as the catalog describes it.

    `kind` is "table", "view", "materialized view", "partitioned table", "foreign table" or "file".
    `estimated_rows` is the catalog's guess and only affects how statements are batched. `row_address` names the hidden
    columns that together identify each row as long as the data is unchanged; empty if there are none. `condition`
    limits the rows (see `Engine.narrowed`); None: all of them. `version` is the one that all statements read, of a
    table that keeps its earlier versions: its number, or the time as of which; None: the current one.
    `time_dependent`: a view that uses the current time. `computed`: each scan decodes or computes the rows.
    `by_name`: they are in files, whose columns are found by the names and types that somebody else has noted.
    `fenced`: they are elsewhere, under constraints that nobody checks, which the engine must not use to skip rows.
    """

    name: TableName
    kind: str
    columns: tuple[Column, ...]
    estimated_rows: int | None = None
    notes: tuple[str, ...] = ()
    row_address: tuple[str, ...] = ()
    condition: Condition | None = None
    version: Version | None = None
    time_dependent: bool = False
    computed: bool = False
    by_name: bool = False
    fenced: bool = False

    def column(self, name: str) -> Column:
        """The column of that name. Raises UnknownName."""
        return self.resolve([name])[0]

    def resolve(self, names: Sequence[str], hint: str = "") -> tuple[Column, ...]:
        """The columns of those names; a name in other letter case is accepted if it is unambiguous.

        Raises UnknownName with all unknown names and the hint, UsageError for a name that matches several columns.
        """
        exact = {column.name: column for column in self.columns}
        folded: dict[str, list[Column]] = {}
        for column in self.columns:
            folded.setdefault(column.name.lower(), []).append(column)
        found: dict[str, Column] = {}
        missing: list[str] = []
        for name in names:
            near = folded.get(name.lower(), [])
            if name in exact:
                found[name] = exact[name]
            elif len(near) == 1:
                found[near[0].name] = near[0]
            elif near:
                meant = " or ".join(column.name for column in near)
                raise UsageError(f"column {name} of {self.name} could be {meant}; write it as the table does")
            else:
                missing.append(name)
        if missing:
            raise UnknownName("column", missing, str(self.name), exact, hint)
        return tuple(found.values())


def positions(mask: int) -> Iterator[int]:
    """The positions of the set bits, lowest first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def weight_of(mask: int, weights: Sequence[int]) -> int:
    """The sum of the weights of a column set."""
    return sum(weights[place] for place in positions(mask))


def names_of(mask: int, columns: Sequence[str]) -> tuple[str, ...]:
    """The names of a column set, in the order of the table."""
    return tuple(columns[i] for i in positions(mask))


def masks_of(sets: Iterable[Iterable[str]], columns: Sequence[str]) -> list[int]:
    """The column sets of these names, the inverse of `names_of`; without the sets that name other columns."""
    places = {name: 1 << place for place, name in enumerate(columns)}
    return [sum(places[name] for name in names) for names in map(set, sets) if names <= places.keys()]


# What recognises a direct identifier by its measures, and why columns are left out.


NO_RIGHT = "this user has no right to read it"
EMPTY = "NULL in every row, as where files have another name or type for it"
NO_PERSONS = "persons are counted by {}: name another column of theirs, or {} if each row is another person"
IDENTIFIER_ROWS = 20  # with fewer rows, nearly every column looks like a key


def identifies(profile: ClassProfile, nulls: int, entity: str | None) -> bool:
    """True for a direct identifier: 95 % of the rows that have a value are alone with it (or of the entities)."""
    having = profile.rows - (0 if entity else nulls)
    return having >= IDENTIFIER_ROWS and 100 * profile.unique_rows >= 95 * having


# The catalog of a database: tables, views, keys, labels, and which attributes are the same. Independent of engines.


@dataclass(frozen=True, slots=True, order=True)
class Attribute:
    """A column of a table."""

    table: TableName
    column: str

    def __str__(self) -> str:
        return f"{self.table}.{self.column}"

    to_plain = __str__

    @classmethod
    def of_plain(cls, text: str) -> "Attribute":
        """The column of this text. Dots within names cannot be distinguished from those between them."""
        table, _, column = text.rpartition(".")
        return cls(TableName.of_plain(table), column)

    @classmethod
    def plain_schema(cls, definitions: Mapping[str, Any]) -> dict[str, Any]:
        return {"type": "string", "description": "table.column"}


@dataclass(frozen=True, slots=True)
class CatalogColumn:
    """A column as the catalog lists it.

    `base` is the type underlying a domain, the type itself for all others; `kind` is that of its values, None where
    they are not compared with those of other columns. `labels` are its existing labels: (origin, text), where the
    origin is "comment" or "security label" and its provider, such as "security label anon".
    """

    name: str
    type: str
    nullable: bool = True
    labels: tuple[tuple[str, str], ...] = ()
    readable: bool = True
    comparison: Comparison = Comparison.VALUE
    base: str = ""
    kind: ValueKind | None = None


@dataclass(frozen=True, slots=True)
class CatalogTable:
    """A table as the catalog lists it.

    `definition` is the query of a view. `unique` are the declared keys, without equal rows even if NULLs count as
    equal: a UNIQUE that admits several NULLs is none. `obstacle` is why this user cannot read the table.
    """

    name: TableName
    kind: str
    columns: tuple[CatalogColumn, ...]
    estimated_rows: int | None = None
    definition: str | None = None
    unique: tuple[tuple[str, ...], ...] = ()
    labels: tuple[tuple[str, str], ...] = ()
    obstacle: str | None = None
    version: Version | None = None  # in which it is read, if it keeps versions
    fenced: bool = False  # as `Table.fenced`
    calls: bool = False  # the engine may call functions of its owner when it plans a statement
    computed: bool = False  # some columns are generated, by expressions that the catalog does not judge


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """Columns of one table that reference those of another, place by place."""

    columns: tuple[Attribute, ...]
    referenced: tuple[Attribute, ...]


@dataclass(frozen=True, slots=True)
class Catalog:
    """The tables and views of a source, and the foreign keys between them."""

    tables: tuple[CatalogTable, ...]
    foreign_keys: tuple[ForeignKey, ...] = ()

    def attributes(self) -> list[Attribute]:
        return [Attribute(table.name, column.name) for table in self.tables for column in table.columns]

    def attribute(self, typed: str) -> Attribute:
        """The attribute named by `table.column` or `schema.table.column`. Raises UnknownName, UsageError."""
        return find_attribute(typed, self.attributes())


class Ground(StrEnum):
    """Why attributes of two tables are considered the same."""

    FOREIGN_KEY = "foreign key"
    VIEW = "view"  # a view shows the column of a table
    CONTAINMENT = "containment"  # the values of one are contained in the other
    NAME = "name and type"  # the user accepts equal names as evidence
    DECLARED = "declared"  # by a file


@dataclass(frozen=True, slots=True)
class SameAttribute:
    """Two attributes that are the same for anyone who joins their tables, and why. `detail` is the ground in words."""

    left: Attribute
    right: Attribute
    ground: Ground
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Dependency:
    """A functional dependency: the determinants fix the dependent. `detail` names its source."""

    determinants: tuple[Attribute, ...]
    dependent: Attribute
    detail: str = ""


def find_schema(typed: str | None, known: Iterable[TableName], label: str) -> str | None:
    """The schema as typed; None: all of them. Letter case matters only if it distinguishes two.

    Raises UnknownName with near misses.
    """
    schemas = {name.schema for name in known}
    if typed is None or typed in schemas:
        return typed
    folded = [schema for schema in schemas if schema.casefold() == typed.casefold()]
    if len(folded) != 1:
        raise UnknownName("schema", [typed], label, schemas)
    return folded[0]


def find_attribute(typed: str, known: Sequence[Attribute]) -> Attribute:
    """The attribute among `known` named by `column`, `table.column` or `schema.table.column`.

    Letter case matters only if it distinguishes two. Raises UnknownName with near misses, UsageError if the name is
    ambiguous.
    """
    for fold in (str, str.casefold):
        found = [each for each in known if fold(typed) in {fold(name) for name in _written(each)}]
        if len(found) == 1:
            return found[0]
        if found:
            shown = ", ".join(map(str, found[:5]))
            raise UsageError(f"{typed} is ambiguous: {shown}; write the table before it")
    raise UnknownName("attribute", [typed], "the source", map(str, known), "write it as table.column")


def _written(attribute: Attribute) -> Iterable[str]:
    """The spellings of an attribute."""
    yield attribute.column
    yield f"{attribute.table.name}.{attribute.column}"
    yield str(attribute)
