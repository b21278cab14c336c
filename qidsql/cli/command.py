"""Runs a command: builds its request, opens the source, does the work, writes the report, sets the exit code.

The options of a command are the fields of its request (`qidsql.declarations.options`), and those of the command line
itself: how the source is opened, and where the report goes. `init` and `demo` have their own `perform`, in
`qidsql.cli.init` and `qidsql.cli.demo`.
"""

import inspect
import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from qidsql.cli.completion import completer
from qidsql.cli.memory import BESIDE, lower_memory
from qidsql.cli.options import (
    CONNECTION,
    DOCUMENTS,
    OUTPUT,
    REQUIRE,
    TERMINAL,
    Format,
    Gentle,
    MinCount,
    Outputs,
    Quiet,
    SourceArgument,
    check_min_count,
    format_words,
    limits_by_name,
    report_format,
    source_and_table,
)
from qidsql.cli.streams import lines, parts, put, report_text, safe_text, say, screen, showing_progress, write_output
from qidsql.core.budget import settled
from qidsql.core.options import size_in_bytes
from qidsql.core.policy import PolicyOptions
from qidsql.core.requirements import Limit
from qidsql.declarations.options import Command, Option, Parameter, parameters
from qidsql.errors import Stopped, UsageError
from qidsql.wording.texts import typed_as

if TYPE_CHECKING:
    from qidsql.engines.base import Engine
    from qidsql.engines.connect import Source
    from qidsql.sql.templates import Statement
if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from qidsql.core.results import Result
    from qidsql.engines.base import Engine
    from qidsql.engines.connect import Source
    from qidsql.engines.runner import ExecutedStatement
    from qidsql.operations.document import RunResult
    from qidsql.report.blocks import Block


# A dry run: the statements that a command would run, written as a script.


FORMATTED = 50  # statements that are formatted for reading; formatting takes far longer than building them


def write_dry_run(
    command: Command,
    work: Callable[..., Any],
    source: "Source",
    request: Any,
    output: Path | None,
    completed: Callable[..., Any],
) -> None:
    """Writes the first statements that the command would run. Queries only the catalog. Raises QidsqlError.

    `completed` adds the policy of the table to the request.
    """
    from qidsql.engines.connect import Source

    with source.opened() as engine:
        subject = Source(engine) if command.opens else engine
        request = completed(engine, request, source)
        planned = getattr(import_module(work.__module__), "planned_statements", None)
        first = planned(engine, request) if planned else engine.planned_statements(lambda: work(subject, request))
        script = _script(engine, first, getattr(request, "plan", ""))
        write_output(script if output else safe_text(script, sys.stdout), output)


def _script(engine: "Engine", statements: "Sequence[Statement[Any]]", plan: str) -> str:
    """The plan in words, then the statements."""
    from qidsql.wording.texts import plural, size

    parts = [formatted_sql(engine, each.purpose, each.sql) for each in statements[:FORMATTED]]
    parts += [f"-- {each.purpose}\n{each.sql};\n" for each in statements[FORMATTED:]]
    known = engine.bytes_of(statements)
    about = "at most" if engine.bytes_exact else "about"
    they_read = "" if known is None else f", which read {about} {size(known)}"
    end = (
        f"\n-- at least {plural(len(statements), 'statement')}{they_read}; later ones depend on the results. "
        f"Only the catalog was queried.\n"
    )
    head = f"-- Plan: {plan}\n\n" if plan else ""
    return head + "\n".join(parts) + end


def formatted_sql(engine: "Engine", purpose: str, statement: str) -> str:
    """A statement formatted for reading, below a comment with its purpose."""
    return f"-- {purpose}\n{engine.pretty(statement)};\n"


LOG = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class LineOptions:
    """The options that only the command line has."""

    format: Format = None
    output: Outputs = ()
    min_count: MinCount = None
    dry_run: Annotated[
        bool, Option("print the first statements without running them; queries only the catalog", panel=OUTPUT)
    ] = False
    show_sql: Annotated[bool, Option("print each statement to stderr once it has run", panel=OUTPUT)] = False
    quiet: Quiet = False
    workers: Annotated[int, Option("parallel sessions on a server", "N", panel=CONNECTION, least=1, most=64)] = 2
    snapshot: Annotated[
        bool,
        Option(
            "one snapshot for all statements, or one for each (does not hold back vacuum)",
            flags=("--snapshot/--no-snapshot",),
            panel=CONNECTION,
        ),
    ] = True
    gentle: Gentle = False

    @property
    def file(self) -> Path | None:
        """The first file of the report; None: stdout."""
        return next(iter(self.output), None)


