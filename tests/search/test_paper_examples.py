"""The papers' small examples, each by its own name, on both engines. Where print and truth differ, truth is tested."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random

import pytest

from qidsql.core.tables import names_of, positions
from qidsql.engines.base import Engine
from qidsql.measures.criteria import Criterion, Determines, Distinct, Key, Separation, Violates
from qidsql.measures.profiles import ClassProfile, ClassSizes
from qidsql.profiling.by_entity import profiler_for
from qidsql.profiling.profiler import TableProfiler
from qidsql.profiling.samples import PairsThatAgree
from qidsql.search.greedy import greedy_minimal
from qidsql.search.lattice import levelwise
from qidsql.search.smallest import minimum
from qidsql.sql.relation import relation
from tests.stores import EVERY_ENGINE, Store

pytestmark = EVERY_ENGINE


@dataclass
class Example:
    """A paper's table in a live engine; columns by name."""

    engine: Engine
    names: Sequence[str]

    def profiler(self, k: int = 2) -> TableProfiler:
        table = self.engine.describe("example")
        return profiler_for(self.engine, relation(self.engine.dialect, table, table.columns), self.names, k)

    def profile(self, *names: str, k: int = 2) -> ClassProfile:
        return self.profiler(k).profile(sum(1 << self.names.index(name) for name in names))

    def minimal(self, criterion: Criterion) -> set[tuple[str, ...]]:
        result = levelwise(self.profiler(), criterion)
        assert result.complete
        return {names_of(found.mask, self.names) for found in result.found}

    def goal(self) -> Determines:
        """The test inside Yuan & Wang's algorithm: as many classes as all columns together."""
        return Determines(self.profile(*self.names).classes)


def example(store: Store, names: Sequence[str], rows: Sequence[Sequence[object]]) -> Example:
    store.table("example", dict.fromkeys(names, "VARCHAR(9)"), [[str(cell) for cell in row] for row in rows])
    return Example(store.connect(), names)


# Motwani & Xu, Table 1

TABLE_1 = [
    (20, "Female", "CA"),
    (30, "Female", "CA"),
    (40, "Female", "TX"),
    (20, "Male", "NY"),
    (40, "Male", "CA"),
]


@pytest.mark.exhaustive
def test_motwani_xu_table_1_ratios(store: Store) -> None:
    people = example(store, ["age", "sex", "state"], TABLE_1)
    ratios = {
        ("age",): ("0.6", "0.8"),  # in the paper's text, as is sex + state; the others from ARX's tests
        ("sex",): ("0.4", "0.6"),
        ("state",): ("0.6", "0.7"),
        ("sex", "state"): ("0.8", "0.9"),
        ("age", "sex"): ("1", "1"),
        ("age", "state"): ("1", "1"),
        ("age", "sex", "state"): ("1", "1"),
    }
    with people.engine:
        for names, (distinct, separation) in ratios.items():
            profile = people.profile(*names)
            assert (profile.distinct_ratio, profile.separation_ratio) == (Fraction(distinct), Fraction(separation))


