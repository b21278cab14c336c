"""The rows of the table functions for people: the report's lines, and the verdict alone."""

import io
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from qidsql.duckdb_extension.figures import columns_named

if TYPE_CHECKING:
    from qidsql.commands.audit.command import AuditResult

WIDTH = 76  # of a line: with DuckDB's frame it fits a terminal of 80 columns

REPORT = columns_named("line")
VERDICT = columns_named(
    "table_name verdict reason rows entities columns left_out proposed k smallest rows_below_k share_below_k complete"
)
ROLES = columns_named("column_name role proposed type classes smallest percent_below_k") | {"proposed": "BOOLEAN"}


def report_rows(result: "AuditResult") -> Iterable[tuple[Any, ...]]:
    """The lines of the report for people, without the next command: no command line reaches a shell's database."""
    from rich.console import Console

    from qidsql.commands.audit.report import report
    from qidsql.report.blocks import Next
    from qidsql.terminal.writer import written

    text = io.StringIO()
    console = Console(file=text, width=WIDTH, no_color=True, highlight=False, markup=False, emoji=False)
    written(console, (each for each in report(result) if not isinstance(each, Next)))
    return ((line.rstrip(),) for line in text.getvalue().splitlines())


def verdict_rows(result: "AuditResult") -> Iterable[tuple[Any, ...]]:
    """One row: the verdict, and the figures of all audited columns together."""
    account, profile = result.account, result.profile
    figures = (profile.smallest, profile.rows_below_k, float(profile.share_below_k)) if profile else (None,) * 3
    yield (
        account.table,
        str(result.verdict),
        result.reason,
        account.rows,
        result.entities,
        [column.name for column in result.columns if column.audited],
        [column.name for column in result.columns if not column.audited],
        [column.name for column in result.columns if column.proposed],
        account.policy.k,
        *figures,
        result.complete,
    )


def roles_rows(result: "AuditResult") -> Iterable[tuple[Any, ...]]:
    """A row for each column, which fits a terminal of 100 columns."""
    for column in result.columns:
        profile = column.profile
        figures = (profile.classes, profile.smallest, float(round(100 * profile.share_below_k, 1))) if profile else ()
        proposed = column.proposed or column.recognised
        yield (column.name, str(column.role), proposed, column.type, *(figures or (None,) * 3))