Perform: TypeAlias = Callable[[str, Command, str | None, Any, LineOptions], None]


def typer_function(name: str, command: Command, perform: Perform) -> Callable[..., None]:
    """The function that typer turns into a command: one parameter for each option; it calls `perform`."""
    taken = [each for each in parameters(command.request) if each.name not in command.left_out]
    limits = [each for each in taken if isinstance(each.option, Limit)]
    ours = [each for each in taken if not each.option.by_require]
    if len(ours) < len(taken) and all(each.name != "require" for each in ours):
        ours.append(REQUIRE)
    without = {*command.without, *(() if command.documents else ("min_count",))}
    theirs = [_described(each, command) for each in parameters(LineOptions) if each.name not in without]
    source_argument = () if "source" in command.without else parameters(SourceArgument)

    def run(given: dict[str, Any]) -> None:
        values = {each.name: given[each.name] for each in ours if given[each.name] is not None}
        limited = limits_by_name(values.pop("require", ()), limits, [each.name for each in taken])
        if twice := next((name for name in limited if name in values), None):
            raise UsageError(f"{twice.replace('_', '-')} is given twice; keep one")
        values |= limited
        line = LineOptions(**{each.name: given[each.name] for each in theirs if given[each.name] is not None})
        source = given.get("source")
        if any(each.name == "table" and each.option.argument for each in ours):
            source, table = source_and_table(source, values.get("table"))
            values |= {} if table is None else {"table": table}
        if command.of_policy:
            from qidsql.operations.policy_lookup import made_from, released

            values |= made_from(source, values.get("of"), values.get("table"), values.get("policy_file"))
            source, named = released(source, values.get("policy_file"))
            values = named | values
        if issubclass(command.request, PolicyOptions):
            from qidsql.operations.policy_lookup import policy_files

            values["given"] = _typed(given["context"]) - {"require"} | limited.keys()
            values["awaits_policy"] = bool(values["policy_file"] if "policy_file" in values else policy_files(source))
        with typed_as(source):
            perform(name, command, source, command.request(**values), line)

    first = [each for each in ours if each.name != "table"] if command.source_last else []  # then source, table
    every = (*first, *source_argument, *(each for each in ours if each not in first))
    return _function((*every, *theirs), run, command)


