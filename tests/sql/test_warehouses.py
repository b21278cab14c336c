"""Statements for warehouses that qidsql does not open: the texts, and those of ClickHouse run in chdb.

chdb (900 MB) is installed by hand: `pip install chdb`.
"""

import json
from collections.abc import Callable
from itertools import combinations
from typing import Any, TypeAlias

import pytest
import sqlglot
from sqlglot import exp

from qidsql.core.tables import Column, Comparison, Table, TableName
from qidsql.sql.classes import class_profiles, class_profiles_by_finest, class_profiles_in_one_scan, entity_profile
from qidsql.sql.relation import relation
from qidsql.sql.row_pairs import agreeing
from qidsql.sql.templates import Statement
from tests.definitions import entity_profile_of, profile_of
from tests.random_tables import RandomTable, random_table
from tests.sql.warehouses import CLICKHOUSE, FOLDER, rendered

Ask: TypeAlias = Callable[[str], list[tuple[object, ...]]]
TYPES = {
    "INTEGER": "Int32",
    "BIGINT": "Int64",
    "BOOLEAN": "Bool",
    "DOUBLE PRECISION": "Float64",
    "VARCHAR": "String",
    "VARCHAR(9)": "String",
}
TABLES = 200


def test_the_texts_are_the_golden_ones() -> None:
    texts = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.iterdir()}
    assert texts == dict(rendered()), "python -m tests.sql.warehouses writes them anew"


@pytest.mark.parametrize("path", sorted(FOLDER.iterdir()), ids=lambda path: path.stem)
def test_each_statement_is_one_query(path: Any) -> None:
    trees = sqlglot.parse(path.read_text(encoding="utf-8"), read=path.stem)
    assert len(trees) == 11 and all(isinstance(tree, exp.Query) for tree in trees)


@pytest.fixture(scope="module")
def ask() -> Ask:
    session = pytest.importorskip("chdb.session", reason="chdb is not installed").Session()

    def asked(sql: str) -> list[tuple[object, ...]]:
        answer = str(session.query(sql, "JSONCompactEachRow"))
        return [tuple(json.loads(line)) for line in answer.splitlines()]

    for statement in CLICKHOUSE.opening:
        asked(statement)
    return asked


@pytest.mark.exhaustive
def test_chdb_answers_as_the_definitions_say(ask: Ask) -> None:
    drawn = (random_table(seed, "spark") for seed in range(100 * TABLES))
    tables = [table for table in drawn if set(table.types) <= set(TYPES)][:TABLES]
    for table in tables:
        for sql in _made(table):
            ask(sql)
        _same(table, ask)


def _same(table: RandomTable, ask: Ask) -> None:
    """Each profile, and the masks of the rows that agree on each set."""

    def answer(statement: Statement[Any]) -> Any:
        return statement.read(ask(statement.sql))

    kinds = [Comparison.NUMBER if kind == "DOUBLE PRECISION" else Comparison.VALUE for kind in table.types]
    columns = [
        Column(name, kind, comparison=how)
        for name, kind, how in zip((*table.names, "person"), table.types, kinds, strict=True)
    ]
    rows = relation(CLICKHOUSE, Table(TableName(table.name), "table", tuple(columns)), columns)
    places = range(table.columns)
    sets = [chosen for size in range(1, table.columns + 1) for chosen in combinations(places, size)]
    named = [tuple(table.names[place] for place in chosen) for chosen in sets]
    parts = [[tuple(row[place] for place in chosen) for row in table.rows] for chosen in sets]
    wanted = [profile_of(part, 3) for part in parts]
    for profiles in (class_profiles, class_profiles_in_one_scan, class_profiles_by_finest):
        assert answer(profiles(CLICKHOUSE, rows, named, 3)) == wanted, (profiles, table)
    for chosen, names, part in zip(sets, named, parts, strict=True):
        [counted] = answer(entity_profile(CLICKHOUSE, rows, names, 3, "person"))
        assert counted == entity_profile_of(part, table.entities, 3), (names, table)
        mask = sum(1 << place for place in chosen)
        masks = {
            sum(1 << place for place in places if one[place] != other[place])
            for one, other in combinations(table.rows, 2)
            if not any(one[place] != other[place] for place in chosen)
        }
        _, found = answer(agreeing(CLICKHOUSE, rows, table.names, mask, 10_000, 1000))
        assert set(found) == masks, (names, table)


def _made(table: RandomTable) -> list[str]:
    types = [
        f"{name} Nullable({TYPES[kind]})" for name, kind in zip((*table.names, "person"), table.types, strict=True)
    ]
    values = [", ".join("NULL" if text is None else f"'{_escaped(text)}'" for text in row) for row in table.texts]
    made = [f"CREATE TABLE {table.name} ({', '.join(types)}) ENGINE = Memory"]
    return [*made, f"INSERT INTO {table.name} VALUES {', '.join(f'({row})' for row in values)}"] if values else made


def _escaped(text: str) -> str:
    return text.replace("'", "''")
