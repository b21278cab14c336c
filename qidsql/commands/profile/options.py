"""qidsql profile"""

from typing import Annotated

import typer

from qidsql.cli.command import check_report, finish, opened, showing_progress, source_and_table, write_script
from qidsql.core.options import (
    DryRunOption,
    EntityOption,
    FormatOption,
    GentleOption,
    KOption,
    NullsOption,
    OutputOption,
    QuietOption,
    ShowSqlOption,
    SourceArgument,
    TableArgument,
    WhereOption,
)

EXAMPLES = "Example: qidsql profile people.csv -c zip -c birth_date -c sex --show-sql"


def run(
    source: SourceArgument = None,
    table: TableArgument = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            "-c",
            "--column",
            metavar="NAME",
            help="a column of the set (repeat); default: all columns together",
            show_default=False,
        ),
    ] = None,
    k: KOption = 5,
    where: WhereOption = None,
    entity: EntityOption = None,
    nulls: NullsOption = "equal",
    format: FormatOption = None,
    output: OutputOption = None,
    dry_run: DryRunOption = False,
    show_sql: ShowSqlOption = False,
    quiet: QuietOption = False,
    gentle: GentleOption = False,
) -> None:
    """The measures of one column set: classes, ratios, k-anonymity level, rows at risk.

    One statement, one scan. Measures only: the exit code is 0 whatever they are, 3 where there is no row to measure.
    """
    from qidsql.commands.profile.profile import planned_statement, profile
    from qidsql.core.policy import Policy

    policy = Policy.read(k=k, columns=column, where=where, entity=entity, nulls=nulls)
    check_report(output, format, dry_run=dry_run)
    source, table = source_and_table(source, table)
    with opened(source, show_sql=show_sql, gentle=gentle) as engine:
        if dry_run:
            write_script(engine, [planned_statement(engine, table, policy)], output)
            return
        with showing_progress(engine, quiet) as on_stage:
            on_stage("profiling the column set")
            result = profile(engine, table, policy)
    rows = result.profile.rows
    finish(result, "finished" if rows else "inconclusive", f"{rows:,} rows measured", format, output, quiet)
