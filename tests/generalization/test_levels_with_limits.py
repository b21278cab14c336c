"""Levels under limits on disclosure, of persons with several rows, with rows left out; random tables are trials."""

import json
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import qidsql
from qidsql.core.results import Verdict
from qidsql.errors import UsageError
from tests.commandline import inside
from tests.exhaustive import always
from tests.levels_by_definition import LIMITS
from tests.stores import TWO_ENGINES, Store
from tests.trials.recodings import check_levels, protected_by_levels, random_levels, verified

SEEDS = always(14, 15, longer=range(16, 38))


@TWO_ENGINES
@pytest.mark.parametrize("seed", SEEDS)
def test_plan_and_copy_are_as_defined(store: Store, tmp_path: Path, seed: int) -> None:
    case = random_levels(seed)
    result, copy = protected_by_levels(case, store, tmp_path / "hierarchies", tmp_path / "secrets.csv")
    check_levels(case, result, copy)
    if result.kept is not None and seed % 2:
        verified(result, store, tmp_path / "result.json")


@pytest.mark.engines("sqlite")
@pytest.mark.parametrize("seed", SEEDS)
def test_a_plan_of_sqlite_is_as_defined(store: Store, tmp_path: Path, seed: int) -> None:
    """Without hierarchies of files: of texts all or nothing."""
    case = random_levels(seed)
    found = [{row[place] for row in case.rows} - {None} for place in range(len(case.hierarchies))]
    case.hierarchies = [dict.fromkeys(sorted(filter(None, each)) or ["-"], ()) for each in found]
    result, _ = protected_by_levels(case, store, None, tmp_path / "secrets.csv")
    check_levels(case, result, Counter())


COLUMNS = {"age": "INTEGER", "ward": "VARCHAR(1)", "person": "INTEGER", "secret": "INTEGER"}
ROWS = [(20 + n % 24, "abc"[n % 3], n % 60, [1, 2, 3, 4, 2][n % 5] if n % 24 > 3 else 1) for n in range(240)]


@pytest.fixture
def people(store: Store) -> Store:
    store.table("people", COLUMNS, ROWS)
    return store


GIVEN: dict[str, Any] = {"by": "levels", "columns": ["age", "ward"], "sensitive": "secret", "entity": "row"}


@TWO_ENGINES
def test_every_limit_holds_in_every_class(people: Store) -> None:
    """Judged by an audit of the copy with the same limit; without it, another plan keeps more."""
    given: dict[str, Any] = {**GIVEN, "k": 5, "suppress": 0}
    options = {name: limits[0] for name, limits in LIMITS.values() if name != "t_hierarchical"}
    options |= {"recursive_l": "1,2", "delta_disclosure": 5, "beta_likeness": 1}
    plain = qidsql.protect(people.url, "people", **given)
    for number, (name, limit) in enumerate(options.items()):
        with people.connect(writable=True) as engine:
            found = qidsql.protect(engine, "people", **given, **{name: limit}, into=f"copy{number}")
        assert (found.verdict, found.proved) == (Verdict.FINISHED, True), found.reason
        assert (found.kept or 1) < (plain.kept or 0)
        about: dict[str, Any] = {"columns": ["age", "ward"], "sensitive": "secret", "entity": "row", name: limit}
        audited = qidsql.audit(people.url, f"copy{number}", k=5, **about)
        assert audited.verdict == "pass" and audited.account.rows == 240