def test_motwani_xu_table_1_separated_pairs(store: Store) -> None:
    people = example(store, ["age", "sex", "state"], TABLE_1)
    with people.engine:
        colliding = [people.profile(name).colliding_pairs for name in people.names]
    assert [10 - pairs // 2 for pairs in colliding] == [8, 6, 7]


def test_motwani_xu_table_1_keys_and_quasi_identifiers(store: Store) -> None:
    people = example(store, ["age", "sex", "state"], TABLE_1)
    with people.engine:
        assert people.minimal(Key()) == {("age", "sex"), ("age", "state")}
        assert people.minimal(Distinct(Fraction("0.6"))) == {("age",), ("state",)}
        assert people.minimal(Distinct(Fraction("0.8"))) == {("age", "sex"), ("age", "state"), ("sex", "state")}
        assert people.minimal(Separation(Fraction("0.8"))) == {("age",), ("sex", "state")}


def test_motwani_xu_1_1_bounds_in_100_rows() -> None:
    """A 0.5-distinct set; the paper prints the rounded 0.75 and 0.99 of large tables."""
    even = ClassSizes({2: 50}, {2: 100}).profile(2)
    skewed = ClassSizes({1: 49, 51: 1}, {1: 49, 51: 51}).profile(2)
    assert even.distinct_ratio == skewed.distinct_ratio == Fraction(1, 2)
    assert even.separation_ratio == Fraction(98, 99)
    assert skewed.separation_ratio == Fraction(49, 66)
    assert skewed.separation_ratio < Fraction(3, 4)  # below the printed bound


# Yuan & Wang, 4.2: minimum cover becomes minimum key; rows a to e and the bottom row of blanks

o = "_|_"  # the paper's blank
MINIMUM_COVER = [(1, o, o, o), (2, 2, o, o), (3, o, 3, o), (o, 4, 4, 4), (o, o, o, 5), (o, o, o, o)]


def test_yuan_wang_4_2_minimum_cover(store: Store) -> None:
    cover = example(store, ["c1", "c2", "c3", "c4"], MINIMUM_COVER)
    with cover.engine:
        assert cover.minimal(Key()) == {("c1", "c4")}
        assert cover.profile("c1", "c2", "c3").classes == 5  # the paper's counter-example: e and bottom agree
        assert not Key().met_by(cover.profile("c1", "c2", "c3"))
        assert [cover.profile(name).classes for name in cover.names] == [4, 3, 3, 3]


@pytest.mark.exhaustive
def test_yuan_wang_4_2_every_minimum_cover_is_a_minimum_key(store: Store) -> None:
    """The reduction itself: element e is row e, subset S is the column with e's own value in S's rows, else a blank."""
    draw = Random(42)
    instances = []
    for number in range(4):
        elements, subsets = range(draw.randint(4, 9)), draw.randint(3, 7)
        family = [{e for e in elements if draw.random() < 0.45} for _ in range(subsets)]
        family[0] |= set(elements).difference(*family)  # so that there is a cover
        rows = [[str(e) if e in subset else o for subset in family] for e in elements] + [[o] * subsets]
        store.table(f"cover{number}", {f"s{place}": "VARCHAR(9)" for place in range(subsets)}, rows)
        instances.append((set(elements), family))
    with store.connect() as engine:
        for number, (elements, family) in enumerate(instances):
            table = engine.describe(f"cover{number}")
            names = [column.name for column in table.columns]
            profiler = profiler_for(engine, relation(engine.dialect, table, table.columns), names, 2)
            covers = [
                chosen
                for chosen in range(1, 1 << len(family))
                if set().union(*(family[place] for place in positions(chosen))) == elements
            ]
            keys = {found.mask for found in levelwise(profiler, Key()).found}
            assert keys == {one for one in covers if not any(other != one and other & one == other for other in covers)}
            smallest = minimum(profiler, Key(), PairsThatAgree(profiler))
            assert smallest.cost == min(chosen.bit_count() for chosen in covers)
            assert smallest.optimal


# Yuan & Wang, 5.2: the greedy algorithm's run

AS_PRINTED = [
    ("x", 1, "x", 6, "x"),
    ("x", "x", 2, 7, "x"),
    ("x", 3, "x", 8, "x"),
    ("x", "x", 4, "x", 9),
    (5, "x", "x", "x", 0),
]
REPAIRED = [*AS_PRINTED, ("x", "x", "x", "x", "x")]


class Trace:
    """A profiler that remembers what was asked of another, and whether the goal was met."""

    def __init__(self, example: Example) -> None:
        self.profiler, self.goal, self.asked = example.profiler(), example.goal(), list[tuple[str, bool]]()

    @property
    def columns(self) -> int:
        return self.profiler.columns

    def profiles(self, masks: Sequence[int]) -> list[ClassProfile]:
        profiles = self.profiler.profiles(masks)
        for mask, profile in zip(masks, profiles, strict=True):
            self.asked.append(("".join(names_of(mask, self.profiler.names)), self.goal.met_by(profile)))
        return profiles


def test_yuan_wang_5_2_as_printed(store: Store) -> None:
    """The paper says that bc is no quasi-identifier and greedy ends with abc. Its own table says otherwise."""
    printed = example(store, list("abcde"), AS_PRINTED)
    with printed.engine:
        trace = Trace(printed)
        [found] = greedy_minimal(trace, trace.goal).found
        assert printed.profile("b", "c").classes == trace.goal.goal == 5
        assert names_of(found.mask, printed.names) == ("b", "c")
        assert printed.minimal(trace.goal) == {("a", "d"), ("b", "c"), ("b", "e"), ("c", "d"), ("d", "e")}
    assert trace.asked == [
        ("abcde", True),
        ("abcd", True),
        ("abc", True),
        ("ab", False),
        ("ac", False),
        ("bc", True),
    ]


def test_yuan_wang_5_2_repaired(store: Store) -> None:
    """With one more row of x, everything the paper prints is true: abc by greedy, while de is the minimum."""
    repaired = example(store, list("abcde"), REPAIRED)
    with repaired.engine:
        trace = Trace(repaired)
        [found] = greedy_minimal(trace, trace.goal).found
        assert trace.goal.goal == 6
        assert names_of(found.mask, repaired.names) == ("a", "b", "c")
        assert repaired.minimal(trace.goal) == {("d", "e"), ("a", "b", "c"), ("a", "c", "d"), ("b", "c", "e")}
    assert trace.asked == [
        ("abcde", True),
        ("abcd", True),
        ("abc", True),
        ("ab", False),
        ("ac", False),
        ("bc", False),
    ]


@pytest.mark.parametrize("rows", [AS_PRINTED, REPAIRED], ids=["printed", "repaired"])
def test_yuan_wang_5_1_asks_columns_and_one_more(store: Store, rows: list[tuple[object, ...]]) -> None:
    """The printed loop starts again after each success; one pass gives the same set."""
    table = example(store, list("abcde"), rows)
    with table.engine:
        profiler, goal = table.profiler(), table.goal()
        asked = table.engine.statements
        greedy_minimal(profiler, goal)
        assert table.engine.statements - asked == len(table.names) + 1


def test_yuan_wang_proposition_1_the_k_anonymity_test(store: Store) -> None:
    """All columns together decide for every column set."""
    pairs = [("a", 1), ("a", 1), ("a", 2), ("a", 2), ("b", 1), ("b", 1)]
    table = example(store, ["p", "q"], pairs)
    with table.engine:
        assert table.profile("p", "q", k=2).smallest == 2
        assert not Violates(2).met_by(table.profile("p", "q"))
        assert table.minimal(Violates(2)) == set()
        assert table.minimal(Violates(3)) == {("p",), ("q",)}


def test_yuan_wang_definition_3_is_not_what_algorithm_5_1_tests(store: Store) -> None:
    """Definition 3 (some class below k) already holds for each column of the table on which the algorithm needs two."""
    printed = example(store, list("abcde"), AS_PRINTED)
    with printed.engine:
        assert printed.minimal(Violates(2)) == {("a",), ("b",), ("c",), ("d",), ("e",)}
        assert all(len(names) == 2 for names in printed.minimal(printed.goal()))
