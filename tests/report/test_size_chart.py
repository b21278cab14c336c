"""The chart of class sizes: every bar is seen, none is longer than the width, and k has its place."""

import pytest

from qidsql.cli.streams import report_text
from qidsql.core.policy import Policy
from qidsql.measures.profiles import SizeBin
from qidsql.report.blocks import CHARACTERS_OF_BAR
from qidsql.report.sections import chart_of_sizes


def drawn(sizes: list[SizeBin], **policy: str) -> list[str]:
    chart = chart_of_sizes(sizes, Policy(k=5, **policy))  # type: ignore[arg-type]
    return report_text(chart, 80, False, begun=True).splitlines() if sizes else list(map(str, chart))


SIZES = [SizeBin(1, 1, 1, 1), SizeBin(2, 4, 10, 30), SizeBin(5, 9, 10, 60), SizeBin(500, None, 1, 1_000_000)]


def test_each_size_is_a_bar_and_k_stands_before_the_first_that_is_safe() -> None:
    lines = [line.split() for line in drawn(SIZES) if line.strip()]
    assert [line[0] for line in lines[1:]] == ["1", "2-4", "──", "5-9", "500+"]
    assert [line[-1] for line in lines[1:] if line[0] != "──"] == ["1", "30", "60", "1,000,000"]
    assert "▏" in drawn(SIZES)[2]  # one row of a million
    assert max(line.count("█") for line in drawn(SIZES)) <= CHARACTERS_OF_BAR


def test_all_rows_in_one_size_fill_the_bar() -> None:
    assert drawn([SizeBin(5, 9, 1, 7)])[-1].count("█") == CHARACTERS_OF_BAR


@pytest.mark.parametrize(("policy", "words"), [({}, "Rows by"), ({"entity": "person"}, "Entities by")])
def test_the_heading_names_the_unit(policy: dict[str, str], words: str) -> None:
    assert any(words in line for line in drawn(SIZES, **policy))


def test_no_sizes_are_no_chart() -> None:
    assert drawn([]) == []
