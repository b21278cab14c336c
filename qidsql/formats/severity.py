"""The order of the tables of a run in reports for people: violations first, then what has no verdict, then passes."""

from collections.abc import Iterable

from qidsql.core.results import Verdict
from qidsql.formats.figures import part_of
from qidsql.operations.document import RunResult
from qidsql.operations.table_run import TableRun

ORDER = (Verdict.VIOLATION, Verdict.ERROR, Verdict.INCONCLUSIVE, Verdict.PASS)


def rank_of(table: TableRun) -> tuple[int, float]:
    """The place of a table; of several violations the one with the largest share of rows below k comes first."""
    profile = table.audit.profile if table.audit else None
    return ORDER.index(table.verdict), -part_of(profile.rows_below_k, profile.rows) if profile else 0.0


def most_severe(document: RunResult, verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict to show for a run: a violation also if a table could not be audited, which decides the exit code."""
    return min((document.verdict, *verdicts), key=ORDER.index)
