"""DuckDB's tables and views: odd names, views that moved on, collations, every type."""

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

import qidsql
from qidsql.core.tables import Comparison
from qidsql.engines.base import Engine
from qidsql.errors import AccessError, StatementError, UnknownName, UsageError
from qidsql.measures.profiles import ClassProfile
from tests.exhaustive import always, first
from tests.stores import DuckDBStore, quoted
from tests.ways import measured_set

NAMES = [
    'a"b',
    "a'b",
    "a.b",
    "main.people",
    "select",
    "Mixed Case",
    " leading",
    "line\nbreak",
    "tab\there",
    "back\\slash",
    "ünïcödé 漢字 😀",
    "%s",
    "$1",
    ":p",
    "?",
    "{x}",
    "[bold]",
    "[/]",
    ":smile:",
    "--",
    "x; DROP TABLE t",
    "*",
    "qidsql",
    "relation",
    "classes",
    "class_size",
    "set_number",
    "columns 0",
    "918273645",
    "n" * 300,
]


def profile(source: DuckDBStore | Engine, table: str, *columns: str, **options: str) -> ClassProfile:
    place = source.url if isinstance(source, DuckDBStore) else source
    return measured_set(place, table, columns=columns, k=2, **options).profile  # type: ignore[arg-type]


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", always(*NAMES[::3], longer=[*NAMES[1::3], *NAMES[2::3]]))
def test_odd_names_of_tables_and_columns(duckdb_store: DuckDBStore, name: str) -> None:
    duckdb_store.table(name, {name: "INTEGER", "other": "INTEGER", "who": "INTEGER"}, [(i % 2, 1, i) for i in range(8)])
    with duckdb_store.connect() as engine:
        result = qidsql.audit(engine, name, columns=[name, "other"], k=5)
        assert result.verdict == "violation"
        assert [found.columns for found in result.found_by(result.searches[0])] == [(name,)]
        assert profile(engine, name, name, where=f"{quoted(name)} = 0").rows == 4
        assert profile(engine, name, name, entity="who").rows == 8
        assert profile(engine, quoted(name), "other").rows == 8


def test_one_name_in_several_schemas(duckdb_store: DuckDBStore) -> None:
    for schema in ("main", "archive", "Copy.2024"):
        duckdb_store.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted(schema)}")
        duckdb_store.execute(f"CREATE TABLE {quoted(schema)}.people AS SELECT {len(schema)} AS a FROM range(3)")
    duckdb_store.execute("CREATE TABLE archive.old AS SELECT 1 AS a")
    duckdb_store.execute("CREATE SCHEMA other")
    duckdb_store.execute("CREATE TABLE other.old AS SELECT 1 AS a")
    with duckdb_store.connect() as engine:
        shown = {name: str(engine.describe(name).name) for name in ("people", "archive.people", "Copy.2024.people")}
        assert shown == {
            "people": "main.people",
            "archive.people": "archive.people",
            "Copy.2024.people": "Copy.2024.people",
        }
        assert str(engine.describe('"Copy.2024".people').name) == "Copy.2024.people"
        assert str(engine.describe("store.archive.people").name) == "archive.people"
        with pytest.raises(UsageError, match=r"old could be any of archive\.old, other\.old"):
            engine.describe("old")
        with pytest.raises(UnknownName, match=r"did you mean \w+.people"):
            engine.describe("peeple")
        with pytest.raises(UsageError, match="has 5 tables, name one"):
            engine.describe(None)


def test_names_that_differ_in_letter_case_of_columns(duckdb_store: DuckDBStore) -> None:
    duckdb_store.table("t", {"Zip": "INTEGER", "Other": "INTEGER"}, [(1, 1)])
    assert measured_set(duckdb_store.url, "T", columns=["zip"]).account.columns == ("Zip",)
    assert profile(duckdb_store, "t", where="ZIP = 1").rows == 1


