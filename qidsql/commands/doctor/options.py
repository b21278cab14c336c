"""qidsql doctor"""

from typing import Annotated

import typer

from qidsql.cli.command import check_report, end, opened, render, showing_progress
from qidsql.cli.streams import say, write
from qidsql.core.options import (
    FormatOption,
    GentleOption,
    OutputOption,
    QuietOption,
    SnapshotOption,
    SourceArgument,
)

EXAMPLES = "Example: qidsql doctor env:CLINIC_URL --role auditor"


def run(
    source: SourceArgument = None,
    schema: Annotated[
        str | None, typer.Option("--schema", metavar="NAME", help="only tables of this schema", show_default=False)
    ] = None,
    role: Annotated[
        str | None,
        typer.Option("--role", metavar="NAME", help="print all GRANTs that this role would need", show_default=False),
    ] = None,
    snapshot: SnapshotOption = True,
    gentle: GentleOption = False,
    format: FormatOption = None,
    output: OutputOption = None,
    quiet: QuietOption = False,
) -> None:
    """Can this source be audited? Connection, rights, row-level security, limits, every table; and what to do.

    Prints the least GRANTs that are missing. No table is read. Exit codes: 0 all tables can be audited, 2 no
    connection, 3 some table cannot be audited (or there is none).
    """
    from qidsql.commands.doctor.doctor import doctor

    kind = check_report(output, format)
    result = doctor(
        lambda: opened(source, 2, snapshot, gentle=gentle),
        source,
        schema,
        role,
        lambda engine: showing_progress(engine, quiet),
    )
    write(render(result, kind, output), output)
    if output is not None and not quiet:
        say(f"{result.verdict}: {result.reason}")
    end(result.verdict)
