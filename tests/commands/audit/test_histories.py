"""`audit --known-rows`: persons of whom two rows are known, or all, by definition."""

import json
from collections.abc import Sequence
from fractions import Fraction
from math import comb
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pytest

import qidsql
from qidsql.core.results import Verdict
from qidsql.errors import UsageError
from qidsql.measures.histories import Certain, clopper_pearson, exceeds, no_more_than
from qidsql.profiling import known_rows
from tests.commandline import inside
from tests.exhaustive import always
from tests.stores import ONE_ENGINE, SAIL, Store
from tests.trials.histories import COLUMNS as EVENTS
from tests.trials.histories import blamed, events, measured

Row = tuple[Any, ...]  # person, place, day
COLUMNS = {"person": "INTEGER", "place": "VARCHAR(9)", "day": "INTEGER"}
POLICY = """format = 1
[sources.events]
url = "{url}"
[[tables]]
table = "*events"
k = 2
entity = "person"
{more}
[tables.roles]
place = "quasi-identifier"
day = "quasi-identifier"
"""


def made(store: Store, rows: Sequence[Row]) -> None:
    store.execute("DROP TABLE IF EXISTS events")
    store.table("events", COLUMNS, rows)


@pytest.mark.engines("duckdb", "sqlite", SAIL)
def test_every_engine_measures_what_the_definitions_say(store: Store) -> None:
    for seed in range(2):
        rows = events(Random(seed))
        store.execute("DROP TABLE IF EXISTS events")
        store.table("events", EVENTS, rows)
        assert measured(store, rows, 2) == ""


@pytest.mark.exhaustive
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
    assert "audit" not in said[said.index("Next:") :], "the set below k is all that was audited"
    document = json.loads(inside("audit", store.url, *given, "--known-rows", "2", "--format", "json").out)
    assert document["histories"]["known_rows"] == "2" and document["histories"]["persons_below_k"] == 3
    assert inside("audit", store.url, *given, "--known-rows", "all").code == 1


@ONE_ENGINE
@pytest.mark.parametrize(
    ("more", "still"),
    [
        ({"known_rows": "2"}, "below k = 2 by two known rows"),
        ({"require": ["unicity-2=5%"]}, "unicity"),
        ({}, "rows without a value of person"),
    ],
)
def test_no_remedy_meets_more_than_it_measures(store: Store, more: dict[str, Any], still: str, tmp_path: Path) -> None:
    """Without the place a day has two persons, or one and a row of nobody; two days are one person's alone."""
    nobody = () if more else ((None, "z", 3),)
    rows = [(person, str(person), day) for person in range(3) for day in (person, (person + 1) % 3)]
    made(store, [*rows, *nobody, *((person, "z", 3) for person in range(1 if nobody else 2))])
    given: dict[str, Any] = {"k": 2, "entity": "person", **more}
    found = qidsql.audit(store.url, "events", columns=["place", "day"], **given)
    [option] = found.withheld
    assert (option.columns, option.passes) == (("place",), False) and option.still.startswith(still)
    assert qidsql.audit(store.url, "events", columns=["day"], **given).verdict is not Verdict.PASS
    (tmp_path / "audit.json").write_text(json.dumps(found.to_dict()))
    assert qidsql.verify(store.url, str(tmp_path / "audit.json")).verdict is Verdict.PASS


@pytest.mark.exhaustive
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
    monkeypatch.setattr(known_rows, "LINKED_PAIRS", 3)
    many = qidsql.audit(store.url, "events", where="person IS NOT NULL", **given)
    assert many.verdict is Verdict.INCONCLUSIVE and "was not examined" in many.reason
    with pytest.raises(UsageError, match="name their column"):
        qidsql.audit(store.url, "events", known_rows="2")
    with pytest.raises(UsageError, match="must be 1, 2 or all"):
        qidsql.audit(store.url, "events", entity="person", known_rows="3")


