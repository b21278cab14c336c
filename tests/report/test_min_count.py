"""--min-count: whoever sees the document, and knows its rule, cannot work out a small count.

The attacker here is as strong as can be: he knows how many values each column has, and tries every table there is.
"""

import copy
import itertools
import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

import pytest

from qidsql.findings.audit import (
    AuditResult,
    ColumnFinding,
    ColumnSetFinding,
    SearchFinding,
    Verdict,
    Withheld,
)
from qidsql.findings.run import as_document
from qidsql.measures import ClassProfile, ClassSizes, bin_starts, size_bins
from qidsql.policy import Policy
from qidsql.report.documents.min_count import step, without_small_counts
from qidsql.report.documents.rendering import FORMATS, render
from qidsql.schema import Role
from qidsql.work import Work
from tests.report.documents import Document

FULL = bool(os.environ.get("QIDSQL_TEST_FULL"))


def tables(cells: int, rows: int) -> Iterator[tuple[int, ...]]:
    """Every way to put so many rows into the cells."""
    for bars in itertools.combinations(range(rows + cells - 1), cells - 1):
        edges = (-1, *bars, rows + cells - 1)
        yield tuple(after - before - 1 for before, after in itertools.pairwise(edges))


def margins(cells: tuple[int, ...], width: int) -> dict[tuple[str, ...], list[int]]:
    """Class sizes of the column sets a, b and a + b of a table given by its cells."""
    rows = [cells[start : start + width] for start in range(0, len(cells), width)]
    found = {
        ("a",): [sum(row) for row in rows],
        ("b",): [sum(each) for each in zip(*rows, strict=True)],
        ("a", "b"): cells,
    }
    return {columns: [size for size in sizes if size] for columns, sizes in found.items()}


def document(cells: tuple[int, ...], width: int, k: int) -> Document:
    """What an audit of that table reports, of the kind that lists most."""
    sizes = {columns: Counter(each) for columns, each in margins(cells, width).items()}
    profile = {columns: ClassProfile.of_sizes(each, k) for columns, each in sizes.items()}
    whole, policy = profile["a", "b"], Policy(k=k)
    below = [columns for columns in profile if profile[columns].smallest < k]
    minimal = [columns for columns in below if len(columns) == 1 or below == [columns]]
    by_row = {size: size * count for size, count in sizes["a", "b"].items()}
    result = AuditResult(
        verdict=Verdict.VIOLATION if below else Verdict.PASS,
        reason=f"t is {whole.smallest}-anonymous: {whole.rows_at_risk} of {whole.rows} rows",
        entities=None,
        columns=tuple(
            ColumnFinding(name, "INTEGER", Role.QUASI_IDENTIFIER, "", profile[name,], 0, profile[other,])
            for name, other in ("ab", "ba")
        ),
        profile=whole,
        class_sizes=size_bins(ClassSizes(sizes["a", "b"], by_row), bin_starts(k)),
        searches=(
            SearchFinding(
                f"column set below k = {k}",
                tuple(ColumnSetFinding(c, profile[c]) for c in minimal),
                True,
                2,
                "levelwise",
            ),
            SearchFinding("key", (), True, 2, "x", f"none: {whole.duplicate_rows} rows repeat another row"),
        )
        if below
        else (),
        withheld=(Withheld(("b",), profile["a",], profile["a",].smallest >= k, ""),) if below else (),
        least_withheld=None,
        assumptions=(),
        work=Work(
            "s", "e", "t", "table", "", datetime(2026, 1, 1, tzinfo=UTC), 1.0, policy, whole.rows, 3, 3, 3, (), ()
        ),
    )
    return as_document(result)


def counts(cells: tuple[int, ...], width: int, k: int) -> dict[str, int]:
    """The counts of rows that an audit could tell, and what subtraction makes of them."""
    told = {}
    for columns, sizes in margins(cells, width).items():
        name, total, at_risk = "+".join(columns), sum(sizes), sum(size for size in sizes if size < k)
        unique = sizes.count(1)
        told |= {
            f"smallest of {name}": min(sizes),
            f"largest of {name}": max(sizes),
            f"at risk by {name}": at_risk,
            f"not at risk by {name}": total - at_risk,
            f"unique by {name}": unique,
            f"not unique by {name}": total - unique,
            f"at risk but not unique by {name}": at_risk - unique,
            f"repeating by {name}": total - len(sizes),
        }
        for low, high in itertools.pairwise([*bin_starts(k), 10**9]):
            told[f"in classes of {low} to {high - 1} by {name}"] = sum(size for size in sizes if low <= size < high)
    told["made at risk by b"] = told["at risk by a+b"] - told["at risk by a"]
    told["made at risk by a"] = told["at risk by a+b"] - told["at risk by b"]
    return told


WORLDS = [(2, 2, 16, 5, 3), (2, 2, 16, 4, 6), (2, 2, 18, 5, 5)]  # height, width, rows, m, k
WORLDS += [(2, 2, 40, 6, 4), (2, 2, 30, 4, 6), (2, 3, 18, 5, 3), (2, 3, 18, 6, 4)] if FULL else []


