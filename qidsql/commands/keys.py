"""qidsql keys"""

from typing import Annotated

import typer

from qidsql.commands.running import finish, opened, showing_progress, source_and_table
from qidsql.commands.streams import check_output
from qidsql.errors import UsageError
from qidsql.options import (
    ColumnOption,
    DeltaOption,
    DistinctOption,
    EpsilonOption,
    ExcludeOption,
    Format,
    FormatOption,
    KOption,
    MaxSecondsOption,
    MaxStatementsOption,
    NullsOption,
    OutputOption,
    QuietOption,
    RowsAtRiskOption,
    SeedOption,
    SeparationOption,
    ShowSqlOption,
    SnapshotOption,
    SourceArgument,
    TableArgument,
    VerifyOption,
    ViolatesOption,
    WeightsOption,
    WhereOption,
    WorkersOption,
)

EXAMPLES = """\b
Examples:
  qidsql keys warehouse.duckdb patients
  qidsql keys warehouse.duckdb patients --all --distinct 0.9 --max-size 4
  qidsql keys postgresql://auditor@db.example.org/clinic public.visits --epsilon 0.001 --delta 0.01
Exit codes: 0 finished, 2 error, 3 inconclusive"""


def run(
    source: SourceArgument = None,
    table: TableArgument = None,
    all_sets: Annotated[bool, typer.Option("--all", help="all minimal sets, not one smallest")] = False,
    minimal: Annotated[bool, typer.Option("--minimal", help="one minimal set, by the fewest statements")] = False,
    distinct: DistinctOption = None,
    separation: SeparationOption = None,
    violates: ViolatesOption = None,
    rows_at_risk: RowsAtRiskOption = None,
    k: KOption = 5,
    epsilon: EpsilonOption = None,
    delta: DeltaOption = None,
    seed: SeedOption = None,
    verify: VerifyOption = True,
    algorithm: Annotated[
        str | None,
        typer.Option(
            "--algorithm",
            metavar="NAME",
            help="implicit-hitting-set, greedy, naive-greedy, sampled (one smallest set); greedy-minimal (one minimal "
            "set); hitting-sets, borders, levelwise, pruned, iterative (all). Default: chosen and said",
            show_default=False,
        ),
    ] = None,
    weights: WeightsOption = None,
    column: ColumnOption = None,
    exclude: ExcludeOption = None,
    where: WhereOption = None,
    nulls: NullsOption = "equal",
    max_size: Annotated[
        int | None, typer.Option("--max-size", metavar="N", help="largest column set of --all", show_default=False)
    ] = None,
    max_statements: MaxStatementsOption = None,
    max_seconds: MaxSecondsOption = None,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", help="column sets shown at most; json has all", min=1)
    ] = 10,
    format: FormatOption = Format.terminal,
    output: OutputOption = None,
    show_sql: ShowSqlOption = False,
    quiet: QuietOption = False,
    workers: WorkersOption = 2,
    snapshot: SnapshotOption = True,
) -> None:
    """Which columns together are a key or a quasi-identifier: the smallest set, or every minimal one.

    Without a criterion: keys, which tell every row apart. Every set is measured on the full table. The exit code is 0
    whatever is found, 3 when a budget ended the search or there is no row.
    """
    from qidsql.question import Wanted, asked
    from qidsql.verbs.keys import KeysQuestion, keys

    if all_sets and minimal:
        raise UsageError("choose one of --all and --minimal")
    question = KeysQuestion(
        **asked(
            distinct=distinct,
            separation=separation,
            violates=violates,
            rows_at_risk=rows_at_risk,
            k=k,
            epsilon=epsilon,
            delta=delta,
            seed=seed,
            verify=verify,
            weights=weights,
            columns=column,
            exclude=exclude,
            where=where,
            nulls=nulls,
            max_size=max_size,
            max_statements=max_statements,
            max_seconds=max_seconds,
        ),
        wanted=Wanted.ALL if all_sets else Wanted.MINIMAL if minimal else None,
        algorithm=algorithm,
        shown=limit,
    )
    check_output(output)
    source, table = source_and_table(source, table)
    with opened(source, workers, snapshot, show_sql) as engine, showing_progress(engine, quiet) as on_stage:
        result = keys(engine, table, question, on_stage)
    finish(result, result.outcome, result.reason, format, output, quiet)
