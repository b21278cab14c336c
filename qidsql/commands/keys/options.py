"""qidsql keys"""

from typing import Annotated

import typer

from qidsql.cli.command import (
    check_report,
    end,
    finish,
    opened,
    render,
    showing_progress,
    source_and_table,
    write_script,
)
from qidsql.cli.streams import lines, write
from qidsql.core.options import (
    ColumnOption,
    DeltaOption,
    DistinctOption,
    DryRunOption,
    EntityOption,
    EpsilonOption,
    ExcludeOption,
    GentleOption,
    IdentifierOption,
    KOption,
    MaxSecondsOption,
    MaxStatementsOption,
    NullsOption,
    OutputOption,
    QuietOption,
    RowsAtRiskOption,
    SeedOption,
    SensitiveOption,
    SeparationOption,
    SetsFormat,
    SetsFormatOption,
    ShowSqlOption,
    SnapshotOption,
    SourceArgument,
    TableArgument,
    VerifyOption,
    ViolatesOption,
    WeightsOption,
    WhereOption,
    WorkersOption,
    WorkspaceOption,
)
from qidsql.errors import UsageError

EXAMPLES = """\b
Examples:
  qidsql keys warehouse.duckdb patients
  qidsql keys warehouse.duckdb patients --all --distinct 0.9 --max-size 4
  qidsql keys warehouse.duckdb patients --all --output keys.jsonl
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
    identifier: IdentifierOption = None,
    sensitive: SensitiveOption = None,
    where: WhereOption = None,
    entity: EntityOption = None,
    nulls: NullsOption = "equal",
    max_size: Annotated[
        int | None, typer.Option("--max-size", metavar="N", help="largest column set of --all", show_default=False)
    ] = None,
    max_statements: MaxStatementsOption = None,
    max_seconds: MaxSecondsOption = None,
    limit: Annotated[
        int,
        typer.Option(
            "--limit",
            metavar="N",
            help="column sets shown at most; --output FILE.jsonl gets all",
            min=1,
        ),
    ] = 10,
    format: SetsFormatOption = None,
    output: OutputOption = None,
    dry_run: DryRunOption = False,
    show_sql: ShowSqlOption = False,
    quiet: QuietOption = False,
    workers: WorkersOption = 2,
    snapshot: SnapshotOption = True,
    gentle: GentleOption = False,
    workspace: WorkspaceOption = False,
) -> None:
    """Which columns together are a key or a quasi-identifier: the smallest set, or every minimal one.

    Without a criterion: keys, which tell every row apart. Every set is measured on the full table. The exit code is 0
    whatever is found, 3 when a budget ended the search or there is no row.
    """
    from qidsql.commands.keys.keys import KeysQuestion, keys
    from qidsql.core.criterion_options import Wanted, asked

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
            identifiers=identifier,
            sensitive=sensitive,
            where=where,
            entity=entity,
            nulls=nulls,
            max_size=max_size,
            max_statements=max_statements,
            max_seconds=max_seconds,
        ),
        wanted=Wanted.ALL if all_sets else Wanted.MINIMAL if minimal else None,
        algorithm=algorithm,
        shown=limit,
    )
    kind = check_report(output, format, SetsFormat, dry_run)
    source, table = source_and_table(source, table)
    with opened(
        source, workers, snapshot, show_sql, workspace=workspace, gentle=gentle, max_seconds=max_seconds
    ) as engine:
        if dry_run:
            first = engine.rehearsed(lambda: keys(engine, table, question))
            write_script(engine, first, output, question.plan)
            return
        with showing_progress(engine, quiet) as on_stage:
            if kind != SetsFormat.jsonl:
                result = keys(engine, table, question, on_stage)
            else:
                from qidsql.commands.keys import json_lines as jsonl

                with lines(output) as put_line:
                    result = keys(engine, table, question, on_stage, lambda found: put_line(jsonl.line(found)))
                    put_line(jsonl.last(result))
    if kind != SetsFormat.jsonl:
        finish(result, result.outcome, result.reason, kind, output, quiet)
    if output is not None:  # the file has the sets, the screen says what they are
        write(render(result, SetsFormat.terminal, None), None)
    end(result.outcome)
