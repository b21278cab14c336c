"""qidsql init"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from qidsql.cli.command import opened, render, showing_progress
from qidsql.cli.streams import put, write
from qidsql.core.options import Format, FormatOption, GentleOption, QuietOption, ShowSqlOption, SourceArgument

EXAMPLES = "Example: qidsql init clinic.duckdb   (then: qidsql run)"


def run(
    source: SourceArgument = None,
    schema: Annotated[
        str | None, typer.Option("--schema", metavar="NAME", help="only tables of this schema", show_default=False)
    ] = None,
    table: Annotated[
        list[str] | None,
        typer.Option(
            "--table",
            metavar="PATTERN",
            help="only tables of these names, such as visits_* (repeat)",
            show_default=False,
        ),
    ] = None,
    views: Annotated[bool, typer.Option("--views", help="propose roles for views too")] = False,
    dbt: Annotated[
        Path | None,
        typer.Option(
            "--dbt",
            metavar="FILE",
            help="labels from dbt: a manifest.json or schema.yml with meta or tags on columns",
            show_default=False,
        ),
    ] = None,
    statistics: Annotated[
        bool, typer.Option("--statistics/--no-statistics", help="count values, or read the catalog alone")
    ] = True,
    output: Annotated[Path, typer.Option("--output", metavar="FILE", help="the file to write; - is stdout")] = Path(
        "qidsql.toml"
    ),
    force: Annotated[bool, typer.Option("--force", help="write the file anew, whatever stands in it")] = False,
    update: Annotated[
        bool, typer.Option("--update", help="add what is new to the file, and leave what stands in it as it is")
    ] = False,
    max_statements: Annotated[
        int, typer.Option("--max-statements", metavar="N", help="statements that count values, at most")
    ] = 2000,
    max_seconds: Annotated[
        float, typer.Option("--max-seconds", metavar="N", help="seconds to count values, at most")
    ] = 120,
    format: FormatOption = None,
    show_sql: ShowSqlOption = False,
    quiet: QuietOption = False,
    gentle: GentleOption = False,
) -> None:
    """Propose a role for every column, and write qidsql.toml for a person to correct.

    Labels that others gave (dbt, security labels of PostgreSQL Anonymizer, comments) win over names; names are looked
    up in a vocabulary in English, German, French and Spanish; types and counts of values correct them. The reason
    stands beside each role. No cell value is read. The summary goes to stdout (to stderr with --output -).
    """
    from dataclasses import replace

    from qidsql.commands.init.draft import draft
    from qidsql.commands.init.init import InitQuestion, check_target, init
    from qidsql.commands.init.init import write as write_file
    from qidsql.errors import UsageError

    question = InitQuestion(schema, tuple(table or ()), views, statistics, dbt, max_statements, max_seconds)
    if source is not None and source.startswith("env:"):
        question = replace(question, url=source)
    to_stdout = str(output) == "-"
    if to_stdout and update:
        raise UsageError("--update adds to a file; name it with --output")
    if not to_stdout:
        check_target(output, force, update)
    with (
        opened(source, show_sql=show_sql, gentle=gentle, max_seconds=max_seconds) as engine,
        showing_progress(engine, quiet) as on_stage,
    ):
        if source is not None and source.startswith(f"{engine.label}?") and engine.dialect.name == "duckdb":
            question = replace(question, url=source)  # with its options, such as header=false; none of them is secret
        result = init(engine, question, on_stage)
    if to_stdout:
        write(draft(result), None)
        if not quiet:
            put(render(result, Format.terminal, None), sys.stderr)
        return
    result = write_file(result, output, force, update)
    if not quiet or format is not None:
        write(render(result, format or Format.terminal, None), None)
