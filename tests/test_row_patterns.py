"""Row patterns: a table up to the names of its values, on both engines."""

from collections import Counter
from collections.abc import Sequence

import pytest

from qidsql.engines.base import Asked, Engine
from qidsql.policy import Policy
from qidsql.sql.statements import Statement
from qidsql.verbs.searching import Searching
from qidsql.workbench.row_patterns import RowPatterns
from tests.definitions import projected
from tests.random_tables import RandomTable, drop, load, random_table
from tests.stores import Store, quoted

TABLES = 60


def patterns_of(engine: Engine, table: str, columns: Sequence[str]) -> tuple[RowPatterns, list[tuple[int, ...]]]:
    """The patterns, and the table as the workbench has it."""
    policy = Policy(columns=tuple(columns), keep_identifiers=True)
    with RowPatterns.of(Searching(engine, table, policy, {}).profiler) as found:
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


def test_patterns_are_the_table_up_to_the_names_of_its_values(store: Store) -> None:
    tables = [random_table(seed, store.name) for seed in range(TABLES)]
    load(store, tables)
    with store.connect() as engine:
        for table in tables:
            check(engine, table)
    drop(store, tables)


def test_one_statement_and_the_same_codes_each_time(store: Store) -> None:
    store.table("people", {"city": "VARCHAR", "age": "INTEGER"}, [("Ulm", 3), ("Bonn", 1), ("Ulm", None), ("Bonn", 1)])
    with store.connect() as engine:
        asked: list[Asked] = []
        engine.watchers.append(asked.append)
        _, first = patterns_of(engine, "people", ("city", "age"))
        assert len(asked) == 1
        _, second = patterns_of(engine, "people", ("city", "age"))
        assert not list(engine.exports().iterdir()), "what was exported is removed"
    assert first == second == [(0, 2, 1, 1), (1, 1, 2, 0), (2, 1, 2, 2)]


@pytest.mark.parametrize("name", ["classes", "domain", "d0", "place", "v1", "patterns", 'we"ird', "'; --"])
def test_names_that_the_statement_uses_itself(store: Store, name: str) -> None:
    store.table(name, {name: "VARCHAR", "v0": "VARCHAR", "size": "INTEGER"}, [("b", "a", 1), ("a", "a", 2)])
    with store.connect() as engine:
        _, coded = patterns_of(engine, quoted(name), (name, "v0", "size"))
    assert coded == [(0, 1, 1, 1, 2), (1, 1, 2, 1, 1)]
