"""The request of `tables`: which tables of a source to list."""

from dataclasses import dataclass
from typing import Annotated

from qidsql.core.options import MaxSeconds, Schema
from qidsql.declarations.commands import Command
from qidsql.declarations.options import Option


@dataclass(frozen=True)
class TablesRequest:
    """Which tables and columns does this source have? Their names as the other commands take them.

    Only the catalog is read. One table is listed with its columns and their types. With `rank` one statement reads each
    table once, to count its rows and about how many of them differ: the tables that single out most rows come first.
    """

    table: Annotated[
        str | None, Option("a table, or a pattern such as 'visits_*'; default: all tables", "TABLE", argument=True)
    ] = None
    schema: Schema = None
    rank: Annotated[
        bool, Option("read each table once, and list those first of whose rows most differ; to choose what to audit")
    ] = False
    max_seconds: MaxSeconds = None


COMMAND = Command(
    TablesRequest,
    examples=(
        "qidsql tables warehouse.duckdb",
        "qidsql tables postgresql://auditor@db.example.org/clinic --schema public",
        "qidsql tables env:CLINIC_URL public.visits",
        "qidsql tables warehouse.duckdb --rank",
    ),
    exit_codes="0 listed, 2 error, 3 there is no table",
    without=("dry_run", "show_sql"),
)
