"""Renders reports for people as text, as wide as the terminal."""

import os
import shutil
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from qidsql.report.blocks import Block


def report_text(blocks: "Iterable[Block]", width: int, colour: bool, begun: bool = False) -> str:
    """A report for people as text of at most `width` columns; below something else, if `begun`."""
    from qidsql.terminal.writer import written

    return drawn(lambda console: written(console, blocks, begun), width, colour)


def drawn(draw: "Callable[[Console], None]", width: int, colour: bool) -> str:
    """What is printed to a console, as text of at most `width` columns."""
    import io

    from qidsql.terminal.writer import SafeConsole

    text = io.StringIO()
    draw(
        SafeConsole(
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
    """The width to write for, in columns, and whether to use colours."""
    on_screen = output is None and sys.stdout is not None and sys.stdout.isatty()
    width = max(60, min(140, shutil.get_terminal_size((120, 24)).columns)) if output is None else 120
    return width, on_screen and not os.environ.get("NO_COLOR")
