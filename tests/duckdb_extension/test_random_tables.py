"""Every function on 30 drawn tables, against the library on the same file."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import qidsql
from qidsql.duckdb_extension.functions import FUNCTIONS, WORDS, TableFunction, in_sql
from qidsql.errors import QidsqlError
from tests.duckdb_extension.test_table_functions import call
from tests.duckdb_hosts import Host, Module, Refused
from tests.random_tables import RandomTable, load, random_table
from tests.stores import DuckDBStore

pytestmark = pytest.mark.exhaustive

OPTIONS: dict[str, dict[str, Any]] = {
    "audit": {"k": 3, "keep_identifiers": True},
    "keys": {"all": True, "violates": 3},
    "protect_columns": {"violates": 3, "exact": True},
    "uniques": {"k": 3},
    "protect": {"k": 2, "by": "levels", "keep_identifiers": True},  # a prompt keeps no plan, so nothing moves by values
    "protect_cells": {"k": 2, "keep_identifiers": True},
    "protect_turns": {"k": 2},
    "risk": {"k": 3},
    "link": {"on": "first"},
    "risk_population": {"on": "first", "k": 2},
    "impact": {},
}
UNLIKE = ("table_name", "script")  # with its database in a shell, whose file has another name
OTHER = {"note", "assumption"}  # of what a statement sees


def test_every_function_says_what_the_library_says(host: Host, duckdb_store: DuckDBStore) -> None:
    if not isinstance(host, Module) or host.packages is not None:
        pytest.skip("a shell writes wide numbers as texts, and an older module does not read the newer one's file")
    tables = [table for table in (random_table(seed, "duckdb") for seed in range(12)) if len(table.names) > 1]
    load(duckdb_store, tables)
    asked = [
        (each, table)
        for each in FUNCTIONS
        if each.macro not in ("report", "check", "checks", "graph")
        for table in tables
    ]
    statements = [_statement(each, table) for each, table in asked]
    answers = host.run([host.load, *statements], str(duckdb_store.path), read_only=True)[1:]
    wrong, compared = [], 0
    for (function, table), statement, answer in zip(asked, statements, answers, strict=True):
        expected = _expected(function, duckdb_store.path, table)
        if isinstance(expected, str) or isinstance(answer, Refused):
            good = isinstance(expected, str) == isinstance(answer, Refused)
        else:
            good, compared = list(_shown(function, map(dict.values, answer))) == expected, compared + 1
        if not good:
            wrong.append((statement, answer, expected))
    assert wrong == [], wrong[:3]
    assert compared > len(asked) / 2


def _options(function: TableFunction, table: RandomTable) -> dict[str, Any]:
    options = dict(OPTIONS[function.command.replace(".", "_")])
    first = table.names[0]
    if "on" in options:
        return {**options, "on": [f"{first}={first}"]}
    return options if function.command == "impact" else {**options, "columns": list(table.names[: table.columns])}


def _statement(function: TableFunction, table: RandomTable) -> str:
    tables = f"{table.name}', '{table.name}" if len(function.tables) > 1 else table.name
    return call(function.macro, tables, _options(function, table))


def _expected(function: TableFunction, path: Path, table: RandomTable) -> list[str] | str:
    names = dict.fromkeys(function.tables, table.name)
    options = {**function.fixed, **_options(function, table)}
    try:
        result = getattr(qidsql, function.command.partition(".")[0])(str(path), **names, **options)
    except QidsqlError as error:
        return str(error)
    return list(_shown(function, function.rows(result)))


def _shown(function: TableFunction, rows: Any) -> Iterator[str]:
    for row in rows:
        cells = dict(zip(function.columns, row, strict=True))
        if cells.get("finding") in OTHER:
            continue
        words = {name: in_sql(cells[name]) for name in WORDS if cells.get(name)}
        yield json.dumps({**cells, **words, **dict.fromkeys(set(UNLIKE) & cells.keys())}, default=str)
