"""What commands do alike: open the source, show progress, write what came out, end with its exit code."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from enum import IntEnum, StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from qidsql.cli.memory import BESIDE, lower_memory
from qidsql.cli.streams import check_output, put, say, write
from qidsql.core.options import ENDINGS, Format
from qidsql.errors import Stopped, UsageError

if TYPE_CHECKING:
    from qidsql.commands.audit.report import Result
    from qidsql.engines.base import Engine
    from qidsql.sql.statements import Statement

PLAIN = ("", "txt", "text", "log", "out")  # endings of files that take what the terminal would
UNNAMED = ("terminal", "github")  # formats that no ending is usual for
PRETTY_STATEMENTS = 50  # laid out for reading in a dry run; that takes far longer than the statements' making


class ExitCode(IntEnum):
    """What a run of qidsql tells a script."""

    PASS = 0
    VIOLATION = 1
    ERROR = 2
    INCONCLUSIVE = 3


ENDS = {
    "pass": ExitCode.PASS,
    "finished": ExitCode.PASS,
    "violation": ExitCode.VIOLATION,
    "error": ExitCode.ERROR,
}  # any other: inconclusive


@contextmanager
def standing_for(variable: str, given: str | None) -> Iterator[None]:
    """Errors in the block name the variable, where that is what gave the option. Raises UsageError."""
    try:
        yield
    except UsageError as error:
        if given is None or os.environ.get(variable) != given:
            raise
        raise UsageError(f"{variable}: {error}") from None


def source_and_table(source: str | None, table: str | None) -> tuple[str | None, str | None]:
    """A single argument names the table when QIDSQL_URL names the source and no file has that name."""
    if source and table is None and os.environ.get("QIDSQL_URL") and not Path(source).exists():
        if source.startswith("env:") or any(sign in source for sign in "*?/=@"):
            return source, table
        return None, source
    return source, table


@contextmanager
def opened(
    source: str | None,
    workers: int = 1,
    snapshot: bool = True,
    show_sql: bool = False,
    writable: bool = False,
    workspace: bool = False,
    *,
    gentle: bool = False,
    max_seconds: float | None = None,
) -> "Iterator[Engine]":
    """The source, connected; read-only unless `writable`. The seconds are for connecting and for all in the block.

    Raises SourceError, AccessError, StatementError, UsageError.
    """
    from qidsql.core.time_limit import within
    from qidsql.engines.connect import reached

    options = {"workers": workers, "snapshot": snapshot, "writable": writable, "workspace": workspace, "gentle": gentle}
    with within(max_seconds), reached(source, **options) as engine:
        with suppress(Stopped):  # whoever asks next hears of it again
            if engine.memory_limit is not None:
                lower_memory(engine.memory_limit + BESIDE)
        if show_sql:
            engine.watchers.append(lambda asked: put(_sql(engine, asked.purpose, asked.sql) + "\n", sys.stderr))
        yield engine


def showing_progress(engine: "Engine", quiet: bool) -> "AbstractContextManager[Callable[[str], None]]":
    """Shows on stderr what is going on; gives the function that tells the stage."""
    from qidsql.cli.progress import progress

    return progress(engine, sys.stderr, quiet or sys.stderr is None)


def showing_progress_of_many(
    quiet: bool,
) -> "AbstractContextManager[tuple[Callable[[str], None], Callable[[Engine], None]]]":
    """The same for a command that opens one engine after the other, each of which it is to hand on."""
    from qidsql.cli.progress import several

    return several(sys.stderr, quiet or sys.stderr is None)


def write_script(engine: "Engine", statements: "Sequence[Statement[Any]]", output: Path | None, plan: str = "") -> None:
    """What a dry run writes: the plan in words, and the statements that would be asked first."""
    from qidsql.core.wording import plural

    parts = [_sql(engine, statement.purpose, statement.sql) for statement in statements[:PRETTY_STATEMENTS]]
    parts += [f"-- {statement.purpose}\n{statement.sql};\n" for statement in statements[PRETTY_STATEMENTS:]]
    end = (
        f"\n-- {plural(len(statements), 'statement')} at least; later ones depend on the answers. "
        f"Nothing was asked but the catalog.\n"
    )
    head = f"-- Plan: {plan}\n\n" if plan else ""
    write(head + "\n".join(parts) + end, output)


def finish(
    result: "Result",
    verdict: str,
    reason: str,
    format: StrEnum | None,
    output: Path | None,
    quiet: bool,
    formats: type[StrEnum] = Format,
    min_count: int | None = None,
) -> None:
    """Writes the report, and ends with the verdict's exit code. Raises UsageError."""
    write(render(result, chosen(format, formats, output), output, min_count), output)
    if output is not None and not quiet:
        say(
            f"{verdict}: {reason}"
            if min_count is None
            else f"{verdict}; the reason, with small counts left out: {output}"
        )
    end(verdict)


