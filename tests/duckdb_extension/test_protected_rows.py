"""The query of `qidsql.protected`: what it makes, and that no macro of a session can change that."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest
import sqlglot

import qidsql
from qidsql.commands.protect.command import ProtectRequest
from qidsql.commands.protect.protect import rows_to_query
from qidsql.core.results import Verdict
from qidsql.engines.duckdb.dialect import DUCKDB
from qidsql.engines.duckdb.own_functions import by_whole_names
from tests.exhaustive import always

KINDS = {
    "whole": "i % 70",
    "code": "lpad(CAST(i % 40 AS VARCHAR), 5, '0')",
    "day": "DATE '1950-01-01' + CAST(i * 97 % 9000 AS INTEGER)",
    "moment": "TIMESTAMP '1950-01-01' + INTERVAL (i * 97 % 9000) DAY",
    "floating": "CASE WHEN i % 9 = 0 THEN NULL ELSE CAST(i % 50 AS DOUBLE) / 4 END",
    "exact": "CAST(i % 50 AS DECIMAL(8, 2))",
}


def functions(tree: Any) -> Iterator[tuple[str, str, str]]:
    """The functions of a statement as DuckDB parses it, operators included: database, schema, name in small letters."""
    if isinstance(tree, dict):
        if tree.get("class") in ("FUNCTION", "WINDOW"):
            yield tree["catalog"].lower(), tree["schema"].lower(), tree["function_name"]
        elif tree.get("type", "").endswith("_EXTRACT"):
            yield "", "", tree["type"]
    for part in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from functions(part)


@pytest.mark.parametrize("kind", always("code", longer=KINDS))
@pytest.mark.parametrize("way", ["values", "levels"])
def test_rows_are_identical_and_functions_are_duckdbs(way: str, kind: str) -> None:
    connection = duckdb.connect()
    made = f"SELECT {KINDS[kind]} AS a, CASE WHEN i % 30 = 0 THEN 'rare' ELSE 'often' END AS b FROM range(200) AS r(i)"
    connection.execute(f"CREATE TABLE people AS {made}")
    options = {"sensitive": ("b",), "l_diversity": 2} if way == "values" and kind == "code" else {}
    with qidsql.connect(connection) as engine:
        request = ProtectRequest(
            "people", k=5, by=way, suppress=None, columns=("a", *(() if options else "b")), **options
        )
        result = rows_to_query(engine, request)
    assert result.verdict is Verdict.FINISHED
    assert result.script is not None
    query = sqlglot.parse_one(result.script[0], dialect="duckdb")
    text = DUCKDB.render(by_whole_names(query))
    [(parsed,)] = connection.execute("SELECT json_serialize_sql($1::VARCHAR)", [text]).fetchall()
    assert {each[:2] for each in functions(json.loads(parsed))} == {("system", "main")}
    rows = connection.execute(text).fetchall()
    assert rows == connection.execute(result.script[0]).fetchall()
    assert len(rows) == 200
    assert min(Counter(row[:1] if options else row for row in rows).values()) >= 5
