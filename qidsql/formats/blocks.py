"""The blocks of a report, for people who run no commands."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from typing import cast

from qidsql.formats.texts import without_options
from qidsql.report.blocks import Block, Chart, Fields, Grid, Head, Heading, Labelled, Sentence, Verbatim


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
