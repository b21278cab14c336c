"""A report as blocks: headings, sentences, fields, tables and statements, for formats other than the terminal.

Reports of commands print rich's texts, grids and tables to a console. `Recorder` is a console that keeps what these
say instead of the characters they become, so that each report is written once and every format renders the same blocks.
"""

import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from typing import Any, TypeAlias, cast

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from qidsql.formats.texts import without_options
from qidsql.report.blocks import (
    Block,
    Cell,
    Chart,
    Fields,
    Grid,
    Head,
    Heading,
    Labelled,
    Sentence,
    Tone,
    Verbatim,
)
from qidsql.terminal.pieces import bar_length

WIDE = 100_000  # columns: no column leaves a table, no text is cut
TONES = {"red": Tone.RISK, "green": Tone.KEPT, "yellow": Tone.UNKNOWN, "magenta": Tone.RISK}
NEXT = "Next:"  # a suggested command: useful at a terminal only
OF_SPECIALISTS = ("Algorithm", "Found")  # how the answer was searched for: at the terminal and in the JSON


Report: TypeAlias = Callable[[Console], None]


def for_readers(blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks of a report as people read them who run no commands: without those that say which to run.

    The verdict is left out too: each format shows it in its own way.
    """
    for kind, group in groupby(blocks, type):
        if kind is Fields:  # one list
            yield Fields([row for each in group for row in _rows(cast(Fields, each))])
        else:
            for block in group:
                yield from _for_readers(block)


def _for_readers(block: Block) -> Iterator[Block]:
    if isinstance(block, Chart):
        yield from [Heading(block.title)] if block.title else []
        block = block.grid
    if isinstance(block, Grid):
        heads = [Head(without_options(head.words), head.text) for head in block.heads]
        yield Grid(heads, [[replace(cell, text=without_options(cell.text)) for cell in row] for row in block.cells])
    elif isinstance(block, Heading):
        yield Heading(block.text)
        yield from [Sentence(without_options(block.beside))] if block.beside else []
    elif isinstance(block, Sentence):
        yield Sentence(without_options(block.text))
    elif isinstance(block, Verbatim):
        yield block


def _rows(block: Fields) -> Iterator[Labelled]:
    return (Labelled(each.label.strip(), without_options(each.text)) for each in block.rows if not each.expert)


def blocks_of(report: Report) -> list[Block]:
    """What a report prints, without suggested commands."""
    recorder = Recorder()
    report(recorder)
    return recorder.blocks


class Recorder(Console):
    """A console that keeps what is printed as blocks."""

    def __init__(self) -> None:
        super().__init__(file=io.StringIO(), width=WIDE, markup=False, highlight=False, emoji=False)
        self.blocks: list[Block] = []

    def print(self, *objects: Any, soft_wrap: bool | None = None, style: Any = None, **_: Any) -> None:
        for each in objects:
            self._keep(each, bool(soft_wrap), style)

    def _keep(self, printed: Any, soft_wrap: bool, style: Any) -> None:
        while isinstance(printed, Padding):
            printed = printed.renderable
        if isinstance(printed, Table):
            self._keep_table(printed)
        else:
            self.blocks += _texts(printed if isinstance(printed, Text) else Text(printed, style or ""), soft_wrap)

    def _keep_table(self, table: Table) -> None:
        rows = list(zip(*(list(map(_cell, column.cells)) for column in table.columns), strict=True))
        if table.show_header or len(table.columns) > 2:
            words = [_plain(column.header) if table.show_header else "" for column in table.columns]
            text = [column.justify != "right" for column in table.columns]
            self.blocks.append(Grid(list(map(Head, words, text)), rows))
            return
        for label, *texts in rows:
            if label.text.startswith(NEXT.removesuffix(":")):  # the command itself can be gone already
                return
            if label.text in OF_SPECIALISTS:
                continue
            self._keep_field(label.text, " ".join(each.text for each in texts))

    def _keep_field(self, label: str, text: str) -> None:
        if not self.blocks or not isinstance(self.blocks[-1], Fields):
            self.blocks.append(Fields())
        last = self.blocks[-1]
        assert isinstance(last, Fields)
        last.add(label, text)


def _texts(text: Text, soft_wrap: bool) -> Iterator[Block]:
    """A bold text is a heading, also at the beginning of a sentence."""
    plain = text.plain.strip()
    if not plain or plain.startswith(NEXT):
        return
    bold = plain if "bold" in str(text.style) else "".join(_bold(text)).strip()
    if bold and plain.startswith(bold):
        yield Heading(bold)
        plain = plain.removeprefix(bold).strip()
    if plain:
        yield Verbatim(plain) if soft_wrap else Sentence(without_options(plain))


def _bold(text: Text) -> Iterator[str]:
    return (text.plain[span.start : span.end] for span in text.spans if "bold" in str(span.style))


def _cell(printed: Any) -> Cell:
    text = _plain(printed)
    style = f"{printed.style} {printed.spans}" if isinstance(printed, Text) else ""
    tone = next((tone for colour, tone in TONES.items() if colour in style), Tone.PLAIN)
    return Cell(text, tone, bar_length(text))


def _plain(printed: Any) -> str:
    return without_options((printed.plain if isinstance(printed, Text) else str(printed)).strip())
