"""`protect --known-rows`: each way keeps it, or says why it cannot."""

import json
from collections.abc import Sequence
from itertools import chain, combinations
from pathlib import Path
from random import Random
from typing import Any

import pytest

import qidsql
from qidsql.commands.protect.columns.command import ColumnsResult
from qidsql.commands.protect.way import Way
from qidsql.core.results import Verdict
from qidsql.errors import UsageError
from qidsql.profiling import known_rows
from tests.commandline import inside
from tests.exhaustive import always, first
from tests.stores import ONE_ENGINE, SAIL, TWO_ENGINES, Store
from tests.trials.histories import COLUMNS, Choices, Row, events

SEARCHED = ("place", "day", "illness")
SETS = tuple(chain.from_iterable(combinations(SEARCHED, size) for size in (1, 2, 3)))
TWO_DAYS = [(person, "a", day, "flu") for person in range(6) for day in (person % 3, (person + 1) % 3)]
ROW_WAYS = [way for way in Way if way is not Way.COLUMNS]


def made(store: Store, rows: Sequence[Row]) -> None:
    store.execute("DROP TABLE IF EXISTS events")
    store.table("events", COLUMNS, rows)


def published(store: Store, known: str, k: int = 2, **more: Any) -> ColumnsResult:
    given: dict[str, Any] = {"entity": "person", "columns": SEARCHED, **more}
    found = qidsql.protect(store.url, "events", k=k, known_rows=known, by="columns", **given)
    assert isinstance(found, ColumnsResult)
    return found


def agrees(store: Store, rows: Sequence[Row], known: str) -> None:
    """The plan keeps the definition, each choice of rows tried; none that does publishes more; an audit agrees."""
    named = [row for row in rows if row[0] is not None]
    where: dict[str, Any] = {} if len(named) == len(rows) else {"where": "person IS NOT NULL"}
    kept = [each for each in SETS if min(Choices(named, each, many).smallest for many in ("1", known)) >= 2]
    most = max(map(len, kept), default=0)
    exact, greedy = published(store, known, exact=True, **where), published(store, known, **where)
    assert (exact.weight, exact.bound, exact.optimal) == (most, most, True)
    assert greedy.weight <= most <= (greedy.bound or 0)
    for plan in (exact, greedy):
        assert plan.verdict is (Verdict.FINISHED if most else Verdict.VIOLATION)
        if not plan.published:
            continue
        truth = Choices(named, plan.published, known)
        assert plan.published in kept and plan.profile is not None and plan.profile.histories is not None
        histories = plan.profile.histories
        assert (histories.smallest, histories.persons_below_k) == (truth.smallest, 0)
        given: dict[str, Any] = {"k": 2, "entity": "person", "known_rows": known, **where}
        audit = qidsql.audit(store.url, "events", columns=plan.published, **given)
        assert audit.verdict is Verdict.PASS


@TWO_ENGINES
@pytest.mark.parametrize("seed", always(9, longer=range(40)))
def test_the_plan_is_the_best_by_definition(store: Store, seed: int) -> None:
    rows = events(Random(seed))
    made(store, rows)
    for known in ("2", "all"):
        agrees(store, rows, known)


@pytest.mark.engines("sqlite", SAIL)
def test_other_engines_plan_too_or_say_why_not(store: Store) -> None:
    made(store, TWO_DAYS)
    agrees(store, TWO_DAYS, "2")
    if store.name == "sqlite":
        with pytest.raises(UsageError, match="does not compare all rows of persons"):
            published(store, "all")
    else:
        agrees(store, TWO_DAYS, "all")


@ONE_ENGINE
def test_what_is_not_compared_is_not_published(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    made(store, [(person, "a", day, "flu") for person in range(4) for day in (1, 2)])
    assert published(store, "2").published == SEARCHED
    monkeypatch.setattr(known_rows, "LINKED_PAIRS", 3)
    found = published(store, "2", columns=("day",))
    assert (found.verdict, found.published) == (Verdict.INCONCLUSIVE, ())
    assert "more pairs of rows" in found.account.unfinished[0]


@ONE_ENGINE
def test_verify_measures_the_plan_again(store: Store, tmp_path: Path) -> None:
    made(store, TWO_DAYS)
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps(published(store, "2", exact=True).to_dict()))
    assert json.loads(plan.read_text())["profile"]["histories"]["known_rows"] == "2"
    assert qidsql.verify(store.url, str(plan)).verdict is Verdict.PASS
    store.execute("UPDATE events SET place = 'b' WHERE person = 0 AND day = 0")
    store.execute("UPDATE events SET place = 'b' WHERE person = 1 AND day = 1")
    changed = qidsql.verify(store.url, str(plan))
    assert changed.verdict is Verdict.VIOLATION and "do not meet the criterion" in changed.reason


@ONE_ENGINE
def test_other_criteria_are_refused(store: Store) -> None:
    made(store, TWO_DAYS)
    for wrong, words in (
        ({"rows_below_k": "10%"}, "goes with k alone"),
        ({"reveals": "illness", "columns": ("day",)}, "goes with k alone"),
        ({"entity": "row"}, "name their column"),
        ({"epsilon": 0.1}, "a sample cannot rule out"),
    ):
        with pytest.raises(UsageError, match=words):
            published(store, "2", **wrong)


@ONE_ENGINE
@pytest.mark.parametrize("way", first(ROW_WAYS))
def test_ways_that_count_rows_take_one_row_of_each_person(store: Store, way: Way) -> None:
    """Of two known rows of who has one there is one; persons with several are for another way."""
    given: dict[str, Any] = {"k": 2, "entity": "person", "columns": ("day",), "by": way, "known_rows": "all"}
    made(store, [(person, "a", person % 3, "flu") for person in range(6)])
    found = qidsql.protect(store.url, "events", **given)
    assert found.verdict in (Verdict.FINISHED, Verdict.PASS)
    assert "person has another value in each row, so that each row is another person" in found.account.notes
    made(store, TWO_DAYS)
    several = qidsql.protect(store.url, "events", **given)
    assert several.verdict is Verdict.INCONCLUSIVE and "columns), which counts persons" in several.account.unfinished[0]


@pytest.mark.exhaustive
@ONE_ENGINE
def test_the_ways_are_compared_with_persons(store: Store) -> None:
    made(store, [(person, "a", person % 3, "flu") for person in range(6)])
    found = qidsql.protect(store.url, "events", k=2, entity="person", columns=("place", "day"), known_rows="2")
    assert {each.way: each.kept for each in found.ways} == dict.fromkeys({*Way} - {Way.TURNS}, 1)


@ONE_ENGINE
def test_the_key_of_a_policy_counts(store: Store, tmp_path: Path) -> None:
    made(store, TWO_DAYS)
    (tmp_path / "qidsql.toml").write_text(f"""format = 1
[sources.events]
url = "{store.url}"
[[tables]]
table = "*events"
k = 3
entity = "person"
known_rows = "2"
[tables.roles]
place = "quasi-identifier"
day = "quasi-identifier"
illness = "other"
""")
    by_two = inside("protect", store.url, "events", "--by", "columns", cwd=tmp_path)
    assert "two known rows of a person leave 3 persons or more" in " ".join(by_two.out.split())
    assert "Withhold       day" in by_two.out
    by_one = inside("protect", store.url, "events", "--by", "columns", "--known-rows", 1, cwd=tmp_path)
    assert "if rows cannot be linked" in " ".join(by_one.out.split()) and "Withhold       nothing" in by_one.out
