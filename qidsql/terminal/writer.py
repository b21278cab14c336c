"""Writes the blocks of a report to a terminal."""

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from rich.cells import cell_len
from rich.console import Console, JustifyMethod, RenderableType
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from qidsql.report.blocks import (
    TONES,
    Block,
    Cell,
    Chart,
    Fields,
    Grid,
    Head,
    Heading,
    Map,
    Next,
    Outcome,
    Sentence,
    Tone,
    Verbatim,
)
from qidsql.wording.texts import without_controls

# Tables that fit the width of a terminal: figures are never cut, names and texts only wrap between words.


GAP = 2  # spaces between columns
LEAST_CELLS = 12  # cells that are left to a text which does not fit


def print_table(console: Console, columns: Sequence[Head], rows: Sequence[Sequence[str | Text]]) -> None:
    """Prints rows under heads. If columns leave, a last line names them."""
    cells = [[_cell_text(row[place]) for row in rows] for place in range(len(columns))]
    kept = list(range(len(columns)))
    while _least(columns, cells, kept) > console.width and any(columns[place].leaves for place in kept):
        kept.remove(max(kept, key=lambda place: columns[place].leaves))
    headed = any(column.words for column in columns)
    table = Table(box=None, padding=(0, GAP, 0, 0), header_style="bold", pad_edge=False, show_header=headed)
    for place, width in zip(kept, _widths(columns, cells, kept, console.width), strict=True):
        column = columns[place]
        justify: JustifyMethod = "left" if column.text else "right"
        table.add_column(Text(column.words), justify=justify, width=width, overflow="fold")
    for row in rows:
        table.add_row(*(row[place] for place in kept))
    console.print(table)
    gone = [column.words for place, column in enumerate(columns) if place not in kept and column.words]
    if gone:
        console.print(f"  ({', '.join(gone)} not shown on a narrow screen; --format json has all)")


def _cell_text(cell: str | Text) -> str:
    return cell if isinstance(cell, str) else cell.plain


def _words(texts: Sequence[str]) -> int:
    return max((cell_len(word) for text in texts for word in text.split()), default=0)


def _narrowest(column: Head, cells: Sequence[str]) -> int:
    """The width at which no word, and no figure, is broken."""
    whole = _words(cells) if column.text else max(map(cell_len, cells), default=0)
    return max(_words([column.words]), whole)


def _least(columns: Sequence[Head], cells: Sequence[Sequence[str]], kept: Sequence[int]) -> int:
    return sum(_narrowest(columns[place], cells[place]) for place in kept) + GAP * (len(kept) - 1)


def _widths(columns: Sequence[Head], cells: Sequence[Sequence[str]], kept: Sequence[int], width: int) -> list[int]:
    """Each column's narrowest width; what is left goes to heads of figures, then to names, then to other texts."""
    found = {place: _narrowest(columns[place], cells[place]) for place in kept}
    left = width - sum(found.values()) - GAP * (len(kept) - 1)
    for place in sorted(kept, key=lambda place: _rank(columns[place])):
        if left >= 0:
            most = max(map(cell_len, (columns[place].words, *cells[place])))
            left -= (more := min(left, most - found[place]))
            found[place] += more
        elif columns[place].text:  # a word is longer than the terminal: it has to be broken
            left += (less := min(-left, max(0, found[place] - LEAST_CELLS)))
            found[place] -= less
    return list(found.values())


def _rank(column: Head) -> int:
    return 0 if not column.text else 2 if column.leaves else 1


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


def _map(console: Console, block: Map) -> None:
    if len(block.groups) > 1:
        _grid(console, block.grid)


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
    Map: _map,
    Next: _next,
}


# A console to which no name of a table or column can give orders, such as to hide the rest of a report.


class SafeConsole(Console):
    """Leaves out the control characters of texts, which have no width; its own colours are not part of any text."""

    def render(self, *renderable: Any, **options: Any) -> Iterable[Segment]:
        for text, style, control in super().render(*renderable, **options):
            yield Segment(text if control else without_controls(text, ""), style, control)


def blocks_as_text(blocks: Iterable[Block], width: int, colour: bool = False, begun: bool = False) -> str:
    """A report for people as text of at most `width` columns; below something else, if `begun`."""
    return drawn(lambda console: written(console, blocks, begun), width, colour)


def drawn(draw: Callable[[Console], None], width: int, colour: bool) -> str:
    """What is printed to a console, as text of at most `width` columns."""
    text = io.StringIO()
    look: dict[str, Any] = {"force_terminal": colour, "no_color": not colour}
    draw(SafeConsole(file=text, width=width, **look, highlight=False, markup=False, emoji=False))
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"
