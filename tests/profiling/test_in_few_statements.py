"""Many column sets of a large table in few statements, where each statement costs calls to a cluster."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest

from qidsql.engines.base import Engine
from qidsql.engines.runner import ExecutedStatement
from qidsql.measures.profiles import ClassProfile
from qidsql.profiling import batches
from qidsql.profiling.by_entity import profiler_for
from qidsql.profiling.profiler import TableProfiler
from qidsql.sql.relation import relation
from tests.definitions import profile_of, projected, subsets
from tests.stores import Store

NAMES = ("a", "b", "c", "d")
ROWS = [(n % 3, n % 7 or None, n % 11, n // 40) for n in range(120)]
SETS = [sum(1 << place for place in places) for places in subsets(len(NAMES)) if places]


def cluster(engine: Engine, rows: int | None = len(ROWS)) -> TableProfiler:
    """A profiler of the rows on an engine of two sessions that counts as a cluster far away."""
    engine.costs = replace(engine.costs, calls_are_dear=True, finest_rows=0, union_rows=0)
    engine.latency, engine.workers = 0.5, 2
    described = engine.describe("t")
    return profiler_for(engine, relation(engine.dialect, described, described.columns), NAMES, 5, rows=rows)


def by_definition(masks: Sequence[int]) -> list[ClassProfile]:
    places = [[place for place in range(len(NAMES)) if mask >> place & 1] for mask in masks]
    return [profile_of(projected(ROWS, each), 5) for each in places]


def test_the_profiles_are_those_of_the_definition(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.table("t", dict.fromkeys(NAMES, "INTEGER"), ROWS)
    asked: list[ExecutedStatement] = []
    with store.connect() as engine:
        engine.watchers.append(asked.append)
        profiler = cluster(engine)
        assert profiler.profiles(SETS) == by_definition(SETS)
        assert (len(asked), profiler.sets, engine.scans) == (2, len(SETS), len(SETS))
        asked.clear()
        assert cluster(engine, rows=32_000_000 // len(NAMES) + 1).profiles(SETS) == by_definition(SETS)
        assert len(asked) == len(SETS)  # a call costs little beside a scan
        asked.clear()
        monkeypatch.setattr(batches, "SCANS_TOGETHER", 4)
        assert cluster(engine).profiles(SETS) == by_definition(SETS)
        assert len(asked) == -(-len(SETS) // 4)


def test_an_empty_table_has_empty_profiles(store: Store) -> None:
    store.table("t", dict.fromkeys(NAMES, "INTEGER"), [])
    with store.connect() as engine:
        assert cluster(engine, rows=0).profiles(SETS) == [ClassProfile.of_sizes({}, 5)] * len(SETS)


@pytest.mark.engines("duckdb")
def test_samples_of_classes_take_one_round(store: Store) -> None:
    store.table("t", dict.fromkeys(NAMES, "INTEGER"), ROWS)
    with store.connect() as engine:
        profiler, rounds = cluster(engine), engine.rounds
        sampled = dict(zip(SETS, profiler.sampled(SETS, 4), strict=True))
        assert engine.rounds == rounds + 1
        assert sampled == {mask: profiler.sampled([mask], 4)[0] for mask in SETS}
    whole = dict(zip(SETS, by_definition(SETS), strict=True))
    assert all(sampled[mask].classes <= whole[mask].classes for mask in SETS)
    assert 0 < sum(each.classes for each in sampled.values()) < sum(each.classes for each in whole.values())


def test_sizes_and_the_columns_left_out_take_one_round(store: Store) -> None:
    store.table("t", dict.fromkeys(NAMES, "INTEGER"), ROWS)
    with store.connect() as engine:
        profiler, rounds = cluster(engine), engine.rounds
        profiler.foresee_sizes(("a", "b"), NAMES)
        assert engine.rounds == rounds + 1
        narrow = profiler.narrowed(("a", "b"))
        assert [narrow.sizes(0b11).profile(5), profiler.profile(0b1111)] == by_definition([0b11, 0b1111])
        assert (engine.rounds, profiler.sets) == (rounds + 1, 2)


def test_statements_are_even(store: Store) -> None:
    store.table("t", dict.fromkeys(NAMES, "INTEGER"), ROWS)
    with store.connect() as engine:
        profiler = cluster(engine)
        statements = profiler._batches.of_sets(SETS, len(ROWS), profiler.most_classes)
        parts = profiler._batches.in_few(statements, len(ROWS))
        assert [mask for masks, _ in parts for mask in masks] == SETS
        read = [sum(mask.bit_count() for mask in masks) for masks, _ in parts]
        assert all(abs(one - other) <= 2 * len(NAMES) for one, other in pairwise(read))
