"""Tables that fit the width of a terminal: figures are never cut, names and texts only wrap between words."""

from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from qidsql.report.blocks import Head

GAP = 2  # spaces between columns
LEAST = 12  # cells that are left to a text which does not fit


def print_table(console: Console, columns: Sequence[Head], rows: Sequence[Sequence[str | Text]]) -> None:
    """Prints rows under heads. If columns leave, a last line names them."""
    cells = [[_text(row[place]) for row in rows] for place in range(len(columns))]
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


def _text(cell: str | Text) -> str:
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
            left += (less := min(-left, max(0, found[place] - LEAST)))
            found[place] -= less
    return list(found.values())


def _rank(column: Head) -> int:
    return 0 if not column.text else 2 if column.leaves else 1
