"""`audit --known-rows`: persons of whom two rows are known, or all, by definition and by the oracle."""

import json
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import pytest

import qidsql
from qidsql.commands.audit import figures
from qidsql.core.results import Verdict
from qidsql.errors import UsageError
from qidsql.measures.histories import KnownRows
from qidsql.sql.histories import histories
from qidsql.sql.relation import relation
from tests.commandline import inside
from tests.stores import ONE_ENGINE, TWO_ENGINES, Store

Row = tuple[Any, ...]  # person, place, day
COLUMNS = {"person": "INTEGER", "place": "VARCHAR(9)", "day": "INTEGER"}


def known(rows: Sequence[Row], many: str, k: int) -> tuple[int, int, int]:
    """Persons, the least number of candidates, persons below k: by trying each choice of rows."""
    own: dict[Any, list[Row]] = {}
    for person, *row in rows:
        own.setdefault(person, []).append(tuple(row))
    least = {}
    for person, mine in own.items():
        if many == "all":
            least[person] = sum(Counter(mine) == Counter(each) for each in own.values())
            continue
        choices = combinations(mine, min(int(many), len(mine)))
        least[person] = min(sum({*choice} <= {*each} for each in own.values()) for choice in choices)
    return len(own), min(least.values()), sum(each < k for each in least.values())


def made(store: Store, rows: Sequence[Row]) -> None:
    store.execute("DROP TABLE IF EXISTS events")
    store.table("events", COLUMNS, rows)


@TWO_ENGINES
@pytest.mark.parametrize("many", ["2", "all"])
def test_random_events_are_judged_by_the_definition(store: Store, many: str) -> None:
    for seed in range(12):
        random = Random(seed)
        people, places = random.choice((3, 8, 12)), "ab"[: random.choice((1, 2, 2))]
        rows = [
            (person, random.choice((*places, None)), random.choice((1, 1, 2)))
            for person in range(people)
            for _ in range(random.choice((1, 2, 3)))
        ]
        made(store, rows)
        one, (persons, smallest, below) = known(rows, "1", 2), known(rows, many, 2)
        found = qidsql.audit(store.url, "events", k=2, entity="person", known_rows=many, columns=["place", "day"])
        if one[2]:
            assert found.verdict is Verdict.VIOLATION and found.histories is None
            continue
        assert found.histories is not None
        figures = found.histories.persons, found.histories.smallest, found.histories.persons_below_k
        assert figures == (persons, smallest, below), seed
        assert found.verdict is (Verdict.VIOLATION if below else Verdict.PASS), seed


@TWO_ENGINES
def test_the_oracle(store: Store, shared: Path) -> None:
    oracle = json.loads((shared / "oracle_persons.json").read_text())
    made(store, [row[:3] for row in oracle["toy_rows"]])
    for entry in oracle["entries"]:
        if entry["table"] != "toy":
            continue
        for many, expected in (("2", entry["known_rows"]["2"]), ("all", entry["whole_history_multiset"])):
            with store.connect() as engine:
                table = engine.describe("events")
                source = relation(engine.dialect, table, table.columns)
                found = engine.run(
                    histories(engine.dialect, source, entry["columns"], entry["k"], "person", KnownRows(many))
                )
            assert found.persons == entry["persons"]
            assert (found.smallest, found.persons_below_k) == (expected["smallest"], expected["persons_below_k"])


@ONE_ENGINE
def test_what_the_report_says(store: Store) -> None:
    """Each day has three of three people, each pair of days is one person's alone."""
    made(store, [(person, "a", day) for person in range(3) for day in (person, (person + 1) % 3)])
    given = ("events", "--k", "2", "--entity", "person", "-c", "day")
    assert inside("audit", store.url, *given).code == 0
    two = inside("audit", store.url, *given, "--known-rows", "2")
    said = " ".join(two.out.split())
    assert two.code == 1
    assert (
        "3 of 3 values of person (100 %) have two rows that fewer than k = 2 share; one known row leaves 2 or" in said
    )
    assert "the rows of a value of person can be linked" in said
    document = json.loads(inside("audit", store.url, *given, "--known-rows", "2", "--format", "json").out)
    assert document["histories"]["known_rows"] == "2" and document["histories"]["persons_below_k"] == 3
    assert inside("audit", store.url, *given, "--known-rows", "all").code == 1


@ONE_ENGINE
def test_what_is_not_measured_is_no_pass(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    made(store, [(person, "a", 1) for person in range(4) for _ in range(2)])
    given: dict[str, Any] = {"k": 2, "entity": "person", "columns": ["place", "day"], "known_rows": "2"}
    assert qidsql.audit(store.url, "events", **given).verdict is Verdict.PASS
    made(store, [*((person, "a", day) for person in range(4) for day in (1, 2)), (None, "a", 1)])
    unnamed = qidsql.audit(store.url, "events", **given)
    assert unnamed.verdict is Verdict.INCONCLUSIVE and "1 row has no person" in unnamed.reason
    where = qidsql.audit(store.url, "events", where="person IS NOT NULL", **given)
    assert where.verdict is Verdict.PASS and "two known rows leave 4 or more" in where.reason
    monkeypatch.setattr(figures, "LINKED_PAIRS", 3)
    many = qidsql.audit(store.url, "events", where="person IS NOT NULL", **given)
    assert many.verdict is Verdict.INCONCLUSIVE and "was not examined" in many.reason
    with pytest.raises(UsageError, match="name their column"):
        qidsql.audit(store.url, "events", known_rows="2")
    with pytest.raises(UsageError, match="must be 1, 2 or all"):
        qidsql.audit(store.url, "events", entity="person", known_rows="3")


@ONE_ENGINE
def test_a_run_tells_its_finding_and_compares_it(store: Store, tmp_path: Path) -> None:
    made(store, [(person, "a", day) for person in range(3) for day in (person, (person + 1) % 3)])
    text = """format = 1
[sources.events]
url = "{url}"
[[tables]]
table = "*events"
k = 2
entity = "person"
{known}
[tables.roles]
place = "quasi-identifier"
day = "quasi-identifier"
"""
    file = tmp_path / "qidsql.toml"
    for known, code, found in (
        ("", 0, ""),
        ('known_rows = "2"', 1, "known_rows"),
        ('known_rows = "2"', 1, "No finding changed"),
    ):
        file.write_text(text.format(url=store.url, known=known))
        outcome = inside("run", "--fresh", cwd=tmp_path)
        assert (outcome.code, found in outcome.out) == (code, True), outcome
    shown = inside("run", "--fresh", "--format", "junit", cwd=tmp_path).out
    assert "is not 2-anonymous by two known rows of a person" in shown and "<failure" in shown
    assert "have two rows that fewer than k = 2 share" in " ".join(inside("report", "last", cwd=tmp_path).out.split())


@pytest.mark.engines("sqlite")
def test_an_engine_that_has_no_lists_says_so(store: Store) -> None:
    made(store, [(person, "a", 1) for person in range(4)])
    with pytest.raises(UsageError, match="does not compare the rows of persons"):
        qidsql.audit(store.url, "events", k=2, entity="person", columns=["place"], known_rows="all")
