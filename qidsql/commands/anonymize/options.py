"""qidsql anonymize"""

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
    KOption,
    MaxSecondsOption,
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
  qidsql anonymize warehouse.duckdb patients --k 7 -c zip -c birth_year -c sex
  qidsql anonymize warehouse.duckdb patients --k 7 -c zip -c birth_year -c sex --into patients_public
  qidsql anonymize people.csv --k 5 --weights zip=3 --method heuristic --max-seconds 300
Exit codes: 0 finished, 1 impossible, 2 error, 3 inconclusive"""


def run(
    source: SourceArgument = None,
    table: TableArgument = None,
    k: KOption = 5,
    method: Annotated[
        str,
        typer.Option("--method", metavar="NAME", help="exact, heuristic, or auto: exact where it is small enough"),
    ] = "auto",
    weights: WeightsOption = None,
    into: IntoOption = None,
    replace: ReplaceOption = False,
    sql: Annotated[
        str | None,
        typer.Option(
            "--sql",
            metavar="view|table",
            help="print a statement that makes the same copy; run none",
            show_default=False,
        ),
    ] = None,
    column: ColumnOption = None,
    exclude: ExcludeOption = None,
    identifier: IdentifierOption = None,
    sensitive: SensitiveOption = None,
    keep_identifiers: SuppressIdentifiersOption = False,
    where: WhereOption = None,
    max_seconds: MaxSecondsOption = None,
    format: FormatOption = None,
    output: OutputOption = None,
    show_sql: ShowSqlOption = False,
    quiet: QuietOption = False,
    snapshot: SnapshotOption = True,
    gentle: GentleOption = False,
) -> None:
    """The fewest cells to suppress so that every row is identical to k - 1 others, a suppressed cell being a value.

    The problem is NP-hard from three columns on, and cannot even be approximated closely [Chakaravarthy et al.,
    Theorems 3.1, 3.2]. A few thousand distinct rows of a few columns are solved exactly, as an integer program; beyond
    that the answer is a heuristic's, with a proved lower bound. Without --into nothing is written; a copy is audited
    before it is kept. Where a suppressed cell may match anything, `qidsql suppress` needs fewer cells and is always
    optimal. Each distinct row leaves the engine as codes, not its values; codes of few values can be turned back.
    """
    from qidsql.commands.anonymize.anonymize import AnonymizeQuestion, Method, anonymize
    from qidsql.commands.suppress.suppress import script
    from qidsql.core.policy import Policy
    from qidsql.core.weights import column_weights

    policy = Policy.read(
        k=k,
        columns=column,
        exclude=exclude,
        identifiers=identifier,
        sensitive=sensitive,
        keep_identifiers=keep_identifiers,
        where=where,
        max_seconds=max_seconds,
    )
    chosen = script(sql) if sql is not None else None
    question = AnonymizeQuestion(policy, Method.read(method), column_weights(weights), into, replace, chosen)
    check_report(output, format)
    source, table = source_and_table(source, table)
    writable = into is not None
    with (
        opened(source, 1, snapshot, show_sql, writable, gentle=gentle, max_seconds=max_seconds) as engine,
        showing_progress(engine, quiet) as on_stage,
    ):
        result = anonymize(engine, table, question, on_stage)
    finish(result, result.outcome, result.reason, format, output, quiet)