@pytest.mark.engines("duckdb", "postgres", "sqlite", SAIL)
@pytest.mark.parametrize("seeds", always(4, longer=[10]))
def test_the_minimal_sets_and_the_remedies_are_those_of_the_definitions(store: Store, seeds: int) -> None:
    """Also where one row is enough; where a person's rows are all known, SQLite refuses."""
    shown = 0
    for seed in range(seeds):
        rows = [row for row in events(Random(f"sets {seed}")) if row[0] is not None]
        store.execute("DROP TABLE IF EXISTS events")
        store.table("events", EVENTS, rows)
        given: dict[str, Any] = {"k": 2 + seed % 2, "entity": "person", "columns": ["place", "day", "illness"]}
        for known in ("2", "all") if store.name != "sqlite" else ("2",):
            found = qidsql.audit(store.url, "events", known_rows=known, **given)
            if found.verdict is Verdict.VIOLATION:
                shown += len(found.column_sets)
                assert blamed(found, rows) == "", (seed, known)
    assert shown or seeds < 10  # SQLite has none among the first


@pytest.mark.exhaustive
@ONE_ENGINE
def test_what_blames_columns_is_checked_again(store: Store, tmp_path: Path) -> None:
    """By two rows each pair of columns singles out; a set, a figure and a remedy that are changed are refused."""
    rows = [(person, "abc"[person % 3], (person + step) % 4) for person in range(12) for step in (0, 1, 3)]
    made(store, rows)
    found = qidsql.audit(store.url, "events", k=3, entity="person", columns=["place", "day"], known_rows="2")
    document = found.to_dict()
    path = tmp_path / "audit.json"

    def checked(changed: dict[str, Any]) -> Verdict:
        path.write_text(json.dumps(changed))
        return qidsql.verify(store.url, str(path)).verdict

    assert found.verdict is Verdict.VIOLATION and found.column_sets and found.withheld
    assert checked(document) is Verdict.PASS
    for change in (
        lambda changed: changed["column_sets"].pop(),
        lambda changed: changed["column_sets"][0]["histories"].update(persons_below_k=1),
        lambda changed: changed["withheld"][0].update(passes=not changed["withheld"][0]["passes"]),
        lambda changed: changed["least_withheld"].update(at_least=2, columns=["place", "day"]),
    ):
        changed = json.loads(json.dumps(document))
        change(changed)
        assert checked(changed) is Verdict.VIOLATION


@ONE_ENGINE
@pytest.mark.parametrize("days", [1, 4])
def test_rows_that_are_nobodys_are_no_pass(store: Store, days: int) -> None:
    made(store, [(None, "a", day % days) for day in range(4)])
    result = qidsql.audit(store.url, "events", k=2, entity="person", known_rows="2", columns=["place", "day"])
    assert result.verdict is Verdict.VIOLATION


@pytest.mark.exhaustive
@ONE_ENGINE
def test_a_run_tells_its_finding_and_compares_it(store: Store, tmp_path: Path) -> None:
    made(store, [(person, "a", day) for person in range(3) for day in (person, (person + 1) % 3)])
    file = tmp_path / "qidsql.toml"
    for known, code, found in (
        ("", 0, ""),
        ('known_rows = "2"', 1, "known_rows"),
        ('known_rows = "2"', 1, "No finding changed"),
    ):
        file.write_text(POLICY.format(url=store.url, more=known))
        outcome = inside("run", "--fresh", cwd=tmp_path)
        assert (outcome.code, found in outcome.out) == (code, True), outcome
    shown = inside("run", "--fresh", "--format", "junit", cwd=tmp_path).out
    assert "is not 2-anonymous by two known rows of a person" in shown and "<failure" in shown
    assert "have two rows that fewer than k = 2 share" in " ".join(inside("report", "last", cwd=tmp_path).out.split())


@ONE_ENGINE
def test_a_set_that_is_accepted_by_one_known_row_is_not_by_two(store: Store, tmp_path: Path) -> None:
    """A place is one person's, which is accepted; any two days are, too, which is not."""
    days = [(person, "a", day) for person in range(3) for day in (person, (person + 1) % 3)]
    made(store, [*days, (0, "b", 0)])
    accepted = '[[tables.exceptions]]\ncolumns = ["place"]\nreason = "agreed"\nexpires = 2999-01-01\n'
    file = tmp_path / "qidsql.toml"
    for more, code in (
        ("", 0),
        ('known_rows = "2"', 1),
        ('require = ["unicity-2=5%"]', 1),
        ('require = ["unicity-1=50%"]', 0),
    ):
        file.write_text(POLICY.format(url=store.url, more=more) + accepted)
        assert inside("run", "--fresh", cwd=tmp_path).code == code, more


