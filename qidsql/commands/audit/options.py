"""qidsql audit"""

from typing import Annotated

import typer

from qidsql.cli.command import (
    check_min_count,
    check_report,
    finish,
    opened,
    showing_progress,
    source_and_table,
    write_script,
)
from qidsql.core.options import (
    STATEMENTS,
    ColumnOption,
    DryRunOption,
    EntityOption,
    ExcludeOption,
    GentleOption,
    IdentifierOption,
    KOption,
    MaxSecondsOption,
    MaxSizeOption,
    MinCountOption,
    NullsOption,
    OutputOption,
    QuietOption,
    ReportFormat,
    ReportFormatOption,
    SensitiveOption,
    ShowSqlOption,
    SnapshotOption,
    SourceArgument,
    TableArgument,
    WhereOption,
    WorkersOption,
    WorkspaceOption,
)

EXAMPLES = """\b
Examples:
  qidsql audit warehouse.duckdb patients --k 5 --identifier patient_id --sensitive diagnosis
  qidsql audit postgresql://auditor@db.example.org/clinic public.visits --entity patient_id
  qidsql audit people.csv -c zip -c birth_date -c sex --format json --output audit.json
  qidsql audit warehouse.duckdb patients --output report.html
Exit codes: 0 pass, 1 policy violated, 2 error, 3 inconclusive"""


def run(
    source: SourceArgument = None,
    table: TableArgument = None,
    k: KOption = 5,
    column: ColumnOption = None,
    exclude: ExcludeOption = None,
    identifier: IdentifierOption = None,
    sensitive: SensitiveOption = None,
    keep_identifiers: Annotated[
        bool, typer.Option("--keep-identifiers", help="search recognised direct identifiers too")
    ] = False,
    distinct: Annotated[
        str | None,
        typer.Option(
            "--distinct",
            metavar="RATIO",
            help="no column set may reach this distinct ratio, such as 0.9",
            show_default=False,
        ),
    ] = None,
    separation: Annotated[
        str | None,
        typer.Option(
            "--separation", metavar="RATIO", help="no column set may reach this separation ratio", show_default=False
        ),
    ] = None,
    rows_at_risk: Annotated[
        str | None,
        typer.Option(
            "--rows-at-risk",
            metavar="RATIO",
            help="no column set may put this share of the rows below k",
            show_default=False,
        ),
    ] = None,
    where: WhereOption = None,
    entity: EntityOption = None,
    nulls: NullsOption = "equal",
    max_size: MaxSizeOption = None,
    max_statements: Annotated[
        int | None,
        typer.Option(
            "--max-statements",
            metavar="N",
            help=f"statements to ask at most; default: 1000, fewer on large tables; {STATEMENTS}",
            show_default=False,
        ),
    ] = None,
    max_seconds: MaxSecondsOption = None,
    format: ReportFormatOption = None,
    output: OutputOption = None,
    min_count: MinCountOption = None,
    dry_run: DryRunOption = False,
    show_sql: ShowSqlOption = False,
    quiet: QuietOption = False,
    workers: WorkersOption = 2,
    snapshot: SnapshotOption = True,
    gentle: GentleOption = False,
    workspace: WorkspaceOption = False,
) -> None:
    """Is this table k-anonymous, and if not, which columns are to blame?

    Prints the verdict, the measures of every column, the smallest column sets below k, the keys, and what withholding
    a column would change. Reads only; no row and no cell value leaves the database.
    """
    from qidsql.commands.audit.audit import audit, planned_statements
    from qidsql.core.policy import Policy

    policy = Policy.read(
        k=k,
        columns=column,
        exclude=exclude,
        identifiers=identifier,
        sensitive=sensitive,
        keep_identifiers=keep_identifiers,
        distinct=distinct,
        separation=separation,
        rows_at_risk=rows_at_risk,
        where=where,
        entity=entity,
        nulls=nulls,
        max_size=max_size,
        max_statements=max_statements,
        max_seconds=max_seconds,
    )
    check_min_count(min_count, check_report(output, format, ReportFormat, dry_run))
    source, table = source_and_table(source, table)
    with opened(
        source, workers, snapshot, show_sql, workspace=workspace, gentle=gentle, max_seconds=max_seconds
    ) as engine:
        if dry_run:
            write_script(engine, planned_statements(engine, table, policy), output)
            return
        with showing_progress(engine, quiet) as on_stage:
            result = audit(engine, table, policy, on_stage)
    finish(result, result.verdict, result.reason, format, output, quiet, ReportFormat, min_count)
