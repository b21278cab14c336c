"""Row patterns: a table up to the names of its values, on both engines."""

import os
from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import pytest

from qidsql.commands.table_search import TableSearch
from qidsql.core.policy import Policy
from qidsql.engines.base import Engine
from qidsql.engines.runner import ExecutedStatement
from qidsql.errors import OutOfRoom
from qidsql.profiling.by_entity import profiler_for
from qidsql.protection import row_patterns
from qidsql.protection.row_patterns import RowPatterns
from qidsql.sql.relation import relation
from qidsql.sql.row_codes import column_values
from qidsql.sql.templates import Statement
from tests.definitions import projected
from tests.exhaustive import always, first
from tests.random_tables import RandomTable, drop, load, random_table
from tests.stores import ONE_ENGINE, ONE_OF_THREE, TWO_OF_THREE, Store, quoted

pytestmark = TWO_OF_THREE


def patterns_of(engine: Engine, table: str, columns: Sequence[str]) -> tuple[RowPatterns, list[tuple[int, ...]]]:
    """The patterns, and the table as the workbench has it."""
    policy = Policy(columns=tuple(columns), keep_identifiers=True)
    with RowPatterns.of(TableSearch(engine, table, policy, {}).profiler) as found:
        rows = found.bench.run(Statement("SELECT * FROM patterns ORDER BY pattern", "all", lambda rows: rows))
        return found, [tuple(int(str(cell)) for cell in row) for row in rows]


def check(engine: Engine, table: RandomTable) -> None:
    found, coded = patterns_of(engine, table.name, table.names)
    places = range(table.columns)
    rows = projected(table.rows, places)
    assert (found.rows, found.patterns) == (len(rows), len(set(rows)))
    assert [row[0] for row in coded] == list(range(len(coded)))
    values = [{row[place] for row in rows} - {None} for place in places]
    assert found.values == tuple(len(each) for each in values)
    # The same table but for the names of the values: sizes agree set by set, and NULL, only NULL, is 0.
    for mask in range(1, 1 << table.columns):
        chosen = [place for place in places if mask >> place & 1]
        wanted = Counter(projected(rows, chosen))
        got: Counter[tuple[int, ...]] = Counter()
        nulls: Counter[tuple[bool, ...]] = Counter()
        for _, size, *codes in coded:
            got[tuple(codes[place] for place in chosen)] += size
            nulls[tuple(codes[place] == 0 for place in chosen)] += size
        assert sorted(got.values()) == sorted(wanted.values())
        assert nulls == Counter(tuple(cell is None for cell in row) for row in projected(rows, chosen))
    for place in places:
        assert {row[2 + place] for row in coded} - {0} == set(range(1, len(values[place]) + 1))


@pytest.mark.exhaustive
@ONE_ENGINE
@pytest.mark.parametrize("tables", always(8, longer=[40]))
def test_patterns_are_the_table_up_to_the_names_of_its_values(store: Store, tables: int) -> None:
    drawn = [random_table(seed, store.name) for seed in range(tables)]
    load(store, drawn)
    with store.connect() as engine:
        for table in drawn:
            check(engine, table)
    drop(store, drawn)


def test_one_statement_and_the_same_codes_each_time(store: Store) -> None:
    store.table("people", {"city": "VARCHAR", "age": "INTEGER"}, [("Ulm", 3), ("Bonn", 1), ("Ulm", None), ("Bonn", 1)])
    with store.connect() as engine:
        asked: list[ExecutedStatement] = []
        held: list[bool] = []
        engine.watchers.append(asked.append)
        engine.watchers.append(lambda _: held.extend(path.is_symlink() for path in engine.exports().iterdir()))
        _, first = patterns_of(engine, "people", ("city", "age"))
        assert len(asked) == 1
        _, second = patterns_of(engine, "people", ("city", "age"))
        assert not list(engine.exports().iterdir()), "what was exported is removed"
    assert held == [hasattr(os, "memfd_create")] * 2  # codes are in memory where the system can
    assert first == second
    assert [row[0] for row in first] == [0, 1, 2]
    assert sorted(row[1] for row in first) == [1, 1, 2]


def test_codes_are_in_no_order_of_the_values(store: Store) -> None:
    """A hundred numbers, in two tables that differ in one of them: as good as unrelated orders, and neither sorted."""
    orders = []
    for name, last in (("one", 100), ("other", 101)):
        store.table(name, {"number": "INTEGER"}, [(number,) for number in (*range(1, 100), last)])
        with store.connect() as engine:
            described = engine.describe(name)
            source = relation(engine.dialect, described, described.columns)
            with RowPatterns.of(profiler_for(engine, source, ["number"], 2)) as patterns:
                query = column_values(engine.dialect, source, ["number"], patterns.shuffle_key)
            rows = engine.run(Statement(query, "values", lambda rows: rows))
        orders.append([int(str(code)) for _, code, text in sorted(rows, key=lambda row: int(str(row[2])))])
        assert sorted(orders[-1]) == list(range(1, 101))
    for one, two in ((range(1, 101), orders[0]), (range(1, 101), orders[1]), orders):
        same = sum((a < b) == (c < d) for (a, c), (b, d) in combinations(zip(one, two, strict=True), 2))
        assert 1600 < same < 3400  # of 4,950 pairs: more than four standard deviations to either side


@ONE_OF_THREE
@pytest.mark.parametrize("name", first(["classes", "domain", "d0", "place", "v1", "patterns", 'we"ird', "'; --"]))
def test_names_that_the_statement_uses_itself(store: Store, name: str) -> None:
    store.table(name, {name: "VARCHAR", "v0": "VARCHAR", "size": "INTEGER"}, [("b", "a", 1), ("a", "a", 2)])
    with store.connect() as engine:
        _, coded = patterns_of(engine, quoted(name), (name, "v0", "size"))
    assert [row[:2] for row in coded] == [(0, 1), (1, 1)]
    assert [set(codes) for codes in zip(*(row[2:] for row in coded), strict=True)] == [{1, 2}, {1}, {1, 2}]


def test_codes_that_would_not_fit_are_refused_before(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the different rows, which are counted where all rows may not fit; then no statement codes the rows."""
    store.table("many", {"a": "INTEGER", "b": "INTEGER"}, [(number // 100, number) for number in range(1000)])
    asked: list[ExecutedStatement] = []
    rows = store.name == "sqlite"  # which has no estimate of them: they are counted where there is little room

    def coded(engine: Engine, room: int | None, *names: str) -> int:
        monkeypatch.setattr(row_patterns, "memory_left", lambda: room)
        asked.clear()
        return patterns_of(engine, "many", names)[0].patterns

    with store.connect() as engine:
        engine.watchers.append(asked.append)
        assert (coded(engine, None, "a", "b"), len(asked)) == (1000, 1)
        assert (coded(engine, 1 << 40, "a", "b"), len(asked)) == (1000, 1)
        assert (coded(engine, 60_000_000, "a", "b"), len(asked)) == (1000, 1 + rows)
        assert (coded(engine, 50_100_000, "a"), len(asked)) == (10, 2 + rows)
        with pytest.raises(OutOfRoom, match=r"1,000 different rows in 2 columns take about 50 MB, and .* 40 MB more"):
            coded(engine, 40_000_000, "a", "b")
        assert len(asked) == 1 + rows
