"""What the footer of a parquet file says about its values is not believed: it can be wrong."""

import struct
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import qidsql
from qidsql.commands.audit.command import AuditResult
from qidsql.commands.audit.verdict import judged
from qidsql.core.results import Verdict
from qidsql.declarations.results import loaded
from qidsql.engines.connect import connect
from qidsql.errors import SourceError, StatementError
from qidsql.sql.templates import Statement
from tests.duckdb_hosts import Host
from tests.exhaustive import always
from tests.parquet_footers import NULLS, STATISTICS, Fields, changed, chunks, groups
from tests.parquet_footers import VALUES as NUMBER_OF_VALUES
from tests.ways import measured_set

VALUES = [100] * 400 + [3, 5] * 200 + [1, 2, 257, 513] * 100  # the last row group's true maximum is 513


def number(value: int) -> bytes:
    return struct.pack("<q", value)


def lying(path: Path, *changes: tuple[bytes, bytes]) -> str:
    """A file of VALUES in three row groups, in whose footer bytes are replaced by as many others."""
    table = pa.table(
        {
            "a": pa.array(VALUES, pa.int64()),
            "s": pa.array([f"{value:04d}" for value in VALUES]),
            "n": pa.array([None if value > 200 else value for value in VALUES], pa.int64()),
        }
    )
    pq.write_table(table, path, compression="none", row_group_size=400)
    whole = path.read_bytes()
    (size,) = struct.unpack("<I", whole[-8:-4])
    body, footer = whole[: -8 - size], whole[-8 - size : -8]
    for old, new in changes:
        assert old in footer and len(old) == len(new)
        footer = footer.replace(old, new)
    path.write_bytes(body + footer + whole[-8:])
    return str(path)


LOW_MAXIMUM = ((number(513), number(2)), (b"0513", b"0002"))
NO_NULLS = ((b"\x16\x90\x03", b"\x16\x80\x00"),)  # the varint of 200 NULLs


@pytest.mark.parametrize("columns", always(("a", "s"), longer=[("a",), ("s",)]))
@pytest.mark.parametrize("changes", always(LOW_MAXIMUM, longer=[()]))
def test_values_beyond_the_footers_bounds_are_values_of_their_own(
    tmp_path: Path, columns: tuple[str, ...], changes: tuple[tuple[bytes, bytes], ...]
) -> None:
    source = lying(tmp_path / "t.parquet", *changes)
    found = measured_set(source, columns=columns, k=150).profile
    assert (found.rows, found.classes) == (len(VALUES), len(set(VALUES)))
    assert found.smallest == min(Counter(VALUES).values())
    assert qidsql.audit(source, columns=columns, k=150).verdict is Verdict.VIOLATION


@pytest.mark.parametrize("where", always("a > 200", "n IS NULL", longer=["a in (257, 513)", "s >= '0257'"]))
def test_row_groups_that_false_bounds_exclude_are_read(tmp_path: Path, where: str) -> None:
    source = lying(tmp_path / "t.parquet", *LOW_MAXIMUM, *NO_NULLS)
    found = measured_set(source, columns=("a",), k=2, where=where).profile
    assert (found.rows, found.classes) == (200, 2)


def test_nulls_that_the_footer_denies_match_everything(tmp_path: Path) -> None:
    honest = measured_set(lying(tmp_path / "u.parquet"), columns=("n",), k=2, nulls="wildcard")
    source = lying(tmp_path / "t.parquet", *NO_NULLS)
    found = measured_set(source, columns=("n",), k=2, nulls="wildcard")
    assert found.profile == honest.profile


def test_joins_and_first_rows_of_an_order_read_each_row_group(tmp_path: Path) -> None:
    lying(tmp_path / "t.parquet", *LOW_MAXIMUM)
    pq.write_table(pa.table({"b": [257, 513]}), tmp_path / "u.parquet")
    first = "SELECT a FROM memory.main.t ORDER BY a DESC LIMIT 1"
    joined = "SELECT COUNT(*) FROM memory.main.t INNER JOIN memory.main.u ON t.a = u.b"
    with connect(str(tmp_path)) as engine:
        for sql, expected in ((first, 513), (joined, 200)):
            assert engine.run(Statement(sql, "test", lambda rows: rows), None) == [(expected,)]


VIEWS = {  # of a connection that the user passes
    "t": "FROM '{file}'",
    "behind": "SELECT * FROM t UNION ALL SELECT * FROM t WHERE a > 999",
    "narrow": "SELECT * FROM read_parquet('{file}') WHERE a IN (257, 513)",
    "macro": "FROM m('{file}')",
}