def test_a_view_shows_the_columns_it_has_now(duckdb_store: DuckDBStore) -> None:
    """DuckDB's catalog keeps the columns of the view's making: a column added since would go unaudited."""
    duckdb_store.table("t", {"a": "INTEGER"}, [(1,), (1,)])
    duckdb_store.execute("CREATE VIEW v AS SELECT * FROM t")
    duckdb_store.execute("ALTER TABLE t ADD COLUMN b INTEGER")
    try:
        assert measured_set(duckdb_store.url, "v").account.columns == ("a", "b")
    except StatementError as error:  # before DuckDB 2.0 such a view is an error
        assert "no longer fits its tables" in str(error)


def test_views_that_cannot_be_read(duckdb_store: DuckDBStore, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("a,b\n1,2\n")
    duckdb_store.table("t", {"a": "VARCHAR"}, [("canary",), ("7",)])
    duckdb_store.execute(f"CREATE VIEW reads_a_file AS SELECT * FROM '{tmp_path}/people.csv'")
    duckdb_store.execute("CREATE VIEW casts AS SELECT CAST(a AS INTEGER) AS a FROM t")
    duckdb_store.execute("CREATE TABLE gone AS SELECT 1 AS a")
    duckdb_store.execute("CREATE VIEW dangling AS SELECT * FROM gone")
    duckdb_store.execute("DROP TABLE gone")
    with pytest.raises(AccessError, match=r"the view reads files or other databases.*name the file itself"):
        profile(duckdb_store, "reads_a_file")
    with pytest.raises(
        StatementError, match=r"could not compute a value.*look at the casts of the where condition and of the view"
    ) as error:
        profile(duckdb_store, "casts")
    assert "canary" not in str(error.value)
    with pytest.raises(StatementError, match="no longer fits its tables"):
        profile(duckdb_store, "dangling")
    assert profile(duckdb_store, "t").rows == 2  # the others do not suffer


@pytest.mark.exhaustive
@pytest.mark.parametrize("collation", always("NOCASE.NOACCENT", longer=["NOCASE", "NOACCENT"]))
def test_collations_do_not_merge_what_a_reader_tells_apart(duckdb_store: DuckDBStore, collation: str) -> None:
    duckdb_store.execute(f"CREATE TABLE t (a VARCHAR COLLATE {collation}, b VARCHAR)")
    duckdb_store.execute("INSERT INTO t VALUES ('Ärzte', 'x'), ('ärzte', 'x'), ('arzte', 'x'), ('ARZTE', 'x')")
    duckdb_store.execute("CREATE VIEW plain AS SELECT a, upper(a) AS u, b FROM t")
    duckdb_store.execute("CREATE VIEW nested AS SELECT [a] AS l, {'f': a} AS s, MAP {a: 1} AS m FROM t")
    duckdb_store.execute("CREATE VIEW over AS SELECT a FROM plain")
    assert profile(duckdb_store, "t", "a").classes == 4
    assert profile(duckdb_store, "plain", "a").classes == 4
    assert profile(duckdb_store, "over", "a").classes == 4
    for column in "lsm":
        assert profile(duckdb_store, "nested", column).classes == 4, column
    notes = qidsql.audit(duckdb_store.url, "t", k=2).account.notes
    assert any("byte by byte" in note for note in notes)


def test_a_collation_that_only_a_view_names(duckdb_store: DuckDBStore) -> None:
    duckdb_store.execute("CREATE TABLE t AS SELECT unnest(['A', 'a']) AS a")
    duckdb_store.execute("CREATE VIEW v AS SELECT a COLLATE NOCASE AS a FROM t")
    assert profile(duckdb_store, "v", "a").classes == 2


# Every type, with texts of values that a reader tells apart.
TYPES = {
    "BOOLEAN": ["true", "false"],
    "TINYINT": ["-1", "1"],
    "HUGEINT": ["170141183460469231731687303715884105727", "170141183460469231731687303715884105726"],
    "UHUGEINT": ["0", "1"],
    "UBIGINT": ["18446744073709551615", "0"],
    "FLOAT": ["1.5", "nan", "inf"],
    "DOUBLE": ["0.1", "0.2", "-inf"],
    "DECIMAL(38, 10)": ["1.0000000001", "1.0000000002"],
    "VARCHAR": ["a", "A", "a ", ""],
    "BLOB": ["\\x00", "\\x00\\x00", "a"],
    "BIT": ["01", "1", "001"],
    "DATE": ["2024-01-01", "infinity", "0044-03-15 (BC)"],
    "TIME": ["10:00:00", "10:00:00.000001"],
    "TIMETZ": ["10:00:00+00", "11:00:00+01"],
    "TIMESTAMP": ["2024-01-01 00:00:00", "2024-01-01 00:00:00.000001"],
    "TIMESTAMP_NS": ["2024-01-01 00:00:00.000000001", "2024-01-01 00:00:00.000000002"],
    "TIMESTAMPTZ": ["2024-01-01 00:00:00+00", "2024-01-01 00:00:01+00"],
    "INTERVAL": ["1 month", "30 days", "720 hours"],
    "INTERVAL[]": ["[1 month]", "[30 days]"],
    "INTERVAL[1]": ["[1 month]", "[30 days]"],
    "STRUCT(a INTERVAL)": ["{'a': 1 month}", "{'a': 30 days}"],
    "MAP(VARCHAR, INTERVAL[])": ["{a=[1 month]}", "{a=[30 days]}"],
    "UUID": ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "b0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"],
    "ENUM ('red', 'it''s, (a) ''label''')": ["red", "it's, (a) 'label'"],
    "JSON": ['{"a":1}', '{"a": 1}'],
    "INTEGER[]": ["[1, 2]", "[2, 1]", "[]", "[1, 2, NULL]"],
    "INTEGER[2]": ["[1, 2]", "[2, 1]"],
    "VARCHAR[]": ["[a, b]", "['a, b']"],
    "STRUCT(a INTEGER, b VARCHAR)": ["{'a': 1, 'b': x}", "{'a': 1, 'b': y}"],
    "MAP(VARCHAR, INTEGER)": ["{a=1, b=2}", "{b=2, a=1}"],
    "UNION(num INTEGER, str VARCHAR)": ["1", "x"],
    "STRUCT(e ENUM('secret label'), l INTEGER[][])": ["{'e': secret label, 'l': [[1]]}", "{'e': NULL, 'l': [[1]]}"],
}