@ONE_ENGINE
def test_what_known_rows_tell_of_a_sensitive_column(store: Store) -> None:
    """Both days of two persons tell that both are ill; no day alone does."""
    rows = [(1, "a", 1, "hiv"), (1, "a", 2, None), (2, "a", 1, "flu"), (2, "a", 2, "hiv")]
    rows += [(3, "a", 1, "flu"), (4, "a", 1, None), (5, "a", 2, "cold"), (6, "a", 2, "cold")]
    store.table("events", {**COLUMNS, "illness": "VARCHAR(9)"}, rows)
    given: dict[str, Any] = {"k": 2, "entity": "person", "columns": ["day"], "sensitive": "illness", "l_diversity": 2}
    assert qidsql.audit(store.url, "events", **given).verdict is Verdict.PASS
    found = qidsql.audit(store.url, "events", known_rows="2", **given)
    assert found.verdict is Verdict.VIOLATION and found.histories is not None
    assert found.histories.certain == (Certain("illness", 2),)
    assert "2 of 6 values of person (33.3 %) have one or two rows such that all who have them, too" in found.reason
    with pytest.raises(
        UsageError, match="l_diversity measures rows; with entity use l_diversity=2: persons have several"
    ):
        qidsql.audit(store.url, "events", **{**given, "l_diversity": 3})


@pytest.mark.exhaustive
@ONE_ENGINE
def test_a_limit_on_the_unicity_decides(store: Store, tmp_path: Path) -> None:
    """Of two persons with two days one pair is theirs alone; 8 persons have one day each."""
    made(store, [(1, "a", 1), (1, "a", 2), (2, "a", 2), (2, "a", 3), *((p, "a", p % 3 + 1) for p in range(3, 11))])

    def verdict(*limits: str, **given: Any) -> tuple[Verdict, str]:
        found = qidsql.audit(store.url, "events", k=2, entity="person", columns=["day"], require=limits, **given)
        return found.verdict, found.reason

    assert verdict("unicity-2=20%") == (Verdict.PASS, verdict("unicity-2=20%")[1])
    assert "2 rows leave nobody else for 20.0 % of the values of person, on average" in verdict("unicity-2=20%")[1]
    for limit in ("unicity-2=20%", "unicity-2=19%", "unicity-5=20%"):
        result = qidsql.audit(store.url, "events", k=2, entity="person", columns=["day"], require=limit)
        (tmp_path / "audit.json").write_text(json.dumps(result.to_dict()))
        assert qidsql.verify(store.url, str(tmp_path / "audit.json")).verdict is Verdict.PASS
    assert verdict("unicity-1=0", "unicity-2=0.19")[0] is Verdict.VIOLATION
    assert verdict("unicity-5=20%")[0] is Verdict.PASS, "nobody has more than two rows"
    assert verdict("unicity-all=0.1")[0] is Verdict.VIOLATION
    for wrong in ("unicity-6=5%", "unicity-2", "share-2=5%", "unicity-2=100%"):
        with pytest.raises(UsageError):
            verdict(wrong)
    with pytest.raises(UsageError, match="name their column"):
        qidsql.audit(store.url, "events", require="unicity-2=5%")
    store.execute("INSERT INTO events VALUES (NULL, 'a', 1)")
    assert verdict("unicity-2=20%")[0] is Verdict.INCONCLUSIVE
    assert verdict("unicity-2=20%", where="person IS NOT NULL")[0] is Verdict.PASS


