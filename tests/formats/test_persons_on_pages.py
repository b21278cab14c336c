"""The page of an audit whose persons have several rows: the sentence, the requirement, the curve."""

import json
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from tests.commandline import inside
from tests.stores import DuckDBStore

DAYS = [(person, day) for person in range(3) for day in (person, (person + 1) % 3)]
ALIKE = [(person, day) for person in range(3) for day in (1, 2)]


def pages(store: DuckDBStore, rows: list[tuple[int, int]], tmp_path: Path, *more: Any) -> tuple[str, str]:
    """The page, and the one without counts."""
    store.execute("DROP TABLE IF EXISTS events")
    store.table("events", {"person": "INTEGER", "day": "INTEGER"}, rows)
    found = []
    for hidden in ((), ("--min-count", 5)):
        given = ("events", "--k", 2, "--entity", "person", "-c", "day", *more, *hidden)
        inside("audit", store.url, *given, "--output", tmp_path / "page.html")
        found.append(unescape((tmp_path / "page.html").read_text()))
    return found[0], found[1]


def row_of(page: str, name: str) -> list[str]:
    """What a requirement's row says: required, measured, met."""
    row = page.partition(f'<th scope="row">{name}')[2].partition("</tr>")[0]
    return [cell.partition("</td>")[0].rpartition('">')[2].partition("<")[0] for cell in row.split("<td>")[1:]]


def test_two_known_rows(duckdb_store: DuckDBStore, tmp_path: Path) -> None:
    """Each day is two persons'; each pair of days one person's."""
    page, hidden = pages(duckdb_store, DAYS, tmp_path, "--known-rows", 2)
    assert "of one row of a person finds at least 2 people" in page
    assert "For 100\N{NO-BREAK SPACE}% of the people, two known rows can be enough to find fewer than 2 people." in page
    assert row_of(page, "Two known rows of a person") == ["at least 2", "1", "no"]
    assert "Known rows of a person</h3>" in page and '<th scope="row">all</th>' in page
    assert "<dt>Rows of each</dt><dd>1 to 2: 0 of 3 persons" in page
    assert "Known rows of a person</h3>" not in hidden and "two known rows can be enough" not in hidden
    assert row_of(hidden, "Two known rows of a person") == ["at least 2", "no"]
    listed = page.partition("below k = 2 by two known rows of a person. 1 found; the list is complete")[2]
    assert listed.partition("Below 2</th>")[2].count("100\N{NO-BREAK SPACE}%") >= 1
    assert "by two known rows of a person. 1 found" in hidden


def test_what_several_rows_leave_if_nothing_is_required(duckdb_store: DuckDBStore, tmp_path: Path) -> None:
    page, _ = pages(duckdb_store, DAYS, tmp_path)
    assert "two rows of a person, taken at random, finds exactly one person, for 100\N{NO-BREAK SPACE}%" in page
    assert "Two known rows" not in page


@pytest.mark.exhaustive
@pytest.mark.parametrize("known", ["2", "all"])
def test_a_pass(duckdb_store: DuckDBStore, tmp_path: Path, known: str) -> None:
    page, hidden = pages(duckdb_store, ALIKE, tmp_path, "--known-rows", known, "--require", "unicity-4=1/2")
    rows = "all rows" if known == "all" else "any two rows"
    assert f"Whoever knows {rows} of a person finds at least 3 people." in page
    name = "All known rows of a person" if known == "all" else "Two known rows of a person"
    assert row_of(page, name) == ["at least 2", "3", "yes"] and row_of(hidden, name) == ["at least 2", "yes"]
    alone = "People alone with 4 of their rows"
    assert [each.replace("\N{NO-BREAK SPACE}", " ") for each in row_of(page, alone)] == ["at most 50.0 %", "0 %", "yes"]


@pytest.mark.exhaustive
def test_one_row_below_k_is_enough(duckdb_store: DuckDBStore, tmp_path: Path) -> None:
    page, _ = pages(duckdb_store, [*ALIKE, (0, 7)], tmp_path, "--known-rows", 2)
    assert row_of(page, "Two known rows of a person")[-1] == "no"
    document = json.loads(
        inside(
            *("audit", duckdb_store.url, "events", "--k", 2, "--entity", "person", "-c", "day"),
            *("--known-rows", 2, "--format", "json"),
        ).out
    )
    assert document["verdict"] == "violation" and "histories" not in document