@pytest.mark.engines("duckdb")
def test_a_limit_that_joined_rows_can_break_is_held_where_every_row_stays(people: Store) -> None:
    for name, limit in (("alpha", "0.5"), ("t_closeness", "0.2"), ("entropy_l", "1.5")):
        with pytest.raises(UsageError, match=f"by levels holds {name}={limit} where every row stays: add suppress=0"):
            qidsql.protect(people.url, "people", **GIVEN, **{name: limit})
        compared = qidsql.protect(people.url, "people", **GIVEN | {"by": None}, **{name: limit})
        reasons = {str(each.way): each.reason for each in compared.ways}
        assert not reasons["levels"] and "levels, which does" in reasons["values"]
    with pytest.raises(UsageError, match="of persons where every row stays: add suppress=0"):
        qidsql.protect(people.url, "people", **GIVEN | {"entity": "person"}, l_diversity=2)
    with pytest.raises(UsageError, match="a printed statement does not hold l_diversity=2 of later rows"):
        qidsql.protect(people.url, "people", **GIVEN, l_diversity=2, sql="view")
    with pytest.raises(UsageError, match="column age is given as sensitive and as quasi-identifier"):
        qidsql.protect(people.url, "people", **GIVEN | {"sensitive": ["secret", "age"]}, l_diversity=2)


@TWO_ENGINES
def test_levels_that_are_asked_for_are_judged_by_the_limit(people: Store, tmp_path: Path) -> None:
    """Rows, and classes: without the limit fewer miss the rule."""
    asked = ["age=5", "age=*", ""]
    with people.connect() as engine:
        found = qidsql.protect(engine, "people", k=5, l_diversity=2, levels=asked, **GIVEN | {"suppress": "50%"})
        strict = qidsql.protect(engine, "people", k=5, t_closeness="0.01", levels=asked, suppress=0, **GIVEN)
    shown = [[(row[0] // width * width, row[1]) for row in ROWS] for width in (5, 1000, 1)]
    for turn, rows in zip(found.turns, shown, strict=True):
        missing = [
            size
            for each, size in Counter(rows).items()
            if size < 5 or len({row[3] for row, own in zip(ROWS, rows, strict=True) if own == each}) < 2
        ]
        assert (turn.rows_below_k, turn.classes_below_k) == (sum(missing), len(missing))
        assert turn.enough is (2 * sum(missing) <= len(ROWS))
    assert strict.verdict is Verdict.VIOLATION and "240 rows (100 %) are below k or beyond a limit" in strict.reason
    for number, result in enumerate((found, strict)):
        place = tmp_path / f"turns{number}.json"
        place.write_text(json.dumps(result.to_dict(), default=str))
        assert qidsql.verify(people.url, str(place)).verdict == "pass"


@pytest.mark.engines("duckdb")
def test_persons_are_counted_in_plan_frontier_and_copy(people: Store, tmp_path: Path) -> None:
    place = tmp_path / "plan.json"
    given = ("protect", people.url, "people", "-c", "age", "-c", "ward", "--by", "levels", "--frontier")
    by_persons = (*given, "--entity", "person", "--k", "6", "--suppress", "0", "--into", "shown", "-q")
    assert inside(*by_persons, "--output", str(place)).code == 0
    found = json.loads(place.read_text())
    assert found["frontier"][0]["kept"] is not None
    assert inside("verify", str(place), people.url).code == 0
    with people.connect() as engine:
        rows = qidsql.protect(engine, "people", k=6, entity="row", by="levels", columns=["age", "ward"], suppress=0)
    assert Fraction(found["kept"]) < (rows.kept or 0)
    said = " ".join(inside(*by_persons, "--replace").out.split())
    assert "a row of a person leaves 6 persons or more by age, ward, if rows cannot be linked" in said
    people.execute("DELETE FROM shown WHERE ward = 'a'")
    assert inside("verify", str(place), people.url).code != 0


@pytest.mark.engines("duckdb")
def test_the_next_step_names_the_limit(people: Store) -> None:
    given = ("protect", people.url, "people", "-c", "age", "-c", "ward", "--sensitive", "secret", "--entity", "row")
    found = inside(*given, "--by", "levels", "--t", "0.25", "--suppress", "0")
    assert "--t-closeness 0.25 --by levels --suppress 0" in " ".join(found.out.split())
    none = inside(*given, "--by", "levels", "--l", "5")
    assert none.code == 1
    assert "no coarser values help: all rows together miss a limit on what they disclose" in " ".join(none.out.split())