def end(verdict: str) -> None:
    """Ends the command with the verdict's exit code."""
    raise typer.Exit(ENDS.get(verdict, ExitCode.INCONCLUSIVE))


def check_report(
    output: Path | None, format: StrEnum | None, kinds: type[StrEnum] = Format, dry_run: bool = False
) -> StrEnum:
    """The format of the report. What cannot be written is said before the work, not after it. Raises UsageError.

    A dry run writes statements, into a file of any name.
    """
    check_output(output)
    return kinds("terminal") if dry_run else chosen(format, kinds, output)


def chosen(format: StrEnum | None, kinds: type[StrEnum], output: Path | None) -> StrEnum:
    """The format asked for; without one, as the name of the file ends. Raises UsageError for another kind of file."""
    if format is not None:
        return format
    ending = "" if output is None else output.suffix.lower().removeprefix(".")
    named = ENDINGS.get(ending, ending)
    if ending in PLAIN:
        return kinds("terminal")
    found = next((kind for kind in kinds if kind.value == named), None)
    if found is None:
        endings = {name: each for each, name in ENDINGS.items()}
        known = ", ".join(f".{endings.get(kind.value, kind.value)}" for kind in kinds if kind.value not in UNNAMED)
        raise UsageError(
            f"--output {output}: this command writes no .{ending} file; expected a name that ends in {known} or .txt, "
            f"or --format to say what is written"
        )
    return found


def check_min_count(min_count: int | None, format: StrEnum) -> None:
    """What cannot hide small counts is said before the work. Raises UsageError."""
    if min_count is not None and format == Format.terminal:
        raise UsageError(
            "--min-count is for reports that are passed on; give --format html, markdown, junit, sarif, github, "
            "prometheus or json, or --output FILE.html"
        )
    if min_count is not None and min_count < 2:
        raise UsageError(f"--min-count must be at least 2, got {min_count}: nothing would be hidden")


def render(result: "Result", format: StrEnum, output: Path | None, min_count: int | None = None) -> str:
    """The report as text: in colour and in its width for a terminal."""
    if format == Format.json and min_count is None:
        from qidsql.formats import json

        return json.render(result)
    if format != Format.terminal:
        from qidsql.commands.audit.result import AuditResult
        from qidsql.formats.min_count import without_small_counts
        from qidsql.formats.render import render as render_document
        from qidsql.operations.document import as_document

        assert isinstance(result, AuditResult), "only audits have documents"
        document = as_document(result)
        return render_document(document if min_count is None else without_small_counts(document, min_count), format)
    from qidsql.commands.audit import report as terminal

    return terminal.render(result, *screen(output))


def screen(output: Path | None) -> tuple[int, bool]:
    """Columns of the terminal, and whether it wants colours."""
    on_screen = output is None and sys.stdout is not None and sys.stdout.isatty()
    width = max(60, min(140, shutil.get_terminal_size((120, 24)).columns)) if output is None else 120
    return width, on_screen and not os.environ.get("NO_COLOR")


def _sql(engine: "Engine", purpose: str, statement: str) -> str:
    return f"-- {purpose}\n{engine.pretty(statement)};\n"
