"""A user's own DuckDB connection as the source: what it sees is what is audited, or the call says why not."""

from pathlib import Path

import duckdb
import pytest

import qidsql
from qidsql.errors import SourceError, UsageError

OTHER_ROWS = "sees other rows of"
ANNAS = "CREATE TABLE names AS SELECT unnest(['anna', 'Anna', 'ANNA', 'aNNA', 'annA']) AS n"
DAYS = """CREATE TABLE e AS SELECT TIMESTAMPTZ '2024-06-01 00:00:00+00' + INTERVAL (i * 4) HOUR AS t FROM range(6) r(i);
CREATE VIEW d AS SELECT CAST(t AS DATE) AS a FROM e"""


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("session", "options", "expected"),
    [
        ("SET threads = 2", {}, "pass"),
        ("FROM p", {}, "a result that was not fetched to its end"),
        ("SET lock_configuration = true", {}, "pass"),
        ("BEGIN; CREATE TABLE o AS FROM p", {}, "pass"),
        ("USE s", {}, "violation"),
        ("SET search_path = 's,main'", {}, "violation"),
        ("CREATE TEMP TABLE p AS FROM s.p", {}, OTHER_ROWS),
        ("BEGIN; CREATE OR REPLACE TABLE p AS FROM s.p", {}, OTHER_ROWS),
        ("BEGIN; DROP TABLE p", {}, OTHER_ROWS),
        (f"{ANNAS}; SET default_collation = 'NOCASE'", {"table": "names", "k": 2}, "violation"),
        (f"{ANNAS}; SET default_collation = 'NOCASE'", {"table": "names", "where": "n = 'anna'"}, OTHER_ROWS),
        (f"{DAYS}; SET TimeZone = 'UTC'", {"table": "d", "k": 3}, "pass"),
        (f"{DAYS}; SET TimeZone = 'America/New_York'", {"table": "d", "k": 3}, "violation"),
        ("CREATE MACRO hash(a) AS 9; CREATE TEMP TABLE p AS FROM s.p", {}, OTHER_ROWS),
        ("CREATE MACRO struct_pack(a) AS 9", {}, "pass"),
    ],
)
def test_what_the_connection_sees_is_audited_or_refused(
    session: str, options: dict[str, object], expected: str
) -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE p AS SELECT 1 AS a FROM range(9); CREATE SCHEMA s")
        connection.execute("CREATE TABLE s.p AS SELECT i AS a FROM range(9) AS r(i)")
        connection.execute(session)
        try:
            found = str(qidsql.audit(connection, **({"table": "p"} | options)).verdict)  # type: ignore[arg-type]
        except SourceError as error:
            found = str(error)
        assert expected in found


@pytest.mark.parametrize("session", ["CREATE TEMP TABLE mine AS FROM p", "BEGIN; CREATE TABLE mine AS FROM p"])
def test_rows_of_the_session_alone_are_passed_as_a_relation(session: str) -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE p AS SELECT 1 AS a FROM range(9)")
        connection.execute(session)
        with pytest.raises(UsageError, match=r"no table mine .*pass other rows .* as a relation"):
            qidsql.audit(connection, "mine")
        assert qidsql.audit(connection.sql("FROM mine"), k=5).verdict == "pass"


def test_a_connection_that_cannot_write_says_so_at_once(tmp_path: Path) -> None:
    path = str(tmp_path / "clinic.duckdb")
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE p AS SELECT i % 3 AS a, i AS b FROM range(9) AS r(i)")
        qidsql.connect(connection, writable=True).close()
    with duckdb.connect(path, read_only=True) as connection:
        qidsql.connect(connection).close()
        with pytest.raises(SourceError, match="is read-only; connect without read_only"):
            qidsql.connect(connection, writable=True)
