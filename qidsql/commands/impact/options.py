"""qidsql impact"""

from typing import Annotated

import typer

from qidsql.cli.command import check_report, finish, opened, showing_progress, source_and_table
from qidsql.core.options import (
    ColumnOption,
    ExcludeOption,
    FormatOption,
    GentleOption,
    MaxSecondsOption,
    MaxStatementsOption,
    OutputOption,
    QuietOption,
    ShowSqlOption,
    SnapshotOption,
    SourceArgument,
    TableArgument,
    WorkersOption,
)

EXAMPLES = """\b
Examples:
  qidsql impact survey.duckdb students --protected students_suppressed --weight survey_weight
  qidsql impact survey.duckdb students --protected students_suppressed --outcome score --covariate sex --covariate race
Exit codes: 0 finished, 2 error, 3 inconclusive"""


def run(
    source: SourceArgument = None,
    table: TableArgument = None,
    *,
    protected: Annotated[
        str, typer.Option("--protected", metavar="TABLE", help="the protected copy, in the same source")
    ],
    weight: Annotated[
        str | None,
        typer.Option("--weight", metavar="NAME", help="column of the rows' survey weights", show_default=False),
    ] = None,
    outcome: Annotated[
        str | None,
        typer.Option(
            "--outcome", metavar="NAME", help="the column that a linear regression explains", show_default=False
        ),
    ] = None,
    covariate: Annotated[
        list[str] | None,
        typer.Option(
            "--covariate",
            metavar="NAME",
            help="a column that explains it (repeat): numbers as they are, others by an indicator per value",
            show_default=False,
        ),
    ] = None,
    fill: Annotated[
        float | None,
        typer.Option(
            "--fill", metavar="NUMBER", help="a third regression, suppressed cells replaced by this", show_default=False
        ),
    ] = None,
    mark: Annotated[
        str | None,
        typer.Option(
            "--mark", metavar="TEXT", help="stands for a suppressed cell too, such as '*'", show_default=False
        ),
    ] = None,
    show_values: Annotated[
        bool, typer.Option("--show-values", help="name values in the report; they leave the database then")
    ] = False,
    max_values: Annotated[
        int, typer.Option("--max-values", metavar="N", help="columns with more are not compared value by value", min=1)
    ] = 1000,
    column: ColumnOption = None,
    exclude: ExcludeOption = None,
    max_statements: MaxStatementsOption = None,
    max_seconds: MaxSecondsOption = None,
    format: FormatOption = None,
    output: OutputOption = None,
    show_sql: ShowSqlOption = False,
    quiet: QuietOption = False,
    workers: WorkersOption = 2,
    snapshot: SnapshotOption = True,
    gentle: GentleOption = False,
) -> None:
    """What local suppression did to a table: its cells, its distributions, a regression.

    Compares a table with its protected copy, in which suppressed cells are NULL. Only counts and sums leave the
    database. The exit code is 0 whatever they are, 3 when a budget ended the work or a table is empty.
    """
    from qidsql.commands.impact.impact import ImpactQuestion, impact
    from qidsql.core.policy import Policy

    question = ImpactQuestion(
        protected,
        Policy.read(columns=column, exclude=exclude, max_statements=max_statements, max_seconds=max_seconds),
        weight=weight,
        outcome=outcome,
        covariates=tuple(covariate or ()),
        fill=fill,
        mark=mark,
        show_values=show_values,
        max_values=max_values,
    )
    check_report(output, format)
    source, table = source_and_table(source, table)
    with (
        opened(source, workers, snapshot, show_sql, gentle=gentle, max_seconds=max_seconds) as engine,
        showing_progress(engine, quiet) as on_stage,
    ):
        result = impact(engine, table, question, on_stage)
    finish(result, result.outcome, result.reason, format, output, quiet)
