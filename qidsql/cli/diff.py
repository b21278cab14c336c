"""qidsql diff"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from qidsql.cli.history import opened_history, write_listing
from qidsql.cli.options import LISTINGS, Format, HistoryUrl, Output, PolicyPath, report_format
from qidsql.declarations.commands import Command
from qidsql.declarations.options import Option


@dataclass(frozen=True, kw_only=True)
class DiffRequest:
    """Compare two recorded runs: findings that are new, worse, better or gone; verdicts; tables."""

    before: Annotated[str, Option("a run: its id, a prefix of it, last, last~1", "[BEFORE]", argument=True)] = "last~1"
    after: Annotated[str, Option("the run to compare with it", "[AFTER]", argument=True)] = "last"
    config: PolicyPath = Path("qidsql.toml")
    history: HistoryUrl = None
    format: Format = None
    output: Output = None


COMMAND = Command(
    DiffRequest,
    examples=("qidsql diff", "qidsql diff last~7 last", "qidsql diff 20261120 20261121 --format json"),
    exit_codes="0 finished, whatever the differences; 2 error",
)


def run(request: DiffRequest) -> None:
    """Compares the runs. Raises UsageError, TomlFileError, StoreError."""
    from qidsql.cli.history import diff_report
    from qidsql.operations.changes import diff

    format = report_format(LISTINGS, request.format, request.output)
    history = opened_history(request.config, request.history)
    first, second = history.find(request.before), history.find(request.after)
    found = diff(history.result(first.run), history.result(second.run))
    write_listing(request, format, found, diff_report(found), "Two runs")