@pytest.fixture(scope="module")
def of_every_type(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A table of each type, called by its place: each value twice, and a NULL."""
    store = DuckDBStore(tmp_path_factory.mktemp("types") / "types.duckdb")
    for place, (kind, texts) in enumerate(TYPES.items()):
        values = ", ".join(["(?, 1), (?, 1)"] * len(texts))
        store.execute(f"CREATE TABLE t{place} (a {kind}, b INTEGER)")
        store.execute(f"INSERT INTO t{place} VALUES {values}, (NULL, 1)", [[each for each in texts for _ in range(2)]])
    with store.connect() as engine:
        yield engine


@pytest.mark.parametrize("kind", TYPES)
def test_every_type(of_every_type: Engine, kind: str) -> None:
    name = f"t{list(TYPES).index(kind)}"
    found = profile(of_every_type, name, "a")
    assert found.classes == len(TYPES[kind]) + 1
    assert found.smallest == 1
    result = qidsql.audit(of_every_type, name, k=2)
    assert result.columns[0].nulls == 1
    assert "label" not in result.columns[0].type
    assert profile(of_every_type, name, "b", entity="a", where="a IS NOT NULL").rows == found.classes - 1


@pytest.mark.parametrize(
    "kind", first(["VARIANT", "VARIANT[]", "STRUCT(v VARIANT)", "UNION(i INTERVAL, n INTEGER)", "GEOMETRY"])
)
def test_types_that_not_every_duckdb_has(duckdb_store: DuckDBStore, kind: str) -> None:
    variants = ["1::INTEGER", "1.0::DECIMAL(2, 1)", "'1'", "'x'"]
    texts = {
        "VARIANT": variants,
        "VARIANT[]": [f"[CAST({value} AS VARIANT)]" for value in variants],
        "STRUCT(v VARIANT)": [f"{{'v': CAST({value} AS VARIANT)}}" for value in variants],
        "UNION(i INTERVAL, n INTEGER)": ["INTERVAL 1 MONTH", "INTERVAL 30 DAYS", "30"],
        "GEOMETRY": ["'POINT (1 2)'", "'POINT (2 1)'"],
    }[kind]
    try:
        duckdb_store.execute(f"CREATE TABLE t (a {kind}, b INTEGER)")
    except Exception as error:  # noqa: BLE001 - whatever an older version says to a type it does not know
        pytest.skip(f"this DuckDB has no {kind}: {type(error).__name__}")
    for text in texts:
        duckdb_store.execute(f"INSERT INTO t VALUES ({text}, 1), ({text}, 1)")
    assert profile(duckdb_store, "t", "a").classes == len(texts)
    assert qidsql.audit(duckdb_store.url, "t", k=2).verdict == "pass"


def test_intervals_are_compared_by_text_and_it_is_said(duckdb_store: DuckDBStore) -> None:
    duckdb_store.execute("CREATE TABLE t AS SELECT INTERVAL 1 MONTH AS a UNION ALL SELECT INTERVAL 30 DAYS")
    with duckdb_store.connect() as engine:
        assert engine.describe("t").columns[0].comparison is Comparison.PUBLISHED
    assert any("compared by their text" in note for note in qidsql.audit(duckdb_store.url, "t").account.notes)


def test_a_name_or_condition_that_holds_our_own_marks(duckdb_store: DuckDBStore) -> None:
    duckdb_store.table("918273645 columns 0", {"a": "INTEGER", "b": "VARCHAR"}, [(1, "x"), (918273645, "y")])
    where = "a <> 918273646 AND b <> '918273645 \"columns 0\" columns 1'"
    with duckdb_store.connect() as engine:
        result = qidsql.audit(engine, "918273645 columns 0", where=where, k=2)
    assert result.column_sets[0].columns == ("a",)


def test_small_shapes(duckdb_store: DuckDBStore) -> None:
    duckdb_store.table("empty", {"a": "INTEGER", "b": "INTEGER"}, [])
    duckdb_store.table("one_row", {"a": "INTEGER", "b": "INTEGER"}, [(1, 2)])
    duckdb_store.table("one_column", {"a": "INTEGER"}, [(1,)] * 5)
    duckdb_store.table("all_null", {"a": "INTEGER", "b": "VARCHAR"}, [(None, None)] * 5)
    verdicts = {table: str(qidsql.audit(duckdb_store.url, table).verdict) for table in ("empty", "one_row")}
    assert verdicts == {"empty": "inconclusive", "one_row": "violation"}
    for table in ("one_column", "all_null"):
        assert qidsql.audit(duckdb_store.url, table).verdict == "pass"
    assert profile(duckdb_store, "empty").rows == 0
    assert qidsql.audit(duckdb_store.url, "one_row", where="a > 1").reason.endswith("no row meets the where condition")


@pytest.mark.exhaustive
@pytest.mark.parametrize("many", always(40, longer=[300]))
def test_very_many_columns(duckdb_store: DuckDBStore, many: int) -> None:
    columns = ", ".join(f"CAST(i * {2 * j + 1} % {7 + j % 5} AS INTEGER) AS c{j}" for j in range(many))
    duckdb_store.execute(f"CREATE TABLE wide AS SELECT {columns} FROM range(500) AS r(i)")
    result = qidsql.audit(duckdb_store.url, "wide", k=5)
    assert result.verdict == "violation"
    assert len(result.columns) == many
    assert result.account.unfinished
    assert not result.to_dict()["complete"]


def test_nothing_left_to_audit(duckdb_store: DuckDBStore) -> None:
    duckdb_store.table("t", {"a": "INTEGER", "b": "INTEGER"}, [(1, 2)])
    with pytest.raises(UsageError, match=r"no column of main\.t is left to audit"):
        qidsql.audit(duckdb_store.url, "t", exclude=["a"], sensitive=["b"])


def test_a_time_limit_that_ends_the_opening_leaves_no_database_open(duckdb_store: DuckDBStore) -> None:
    """Without the garbage collector: the next command of the same process may open it with other settings."""
    duckdb_store.table("t", {"a": "INTEGER"}, [(1,)])
    gc.disable()
    try:
        assert qidsql.audit(duckdb_store.url, "t", max_seconds=1e-6).verdict == "inconclusive"
        assert qidsql.audit(f"{duckdb_store.url}?memory_limit=1GB", "t").verdict == "violation"
    finally:
        gc.enable()
