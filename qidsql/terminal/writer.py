"""Writes the blocks of a report to a terminal."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from qidsql.report.blocks import (
    TONES,
    Block,
    Cell,
    Chart,
    Fields,
    Grid,
    Heading,
    Next,
    Outcome,
    Sentence,
    Tone,
    Verbatim,
)
from qidsql.terminal.fitted_table import print_table

INSET = 2
LABEL = 11  # least characters of a label
COLOURS = {Tone.RISK: "red", Tone.KEPT: "green", Tone.UNKNOWN: "yellow", Tone.PLAIN: ""}


def written(console: Console, blocks: Iterable[Block], begun: bool = False) -> None:
    """Writes the blocks; an empty line before the first one too, if something stands above (`begun`)."""
    for block in blocks:
        if begun and not getattr(block, "close", False):
            console.print()
        WRITERS[type(block)](console, block)
        begun = True


def _outcome(console: Console, block: Outcome) -> None:
    line = _labelled(LABEL)
    line.add_row(
        Text(block.word or block.verdict.upper(), style=f"bold {COLOURS[block.tone or TONES[block.verdict]]}"),
        block.reason,
    )
    console.print(line)


def _heading(console: Console, block: Heading) -> None:
    title = Text(block.text, style="bold")
    if not block.beside:
        console.print(title)
        return
    line = Text.assemble(title, "  ", block.beside)
    if line.cell_len <= console.width:
        console.print(line)
    else:
        console.print(title, _inset(block.beside))


def _sentence(console: Console, block: Sentence) -> None:
    console.print(_inset(Text(block.text)) if block.inset else Text(block.text))


def _verbatim(console: Console, block: Verbatim) -> None:
    console.print(Text(block.text), soft_wrap=True)


def _fields(console: Console, block: Fields) -> None:
    grid = _labelled(0 if block.inset else LABEL)
    for row in block.rows:
        grid.add_row(Text(row.label, style=COLOURS[row.tone]), Text(row.text))
    console.print(_inset(grid) if block.inset else grid)


def _labelled(least: int) -> Table:
    """Two columns: labels, and texts that wrap beside them."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=least > 0, min_width=least, overflow="fold")
    grid.add_column(overflow="fold")
    return grid


def _grid(console: Console, block: Grid) -> None:
    print_table(console, block.heads, [[_text(cell) for cell in row] for row in block.cells])


def _chart(console: Console, block: Chart) -> None:
    if block.title:
        console.print(Text(block.title, style="bold"))
    lines, grid = Table.grid(padding=(0, 2)), block.grid
    for head in grid.heads:
        lines.add_column(justify="left" if head.text else "right")
    for row in grid.cells:
        lines.add_row(*map(_text, row))
    console.print(_inset(lines))


def _next(console: Console, block: Next) -> None:
    if block.words:
        console.print(Text(f"Next: {block.words}"))
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    heads = [f"{'' if number else 'Next:':<6}" for number in range(len(block.steps))]
    if block.steps and max(len(typed) + len(words) for typed, words in block.steps) + 8 <= console.width:
        for head, (typed, words) in zip(heads, block.steps, strict=True):
            grid.add_row(head + typed, words)
        console.print(grid)
        return
    for head, (typed, words) in zip(heads, block.steps, strict=True):  # too wide for two columns
        console.print(Text(f"{head}{typed}" + (f"  # {words}" if words else "")), soft_wrap=True)


def _text(cell: Cell) -> Text:
    return Text(cell.text, style=COLOURS[cell.tone])


def _inset(printed: RenderableType) -> Padding:
    return Padding(printed, (0, 0, 0, INSET))


WRITERS: Mapping[type, Callable[[Console, Any], None]] = {
    Outcome: _outcome,
    Heading: _heading,
    Sentence: _sentence,
    Verbatim: _verbatim,
    Fields: _fields,
    Grid: _grid,
    Chart: _chart,
    Next: _next,
}
