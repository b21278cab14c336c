"""qidsql mask"""

from typing import Annotated

import typer

from qidsql.cli.command import check_report, finish, opened, showing_progress, source_and_table, write_script
from qidsql.core.options import (
    ColumnOption,
    DeltaOption,
    DistinctOption,
    DryRunOption,
    EntityOption,
    EpsilonOption,
    ExcludeOption,
    FormatOption,
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

EXAMPLES = """\b
Examples:
  qidsql mask warehouse.duckdb patients --violates 5
  qidsql mask warehouse.duckdb patients --separation 0.8 --exact --weights zip_code=3
Exit codes: 0 finished, 2 error, 3 inconclusive"""


def run(
    source: SourceArgument = None,
    table: TableArgument = None,
    distinct: DistinctOption = None,
    separation: SeparationOption = None,
    violates: ViolatesOption = None,
    rows_at_risk: RowsAtRiskOption = None,
    k: KOption = 5,
    exact: Annotated[bool, typer.Option("--exact", help="prove that no choice publishes more")] = False,
    epsilon: EpsilonOption = None,
    delta: DeltaOption = None,
    seed: SeedOption = None,
    verify: VerifyOption = True,
    weights: WeightsOption = None,
    view: Annotated[
        str | None,
        typer.Option("--view", metavar="NAME", help="the view's name; default: TABLE_published", show_default=False),
    ] = None,
    role: Annotated[str, typer.Option("--role", metavar="NAME", help="who is to read it, in the script")] = "reader",
    column: ColumnOption = None,
    exclude: ExcludeOption = None,
    identifier: IdentifierOption = None,
    sensitive: SensitiveOption = None,
    where: WhereOption = None,
    entity: EntityOption = None,
    nulls: NullsOption = "equal",
    max_statements: MaxStatementsOption = None,
    max_seconds: MaxSecondsOption = None,
    format: FormatOption = None,
    output: OutputOption = None,
    dry_run: DryRunOption = False,
    show_sql: ShowSqlOption = False,
    quiet: QuietOption = False,
    workers: WorkersOption = 2,
    snapshot: SnapshotOption = True,
    gentle: GentleOption = False,
    workspace: WorkspaceOption = False,
) -> None:
    """Which columns can be published together, so that they do not meet the criterion.

    Prints what is published and withheld, how near the optimum that is, and the statements that would carry it out;
    runs none of them. A ratio of exactly --distinct or --separation may be published.
    """
    from qidsql.commands.mask.mask import MaskQuestion, mask
    from qidsql.core.criterion_options import asked

    question = MaskQuestion(
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
            max_statements=max_statements,
            max_seconds=max_seconds,
        ),
        exact=exact,
        view=view,
        role=role,
    )
    check_report(output, format, dry_run=dry_run)
    source, table = source_and_table(source, table)
    with opened(
        source, workers, snapshot, show_sql, workspace=workspace, gentle=gentle, max_seconds=max_seconds
    ) as engine:
        if dry_run:
            first = engine.rehearsed(lambda: mask(engine, table, question))
            write_script(engine, first, output, question.plan)
            return
        with showing_progress(engine, quiet) as on_stage:
            result = mask(engine, table, question, on_stage)
    finish(result, result.outcome, result.reason, format, output, quiet)