def _typed(context: typer.Context) -> frozenset[str]:
    """The names of the options that the user gave, also by a variable, be it with the value that is the default."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return frozenset(name for name, source in sources.items() if source and source.name in GIVEN)


GIVEN = ("COMMANDLINE", "ENVIRONMENT")


def request_function(command: Command, run: Callable[[Any], None]) -> Callable[..., None]:
    """The function of a command without a source argument, whose request has all its options."""
    request = command.request

    def run_request(given: dict[str, Any]) -> None:
        run(request(**{name: value for name, value in given.items() if value is not None and name != "context"}))

    return _function(parameters(request), run_request, command)


def _function(
    every: Sequence[Parameter], run: Callable[[dict[str, Any]], None], command: Command
) -> Callable[..., None]:
    arguments = [each for each in every if each.option.argument]
    first = {name: place for place, name in enumerate(command.listed)}  # the order of --help
    options = sorted(
        (each for each in every if not each.option.argument), key=lambda each: first.get(each.name, len(first))
    )

    def function(**given: Any) -> None:
        run(given)

    listed = command.listed or [each.name for each in options]
    shown = [CONTEXT, *map(_typer, arguments), *(_typer(each, each.name not in listed) for each in options)]
    if len(listed) < len(options):
        shown.append(HELP_ALL)
    function.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    function.__doc__ = command.about or inspect.getdoc(command.request)
    return function


def _help_all(context: typer.Context, wanted: bool) -> None:
    """Prints the help with every option, and exits."""
    if wanted:
        for each in context.command.params:
            each.hidden = False  # type: ignore[attr-defined]
        typer.echo(context.get_help())
        raise typer.Exit


CONTEXT = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
HELP_ALL = inspect.Parameter(
    "help_all",
    inspect.Parameter.KEYWORD_ONLY,
    default=False,
    annotation=Annotated[
        bool,
        typer.Option("--help-all", callback=_help_all, is_eager=True, help="list all options, and exit"),
    ],
)


def epilog(name: str, command: Command) -> str:
    """The text below the options: examples, exit codes, and the page of the manual."""
    examples = (f"  {each}" for each in command.examples)
    return "\n".join(["\b", "Examples:", *examples, f"Exit codes: {command.exit_codes}", f"Manual: qidsql help {name}"])


def perform(name: str, command: Command, source: str | None, request: Any, line: LineOptions) -> None:
    """Runs a command, writes its report, and exits with its exit code. Raises QidsqlError."""
    reports = [replace(line, output=(each,)) for each in line.output] or [line]
    if len(reports) > 1 and line.dry_run:
        raise UsageError("--dry-run writes one script; give one --output")
    formats = [report_format(formats_of(command), each.format, each.file, each.dry_run) for each in reports]
    for each in formats:
        check_min_count(line.min_count, each)
    if len(reports) > 1 and "jsonl" in formats:
        raise UsageError("a file of JSON lines is written while the work goes on; give it as the only --output")
    format = formats[0]
    renders = [renderer(name, request, each, to) for each, to in zip(formats, reports, strict=True)]
    work = work_of(name)
    with showing_progress(line.quiet or line.dry_run) as (on_stage, watch, out_of_the_way):
        unopened = source_of(command, source, request, line, watch)
        if line.dry_run and unopened.named:
            write_dry_run(command, work, unopened, request, line.file, completed)
            return
        on_stage = _logged(on_stage)
        on_stage("opening the source")
        live = None
        with nullcontext(unopened) if command.opens else unopened.opened() as subject:
            request = completed(subject, request, unopened)
            if format == "jsonl":
                stream = import_module(f"qidsql.commands.{name}.report")
                with lines(line.file) as put_line:
                    result = work(subject, stream.streamed(request, put_line), on_stage)
                    put_line(stream.last(result))
            elif live := _live(name, format, line, out_of_the_way):
                result = work(subject, live.streamed(request), on_stage)
            else:
                result = work(subject, request, on_stage)
    if live is not None:
        live.last(result)
    elif format != "jsonl":
        for render, report in zip(renders, reports, strict=True):
            with parts(report.file) as put_part:
                for part in render(result):
                    put_part(part)
        if line.file is not None and not line.quiet:
            hidden = f"; the reason, with hidden counts, is in {line.file}"
            say(f"{result.verdict}: {result.reason}" if line.min_count is None else f"{result.verdict}{hidden}")
    elif line.file is not None:  # the file has the lines, the screen a summary
        write_output("".join(renderer(name, request, TERMINAL, replace(line, output=()))(result)), None)
    settled()
    raise typer.Exit(result.ending.exit_code)


def _logged(on_stage: Callable[[str], None]) -> Callable[[str], None]:
    """What is told each stage, and writes it to the log too."""

    def stage(name: str) -> None:
        LOG.info("%s", name)
        on_stage(name)

    return stage


def completed(subject: Any, request: Any, source: "Source") -> Any:
    """The request, completed by the policy file of its table, if there is one. Raises UsageError, UnknownName."""
    if not getattr(request, "awaits_policy", False):
        return request
    from qidsql.operations import table_policy

    return table_policy.with_policy(subject, request, source.text)


def _live(
    name: str, format: str, line: LineOptions, out_of_the_way: "Callable[[], AbstractContextManager[Any]]"
) -> Any:
    """The report that is shown while the work goes on, if the command has one and writes to a terminal; else None."""
    on_terminal = format == TERMINAL and line.file is None and sys.stdout is not None and sys.stdout.isatty()
    live = getattr(import_module(f"qidsql.commands.{name}.report"), "LiveReport", None) if on_terminal else None
    if live is None:
        return None

    def show(blocks: "Iterable[Block]", begun: bool) -> None:
        with out_of_the_way():
            put(report_text(blocks, *screen(None), begun), sys.stdout)

    return live(show)


def work_of(name: str) -> Callable[..., Any]:
    """The function that does the work of a command."""
    work = name.rpartition(".")[2]
    return getattr(import_module(f"qidsql.commands.{name}.{work}"), work)  # type: ignore[no-any-return]


def source_of(
    command: Command,
    given: str | None,
    request: Any,
    line: LineOptions,
    watch: "Callable[[Engine], None]",
) -> "Source":
    """The source with the connection options of the command line. `watch` is called with each opened engine."""
    from qidsql.engines.connect import Source

    def watched(engine: "Engine") -> None:
        with suppress(Stopped):  # the next query raises it again
            if engine.memory_limit is not None:
                lower_memory(engine.memory_limit + BESIDE)
        if line.show_sql:

            def show(each: "ExecutedStatement") -> None:
                put(safe_text(formatted_sql(engine, each.purpose, each.sql), sys.stderr) + "\n", sys.stderr)

            engine.watchers.append(show)
        watch(engine)

    options = {
        "workers": 1 if "workers" in command.without else line.workers,
        "snapshot": line.snapshot,
        "writable": getattr(request, "writable", False),
        "workspace": getattr(request, "workspace", False),
        "gentle": line.gentle,
        "beside": getattr(request, "beside", None),
    }
    most = size_in_bytes("max_bytes", getattr(request, "max_bytes", None))
    return Source(given, options, watched, getattr(request, "max_seconds", None), most)


def formats_of(command: Command) -> tuple[str, ...]:
    """The formats of a command's report."""
    return DOCUMENTS if command.documents else command.formats


