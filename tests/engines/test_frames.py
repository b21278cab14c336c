"""Data frames and Arrow tables as sources of the Python functions."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import duckdb
import pandas
import polars
import pyarrow
import pytest

import qidsql
from qidsql.errors import AccessError, SourceError, StatementError, UsageError
from tests.ways import measured_set

COLUMNS: dict[str, list[Any]] = {
    "zip": ["01", "01", "02", None, "02"],
    "sex": ["f", "f", "m", "m", "m"],
    "born": [1970, 1970, 1981, 1981, 1981],
}
FRAMES = [pandas.DataFrame(COLUMNS), polars.DataFrame(COLUMNS), duckdb.from_df(pandas.DataFrame(COLUMNS))]


@pytest.mark.exhaustive
@pytest.mark.parametrize("frame", FRAMES, ids=["pandas", "polars", "relation"])
def test_a_frame_is_audited_like_the_table_with_its_rows(frame: Any, tmp_path: Any) -> None:
    path = tmp_path / "t.parquet"
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (zip VARCHAR, sex VARCHAR, born BIGINT)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", list(zip(*COLUMNS.values(), strict=True)))
        connection.execute(f"COPY t TO '{path}'")
    expected, found = qidsql.audit(str(path), k=2), qidsql.audit(frame, k=2)
    assert found.profile == expected.profile
    assert [each.columns for each in found.column_sets] == [each.columns for each in expected.column_sets]
    assert [(each.name, each.nulls) for each in found.columns] == [(each.name, each.nulls) for each in expected.columns]
    assert (str(found.account.table), found.account.snapshot) == ("main.data", "copied into memory at the start")
    assert qidsql.keys(frame, "data").impossible
    assert len(qidsql.tables(frame).tables) == 1


def test_an_engine_on_a_frame_stays_open() -> None:
    with qidsql.connect(polars.DataFrame(COLUMNS)) as engine:
        first, second = measured_set(engine, columns=["sex"]), measured_set(engine, columns=["born"])
    assert first.profile == second.profile


def test_a_frame_is_not_changed_and_later_changes_of_it_are_not_seen() -> None:
    frame = pandas.DataFrame(COLUMNS)
    with qidsql.connect(frame) as engine:
        frame["sex"] = "x"
        assert measured_set(engine, columns=["sex"]).profile.classes == 2


@pytest.mark.parametrize(
    ("source", "said", "kind"),
    [
        (pandas.DataFrame([[1, 2]], columns=["a", "A"]), "differ only in letter case", UsageError),
        (pandas.DataFrame([[1, 2]], columns=["a", "a"]), "differ only in letter case, or not at all", UsageError),
        (5, "expected a pandas or polars DataFrame", SourceError),
        ({"a": [1]}, "expected a pandas or polars DataFrame", SourceError),
    ],
)
def test_what_is_no_frame_is_refused_in_one_line(source: Any, said: str, kind: type[Exception]) -> None:
    with pytest.raises(kind, match=said) as raised:
        qidsql.audit(source)
    assert "\n" not in str(raised.value)


def test_no_value_of_a_frame_is_in_an_error() -> None:
    frame = pandas.DataFrame({"a": [{"k": "SECRET-1"}, "SECRET-2", [1]]})
    try:
        text = str(qidsql.audit(frame).to_dict())
    except SourceError as error:
        text = str(error)
    assert "SECRET" not in text


SPANS = pandas.to_timedelta(range(9), unit="ns")
MERGED = {  # in pandas, and as Arrow's types, alone and inside others
    "timedelta": pandas.DataFrame({"a": SPANS}),
    "objects": pandas.DataFrame({"a": pandas.Series(list(SPANS), dtype=object)}),
    "category": pandas.DataFrame({"a": pandas.Categorical(SPANS)}),
    "lists": pandas.DataFrame({"a": pandas.Series([[each] for each in SPANS], dtype=object)}),
    "times with a zone": pandas.DataFrame({"a": pandas.to_datetime(range(9), unit="ns", utc=True)}),
    "decimals": pandas.DataFrame({"a": pandas.Series([Decimal("1"), Decimal("1.0")], dtype=object)}),
    "numbers": pandas.DataFrame({"a": pandas.Series([1, 1.0], dtype=object)}),
    "polars": polars.DataFrame({"a": polars.Series(range(9), dtype=polars.Duration("ns"))}),
    "lazy": polars.DataFrame({"a": polars.Series(range(9), dtype=polars.Duration("ns"))}).lazy(),
    "polars lists": polars.DataFrame({"a": polars.Series([[1], [2]], dtype=polars.List(polars.Duration("ns")))}),
    "arrow": pyarrow.table({"a": pyarrow.array(range(9), pyarrow.duration("ns"))}),
    "arrow struct": pyarrow.table(
        {"a": pyarrow.array([{"x": 1}, {"x": 2}], pyarrow.struct([("x", pyarrow.duration("ns"))]))}
    ),
    "arrow interval": pyarrow.table({"a": pyarrow.array([(0, 0, 1), (0, 0, 2)], pyarrow.month_day_nano_interval())}),
}
KEPT = {
    "timedelta": pandas.DataFrame({"a": pandas.to_timedelta([1, 1, 2, None], unit="s")}),
    "moments": pandas.DataFrame({"a": pandas.to_datetime([1, 1, 2, 3], unit="ns")}),
    "a zone": pandas.DataFrame({"a": pandas.to_datetime([1, 1, 2, 3], unit="s", utc=True)}),
    "objects": pandas.DataFrame({"a": pandas.Series([timedelta(1), timedelta(1), None, timedelta(2)], dtype=object)}),
    "numbers": pandas.DataFrame({"a": pandas.Series([1, 1, 2, None], dtype=object)}),
    "lists": pandas.DataFrame({"a": [[1], [1], [2], None]}),
    "polars": polars.DataFrame({"a": polars.Series([1, 1, 2, None], dtype=polars.Duration("us"))}),
    "polars moments": polars.DataFrame({"a": polars.Series([1, 1, 2, None], dtype=polars.Datetime("ns", "UTC"))}),
    "arrow": pyarrow.table({"a": pyarrow.array([1, 1, 2, None], pyarrow.duration("ms"))}),
    "arrow times": pyarrow.table({"a": pyarrow.array([1, 1, 2, None], pyarrow.time64("ns"))}),
}


@pytest.mark.parametrize("frame", MERGED.values(), ids=MERGED)
def test_a_frame_whose_values_would_be_merged_is_refused(frame: Any) -> None:
    with pytest.raises(SourceError, match="would merge values of a of the"):
        qidsql.audit(frame)


@pytest.mark.exhaustive
@pytest.mark.parametrize("frame", KEPT.values(), ids=KEPT)
def test_a_frame_whose_values_are_kept_is_audited(frame: Any) -> None:
    profile = qidsql.audit(frame, k=2).profile
    assert profile is not None and profile.classes == 3


def test_an_empty_frame_is_never_a_pass() -> None:
    assert qidsql.audit(pandas.DataFrame({"a": pandas.Series(dtype="int64")})).verdict == "inconclusive"


def test_a_budget_that_is_spent_at_once() -> None:
    assert qidsql.audit(FRAMES[0], max_seconds=1e-6).verdict == "inconclusive"


def test_the_tables_of_a_connection_are_audited_in_place_and_its_state_is_kept() -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t AS SELECT i % 7 AS a, i % 11 AS b FROM range(1000) AS r(i)")
        connection.execute("CREATE TEMP TABLE mine AS SELECT 1 AS a")
        settings = "SELECT name, value FROM duckdb_settings() ORDER BY name"
        before = connection.execute(settings).fetchall()
        assert qidsql.audit(connection, "t", k=2).verdict == "pass"
        connection.execute("BEGIN")
        connection.execute("INSERT INTO t VALUES (99, 99)")
        with pytest.raises(SourceError, match="sees other rows"):
            qidsql.audit(connection, "t", k=2)
        connection.execute("COMMIT")
        assert qidsql.audit(connection, "t", k=2).verdict == "violation"
        assert connection.execute(settings).fetchall() == before
        with pytest.raises(UsageError, match="no table mine"):
            qidsql.audit(connection, "mine")
        with qidsql.connect(connection) as engine:  # one moment for all that is asked
            with pytest.raises(SourceError, match="opened for writing"):
                qidsql.protect(engine, "t", k=2, into="safe", by="cells", against="released-rows")
            rows = [qidsql.audit(engine, "t").account.rows]
            connection.execute("INSERT INTO t VALUES (1, 1)")
            assert [*rows, qidsql.audit(engine, "t").account.rows] == [1001, 1001]
    with pytest.raises(SourceError, match="cannot be opened"):
        qidsql.audit(connection, "t")


@pytest.mark.exhaustive
@pytest.mark.parametrize("frame", FRAMES, ids=["pandas", "polars", "relation"])
def test_the_copy_of_a_frame_is_a_file(frame: Any, tmp_path: Any) -> None:
    copy = tmp_path / "copy.parquet"
    result = qidsql.protect(frame, k=2, into=str(copy), by="cells", against="released-rows")
    assert (result.verdict, result.account.kind) == ("finished", "data frame")
    assert duckdb.sql(f"SELECT MIN(n) FROM (SELECT COUNT(*) AS n FROM '{copy}' GROUP BY ALL)").fetchall() >= [(2,)]
    listed = tmp_path / "list.csv"
    assert qidsql.uniques(frame, into=str(listed)).listed == len(listed.read_text().splitlines()) - 1
    with pytest.raises(UsageError, match=r"a data frame is a file: into takes a name that ends in \.parquet or \.csv"):
        qidsql.protect(frame, k=2, into="copy", by="cells", against="released-rows")
    with pytest.raises(UsageError, match="a data frame takes no statements"):
        qidsql.protect(frame, k=2, sql="table", by="cells", against="released-rows")


@pytest.mark.exhaustive
def test_the_copy_of_a_table_of_a_connection_is_a_table(tmp_path: Any) -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t AS SELECT i % 7 AS a, i AS b FROM range(70) AS r(i)")
        assert (
            qidsql.protect(connection, "t", k=5, into="copy", by="cells", against="released-rows").verdict == "finished"
        )
        with qidsql.connect(connection, writable=True) as engine:
            assert (
                qidsql.protect(engine, "t", k=5, into="other", by="cells", against="released-rows").verdict
                == "finished"
            )
        assert connection.execute("SELECT COUNT(*) FROM copy JOIN other USING (a)").fetchall() == [(700,)]
        connection.execute(f"ATTACH '{tmp_path / 'd.duckdb'}' AS d; CREATE TABLE d.t AS FROM t; DETACH d")
        connection.execute("SET enable_external_access = false")
        with pytest.raises(AccessError, match="the connection may not use files"):
            qidsql.protect(connection, "t", k=5, into="third", by="cells", against="released-rows")
    with duckdb.connect(str(tmp_path / "d.duckdb"), read_only=True) as connection:
        with pytest.raises(SourceError, match="the DuckDB connection is read-only"):
            qidsql.protect(connection, "t", k=5, into="copy", by="cells", against="released-rows")
        assert qidsql.audit(connection, "t").verdict == "violation"


def test_protected_rows_are_a_frame_of_the_kind_that_came() -> None:
    columns = {"age": [20 + n % 7 for n in range(60)], "ward": ["ab"[n % 2] for n in range(60)]}
    persons = {**columns, "person": [n % 20 for n in range(60)]}
    for kind in (pandas.DataFrame, polars.DataFrame, pyarrow.table):
        for by, given, entity in (("levels", columns, "row"), ("values", persons, "person")):
            frame = kind(given)
            copy = qidsql.protected(frame, by=by, k=3, entity=entity)
            assert type(copy) is type(frame) and copy.shape == (60, 2)
            assert qidsql.audit(copy, k=3, columns=["age", "ward"], entity="row").verdict == "pass"
    with pytest.raises(UsageError, match="expected a pandas or polars DataFrame or an Arrow table"):
        qidsql.protected(duckdb.from_df(pandas.DataFrame(columns)), by="values")
    with pytest.raises(StatementError, match="no copy of the frame was made: no coarser values help"):
        qidsql.protected(pandas.DataFrame(columns), by="values", k=100, entity="row")
