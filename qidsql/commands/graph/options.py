"""qidsql graph"""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qidsql.cli.command import check_report, end, opened, render, showing_progress, write_script
from qidsql.cli.streams import say, write
from qidsql.core.options import (
    DryRunOption,
    GentleOption,
    MaxSecondsOption,
    MaxStatementsOption,
    OutputOption,
    QuietOption,
    ShowSqlOption,
    SnapshotOption,
    SourceArgument,
    WorkersOption,
)
from qidsql.errors import UsageError

if TYPE_CHECKING:
    from qidsql.commands.graph.result import GraphResult

EXAMPLES = """\b
Examples:
  qidsql graph clinic.duckdb --identifier patients.patient_id --sensitive visits.diagnosis --protect visits
  qidsql graph env:CLINIC_URL --schema public --outside outside.toml --identifier voters.name --sensitive diagnosis
  qidsql graph --outside outside.toml --identifier owner --sensitive "selling price" --output graph.html
Exit codes: 0 finished, 1 nothing separates them, 2 error, 3 inconclusive; with --then those of that command"""


class GraphFormat(StrEnum):
    terminal = "terminal"
    json = "json"
    html = "html"
    dot = "dot"
    mermaid = "mermaid"


ENDINGS = {".htm": GraphFormat.html, ".gv": GraphFormat.dot, ".mmd": GraphFormat.mermaid}


