"""Blocks, and how a terminal writes them."""

import pytest

from qidsql.cli.streams import report_text
from qidsql.core.results import Verdict
from qidsql.report.blocks import (
    Bar,
    Block,
    Chart,
    Fields,
    Grid,
    Head,
    Heading,
    Labelled,
    Next,
    Outcome,
    Sentence,
    Tone,
    bar,
)


def text_of(*blocks: Block, width: int = 60) -> str:
    return report_text(blocks, width, False)


def test_an_empty_line_stands_before_each_block_that_is_not_close() -> None:
    assert text_of(Heading("A"), Sentence("b", close=True), Sentence("c"), Sentence("d", close=True, inset=True)) == (
        "A\nb\n\nc\n  d\n"
    )


def test_texts_wrap_beside_their_labels() -> None:
    said = text_of(Outcome(Verdict.PASS, "word " * 12), Fields([Labelled("Source", "x"), Labelled("", "y " * 30)]))
    assert said.splitlines()[:2] == ["PASS         " + "word " * 8 + "word", "             word word word"]
    assert said.splitlines()[3:5] == ["Source       x", "             " + "y " * 23 + "y"]


@pytest.mark.parametrize(("part", "text"), [(0, ""), (1, "▏"), (50, "███▌"), (100, "███████")])
def test_only_nothing_has_no_bar(part: int, text: str) -> None:
    assert bar(part, 100, 7).text == text


def test_a_mark_stands_between_the_bars_of_a_chart() -> None:
    bars = [Bar("1", 1, ["25 %"], Tone.RISK), Bar("", None, ["── k ──"]), Bar("2", 3, ["75 %"], Tone.KEPT)]
    assert text_of(Chart("Rows", 4, bars)).splitlines() == [
        "Rows",
        f"  1  {'█' * 7:<21}  25 %",
        "     ── k ──",
        f"  2  {'█' * 21}  75 %",
    ]


def test_a_table_that_is_too_wide_names_what_left() -> None:
    grid = Grid([Head("Name", text=True), Head("A" * 30, leaves=1), Head("B" * 30)], [["x", "1", "2"]])
    assert f"({'A' * 30} not shown on a narrow screen" in " ".join(text_of(grid).split())


@pytest.mark.parametrize(("width", "first"), [(100, "Next: do this  why"), (20, "Next: do this  # why it is done")])
def test_next_steps_are_never_broken(width: int, first: str) -> None:
    assert text_of(Next([("do this", "why it is done")]), width=width).startswith(first)
