"""The result of `tables`."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

from qidsql.core.results import Result
from qidsql.core.tables import TableName
from qidsql.declarations.results import OMITTED


@dataclass(frozen=True, slots=True)
class ListedColumn:
    """A column of a table."""

    name: str
    type: str
    nullable: bool
    readable: Annotated[bool, "whether this user may read it"]


@dataclass(frozen=True, slots=True)
class TableCounts:
    """What one scan tells about a table."""

    rows: int
    distinct_rows: Annotated[int, "about"]
    identifiers: Annotated[tuple[str, ...], "columns with about as many values as rows"]

    @property
    def rank(self) -> tuple[Fraction, int]:
        """More is more identifying: the share of rows that differ, then their number."""
        return Fraction(min(self.distinct_rows, self.rows), self.rows or 1), self.rows


@dataclass(frozen=True, slots=True)
class ListedTable:
    """A table or view, and its columns."""

    table: TableName
    kind: str
    estimated_rows: Annotated[int | None, "the catalog's guess"]
    columns: tuple[ListedColumn, ...]
    obstacle: Annotated[str | None, "why this user cannot read the table"]
    counts: Annotated[TableCounts | None, OMITTED, "if the tables are ranked"] = None


@dataclass(frozen=True, kw_only=True, repr=False)
class TablesResult(Result):
    """The tables of a source, in the order of their names. The verdict is `inconclusive` if there is none."""

    source: str
    engine: str
    tables: tuple[ListedTable, ...]
