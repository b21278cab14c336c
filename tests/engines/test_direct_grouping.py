"""The setting by which DuckDB groups in an array: it follows the rows, and is the only one that can be changed."""

from pathlib import Path

import duckdb
import pytest

from qidsql.commands.audit.audit import audit
from qidsql.commands.audit.command import AuditRequest
from qidsql.engines.connect import connect
from qidsql.engines.duckdb.costs import ARRAY_SETTING, CAN_BE_SET, MOST_BITS_OF_ARRAY, USUAL_BITS, bits_for
from qidsql.engines.duckdb.engine import DuckDBEngine
from qidsql.sql.templates import Statement

needs_setting = pytest.mark.skipif(not CAN_BE_SET, reason="this DuckDB locks all settings or none")


def asked(engine: DuckDBEngine, sql: str) -> list[tuple[object, ...]]:
    return engine.run(Statement(sql, "test", lambda rows: rows))


def test_the_places_are_as_many_as_the_rows_of_a_thread_and_fit_the_memory() -> None:
    assert bits_for(0, 2, None) == bits_for(5_000, 2, None) == USUAL_BITS
    assert bits_for(1_000_000, 2, None) == 18
    assert bits_for(1_000_000, 16, None) == 15
    assert bits_for(10**9, 2, None) == MOST_BITS_OF_ARRAY
    for memory in (10**7, 10**8, 10**9):
        for threads in (1, 2, 64):
            bits = bits_for(10**9, threads, memory)
            assert bits == USUAL_BITS or 2**bits * 9 * threads <= memory / 4


@needs_setting
def test_an_audit_sets_it_and_no_other_setting(tmp_path: Path) -> None:
    source = tmp_path / "t.duckdb"
    with duckdb.connect(str(source)) as connection:
        connection.execute("CREATE TABLE t AS SELECT i % 300 AS a, i % 7 AS b, i % 11 AS c FROM range(100000) AS r(i)")
    with connect(f"{source}?threads=1") as engine:
        assert isinstance(engine, DuckDBEngine)
        [(before,)] = asked(engine, f"SELECT current_setting('{ARRAY_SETTING}')")
        result = audit(engine, AuditRequest("t"))
        [(after,)] = asked(engine, f"SELECT current_setting('{ARRAY_SETTING}')")
        assert (before, after) == (USUAL_BITS, 16)
        assert result.account.rows == 100_000
        with pytest.raises(duckdb.InvalidInputException, match="locked"):
            engine._connection.execute("SET threads = 2")