@pytest.mark.parametrize(("height", "width", "rows", "least", "k"), WORLDS)
def test_no_small_count_can_be_worked_out(height: int, width: int, rows: int, least: int, k: int) -> None:
    """Of all tables with the same document, some have another figure wherever one has a small count."""
    possible: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for cells in tables(height * width, rows):
        shown = json.dumps(without_small_counts(document(cells, width, k), least))
        for name, value in counts(cells, width, k).items():
            possible[shown][name].add(value)
    assert len(possible) > 3
    for shown, by_name in possible.items():
        for name, values in by_name.items():
            [value, *others] = values
            assert others or not 0 < value < least, (name, value, shown)


@pytest.mark.parametrize("least", [2, 11, 1000])
def test_every_format_shows_what_is_left(document: Document, least: int) -> None:
    """Also of a table of which nothing is: at 1,000 each is a small count as a whole."""
    hidden = without_small_counts(document, least)
    for form in FORMATS:
        assert render(hidden, form)


def test_what_changed_within_its_step_is_told_as_unchanged(documents: Mapping[str, Document]) -> None:
    """Nine nights that are each told as worse than the last would count a class of 10 down to 1."""
    [table] = copy.deepcopy(documents["violation"])["tables"]
    finding = next(each for each in table["findings"] if each["kind"] == "below-k")

    def state(k: int, was: int, at_risk: int, was_at_risk: int) -> str:
        exact = {**finding["measures"], "k": k, "rows_at_risk": at_risk}
        finding.update(measures=exact, was={**exact, "k": was, "rows_at_risk": was_at_risk}, state="worse")
        table["findings"] = [finding]
        document = {**documents["violation"], "tables": [table]}
        return str(without_small_counts(document, 11)["tables"][0]["findings"][0]["state"])

    assert [state(k - 1, k, 30, 30) for k in range(5, 1, -1)] == ["unchanged"] * 4
    assert state(3, 3, 50, 46) == "unchanged"
    assert state(3, 3, 90, 46) == "worse"
    assert state(3, 13, 50, 46) == "worse"


def test_the_attacker_wins_where_nothing_is_hidden() -> None:
    shown = {json.dumps(document(cells, 2, 3)): counts(cells, 2, 3)["smallest of a"] for cells in tables(4, 9)}
    assert any(0 < smallest < 5 for smallest in shown.values())


@pytest.mark.parametrize(("least", "whole"), list(itertools.product((2, 3, 8), range(0, 60, 3))))
def test_a_step_holds_the_number_and_its_rest_holds_the_rest(least: int, whole: int) -> None:
    """Steps are the same for all numbers in them, and hold a small number, or rest, with all other small ones."""
    steps = [step(value, whole, least) for value in range(whole + 1)]
    assert steps[0] == 0
    for value, told in enumerate(steps[1:], 1):
        assert not isinstance(told, int)
        low, high = told["at_least"], told["at_most"]
        assert low <= value <= high
        assert {json.dumps(steps[inside]) for inside in range(low, high + 1)} == {json.dumps(told)}
        if value < least:
            assert low == 1
            assert high >= min(least - 1, whole)
        if whole - value < least:
            assert high == whole
            assert low <= max(1, whole - least)


def figures_in(value: object) -> Iterator[int]:
    """The exact numbers in a document: not the ends of steps."""
    if isinstance(value, dict):
        if set(value) == {"at_least", "at_most"}:
            return
        for key, inner in value.items():
            if key not in WORK and not (key == "k" and "smallest" in value):  # the policy's k, beside the k reached
                yield from figures_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from figures_in(inner)
    elif isinstance(value, int) and not isinstance(value, bool):
        yield value


WORK = {"format", "statements", "scans", "sets_profiled", "seconds", "exit_code", "min_count", "complete_to_size"}
WORK |= {"policy", "low", "high", "at_least", "line"}  # limits, and numbers of columns


def test_no_small_count_stays_in_a_real_document(documents: Mapping[str, Document]) -> None:
    """Every exact number that stays in a table with small counts is 0 or no small count; every format renders it."""
    hidden = set()
    for name, whole in documents.items():
        told = without_small_counts(whole, 11)
        for table, before in zip(told["tables"], whole["tables"], strict=True):
            if before["audit"] and table["audit"] != before["audit"]:
                hidden.add(name)
                assert [value for value in figures_in(table) if 0 < value < 11] == [], name
                assert not set(re.findall(r"\d+-anonymous", table["reason"])) - {"5-anonymous"}, name
        for format in FORMATS:
            assert render(told, format) != "", name
    assert hidden >= {"violation", "identifier", "one row", "entity", "wildcard", "hostile", "run"}


def test_a_table_without_small_counts_keeps_its_figures() -> None:
    cells = (20, 30, 40, 50)
    before = document(cells, 2, 11)
    assert without_small_counts(before, 11)["tables"][0]["audit"] == before["tables"][0]["audit"]
    assert without_small_counts(before, 21)["tables"][0]["audit"] != before["tables"][0]["audit"]
