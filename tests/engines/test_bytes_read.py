"""How many bytes statements read: counted, limited by a budget, told before."""

import json
from pathlib import Path

import duckdb
import psycopg
import pyarrow.parquet as parquet
import pytest

import qidsql
from qidsql.core.budget import within_bytes
from qidsql.core.tables import TableName
from qidsql.engines.connect import connect
from qidsql.engines.runner import TableBytes, bytes_read
from qidsql.engines.spark.plans import planned_bytes
from qidsql.errors import UsageError
from tests.commandline import inside
from tests.stores import PostgresStore
from tests.ways import measured_set


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A parquet file of columns of different sizes."""
    path = tmp_path_factory.mktemp("bytes") / "people.parquet"
    duckdb.sql(
        f"COPY (SELECT i % 9 AS ward, 'person ' || i AS name, i AS \"a.b\" FROM range(3000) AS t(i)) TO '{path}'"
    )
    return path


def column_bytes(path: Path, *names: str) -> int:
    """By the footer, as pyarrow reads it."""
    groups = parquet.ParquetFile(path).metadata
    chunks = (groups.row_group(g).column(c) for g in range(groups.num_row_groups) for c in range(groups.num_columns))
    return sum(chunk.total_compressed_size for chunk in chunks if chunk.path_in_schema in names)


def test_a_scan_of_parquet_reads_the_columns_that_it_names(people: Path) -> None:
    for columns in (["ward"], ["name"], ["ward", "a.b"]):
        account = measured_set(str(people), columns=columns).account
        assert (account.bytes_read, account.bytes_exact) == (column_bytes(people, *columns), True)


def test_a_condition_reads_its_columns(people: Path) -> None:
    for condition in ("NAME LIKE '%7'", "\"name\" > 'x'"):
        account = measured_set(str(people), columns=["ward"], where=condition).account
        assert account.bytes_read == column_bytes(people, "ward", "name")


def test_each_scan_counts() -> None:
    sizes = {TableName("t", "s"): TableBytes(1, {'a"': 10, "b": 100}), TableName("u", "s", "c"): TableBytes(1000)}
    relation = 'FROM "s"."t" AS relation'
    for sql, scans, found in (
        (f"SELECT COUNT(*) {relation}", 1, 1),
        (f'SELECT 1 {relation} GROUP BY relation."a"""', 1, 11),
        (f'SELECT 1 {relation} GROUP BY relation."b" UNION ALL SELECT 2 {relation} GROUP BY relation."a"""', 2, 112),
        (f'SELECT 1 {relation} GROUP BY relation."b"', 3, 303),  # a table expression that is evaluated anew
        ('SELECT "b" FROM "s"."t" JOIN "c"."s"."u" ON TRUE', 2, 1101),
        ("SELECT relation.`b` FROM `s`.`t` AS relation", 1, 101),
        (f"SELECT 1 {relation} WHERE (\n(A\" or b) = '\n)", 1, 101),
    ):
        assert bytes_read(sql, scans, ["\n(A\" or b) = '\n"], sizes.__getitem__) == found, sql


@pytest.mark.exhaustive
def test_pages_of_postgres(postgres_store: PostgresStore) -> None:
    postgres_store.table("people", {"ward": "INTEGER", "name": "VARCHAR"}, [(i % 9, f"p {i}") for i in range(2000)])
    with psycopg.connect(postgres_store.url) as connection:
        [pages] = connection.execute("SELECT pg_relation_size('people')").fetchone() or [0]
    account = measured_set(postgres_store.url, "people", columns=["ward"]).account
    assert account.bytes_read == pages > 0 and account.bytes_exact
    postgres_store.execute("ALTER TABLE people ALTER COLUMN name SET STORAGE EXTERNAL")
    postgres_store.execute("UPDATE people SET name = repeat('x', 9000) WHERE ward = 1")
    with psycopg.connect(postgres_store.url) as connection:
        both = "pg_relation_size(oid) + pg_relation_size(reltoastrelid)"
        [more] = connection.execute(f"SELECT {both} FROM pg_class WHERE oid = 'people'::regclass").fetchone() or [0]
    account = measured_set(postgres_store.url, "people", columns=["ward"]).account
    assert account.bytes_read == more > pages and not account.bytes_exact


