"""What a database says of itself: its tables, views, keys and labels, and which attributes are one. Knows no engine."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from qidsql.core.tables import Comparison, TableName
from qidsql.core.value_kinds import Kind
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
    def plain_schema(cls, definitions: Mapping[str, Any]) -> dict[str, Any]:
        return {"type": "string", "description": "table.column"}


@dataclass(frozen=True, slots=True)
class CatalogColumn:
    """A column as the catalog lists it.

    `base` is the type behind a domain, the type itself for all others; `kind` is that of its values, None where they
    are not compared with those of other columns. `labels` are what others wrote of it: (kind,
    text), where the kind is "comment" or "security label" and its provider, such as "security label anon".
    """

    name: str
    type: str
    nullable: bool = True
    labels: tuple[tuple[str, str], ...] = ()
    readable: bool = True
    comparison: Comparison = Comparison.VALUE
    base: str = ""
    kind: Kind | None = None


@dataclass(frozen=True, slots=True)
class CatalogTable:
    """A table as the catalog lists it.

    `definition` is the query of a view. `unique` are the declared keys, by which no two rows are equal, NULLs counted
    as equal too: a UNIQUE that lets NULL in twice is none. `obstacle` says why this user cannot read the table.
    """

    name: TableName
    kind: str
    columns: tuple[CatalogColumn, ...]
    estimated_rows: int | None = None
    definition: str | None = None
    unique: tuple[tuple[str, ...], ...] = ()
    labels: tuple[tuple[str, str], ...] = ()
    obstacle: str | None = None


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """Columns of one table whose values are those of another's, place by place."""

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
        """The attribute that `table.column` or `schema.table.column` means. Raises UnknownName, UsageError."""
        return find_attribute(typed, self.attributes())


class Ground(StrEnum):
    """Why attributes of two tables are taken for one."""

    FOREIGN_KEY = "foreign key"
    VIEW = "view"  # a view shows the column of a table
    CONTAINMENT = "containment"  # the values of one are found in the other
    NAME = "name and type"  # taken for one because the user accepts equal names
    DECLARED = "declared"  # a file says so


@dataclass(frozen=True, slots=True)
class Joint:
    """Two attributes that are one to whoever joins their tables, and why. `detail` is the ground in words."""

    left: Attribute
    right: Attribute
    ground: Ground
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Dependency:
    """Who knows the determinants knows the dependent too: a function of them. `detail` says whence in words."""

    determinants: tuple[Attribute, ...]
    dependent: Attribute
    detail: str = ""


def find_schema(typed: str | None, known: Iterable[TableName], label: str) -> str | None:
    """The schema that a person means; None: all of them. Letter case matters only where it tells two apart.

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
    """The attribute among `known` that a person means by `column`, `table.column` or `schema.table.column`.

    Letter case matters only where it tells two apart. Raises UnknownName with near misses, UsageError when the name is
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
    """The ways of writing an attribute."""
    yield attribute.column
    yield f"{attribute.table.name}.{attribute.column}"
    yield str(attribute)