def run(
    source: SourceArgument = None,
    identifier: Annotated[
        list[str] | None,
        typer.Option("--identifier", metavar="NAME", help="who: TABLE.COLUMN, or COLUMN (repeat)", show_default=False),
    ] = None,
    sensitive: Annotated[
        list[str] | None,
        typer.Option("--sensitive", metavar="NAME", help="what: TABLE.COLUMN, or COLUMN (repeat)", show_default=False),
    ] = None,
    schema: Annotated[
        str | None,
        typer.Option("--schema", metavar="NAME", help="only tables of this schema; default: all", show_default=False),
    ] = None,
    outside: Annotated[
        Path | None,
        typer.Option(
            "--outside",
            metavar="FILE",
            help="a .toml file: tables known outside, dependencies, merges accepted and refused",
            show_default=False,
        ),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            "--exclude",
            metavar="NAME",
            help="what nobody outside sees: a table or pattern, or TABLE.COLUMN (repeat)",
            show_default=False,
        ),
    ] = None,
    protect: Annotated[
        list[str] | None,
        typer.Option(
            "--protect",
            metavar="TABLE",
            help="a table to be published, which can be protected (repeat)",
            show_default=False,
        ),
    ] = None,
    algorithm: Annotated[
        str,
        typer.Option(
            "--algorithm",
            metavar="minimum-cut|paths",
            help="minimum-cut: the smallest sets, proved; paths: Algorithm 2 of Yan et al.",
        ),
    ] = "minimum-cut",
    accept_names: Annotated[
        bool, typer.Option("--accept-names", help="columns of one name and kind of type are one attribute")
    ] = False,
    containment: Annotated[
        bool,
        typer.Option(
            "--containment/--no-containment",
            help="compare the values of columns, in the database: those found in one another are one attribute",
        ),
    ] = True,
    find_dependencies: Annotated[
        bool,
        typer.Option(
            "--find-dependencies",
            help="columns that determine another in every row of today lead one way, as those of --outside FILE do",
        ),
    ] = False,
    max_paths: Annotated[int, typer.Option("--max-paths", metavar="N", help="paths to list at most")] = 10,
    every_path: Annotated[
        bool,
        typer.Option("--every-path", help="list also paths that go through several attributes of one table"),
    ] = False,
    then: Annotated[
        str | None,
        typer.Option(
            "--then",
            metavar="audit|mask|suppress",
            help="run this command on the one table of --protect, with the columns to protect as its quasi-identifiers",
            show_default=False,
        ),
    ] = None,
    k: Annotated[int, typer.Option("--k", metavar="K", help="the class size that --then asks for")] = 5,
    entity: Annotated[
        str | None,
        typer.Option(
            "--entity",
            metavar="NAME",
            help="the column of that table that tells persons apart: --then counts persons in a class, not rows",
            show_default=False,
        ),
    ] = None,
    max_statements: MaxStatementsOption = None,
    max_seconds: MaxSecondsOption = None,
    format: Annotated[
        GraphFormat | None,
        typer.Option(
            "--format",
            case_sensitive=False,
            help="how the report is written; default: as --output FILE ends (.json, .html, .dot, .mmd), else for the "
            "terminal",
            show_default=False,
        ),
    ] = None,
    output: OutputOption = None,
    dry_run: DryRunOption = False,
    show_sql: ShowSqlOption = False,
    quiet: QuietOption = False,
    workers: WorkersOption = 2,
    snapshot: SnapshotOption = True,
    gentle: GentleOption = False,
) -> None:
    """Which attributes are the bridge from a person to a secret, over all tables that someone can join.

    Prints the smallest set of attributes that separates the identifiers from the sensitive ones, the paths that it
    cuts, and, with --protect, which of its columns lie in the table to be published and which are exposed elsewhere.
    Tables known outside the database stand in --outside FILE; without SOURCE they are all there is.
    """
    import os
    from contextlib import nullcontext

    from qidsql.commands.graph.follow_up import follow
    from qidsql.commands.graph.graph import graph
    from qidsql.commands.graph.request import GraphQuestion
    from qidsql.commands.graph.request import algorithm as algorithm_by_name
    from qidsql.commands.graph.request import then as then_by_name
    from qidsql.core.policy import names

    question = GraphQuestion(
        identifiers=names(identifier),
        sensitive=names(sensitive),
        schema=schema,
        outside=outside,
        exclude=names(exclude),
        protect=names(protect),
        algorithm=algorithm_by_name(algorithm),
        accept_names=accept_names,
        containment=containment,
        find_dependencies=find_dependencies,
        max_paths=max_paths,
        every_path=every_path,
        then=then_by_name(then) if then is not None else None,
        k=k,
        entity=entity,
        max_statements=max_statements,
        max_seconds=max_seconds,
    )
    kind = check_report(output, _format(format, output), GraphFormat, dry_run)
    if then is not None and kind in (GraphFormat.dot, GraphFormat.mermaid):
        raise UsageError(f"--format {kind} is a picture of the graph alone; leave out --then, or choose another format")
    alone = source is None and outside is not None and not os.environ.get("QIDSQL_URL")
    with (
        nullcontext()
        if alone
        else opened(source, workers, snapshot, show_sql, gentle=gentle, max_seconds=max_seconds) as engine
    ):
        if dry_run and engine is not None:
            write_script(engine, engine.rehearsed(lambda: graph(engine, question)), output)
            return
        with nullcontext(lambda stage: None) if engine is None else showing_progress(engine, quiet) as on_stage:
            result = graph(engine, question, on_stage)
            if engine is not None:
                result = follow(engine, question, result, on_stage)
    write(_rendered(result, kind, output), output)
    if output is not None and not quiet:
        say(f"{result.outcome}: {result.reason}")
    end(result.outcome if result.then is None else str(result.then.result.to_dict()["verdict"]))


def _format(format: GraphFormat | None, output: Path | None) -> GraphFormat | None:
    return format or (None if output is None else ENDINGS.get(output.suffix.lower()))


def _rendered(result: "GraphResult", format: StrEnum, output: Path | None) -> str:
    if format is GraphFormat.html:
        from qidsql.commands.graph.pictures import page as graph_page

        return graph_page.render(result)
    if format is GraphFormat.dot:
        from qidsql.commands.graph.pictures import dot as graph_dot

        return graph_dot.render(result)
    if format is GraphFormat.mermaid:
        from qidsql.commands.graph.pictures import mermaid as graph_mermaid

        return graph_mermaid.render(result)
    return render(result, format, output)
