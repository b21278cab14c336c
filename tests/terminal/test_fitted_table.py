"""Tables at any width: no figure is cut, the columns that leave do so in their order and are named."""

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from qidsql.report.blocks import Head
from qidsql.terminal.writer import print_table

COLUMNS = [
    *(Head("Name of it", text=True), Head("Kind", text=True, leaves=3), Head("Least size")),
    *(Head("Ratio", leaves=2), Head("Share", leaves=1)),
]
WORDS = st.lists(st.text("abc", min_size=1, max_size=9), min_size=1, max_size=6).map(" ".join)
FIGURES = st.integers(0, 10**9).map("{:,}".format)
ROWS = st.lists(st.tuples(WORDS, WORDS, FIGURES, FIGURES, FIGURES), min_size=1, max_size=5)


def printed(rows: list[tuple[str, ...]], width: int) -> str:
    file = io.StringIO()
    print_table(Console(file=file, width=width), COLUMNS, rows)
    return file.getvalue()


@pytest.mark.exhaustive
@given(ROWS, st.integers(30, 120))
def test_words_and_figures_stay_whole_at_any_width(rows: list[tuple[str, ...]], width: int) -> None:
    shown = printed(rows, width)
    found, flat = set(shown.split()), " ".join(shown.split())
    gone = re.findall(r"\((.*) not shown", flat)
    left = [column for column in COLUMNS if column.words not in (gone[0].split(", ") if gone else ())]
    stays = min((column.leaves for column in COLUMNS if column not in left), default=4)
    assert all((column not in left) == (column.leaves >= stays) for column in COLUMNS)
    for place, column in enumerate(COLUMNS):
        if column in left:
            assert {word for row in rows for word in row[place].split()} | set(column.words.split()) <= found
    assert all(len(line) <= width for line in shown.splitlines())


def test_a_wide_terminal_shows_every_row_in_one_line() -> None:
    rows = [("abc abc", "a", "1", "1,000", "10")]
    assert printed(rows, 80).splitlines() == [
        "Name of it  Kind  Least size  Ratio  Share",
        "abc abc     a              1  1,000     10",
    ]


def test_a_word_longer_than_the_terminal_is_broken() -> None:
    shown = printed([("q" * 70, "b", "1", "2", "3")], 40)
    assert shown.count("q") == 70
    assert all(len(line) <= 40 for line in shown.splitlines())
