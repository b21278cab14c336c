"""Levels under limits on disclosure, of persons with several rows, with rows left out; random tables are trials."""

import json
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest

import qidsql
from qidsql.core.results import Verdict
from qidsql.errors import BudgetSpent, UsageError
from qidsql.generalization import levels
from qidsql.generalization.levels import Below, Levels, LevelSearch
from qidsql.generalization.measures import Measure, Shape
from tests.commandline import inside
from tests.exhaustive import always
from tests.levels_by_definition import LIMITS
from tests.stores import EVERY_ENGINE, TWO_ENGINES, Store
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


def made_lattice(seed: int) -> tuple[Shape, dict[Levels, Below]]:
    """The rows that miss a rule at each choice of levels: some surely at each finer one, others at this one alone."""
    draw = Random(seed)
    heights = tuple(draw.randint(1, 4) for _ in range(draw.randint(2, 3)))
    shape = Shape(100, heights, tuple(draw.randint(1, 3) for _ in heights), (9,) * len(heights), ((),) * len(heights))
    steps = [[draw.randint(0, 9) for _ in range(height + 1)] for height in heights]
    found = {}
    for node in product(*(range(height + 1) for height in heights)):
        sure = sum(sum(own[level:]) for own, level in zip(steps, node, strict=True))
        counted = sure + draw.choice([0, 0, 3, 40])
        found[node] = Below(counted, counted, sure)
    return shape, found