def test_a_file_whose_name_looks_like_a_pattern(tmp_path: Path) -> None:
    """Beside one that it matches, which is another."""
    for rows, name in ((9, "[p]eople"), (3000, "people")):
        duckdb.sql(f"COPY (SELECT i FROM range({rows}) AS t(i)) TO '{tmp_path / name}.parquet'")
    file = tmp_path / "[p]eople.parquet"
    assert measured_set(str(file)).account.bytes_read == column_bytes(file, "i")


@pytest.mark.exhaustive
def test_tables_of_duckdb_are_estimated(tmp_path: Path) -> None:
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people AS SELECT i, 'person ' || hash(i) AS name FROM range(300_000) AS t(i)")
        connection.execute("CREATE VIEW shown AS FROM people")
    found = [measured_set(str(path), "people", columns=[name]).account for name in ("i", "name")]
    assert not found[0].bytes_exact
    assert 0 < (found[0].bytes_read or 0) < (found[1].bytes_read or 0) < path.stat().st_size
    with connect(str(path)) as engine:
        known = [measured_set(engine, table).account.bytes_read is not None for table in ("people", "shown", "people")]
    assert known == [True, False, True]
    with pytest.raises(UsageError, match="does not tell how many bytes"):
        measured_set(str(path), "shown", max_bytes="1GB")


def test_a_spent_budget_is_inconclusive(people: Path) -> None:
    """Never a pass: wards have hundreds of rows each."""
    whole = qidsql.audit(str(people), k=5, columns=["ward"])
    assert whole.verdict == "pass" and whole.account.bytes_read
    enough = qidsql.audit(str(people), k=5, columns=["ward"], max_bytes=whole.account.bytes_read)
    assert enough.verdict == "pass"
    spent = qidsql.audit(str(people), k=5, columns=["ward"], max_bytes=whole.account.bytes_read - 1)
    assert spent.verdict == "inconclusive" and "--max-bytes" in spent.account.unfinished[0]
    nothing = qidsql.audit(str(people), k=5, columns=["ward"], max_bytes=1)
    assert (nothing.verdict, nothing.account.bytes_read) == ("inconclusive", 0)


def test_limits_of_inner_and_outer_blocks_hold(people: Path) -> None:
    each = column_bytes(people, "ward")
    with connect(str(people)) as engine, within_bytes(2 * each):
        done = [measured_set(engine, columns=["ward"], max_bytes=each).account.unfinished for _ in range(3)]
    assert [len(unfinished) for unfinished in done] == [0, 0, 1]


@pytest.mark.exhaustive
def test_a_run_has_a_budget_for_all_its_tables(people: Path, tmp_path: Path) -> None:
    """And one for each table."""
    table = '[[tables]]\nsource = "{0}"\ntable = "people"\ncolumns = ["ward"]\n'.replace("columns", "#")
    sources = "".join(f'[sources.{name}]\nurl = "{people}"\n' for name in ("a", "b"))
    each = qidsql.audit(str(people), no_policy=True).account.bytes_read or 0
    for text, budget, said in (
        ("", each, ["violation", "inconclusive"]),
        ("", 2 * each, ["violation", "violation"]),
        ('max_bytes = "1B"\n', 2 * each, ["inconclusive", "violation"]),
    ):
        (tmp_path / "qidsql.toml").write_text(sources + table.format("a") + text + table.format("b"))
        outcome = inside("run", "--no-history", "--max-bytes", budget, "--format", "json", cwd=tmp_path)
        assert [found["verdict"] for found in json.loads(outcome.out)["tables"]] == said, outcome


def test_a_dry_run_says_it(people: Path) -> None:
    out = inside("audit", str(people), "-c", "name", "--dry-run", "--max-bytes", "1B").out
    assert f"which read at most {3 * column_bytes(people, 'name') / 1000:.0f} kB" in out


@pytest.mark.parametrize(
    "plan, found",
    [
        ("Relation [a] parquet, Statistics(sizeInBytes=1.5 KiB, rowCount=7)", 1536),
        ("Project, Statistics(sizeInBytes=8.0 B)\n+- Relation, Statistics(sizeInBytes=2.0 GiB)", 2 << 30),
        ("LogicalRDD, Statistics(sizeInBytes=8.0 EiB)", None),
        ("DataSourceExec: statistics=[Rows=Exact(100), Bytes=Absent]", 1200),
        ("DataSourceExec: statistics=[Rows=Absent, Bytes=Absent]", None),
    ],
)
def test_sizes_in_plans(plan: str, found: int | None) -> None:
    assert planned_bytes(plan, 12) == found
