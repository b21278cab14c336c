"""The request of `tables`: which tables of a source to list."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated

from qidsql.core.options import MaxSeconds, Schema
from qidsql.core.results import Result
from qidsql.core.tables import TableName
from qidsql.declarations.options import Command, Option
from qidsql.declarations.results import OMITTED, reported


@dataclass(frozen=True)
class TablesRequest:
    """Which tables and columns does this source have? Their names as the other commands take them.

    Only the catalog is read. One table is listed with its columns and their types. With `rank` two scans of each table
    count its rows and the persons who are alone with the quasi-identifiers that `init` would propose: where most people
    are singled out, most is said of them and most can be joined, comes first; a third one finds few columns by which
    somebody is alone. Tables about persons are read first. What a budget does not reach is named: `resume` reads it.
    """

    table: Annotated[
        str | None, Option("a table, or a pattern such as 'visits_*'; default: all tables", "TABLE", argument=True)
    ] = None
    schema: Schema = None
    rank: Annotated[bool, Option("read each table, and list the riskiest first: to choose what to audit")] = False
    resume: Annotated[
        Path | None,
        Option("the JSON of an earlier --rank that a budget ended: tables that it has counted are not read", "FILE"),
    ] = None
    max_seconds: MaxSeconds = None


COMMAND = Command(
    TablesRequest,
    examples=(
        "qidsql tables warehouse.duckdb",
        "qidsql tables postgresql://auditor@db.example.org/clinic --schema public",
        "qidsql tables env:CLINIC_URL public.visits",
        "qidsql tables warehouse.duckdb --rank",
        "qidsql tables env:CLINIC_URL --rank --max-seconds 600 --resume rank.json --output rank.json",
    ),
    exit_codes="0 listed, 2 error, 3 there is no table, or not all were reached",
    without=("dry_run", "show_sql"),
)


# The result of `tables`.


@dataclass(frozen=True, slots=True)
class ListedColumn:
    """A column of a table."""

    name: str
    type: str
    nullable: bool
    readable: Annotated[bool, "whether this user may read it"]


@dataclass(frozen=True, slots=True)
class TableCounts:
    """What two scans tell about a table, with the roles that `init` would propose by names and types."""

    rows: int
    distinct_rows: Annotated[int, "about"]
    identifiers: Annotated[tuple[str, ...], "columns with about as many values as rows"]
    quasi_identifiers: Annotated[tuple[str, ...], "the others that may identify"]
    entity: Annotated[str | None, "the column of the persons; null: each row is taken for another person"]
    sensitive: tuple[str, ...]
    joined: Annotated[tuple[str, ...], "tables with a key, or a column of the same name, that identifies in both"]
    persons: Annotated[int | None, "null: not counted, as nothing in the table may identify"] = None
    alone: Annotated[int | None, "persons who are alone with values of the quasi-identifiers"] = None
    alone_by: Annotated[
        tuple[str, ...] | None, OMITTED, "columns by which somebody is alone: the fewest, of rows with rare values"
    ] = None

    @reported
    def risk(self) -> Annotated[int, "persons alone x (1 + sensitive columns) x (1 + tables that can be joined)"]:
        return (self.alone or 0) * (1 + len(self.sensitive)) * (1 + len(self.joined))

    @property
    def rank(self) -> tuple[int | Fraction, ...]:
        """More is riskier; where nobody is alone, the share of rows that differ, then their number."""
        return self.risk, Fraction(min(self.distinct_rows, self.rows), self.rows or 1), self.rows


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
