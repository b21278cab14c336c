"""qidsql uniques"""

from pathlib import Path
from typing import Annotated

import typer

from qidsql.cli.command import check_report, finish, opened, showing_progress, source_and_table
from qidsql.core.options import (
    ColumnOption,
    ExcludeOption,
    FormatOption,
    GentleOption,
    IdentifierOption,
    KOption,
    MaxSecondsOption,
    MaxSizeOption,
    NullsOption,
    OutputOption,
    QuietOption,
    SensitiveOption,
    ShowSqlOption,
    SourceArgument,
    TableArgument,
    WhereOption,
)

EXAMPLES = """\b
Examples:
  qidsql uniques warehouse.duckdb patients --exclude patient_id
  qidsql uniques survey.parquet --scores suda -c age -c sex -c region -c occupation
  qidsql uniques survey.parquet --into uniques.parquet --key person_id
  qidsql uniques warehouse.duckdb people --into people_uniques
  qidsql uniques postgresql://auditor@db.example.org/clinic public.visits --k 3 --max-size 3
Exit codes: 0 finished, 2 error, 3 inconclusive"""


def run(
    source: SourceArgument = None,
    table: TableArgument = None,
    k: KOption = 2,
    max_size: MaxSizeOption = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            "--by", metavar="WHAT", help="size, column, set or record (repeat); default: all", show_default=False
        ),
    ] = None,
    scores: Annotated[
        str | None,
        typer.Option("--scores", metavar="suda|dis", help="risk scores of the records", show_default=False),
    ] = None,
    sampling_fraction: Annotated[
        str | None,
        typer.Option(
            "--sampling-fraction",
            metavar="RATIO",
            help="the share of the population that the table holds, for DIS scores; default: 0.01",
            show_default=False,
        ),
    ] = None,
    nulls: NullsOption = "equal",
    into: Annotated[
        Path | None,
        typer.Option(
            "--into",
            metavar="TARGET",
            help="write the list of them: a .parquet or .csv file, or a new table of the source",
            show_default=False,
        ),
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="the list may take the place of an older one")] = False,
    key: Annotated[
        str | None,
        typer.Option(
            "--key",
            metavar="COLUMN",
            help="call records by this column's values, in the list and among the highest scores",
            show_default=False,
        ),
    ] = None,
    show_values: Annotated[
        bool, typer.Option("--show-values", help="write the values of the combinations into the list, too")
    ] = False,
    column: ColumnOption = None,
    exclude: ExcludeOption = None,
    identifier: IdentifierOption = None,
    sensitive: SensitiveOption = None,
    where: WhereOption = None,
    max_seconds: MaxSecondsOption = None,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", help="column sets and records shown at most", min=1)
    ] = 10,
    format: FormatOption = None,
    output: OutputOption = None,
    show_sql: ShowSqlOption = False,
    quiet: QuietOption = False,
    gentle: GentleOption = False,
) -> None:
    """Which value combinations single out rows: all minimal ones, of every size.

    A combination is unsafe when fewer than k rows have it, and minimal when it is safe without any one of its values
    (minimal sample uniques, MINUCS). Counts by size, column, column set and record, and SUDA or DIS risk scores. Each
    distinct row leaves the engine as codes: values stay there unless --key or --show-values ask for them, but codes of
    few values can be turned back by who knows how frequent these are.
    """
    from qidsql.commands.uniques.result import kinds, score_kind
    from qidsql.commands.uniques.uniques import UniquesQuestion, uniques
    from qidsql.core.policy import Policy, ratio

    question = UniquesQuestion(
        Policy.read(
            k=k,
            columns=column,
            exclude=exclude,
            identifiers=identifier,
            sensitive=sensitive,
            where=where,
            nulls=nulls,
            max_size=max_size,
            max_seconds=max_seconds,
        ),
        scores=score_kind(scores),
        fraction=ratio(sampling_fraction, "--sampling-fraction"),
        by=kinds(by),
        shown=limit,
        key=key,
        into=into,
        replace=replace,
        show_values=show_values,
    )
    check_report(output, format)
    source, table = source_and_table(source, table)
    with (
        opened(source, 1, True, show_sql, question.makes_table, gentle=gentle, max_seconds=max_seconds) as engine,
        showing_progress(engine, quiet) as on_stage,
    ):
        result = uniques(engine, table, question, on_stage)
    finish(result, result.outcome, result.reason, format, output, quiet)