@ONE_ENGINE
def test_what_a_coarser_day_would_buy(store: Store) -> None:
    """Each person has two days of her own; all are in the same two weeks. One person has three."""
    days = [(person, f"2024-0{1 + week}-0{1 + person}") for person in range(1, 6) for week in (0, 3)]
    store.table("visits", {"person": "INTEGER", "day": "DATE"}, [*days, (1, "2024-01-03")])
    found = qidsql.audit(store.url, "visits", k=2, entity="person", columns=["day"])
    assert found.unicity is not None and found.resolutions is not None and found.numbers_of_rows is not None
    assert found.unicity[0].alone == Fraction(4 + Fraction(2, 3) - Fraction(1, 2), 5)
    assert [(each.column, each.unit) for each in found.resolutions] == [("day", "week"), ("day", "month")]
    assert [point.alone for each in found.resolutions for point in each.unicity] == [0] * 6
    numbers = found.numbers_of_rows
    assert (numbers.alone, numbers.below_k, numbers.cut, numbers.rows_cut) == (1, 1, 2, 1)
    assert found.columns[1].varying == 5


def test_draws_decide_only_beyond_doubt() -> None:
    """By the binomial distribution, written again for two draws: 1/4, 1/2, 1/4 at one half."""
    assert [no_more_than(some, 2, Fraction(1, 2)) for some in range(3)] == [Fraction(1, 4), Fraction(3, 4), 1]
    assert [exceeds(some, 1000, Fraction(1, 20)) for some in (30, 50, 70)] == [False, None, True]
    assert not exceeds(0, 1000, Fraction(1, 100)) and exceeds(0, 100, Fraction(1, 100)) is None
    for some, low, high in ((0, 0, 0.0053), (1000, 0.9947, 1), (65, 0.0465, 0.0877)):
        assert clopper_pearson(some, 1000, 0.005) == pytest.approx((low, high), abs=1e-4)


@pytest.mark.parametrize("share", [0, 0.0005, 0.001, 0.01, 0.3, 0.5, 0.999, 1])
@pytest.mark.parametrize("drawn", always(30, longer=[604, 1000]))
def test_the_bounds_hold_at_their_confidence(drawn: int, share: float) -> None:
    """The probability that the interval has the share, over all draws: binomial, written again."""
    holds = total = 0.0
    for some in range(drawn + 1):
        chance = (
            comb(drawn, some) * share**some * (1 - share) ** (drawn - some) if 0 < share < 1 else some == drawn * share
        )
        if chance > 1e-9:
            low, high = clopper_pearson(some, drawn, 0.005)
            holds, total = holds + chance * (low <= share <= high), total + chance
    assert holds >= 0.99 - 1e-6 and total > 0.999


@ONE_ENGINE
def test_a_violation_is_found_where_not_all_pairs_are_compared(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_rows, "LINKED_PAIRS", 3)
    made(store, [(person, "a", day) for person in range(30) for day in (person, (person + 1) % 30)])
    given: dict[str, Any] = {"k": 2, "entity": "person", "columns": ["place", "day"], "known_rows": "2"}
    found = qidsql.audit(store.url, "events", **given)
    assert found.verdict is Verdict.VIOLATION and found.histories is not None and found.unicity is not None
    assert (found.histories.smallest, found.histories.persons_below_k) == (1, found.histories.tried)
    assert [(each.known_rows, each.drawn) for each in found.unicity] == [("1", None), ("2", 30), ("all", None)]
    assert found.unicity[1].alone == 1
    said = " ".join(inside("audit", store.url, "events", "--k", "2", "--entity", "person", "-c", "day").out.split())
    assert "Known rows" in said


@pytest.mark.engines("sqlite")
def test_an_engine_that_has_no_lists_says_so(store: Store) -> None:
    made(store, [(person, "a", 1) for person in range(4)])
    with pytest.raises(UsageError, match="does not compare all rows of persons"):
        qidsql.audit(store.url, "events", k=2, entity="person", columns=["place"], known_rows="all")


def test_what_two_equal_rows_count_as_is_said() -> None:
    """As one, be there two: nobody else has a second one, which `all` counts."""
    with duckdb.connect() as people:
        people.execute("CREATE TABLE t AS SELECT 'icu' AS ward, i % 10 AS p FROM range(11) AS r(i)")
        found = {
            known: qidsql.audit(people, "t", k=5, columns="ward", entity="p", known_rows=known)  # type: ignore[arg-type]
            for known in ("2", "all")
        }
    assert [each.verdict for each in found.values()] == ["pass", "violation"]
    said = "who knows two equal rows of a person knows that there is such a row, not how many"
    assert [said in each.assumptions for each in found.values()] == [True, False]