@pytest.mark.parametrize("seed", range(40))
def test_a_search_by_a_rule_that_joined_rows_can_break_ends_with_the_best_choice(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In small batches: what is unsafe rules out finer levels only as far as rows are sure, else itself alone."""
    monkeypatch.setattr(levels, "BATCH", 3)
    (shape, below), limit = made_lattice(seed), 20

    def price(nodes: Sequence[Levels], _: Sequence[int]) -> list[Fraction]:
        return [1 - shape.precision(node) for node in nodes]

    search = LevelSearch(shape, Measure.PRECISION, limit, lambda nodes, _: [below[node] for node in nodes], price)
    found = search.run()
    safe = {node: 1 - shape.precision(node) for node, each in below.items() if each.counted <= limit}
    assert found.proved
    assert (found.best and found.best.cost) == min(safe.values(), default=None)
    assert len(found.asked) <= len(below)


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
def test_what_no_copy_can_hold_is_refused(people: Store) -> None:
    for name, limit in (("alpha", "0.5"), ("t_closeness", "0.2")):
        compared = qidsql.protect(people.url, "people", **GIVEN | {"by": None}, **{name: limit})
        reasons = {str(each.way): each.reason for each in compared.ways}
        assert not reasons["levels"] and "levels, which does" in reasons["values"]
    with pytest.raises(UsageError, match="a printed statement does not hold l_diversity=2 of later rows"):
        qidsql.protect(people.url, "people", **GIVEN, l_diversity=2, sql="view")
    with pytest.raises(UsageError, match="column age is given as sensitive and as quasi-identifier"):
        qidsql.protect(people.url, "people", **GIVEN | {"sensitive": ["secret", "age"]}, l_diversity=2)
    with pytest.raises(UsageError, match="alpha measures rows; with entity use l_diversity=2"):
        qidsql.protect(people.url, "people", **GIVEN | {"entity": "person"}, alpha="0.5")


@TWO_ENGINES
def test_rows_beyond_a_limit_are_left_out_and_the_others_keep_more(people: Store) -> None:
    """Ages 20 to 23 are all of one secret: without these 40 rows, of 240, the others need no coarser ages."""
    for name, limit in (("alpha", "0.5"), ("entropy_l", "2"), ("t_closeness", "0.3")):
        given: dict[str, Any] = {**GIVEN, "k": 5, name: limit}
        whole = qidsql.protect(people.url, "people", **given, suppress=0)
        with people.connect(writable=True) as engine:
            found = qidsql.protect(engine, "people", **given, suppress="20%", into=f"part_{name}")
        assert found.proved and found.target and (found.kept or 0) >= (whole.kept or 0)
        gone = found.rows_left_out
        assert gone == (0 if name == "t_closeness" else 40)  # as no class misses k, and all rows that stay decide t


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
        assert turn.cells_shown == sum(missing) * (1 if turn.asked == "age=*" else 2)
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
@pytest.mark.parametrize("more", [{"l_diversity": 2}, {"alpha": "0.5", "suppress": "20%"}, {"entity": "person"}])
def test_a_budget_that_ends_never_passes_for_an_answer(people: Store, more: dict[str, Any]) -> None:
    """With each number of statements: no plan, the coarsest, or the whole one; no kept copy is called none."""
    given: dict[str, Any] = {**GIVEN, "k": 4, **more}
    with people.connect(writable=True) as engine:
        whole = qidsql.protect(engine, "people", **given, into="whole")
    assert whole.verdict is Verdict.FINISHED
    for most in range(1, whole.account.statements, 2):
        with people.connect(writable=True) as engine:
            found = qidsql.protect(engine, "people", **given, into=f"ended{most}", max_statements=most)
        if found.target is None:
            assert found.verdict is Verdict.INCONCLUSIVE and "nothing was written" in found.reason
        else:
            assert found.verdict is Verdict.FINISHED and (found.coarsest or found.kept == whole.kept)
            assert found.account.rows == len(ROWS)


@pytest.mark.engines("duckdb")
def test_a_limit_that_all_levels_miss_is_no_answer_of_a_search_that_ended(
    people: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where rows may be left out, the coarsest levels tell nothing of others."""
    monkeypatch.setattr(LevelSearch, "_next", lambda self: (_ for _ in ()).throw(BudgetSpent("ended")))
    monkeypatch.setattr(levels, "BATCH", 1)
    ended = qidsql.protect(people.url, "people", **GIVEN, k=5, alpha="0.3", suppress="60%")
    assert ended.verdict is Verdict.INCONCLUSIVE and ended.kept is None


@EVERY_ENGINE
def test_each_engine_finds_the_same_levels(store: Store) -> None:
    """Of texts, which every engine takes as they are or not at all; without a copy, as two of them are only read."""
    store.table(
        "people", COLUMNS | {"age": "VARCHAR(9)"}, [(f"a{row[0]}{'b' * (row[0] % 2)}", *row[1:]) for row in ROWS]
    )
    for more, kept, gone in (
        ({"k": 5, "l_diversity": 2}, Fraction(1, 2), 0),
        ({"k": 5, "alpha": "0.5", "suppress": "20%"}, Fraction(5, 6), 40),
        ({"k": 5, "t_closeness": "0.3", "suppress": 0}, Fraction(1, 2), 0),
        ({"k": 6, "entity": "person"}, Fraction(1, 2), 0),
        ({"k": 5, "entity": "person", "l_diversity": 2, "suppress": 0}, Fraction(1, 2), 0),
    ):
        with store.connect() as engine:
            found = qidsql.protect(engine, "people", **GIVEN | more)
        assert (found.kept, found.rows_left_out, found.proved) == (kept, gone, True), found.reason


@pytest.mark.engines("duckdb")
def test_the_next_step_names_the_limit(people: Store) -> None:
    given = ("protect", people.url, "people", "-c", "age", "-c", "ward", "--sensitive", "secret", "--entity", "row")
    found = inside(*given, "--by", "levels", "--t", "0.25", "--suppress", "0")
    assert "--t-closeness 0.25 --by levels --suppress 0" in " ".join(found.out.split())
    for suppress, why in (
        ("1%", "no choice of levels meets k and the limits"),
        ("0", "all rows together miss a limit"),
    ):
        none = inside(*given, "--by", "levels", "--l", "5", "--suppress", suppress)
        assert none.code == 1 and f"no coarser values help: {why}" in " ".join(none.out.split())
