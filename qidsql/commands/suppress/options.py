"""qidsql suppress"""

from typing import Annotated

import typer

from qidsql.cli.command import check_report, finish, opened, showing_progress, source_and_table
from qidsql.core.options import (
    ColumnOption,
    ExcludeOption,
    FormatOption,
    GentleOption,
    IdentifierOption,
    IntoOption,
    MaxSecondsOption,
    NullsOption,
    OutputOption,
    QuietOption,
    ReplaceOption,
    SensitiveOption,
    ShowSqlOption,
    SnapshotOption,
    SourceArgument,
    SuppressIdentifiersOption,
    TableArgument,
    WeightsOption,
    WhereOption,
)

EXAMPLES = """\b
Examples:
  qidsql suppress warehouse.duckdb patients --k 3 --identifier patient_id --sensitive diagnosis
  qidsql suppress warehouse.duckdb patients --k 3 --weights age=3,zip_code=1 --into patients_public
  qidsql suppress people.parquet --into people_public.parquet --replace
Exit codes: 0 finished, 1 impossible, 2 error, 3 inconclusive"""


def run(
    source: SourceArgument = None,
    table: TableArgument = None,
    k: Annotated[int, typer.Option("--k", metavar="K", help="how many rows each row must match, itself included")] = 2,
    weights: WeightsOption = None,
    into: IntoOption = None,
    replace: ReplaceOption = False,
    sql: Annotated[
        str | None,
        typer.Option(
            "--sql",
            metavar="view|table|update",
            help="print statements that suppress the same cells; run none",
            show_default=False,
        ),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            metavar="optimal|shared",
            help="optimal: the fewest cells of each row by itself, proved; shared: fewer in all, since the blank cells "
            "of one row protect others too, which stay whole",
        ),
    ] = "optimal",
    column: ColumnOption = None,
    exclude: ExcludeOption = None,
    identifier: IdentifierOption = None,
    sensitive: SensitiveOption = None,
    keep_identifiers: SuppressIdentifiersOption = False,
    where: WhereOption = None,
    nulls: NullsOption = "equal",
    show_values: Annotated[
        bool, typer.Option("--show-values", help="name the values that lose most: cell values in the report")
    ] = False,
    max_seconds: MaxSecondsOption = None,
    format: FormatOption = None,
    output: OutputOption = None,
    show_sql: ShowSqlOption = False,
    quiet: QuietOption = False,
    snapshot: SnapshotOption = True,
    gentle: GentleOption = False,
) -> None:
    """The fewest cells to blank so that no row stands out: each matches k - 1 others on all columns that it keeps.

    Optimal for every row, and proved. Without --into nothing is written; a copy is audited before it is kept. Its
    quasi-identifiers are suppressed, other columns copied as they are, direct identifiers left out. Each distinct row
    leaves the engine as codes: values stay there without --show-values, but codes of few values can be turned back.
    """
    from qidsql.commands.suppress.suppress import SuppressQuestion, script, suppress
    from qidsql.commands.suppress.suppress import method as method_by_name
    from qidsql.core.policy import Policy
    from qidsql.core.weights import column_weights

    question = SuppressQuestion(
        policy=Policy.read(
            k=k,
            columns=column,
            exclude=exclude,
            identifiers=identifier,
            sensitive=sensitive,
            keep_identifiers=keep_identifiers,
            where=where,
            nulls=nulls,
            max_seconds=max_seconds,
        ),
        weights=column_weights(weights),
        method=method_by_name(method),
        into=into,
        replace=replace,
        script=script(sql) if sql is not None else None,
        show_values=show_values,
    )
    check_report(output, format)
    source, table = source_and_table(source, table)
    writable = into is not None
    with (
        opened(source, 1, snapshot, show_sql, writable, gentle=gentle, max_seconds=max_seconds) as engine,
        showing_progress(engine, quiet) as on_stage,
    ):
        result = suppress(engine, table, question, on_stage)
    finish(result, result.outcome, result.reason, format, output, quiet)