@pytest.fixture
def passed(tmp_path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection with views of a file whose footer is wrong."""
    file = lying(tmp_path / "t.parquet", *LOW_MAXIMUM)
    with duckdb.connect() as connection:
        connection.execute("CREATE MACRO m(f) AS TABLE FROM read_parquet(f)")
        for name, query in VIEWS.items():
            connection.execute(f"CREATE VIEW {name} AS {query.format(file=file)}")
        connection.execute("CREATE TABLE stored AS SELECT 1 AS a FROM range(2); CREATE VIEW plain AS FROM stored")
        yield connection


def disabled(connection: duckdb.DuckDBPyConnection) -> set[str]:
    [(found,)] = connection.execute("SELECT current_setting('disabled_optimizers')").fetchall()
    return set(filter(None, found.split(",")))


@pytest.mark.parametrize("view", always("t", "narrow", longer=["behind", "macro"]))
def test_views_of_files_in_a_connection_that_is_passed(passed: duckdb.DuckDBPyConnection, view: str) -> None:
    """Footers are not believed meanwhile; then the settings are the user's again."""
    passed.execute("SET disabled_optimizers = 'top_n,unused_columns'")
    values = [257, 513] if view == "narrow" else set(VALUES)
    with connect(passed) as engine:
        found = measured_set(engine, view, columns=("a",), k=2).profile
        assert found.classes == len(values)
        assert disabled(passed) > {"top_n", "unused_columns"}
        passed.execute("SET disabled_optimizers = 'unused_columns'")  # by the user, or as another audit ends
        narrowed = measured_set(engine, view, columns=("a",), k=2, where="a > 200").profile
        assert narrowed.classes == 2
    assert disabled(passed) == {"unused_columns"}
    with connect(passed) as engine:
        assert measured_set(engine, "plain", k=2).profile.classes == 1
        assert disabled(passed) == {"unused_columns"}


def test_views_of_files_under_locked_settings_are_refused(passed: duckdb.DuckDBPyConnection) -> None:
    passed.execute("SET lock_configuration = true")
    with pytest.raises(StatementError, match="t reads files, and what these say"):
        qidsql.audit(passed, "t", k=2)
    assert qidsql.audit(passed, "plain", k=2).verdict is Verdict.PASS


@pytest.mark.exhaustive
def test_views_of_files_in_a_shell(host: Host, tmp_path: Path) -> None:
    """A call is bound by one engine and run by another."""
    file = lying(tmp_path / "t.parquet", *LOW_MAXIMUM)
    audit = "SELECT classes, smallest FROM qidsql.audit('t', k := 150, columns := ['a']) WHERE finding = 'table'"
    setting = "SELECT current_setting('disabled_optimizers') AS found"
    answers = host.run([host.load, f"CREATE VIEW t AS FROM '{file}'", audit, audit, setting])
    assert answers[2] == answers[3] == [{"classes": len(set(VALUES)), "smallest": 100}]
    assert answers[4] == [{"found": ""}]


def all_null(path: Path, **options: Any) -> str:
    """Columns of several types that are NULL in all rows of some row groups, inside a struct too."""
    values = [None] * 40 + [*range(40)]
    kinds = (pa.int32(), pa.string(), pa.bool_(), pa.decimal128(20, 2), pa.timestamp("us"), pa.list_(pa.int8()))
    made = {f"c{place}": pa.array([None] * 80, kind) for place, kind in enumerate(kinds)}
    inside = [{"b": value} if place % 3 else None for place, value in enumerate(values)]
    table = pa.table({"a": values, "s": inside, **made})
    pq.write_table(table, path, row_group_size=30, **options)
    return str(path)


def test_views_of_files_with_a_column_that_is_null_throughout(tmp_path: Path) -> None:
    """Nothing shows that DuckDB read the values, so no pass rests on it until somebody says that it may be so."""
    pq.write_table(pa.table({"a": [1] * 9, "fax": pa.array([None] * 9, pa.string())}), tmp_path / "t.parquet")
    policy = 'format = 1\n[sources.s]\nurl = "s.duckdb"\n[[tables]]\ntable = "main.t"\nempty = ["fax"]\n'
    (tmp_path / "qidsql.toml").write_text(policy)
    with duckdb.connect() as connection:
        connection.execute(f"CREATE VIEW t AS FROM '{tmp_path}/t.parquet'; CREATE TABLE u AS FROM t")
        found = qidsql.audit(connection, "t", k=5)
        assert found.verdict is Verdict.INCONCLUSIVE and "fax is NULL in every row" in found.reason
        for each in (found, loaded(AuditResult, found.to_dict())):  # also as a report reads it
            assert judged(each).verdict is Verdict.INCONCLUSIVE
        for table, given in {"t": {"policy_file": tmp_path / "qidsql.toml"}, "u": {}}.items():
            assert qidsql.audit(connection, table, **({"k": 5} | given)).verdict is Verdict.PASS
        assert qidsql.audit(connection, "t", k=5, empty=["FAX"]).verdict is Verdict.PASS
    assert qidsql.audit(str(tmp_path / "t.parquet"), k=5).verdict is Verdict.PASS


CODECS = ("none", "snappy", "gzip", "brotli", "zstd", "lz4")


@pytest.mark.parametrize("codec", always("snappy", longer=[each for each in CODECS if each != "snappy"]))
@pytest.mark.parametrize("form", always({}, longer=[{"data_page_version": "2.0"}, {"use_dictionary": False}]))
def test_columns_that_are_null_throughout_stay_so(tmp_path: Path, codec: str, form: dict[str, Any]) -> None:
    source = all_null(tmp_path / "t.parquet", compression=codec, **form)
    found = {each.name: each.profile for each in qidsql.audit(source, k=2).columns}
    assert found["a"] is not None and found["a"].classes == 41
    assert {found[f"c{place}"].classes for place in range(6)} == {1}


@pytest.mark.parametrize("column", ["a", "s.b"])
def test_values_that_the_footer_denies_throughout(tmp_path: Path, column: str) -> None:
    """DuckDB 2 would not read them."""
    source = all_null(tmp_path / "t.parquet")

    def deny(file: Fields, body: bytearray) -> None:
        chunk = chunks(groups(file)[2])[0 if column == "a" else 1]
        chunk[STATISTICS][1][NULLS] = chunk[NUMBER_OF_VALUES]

    changed(Path(source), deny)
    with pytest.raises(SourceError, match=rf"t\.parquet says .* all their values of the column {column} are NULL"):
        qidsql.audit(source, k=2)
