"""qidsql demo"""

import sys
from pathlib import Path
from typing import Any

from qidsql.cli.command import LineOptions, source_of, work_of
from qidsql.cli.streams import put, report_text, screen, showing_progress, write_output
from qidsql.declarations.options import Command


def perform(name: str, command: Command, source: str | None, request: Any, line: LineOptions) -> None:
    """Creates the sample database, audits it, and suggests what to try next. Raises SourceError."""
    import tempfile
    from dataclasses import replace

    from qidsql.commands.audit.report import report
    from qidsql.commands.demo.command import AUDIT, NEXT_STEPS, write_demo
    from qidsql.report.blocks import Next

    keep: Path | None = request.keep
    with tempfile.TemporaryDirectory(prefix="qidsql-demo-") as folder:
        path = keep or Path(folder) / "clinic.duckdb"
        write_demo(path)
        with (
            showing_progress(line.quiet) as (on_stage, watch, _),
            source_of(command, str(path), AUDIT, line, watch).opened() as engine,
        ):
            result = work_of("audit")(engine, AUDIT, on_stage)
    shown = str(keep) if keep else "clinic.duckdb"  # the temporary file is deleted at the end
    shown_result = replace(result, account=replace(result.account, source=shown))
    blocks = (each for each in report(shown_result) if keep or not isinstance(each, Next))
    write_output(report_text(blocks, *screen(None)), None)
    if not line.quiet:
        put(NEXT_STEPS.format(path=shown, first="" if keep else "  qidsql demo --keep clinic.duckdb\n"), sys.stdout)
