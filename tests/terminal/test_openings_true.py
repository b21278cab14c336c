"""Sentences that open a page say no more than the result below them."""

from pathlib import Path

import duckdb
import pytest

import qidsql
from qidsql.commands.suppress import report as suppression
from qidsql.commands.tables.report import opening


@pytest.mark.parametrize(("rank", "said"), [(False, "no row was read"), (True, "each table was read once")])
def test_the_opening_says_whether_rows_were_read(tmp_path: Path, rank: bool, said: str) -> None:
    place = tmp_path / "t.duckdb"
    with duckdb.connect(str(place)) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS a")
    assert said in opening(qidsql.tables(str(place), rank=rank))


def test_nobody_is_found_by_the_protected_columns_alone(tmp_path: Path) -> None:
    place = tmp_path / "t.duckdb"
    with duckdb.connect(str(place)) as connection:
        connection.execute("CREATE TABLE t AS SELECT i % 2 AS a, i // 2 AS b, i AS c FROM range(8) AS r(i)")
    found = qidsql.suppress(str(place), "t", columns=["a", "b"], k=2, against="known-person", into="safe")
    said = suppression.opening(found)
    assert "By the 2 protected columns alone, nobody is found by exactly one row" in said
    assert "1 other column of the copy is as in the table" in said
