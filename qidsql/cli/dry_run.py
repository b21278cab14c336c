"""A dry run: the statements that a command would run, written as a script."""

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qidsql.cli.streams import safe_text, write_output
from qidsql.declarations.commands import Command

if TYPE_CHECKING:
    from qidsql.engines.base import Engine
    from qidsql.engines.connect import Source
    from qidsql.sql.templates import Statement

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
