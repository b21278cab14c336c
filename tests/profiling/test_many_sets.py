"""Many column sets in one question: columns with the same classes stand for one another, and nothing else does."""

from collections.abc import Iterator

import pytest

from qidsql.engines.base import Engine
from qidsql.errors import BudgetSpent
from qidsql.profiling.by_entity import profiler_for
from qidsql.profiling.by_value import SETS_OF_MANY
from qidsql.profiling.knowledge import Budget
from qidsql.profiling.profiler import TableProfiler
from qidsql.sql.relation import relation
from tests.definitions import profile_of, projected, subsets
from tests.stores import EVERY_ENGINE, Store

pytestmark = EVERY_ENGINE

NAMES = ("a", "b", "alike", "c", "d", "constant", "null", "twin", "e")
# b and twin have the classes of a, one of them a NULL. alike has the sizes of a's classes, but other rows in them.
ROWS = [(i % 6, f"x{i % 6}", i // 10, i % 4, i % 7 < 2, 1, None, (i % 6) or None, i % 5 == 0) for i in range(60)]


@pytest.fixture
def engine(store: Store) -> Iterator[Engine]:
    store.execute(
        "CREATE TABLE many (a INTEGER, b TEXT, alike INTEGER, c INTEGER, d BOOLEAN, constant INTEGER, "
        '"null" INTEGER, twin INTEGER, e BOOLEAN)'
    )
    values = ", ".join(f"({', '.join(map(_literal, row))})" for row in ROWS)
    store.execute(f"INSERT INTO many VALUES {values}")
    with store.connect() as opened:
        yield opened


def _literal(value: object) -> str:
    return "NULL" if value is None else f"'{value}'" if isinstance(value, str) else str(value).upper()


def profiler(engine: Engine, budget: Budget | None = None) -> TableProfiler:
    described = engine.describe("many")
    source = relation(engine.dialect, described, described.columns)
    return profiler_for(engine, source, NAMES, 5, rows=len(ROWS), budget=budget)


@pytest.mark.exhaustive
def test_the_profiles_are_those_of_the_definition(engine: Engine) -> None:
    profiles = profiler(engine)
    masks = range(1, profiles.everything + 1)
    assert len(masks) > SETS_OF_MANY
    expected = {
        sum(1 << place for place in places): profile_of(projected(ROWS, places), 5) for places in subsets(len(NAMES))
    }
    assert dict(zip(masks, profiles.profiles(masks), strict=True)) == {mask: expected[mask] for mask in masks}
    if engine.latency:
        return  # to compare the columns first would take a round
    # Singles and pairs as they are. The larger sets: three of a, b, twin as one column, and the two constants as one.
    kept = {sum(1 << place for place in {{1: 0, 7: 0, 6: 5}.get(p, p) for p in s}) for s in subsets(9) if len(s) > 2}
    assert profiles.sets == len(
        {mask for mask in kept if mask.bit_count() > 2} | {m for m in masks if m.bit_count() < 3}
    )


def test_what_was_answered_before_the_budget_was_spent_is_known(engine: Engine) -> None:
    most = 1 if engine.costs.calls_are_dear and engine.latency else 4
    profiles = profiler(engine, Budget(max_statements=most))
    with pytest.raises(BudgetSpent):
        profiles.profiles(range(1, profiles.everything + 1))
    assert profiles.sets > 0
    asked = engine.statements
    profiles.profile(1), profiles.profile(0b11)
    assert engine.statements == asked == most


def test_single_columns_of_a_wide_table_share_a_scan(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB takes 6 ms to bind each mention of a table of 10,000 columns."""
    monkeypatch.setattr("qidsql.profiling.by_value.WIDE", len(NAMES))
    wide, statements = profiler(engine), []
    engine.watchers.append(lambda each: statements.append(each.sql))
    found = wide.singles()
    assert found == [profile_of(projected(ROWS, [place]), 5) for place in range(len(NAMES))]
    if engine.dialect.grouping_arguments:
        assert all(sql.count('"many"') + sql.count("`many`") <= 1 for sql in statements)
