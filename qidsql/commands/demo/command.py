"""The request of `demo`: where to keep the sample database."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from qidsql.declarations.commands import Command
from qidsql.declarations.options import Option


@dataclass(frozen=True, kw_only=True)
class DemoRequest:
    """Make a sample database and audit it: the two-minute tour.

    Its clinic is made up: 20,000 patients, 60,000 visits. The exit code is 0 although the audit finds a violation,
    since finding it is the purpose of the demo.
    """

    keep: Annotated[Path | None, Option("keep the sample database in this file", "FILE")] = None


COMMAND = Command(
    DemoRequest,
    examples=("qidsql demo --keep clinic.duckdb",),
    exit_codes="0 finished, 2 error",
    formats=("terminal",),
    without=("source", "format", "output", "dry_run", "show_sql", "workers", "snapshot"),
)
