"""What must happen to the answer of every search when its table is changed in a way whose effect is known.

No expected answer is computed here: what is found on a table is held against what is found on the changed one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import TypeAlias

import pytest

from qidsql.commands.keys.algorithms import ALGORITHMS
from qidsql.core.tables import positions
from qidsql.measures.criteria import Criterion, Determines, Distinct, Key, RowsBelowK, Separation, Violates
from qidsql.profiling.by_entity import profiler_for
from qidsql.profiling.profiler import TableProfiler
from qidsql.profiling.samples import PairsThatAgree, TableSampler
from qidsql.protection.masking import exact_masking, greedy_masking
from qidsql.search.borders import borders
from qidsql.search.greedy import greedy, greedy_minimal, naive_greedy
from qidsql.search.lattice import iterative, levelwise, pruned
from qidsql.search.minimal_keys import minimal_keys
from qidsql.search.result import SearchResult
from qidsql.search.sampled import sampled_key
from qidsql.search.smallest import minimum
from qidsql.sql.relation import relation
from tests.search.tables import OnceSampler, Row, fill, random_table
from tests.stores import ONE_OF_THREE, Store

pytestmark = ONE_OF_THREE

K = 3
COUNT = 1
Answers: TypeAlias = "dict[tuple[int, int, str], object]"  # by table, number of the criterion and search
SURE = Fraction(1, 10**9)


@dataclass(frozen=True)
class Asked:
    """One search of one table. `weights` are all different, so that no two columns are equally good by chance."""

    profiler: TableProfiler
    sampler: OnceSampler
    criterion: Criterion
    weights: Sequence[int]

    @property
    def order(self) -> list[int]:
        """The columns by weight: an order that does not depend on where they stand."""
        return sorted(range(self.profiler.columns), key=lambda place: self.weights[place])


def masks(result: SearchResult) -> frozenset[int]:
    return frozenset(found.mask for found in result.found)


def by_pruning(asked: Asked, search: Callable[..., SearchResult], sizes: object) -> frozenset[int] | None:
    if isinstance(asked.criterion, (Violates, RowsBelowK)):
        return None
    return masks(search(asked.profiler, asked.criterion, asked.sampler, sizes, SURE))


def by_hitting_sets(asked: Asked) -> frozenset[int] | None:
    if not isinstance(asked.criterion, Key):
        return None
    return masks(minimal_keys(asked.profiler, PairsThatAgree(asked.profiler, max_pairs=6)))


def least_cost(asked: Asked) -> int | None:
    return minimum(asked.profiler, asked.criterion, PairsThatAgree(asked.profiler, 6), asked.weights).cost


def sample_size(asked: Asked) -> object:
    """Which rows are drawn is free; how many, and what is promised of them, is not."""
    if not isinstance(asked.criterion, (Distinct, Separation)):
        return None
    certificate = sampled_key(asked.profiler, asked.criterion, asked.sampler, weights=asked.weights).certificate
    assert certificate is not None
    return certificate.sizes, certificate.unit


SEARCHES: dict[str, Callable[[Asked], object]] = {
    "levelwise": lambda a: masks(levelwise(a.profiler, a.criterion)),
    "borders": lambda a: masks(borders(a.profiler, a.criterion)),
    "hitting-sets": by_hitting_sets,
    "pruned": lambda a: by_pruning(a, pruned, 200 if isinstance(a.criterion, Separation) else 6),
    "iterative": lambda a: by_pruning(a, iterative, (60, 200) if isinstance(a.criterion, Separation) else (3, 8)),
    "implicit-hitting-set": least_cost,
    "greedy": lambda a: masks(greedy(a.profiler, a.criterion, a.weights)),
    "naive-greedy": lambda a: masks(naive_greedy(a.profiler, a.criterion, a.weights)),
    "greedy-minimal": lambda a: masks(greedy_minimal(a.profiler, a.criterion, a.order)),
    "sampled": sample_size,
    "mask, greedy": lambda a: frozenset([greedy_masking(a.profiler, a.criterion, a.weights).published]),
    "mask, exact": lambda a: exact_masking(a.profiler, a.criterion, a.weights).weight,
}


def test_no_algorithm_is_left_out() -> None:
    assert set(ALGORITHMS) <= set(SEARCHES)


def tables() -> list[list[Row]]:
    """Small tables of enough rows that one class of all of them meets no criterion; with and without duplicates."""
    draw, found = Random(31), list[list[Row]]()
    while len(found) < COUNT:
        rows = random_table(draw)
        if len(rows) >= 8 and 2 <= len(rows[0]) <= 6 and len(set(rows)) > 4:
            found += [rows, list(dict.fromkeys(rows))]
    return found


def criteria(rows: Sequence[Row]) -> list[Criterion]:
    goal = len(set(rows))
    return [
        Key(),
        Distinct(Fraction(3, 5)),
        Separation(Fraction(9, 10)),
        Violates(K),
        RowsBelowK(K, Fraction(1, 2)),
        Determines(goal),
    ]


def answers(
    store: Store,
    drawn: Sequence[Sequence[Row]],
    weights: Callable[[int], list[int]],
    asked: Sequence[Sequence[Criterion]],
    k: int = K,
) -> Answers:
    """What every search finds: {(table, number of the criterion, search): answer}."""
    fill(store, drawn)
    found = {}
    with store.connect() as engine:
        for number, rows in enumerate(drawn):
            table = engine.describe(f"t{number}")
            source = relation(engine.dialect, table, table.columns)
            names = [column.name for column in table.columns]
            profiler = profiler_for(engine, source, names, k, rows=len(rows))
            sampler = OnceSampler(TableSampler(profiler, table, table.columns, seed=5))
            for place, criterion in enumerate(asked[number]):
                for name, search in SEARCHES.items():
                    question = Asked(profiler, sampler, criterion, weights(len(names)))
                    found[number, place, name] = search(question)
    for number in range(len(drawn)):
        store.execute(f"DROP TABLE t{number}")
    return found


def weights(width: int) -> list[int]:
    return [3, 1, 4, 15, 9, 2, 6][:width]


def moved(answer: object, move: Callable[[int], int]) -> object:
    """The answer with each column set in its new place."""
    return frozenset(move(mask) for mask in answer) if isinstance(answer, frozenset) else answer


@pytest.fixture
def drawn() -> list[list[Row]]:
    return tables()


_before: dict[str, Answers] = {}  # by engine


@pytest.fixture
def before(store: Store, drawn: list[list[Row]]) -> Answers:
    """The answers on the tables as they were drawn."""
    if store.name not in _before:
        _before[store.name] = answers(store, drawn, weights, [criteria(rows) for rows in drawn])
    return _before[store.name]


@pytest.mark.exhaustive
def test_the_order_of_rows_changes_nothing(store: Store, drawn: list[list[Row]], before: Answers) -> None:
    asked = [criteria(rows) for rows in drawn]
    shuffled = [Random(1).sample(rows, len(rows)) for rows in drawn]
    assert before == answers(store, shuffled, weights, asked)


def test_the_order_of_columns_changes_nothing(store: Store, drawn: list[list[Row]], before: Answers) -> None:
    asked = [criteria(rows) for rows in drawn]
    backwards = [[row[::-1] for row in rows] for rows in drawn]
    after = answers(store, backwards, lambda width: weights(width)[::-1], asked)
    for (number, place, name), answer in before.items():
        last = len(drawn[number][0]) - 1
        turned = moved(answer, lambda mask, last=last: sum(1 << last - each for each in positions(mask)))
        assert after[number, place, name] == turned, (number, place, name)


@pytest.mark.exhaustive
def test_other_values_in_the_place_of_the_old_change_nothing(
    store: Store, drawn: list[list[Row]], before: Answers
) -> None:
    """NULL becomes a value, and a value becomes NULL."""
    asked = [criteria(rows) for rows in drawn]
    names = {value: 1000 - value for value in range(1, 40)} | {None: 7, 0: None}
    renamed = [[tuple(names[value] for value in row) for row in rows] for rows in drawn]
    assert before == answers(store, renamed, weights, asked)


@pytest.mark.exhaustive
def test_a_constant_column_is_in_no_set_and_may_be_published(
    store: Store, drawn: list[list[Row]], before: Answers
) -> None:
    asked = [criteria(rows) for rows in drawn]
    wider = [[(*row, None) for row in rows] for rows in drawn]
    after = answers(store, wider, lambda w: [*weights(w - 1), 99], asked)
    for (number, place, name), answer in before.items():
        constant = 1 << len(drawn[number][0])
        new = after[number, place, name]
        if name == "mask, greedy":
            assert new == moved(answer, lambda mask, constant=constant: mask | constant)
        elif name == "mask, exact":
            assert new == answer + 99  # type: ignore[operator]
        elif name != "sampled":  # one column more asks for a larger sample
            assert new == answer, (number, place, name)


def doubled(criterion: Criterion, rows: int) -> Criterion:
    """What a column set meets on the doubled table exactly when it meets the criterion on the table itself."""
    if isinstance(criterion, Distinct):
        return Distinct(criterion.beta / 2)
    if isinstance(criterion, Separation):  # S ordered pairs in classes become 4 S + 2 n
        together = (1 - criterion.beta) * rows * (rows - 1)
        return Separation(1 - (4 * together + 2 * rows) / (2 * rows * (2 * rows - 1)))
    if isinstance(criterion, Violates):
        return Violates(2 * criterion.k)
    if isinstance(criterion, RowsBelowK):
        return RowsBelowK(2 * criterion.k, criterion.share)
    return criterion


def test_a_doubled_table_has_no_key_and_the_same_sets_of_twice_the_class_size(
    store: Store, drawn: list[list[Row]], before: Answers
) -> None:
    asked = [criteria(rows) for rows in drawn]
    twice = [[*rows, *rows] for rows in drawn]
    on_twice = [[doubled(criterion, len(rows)) for criterion in each] for rows, each in zip(drawn, asked, strict=True)]
    after = answers(store, twice, weights, on_twice, k=2 * K)
    for (number, place, name), answer in before.items():
        new = after[number, place, name]
        if place == 0:
            everything = (1 << len(drawn[number][0])) - 1
            nothing = {
                "mask, exact": sum(weights(everything.bit_count())),
                "mask, greedy": {everything},
                "implicit-hitting-set": None,
                "sampled": None,
            }
            assert new == nothing.get(name, frozenset())
        elif name != "sampled":
            assert new == answer, (number, place, name)
