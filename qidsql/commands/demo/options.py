"""qidsql demo"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from qidsql.cli.command import opened, render, showing_progress
from qidsql.cli.streams import put, write
from qidsql.core.options import Format, QuietOption

EXAMPLES = "Example: qidsql demo --keep clinic.duckdb"


def run(
    keep: Annotated[
        Path | None,
        typer.Option("--keep", metavar="FILE", help="keep the sample database in this file", show_default=False),
    ] = None,
    quiet: QuietOption = False,
) -> None:
    """Make a sample database and audit it: the two-minute tour.

    The clinic in it is made up: 20,000 patients, 60,000 visits. The exit code is 0 although the audit finds a
    violation, since finding it is what the demo is for.
    """
    import tempfile
    from dataclasses import replace

    from qidsql.commands.audit.audit import audit
    from qidsql.commands.demo.demo import NEXT_STEPS, POLICY, TABLE, write_demo

    with tempfile.TemporaryDirectory(prefix="qidsql-demo-") as folder:
        path = keep or Path(folder) / "clinic.duckdb"
        write_demo(path)
        with opened(str(path)) as engine, showing_progress(engine, quiet) as on_stage:
            result = audit(engine, TABLE, POLICY, on_stage)
    shown = str(keep) if keep else "clinic.duckdb"  # the temporary file is gone before anyone could follow its path
    report = render(replace(result, work=replace(result.work, source=shown)), Format.terminal, None)
    write(report if keep else report.rpartition("Next: ")[0], None)
    if not quiet:
        put(NEXT_STEPS.format(path=shown, first="" if keep else "  qidsql demo --keep clinic.duckdb\n"), sys.stdout)
