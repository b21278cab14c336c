"""The catalog of a database: tables, views, keys, labels, and which attributes are the same. Independent of engines."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from qidsql.core.tables import Comparison, TableName, ValueKind, Version
from qidsql.errors import UnknownName, UsageError


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