Render: TypeAlias = "Callable[[Result], Iterator[str]]"


def renderer(name: str, request: Any, format: str, line: LineOptions) -> Render:
    """The function that renders a result as text, in parts. Raises UsageError if the request excludes the format."""
    if format in (TERMINAL, "jsonl"):
        report = import_module(f"qidsql.commands.{name}.report").report
        return lambda result: iter([report_text(report(result), *screen(line.file))])
    if format == "json" and line.min_count is None:
        from qidsql.formats import json

        return lambda result: iter([json.render(result)])
    own = f"qidsql.commands.{name}.formats"
    if find_spec(own) is not None and format in (pictures := import_module(own)).FORMATS:
        draw = pictures.renderer(request, format)
        return lambda result: iter([draw(result)])
    if import_module(f"qidsql.commands.{name}.command").COMMAND.documents:
        return lambda result: _document(result, format, line.min_count)
    from qidsql.formats.command_reports import CommandReport, report_as

    return lambda result: iter([report_as(CommandReport.of(result), format)])


def _document(result: "Result", format: str, min_count: int | None) -> Iterator[str]:
    from qidsql.commands.audit.command import AuditResult
    from qidsql.formats.registry import document_format
    from qidsql.operations.document import as_document

    assert isinstance(result, AuditResult), "only audits have documents"
    return document_format(format).written(hide_counts(as_document(result), min_count))


def hide_counts(document: "RunResult", min_count: int | None) -> "RunResult":
    """The document, with hidden counts if --min-count is given. Raises UsageError."""
    if min_count is None:
        return document
    from qidsql.formats.min_count import without_small_counts

    if document.min_count is not None:
        raise UsageError(f"the counts of this report are hidden already (--min-count {document.min_count})")
    return without_small_counts(document, min_count)


def _described(parameter: Parameter, command: Command) -> Parameter:
    """The parameter; the help of --format lists the formats of the command."""
    if parameter.name != "format":
        return parameter
    formats = formats_of(command)
    return replace(parameter, option=replace(parameter.option, help=format_words(formats), values=formats))


def _typer(parameter: Parameter, hidden: bool = False) -> inspect.Parameter:
    """The parameter of a command function, for typer."""
    option, default = parameter.option, parameter.default
    optional = default is None or default == ()
    kind = parameter.form.command_line
    words: dict[str, Any] = {
        "metavar": option.metavar or None,
        "help": option.help,
        "show_default": not optional and not option.argument,
        "rich_help_panel": option.panel,
        "hidden": hidden,
        "autocompletion": completer(option),
    }
    if option.least is not None or option.most is not None:
        words |= {"min": option.least, "max": option.most}
    if option.variable:
        words |= {"envvar": option.variable, "show_envvar": False}
    info = typer.Argument(**words) if option.argument else typer.Option(*parameter.flags, **words)
    return inspect.Parameter(
        parameter.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None if optional else default,
        annotation=Annotated[kind | None if optional else kind, info],
    )
