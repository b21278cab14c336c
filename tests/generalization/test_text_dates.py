"""Texts that are dates get the levels of dates, in the formats people use; anything else does not."""

from collections import Counter
from datetime import date, timedelta
from pathlib import Path

import pytest

import qidsql
from qidsql.commands.protect.result import ProtectResult
from tests.stores import TWO_ENGINES, Store

DAYS = [date(1895, 1, 3) + timedelta(days=11 * number) for number in range(900)]
FORMATS = {
    "year-month-day": lambda day: day.isoformat(),
    "day.month.year": lambda day: f"{day.day}.{day.month:02}.{day.year}",
    "month/day/year": lambda day: f"{day.month}/{day.day}/{day.year}",
    "day/month/year": lambda day: f"{day.day:02}/{day.month:02}/{day.year}",
    "yearmonthday": lambda day: f"{day:%Y%m%d}",
}


def levels_of(store: Store, texts: list[str | None], *asked: str) -> ProtectResult:
    store.table("people", {"born": "VARCHAR(20)"}, [(text,) for text in texts])
    return qidsql.protect(
        store.url, "people", k=2, by="levels", columns=["born"], entity="row", levels=[f"born={each}" for each in asked]
    )


@TWO_ENGINES
@pytest.mark.parametrize("name", FORMATS)
def test_a_format_has_the_levels_of_dates(store: Store, name: str, tmp_path: Path) -> None:
    """Each level has as many labels as the dates have, and merges the same values; a NULL stays one."""
    found = levels_of(store, [*map(FORMATS[name], DAYS), None, None], "month", "quarter", "year", "5 years", "10 years")
    [column] = found.columns_published
    assert column.hierarchy == f"texts that are dates ({name})"
    assert column.levels == ("month", "quarter", "year", "steps of 5 years", "steps of 10 years")
    labels = [
        [(day.year, day.month) for day in DAYS],
        [(day.year, (day.month + 2) // 3) for day in DAYS],
        *([day.year // years for day in DAYS] for years in (1, 5, 10)),
    ]
    below = [sum(size for size in Counter(map(str, each)).values() if size < 2) for each in labels]
    assert [turn.rows_below_k for turn in found.turns] == below


@TWO_ENGINES
def test_of_a_month_that_may_be_a_day_only_the_year_is_used(store: Store) -> None:
    texts = [f"{day.month}/{min(day.day, 12)}/{day.year}" for day in DAYS]
    [column] = levels_of(store, texts, "year").columns_published
    assert column.hierarchy == "texts that are dates (month/day/year or day/month/year)"
    assert column.levels == ("year", "steps of 5 years", "steps of 10 years")


@TWO_ENGINES
@pytest.mark.parametrize("other", ["31.02.20141", "unknown", "2014-13-01", ""])
def test_one_other_text_is_enough_to_be_none(store: Store, other: str) -> None:
    [column] = levels_of(store, [*(day.isoformat() for day in DAYS), other, other], "*").columns_published
    assert "dates" not in column.hierarchy
