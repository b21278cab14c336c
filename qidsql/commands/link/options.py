"""qidsql link"""

from typing import Annotated

import typer

from qidsql.cli.command import check_report, finish, opened, showing_progress, write_script
from qidsql.core.options import (
    DryRunOption,
    Format,
    FormatOption,
    GentleOption,
    MaxSecondsOption,
    MaxStatementsOption,
    OutputOption,
    QuietOption,
    RowsAtRiskOption,
    ShowSqlOption,
    SnapshotOption,
    SourceArgument,
    WhereOption,
    WorkersOption,
)

EXAMPLES = """\b
Examples:
  qidsql link clinic.duckdb patients voters
  qidsql link clinic.duckdb patients voters --on zip_code=postcode --on birth_date=dob --k 3
  qidsql link env:CLINIC_URL public.visits outside.voters --rows-at-risk 1% --format json
Exit codes: 0 pass, 1 rows are singled out, 2 error, 3 inconclusive (nothing is joinable for sure, or it ended early)"""


def run(
    source: SourceArgument,
    left: Annotated[str, typer.Argument(metavar="TABLE_A", help="the table whose rows are to stay unknown")],
    right: Annotated[str, typer.Argument(metavar="TABLE_B", help="the table that someone may hold beside it")],
    on: Annotated[
        list[str] | None,
        typer.Option(
            "--on",
            metavar="A=B",
            help="join column A of TABLE_A with column B of TABLE_B (repeat); default: all that are found joinable",
            show_default=False,
        ),
    ] = None,
    k: Annotated[
        int, typer.Option("--k", metavar="K", help="a row is singled out when it matches fewer than K rows, at least 1")
    ] = 2,
    rows_at_risk: RowsAtRiskOption = None,
    where: WhereOption = None,
    max_statements: MaxStatementsOption = None,
    max_seconds: MaxSecondsOption = None,
    format: FormatOption = Format.terminal,
    output: OutputOption = None,
    dry_run: DryRunOption = False,
    show_sql: ShowSqlOption = False,
    quiet: QuietOption = False,
    workers: WorkersOption = 2,
    snapshot: SnapshotOption = True,
    gentle: GentleOption = False,
) -> None:
    """Which columns of two tables are joinable, and whom a join on them singles out.

    Columns are joinable when at least 90 % of the values of one stand in the other, and not by accident: a few codes,
    or numbers that lie close together from zero on, have to agree in their names too. Each pair is shown with its
    ground. A violation: a row of TABLE_A (that meets --where) matches fewer than --k rows of TABLE_B on all of them;
    with --rows-at-risk, when this share of its rows does. A NULL matches nothing.
    """
    from qidsql.commands.link.link import LinkQuestion, link
    from qidsql.core.policy import Policy, names

    policy = Policy.read(
        k=k, rows_at_risk=rows_at_risk, where=where, max_statements=max_statements, max_seconds=max_seconds
    )
    question = LinkQuestion(policy, names(on))
    check_report(output, format, dry_run=dry_run)
    with opened(source, workers, snapshot, show_sql, gentle=gentle, max_seconds=max_seconds) as engine:
        if dry_run:
            write_script(engine, engine.rehearsed(lambda: link(engine, left, right, question)), output)
            return
        with showing_progress(engine, quiet) as on_stage:
            result = link(engine, left, right, question, on_stage)
    finish(result, result.verdict, result.reason, format, output, quiet)
