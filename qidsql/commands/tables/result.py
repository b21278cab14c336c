"""The result of `tables`."""

from dataclasses import dataclass
from typing import Annotated

from qidsql.core.results import Result
from qidsql.core.tables import TableName


@dataclass(frozen=True, slots=True)
class ListedColumn:
    """A column of a table."""

    name: str
    type: str
    nullable: bool
    readable: Annotated[bool, "whether this user may read it"]


@dataclass(frozen=True, slots=True)
class ListedTable:
    """A table or view, and its columns."""

    table: TableName
    kind: str
    estimated_rows: Annotated[int | None, "the catalog's guess"]
    columns: tuple[ListedColumn, ...]
    obstacle: Annotated[str | None, "why this user cannot read the table"]


@dataclass(frozen=True, kw_only=True, repr=False)
class TablesResult(Result):
    """The tables of a source, in the order of their names. The verdict is `inconclusive` if there is none."""

    source: str
    engine: str
    tables: tuple[ListedTable, ...]
