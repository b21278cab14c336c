"""What commands do alike: progress, the script of a dry run, a report as text, the exit code."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from qidsql.cli.streams import write
from qidsql.core.signals import settled
from qidsql.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from qidsql.engines.base import Engine
    from qidsql.sql.statements import Statement

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


def showing_progress(
    quiet: bool,
) -> "AbstractContextManager[tuple[Callable[[str], None], Callable[[Engine], None]]]":
    """Shows progress on stderr: a function that takes the words of a stage, and one that takes each engine."""
    from qidsql.cli.progress import progress

    return progress(sys.stderr, quiet or sys.stderr is None)


def write_script(engine: "Engine", statements: "Sequence[Statement[Any]]", output: Path | None, plan: str = "") -> None:
    """What a dry run writes: the plan in words, and the statements that would be asked first."""
    from qidsql.wording.numbers import plural

    parts = [printed_sql(engine, statement.purpose, statement.sql) for statement in statements[:PRETTY_STATEMENTS]]
    parts += [f"-- {statement.purpose}\n{statement.sql};\n" for statement in statements[PRETTY_STATEMENTS:]]
    end = (
        f"\n-- {plural(len(statements), 'statement')} at least; later ones depend on the answers. "
        f"Nothing was asked but the catalog.\n"
    )
    head = f"-- Plan: {plan}\n\n" if plan else ""
    write(head + "\n".join(parts) + end, output)


def end(verdict: str) -> None:
    """Ends the command, whose report is written, with the verdict's exit code."""
    settled()
    raise typer.Exit(ENDS.get(verdict, ExitCode.INCONCLUSIVE))


def put_report(report: "Callable[[Console], None]", width: int, colour: bool) -> str:
    """A report for people as text of at most `width` columns."""
    import io

    from rich.console import Console

    text = io.StringIO()
    report(
        Console(
            file=text,
            width=width,
            force_terminal=colour,
            no_color=not colour,
            highlight=False,
            markup=False,
            emoji=False,
        )
    )
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"


def screen(output: Path | None) -> tuple[int, bool]:
    """Columns of the terminal, and whether it wants colours."""
    on_screen = output is None and sys.stdout is not None and sys.stdout.isatty()
    width = max(60, min(140, shutil.get_terminal_size((120, 24)).columns)) if output is None else 120
    return width, on_screen and not os.environ.get("NO_COLOR")


def printed_sql(engine: "Engine", purpose: str, statement: str) -> str:
    """A statement laid out for reading, below what it is for."""
    return f"-- {purpose}\n{engine.pretty(statement)};\n"
