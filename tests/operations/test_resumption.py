"""What the record of an interrupted run vouches for covers all that was read: a change of any part of it is audited."""

import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import duckdb
import pytest

from qidsql.core.tables import Table, TableName
from qidsql.engines.connect import connect
from qidsql.operations.policy_file import read_policy_file
from qidsql.operations.run import RunCallbacks, run
from qidsql.operations.table_run import TableRun
from tests.exhaustive import first
from tests.older_servers import older_server, open_to_servers
from tests.policies import RISKY, SAFE, entries, fill, history_of, policy_file
from tests.stores import DuckDBStore, PostgresStore

SCHEMA = "(sex TEXT, ward TEXT)"
TREE = "(FORMAT parquet, PARTITION_BY (ward))"
PARENTS = f"CREATE TABLE one {SCHEMA} PARTITION BY LIST (ward); CREATE TABLE part PARTITION OF one DEFAULT"
TIMED = "ward TEXT, seen TIMESTAMPTZ DEFAULT '2024-01-01 12:00:00+00'"


def again(folder: Path, change: Callable[[], object], first: str = "one", more: str = "") -> TableRun:
    """The first table of a run that was interrupted after it, changed, and begun again."""
    path = folder / "qidsql.toml"
    history = history_of(folder)

    def stop(stage: str) -> None:
        if stage.startswith("2 of 2"):
            raise KeyboardInterrupt

    begun = run(read_policy_file(path), history, callbacks=RunCallbacks(stage=stop))
    assert [str(table.verdict) for table in begun.tables] == ["pass", "inconclusive"], [
        table.error for table in begun.tables
    ]
    change()
    return run(read_policy_file(path), history).tables[0]


def unchanged() -> None:
    """The control: then the record counts."""


# data files


def folder_of_files(folder: Path) -> Path:
    """A folder people/ of parquet files below ward=..., where `people/ward=b` leads elsewhere, and a policy on it."""
    with duckdb.connect() as connection:
        values = ", ".join(map(str, SAFE))
        people = f"SELECT * FROM (VALUES {values}) AS people(sex, ward)"
        for name, form in (("people", TREE), ("two.csv", "(FORMAT csv)")):
            connection.execute(f"COPY ({people}) TO '{folder / name}' {form}")
    (folder / "people" / "ward=b").rename(folder / "elsewhere")
    (folder / "people" / "ward=b").symlink_to(folder / "elsewhere")
    sources = (
        f'[sources.main]\nurl = "{folder}/people/*/*.parquet"\n[sources.other]\nurl = "{folder}/two.csv"\n'
        '[[tables]]\nsource = "main"\ntable = "people"\n[[tables]]\nsource = "other"\ntable = "two"\n'
    )
    (folder / "qidsql.toml").write_text(f"format = 1\n{sources}", encoding="utf-8")
    return folder


def one_person(path: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT 'x' AS sex) TO '{path}' (FORMAT parquet)")


def renamed(folder: Path) -> None:
    """The files stay what they were; the value of a column in their path does not."""
    (folder / "people" / "ward=b").rename(folder / "people" / "ward=c")


def with_old_time(folder: Path) -> None:
    [path] = (folder / "elsewhere").iterdir()
    before = path.stat()
    one_person(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


CHANGES_OF_FILES: dict[str, Callable[[Path], object]] = {
    "a new file": lambda folder: one_person(folder / "elsewhere" / "new.parquet"),
    "a file less": lambda folder: next((folder / "elsewhere").iterdir()).unlink(),
    "a folder's name": renamed,
    "rows, and not the time": with_old_time,
}


@pytest.mark.parametrize("change", first(CHANGES_OF_FILES))
def test_files(tmp_path: Path, change: str) -> None:
    folder = folder_of_files(tmp_path)
    assert not again(folder, lambda: CHANGES_OF_FILES[change](folder)).resumed


def test_files_that_stay(tmp_path: Path) -> None:
    assert again(folder_of_files(tmp_path), unchanged).resumed


def test_how_a_file_is_read(tmp_path: Path) -> None:
    """Without a header the names of the columns are a row."""
    folder_of_files(tmp_path)
    policy = tmp_path / "qidsql.toml"
    text = policy.read_text().replace("people/*/*.parquet", "one.csv").replace('table = "people"', 'table = "one"')
    policy.write_text(text)
    (tmp_path / "one.csv").write_text("".join(f"{sex},{ward}\n" for sex, ward in [("sex", "ward"), *SAFE]))

    def headless() -> None:
        policy.write_text(policy.read_text().replace("one.csv", "one.csv?header=false"))

    assert not again(tmp_path, headless).resumed


# a database file


@pytest.fixture
def database(tmp_path: Path) -> DuckDBStore:
    store = DuckDBStore(tmp_path / "people.duckdb")
    store.execute(f"CREATE TABLE one ({TIMED}, day DATE GENERATED ALWAYS AS (CAST(seen AS DATE)))")
    store.execute("INSERT INTO one (ward) SELECT ward FROM (VALUES ('a'), ('b')) AS w(ward), generate_series(1, 6)")
    fill(store, two=SAFE)
    return store


@pytest.mark.exhaustive
@pytest.mark.parametrize("zone", ["UTC", "Pacific/Kiritimati"])
def test_a_time_zone_belongs_to_what_was_read(
    database: DuckDBStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, zone: str
) -> None:
    """By which a day is another one."""
    monkeypatch.setenv("TZ", "UTC")
    policy_file(tmp_path, database.url, entries("one", "two"))
    assert again(tmp_path, lambda: monkeypatch.setenv("TZ", zone)).resumed is (zone == "UTC")


def test_rows_in_the_write_ahead_log(database: DuckDBStore, tmp_path: Path) -> None:
    policy_file(tmp_path, database.url, entries("one", "two"))

    def write() -> None:
        with duckdb.connect(database.url, config={"checkpoint_threshold": "1TB"}) as connection:
            connection.execute("PRAGMA disable_checkpoint_on_shutdown")
            connection.execute("INSERT INTO one (ward) VALUES ('x')")

    table = again(tmp_path, write)
    assert (table.resumed, str(table.verdict)) == (False, "violation")


@pytest.mark.exhaustive
@pytest.mark.parametrize("parent", ["east", "west"])
def test_a_hierarchy(database: DuckDBStore, tmp_path: Path, parent: str) -> None:
    """A file that the policy names is read too."""
    path = tmp_path / "wards.csv"
    path.write_text("a;east;*\nb;east;*\n")
    limit = f't_hierarchical = 0.9\nhierarchy = "{path}"\nroles = {{ ward = "sensitive" }}\n'
    policy_file(tmp_path, database.url, entries("one", more=limit) + entries("two"))
    assert again(tmp_path, lambda: path.write_text(f"a;east;*\nb;{parent};*\n")).resumed is (parent == "east")


@pytest.mark.exhaustive
@pytest.mark.parametrize("wards", ["a\nb\n", "b\na\n"])
def test_an_order(database: DuckDBStore, tmp_path: Path, wards: str) -> None:
    """Beside the policy."""
    path = tmp_path / "wards.txt"
    path.write_text("a\nb\n")
    limit = 't_ordered = 0.9\norder = "wards.txt"\nroles = { ward = "sensitive" }\n'
    policy_file(tmp_path, database.url, entries("one", more=limit) + entries("two"))
    assert again(tmp_path, lambda: path.write_text(wards)).resumed is (wards[0] == "a")


# Postgres

PARTS = {  # what the rows of a table can lie in, and whether a snapshot covers all of it
    "a table": ("CREATE TABLE one (sex TEXT, ward TEXT)", True),
    "a materialized view": ("CREATE MATERIALIZED VIEW one AS SELECT 'f' AS sex, 'a' AS ward", True),
    "partitions": (PARENTS, True),
    "children": (f"CREATE TABLE one {SCHEMA}; CREATE TABLE child () INHERITS (one)", True),
    "a foreign child": (f"CREATE TABLE one {SCHEMA}; CREATE FOREIGN TABLE child () INHERITS (one) SERVER away", False),
    "a foreign grandchild": (
        f"CREATE TABLE one {SCHEMA}; CREATE TABLE child () INHERITS (one); "
        f"CREATE FOREIGN TABLE grandchild () INHERITS (child) SERVER away",
        False,
    ),
    "a foreign partition": (
        f"{PARENTS}; CREATE FOREIGN TABLE far PARTITION OF one FOR VALUES IN ('b') SERVER away",
        False,
    ),
    "an unlogged table": (f"CREATE UNLOGGED TABLE one {SCHEMA}", False),  # emptied when the server crashes
    "an unlogged child": (f"CREATE TABLE one {SCHEMA}; CREATE UNLOGGED TABLE child () INHERITS (one)", False),
    "rows kept in another way": (f"CREATE TABLE one {SCHEMA} USING another", False),
    "a view": ("CREATE VIEW one AS SELECT 'f' AS sex, 'a' AS ward", False),
}


@contextmanager
def far_away(store: PostgresStore) -> Iterator[None]:
    """A server for foreign tables that cannot be read, and another way of keeping rows."""
    store.execute("CREATE FOREIGN DATA WRAPPER nowhere; CREATE SERVER away FOREIGN DATA WRAPPER nowhere")
    store.execute("CREATE ACCESS METHOD another TYPE TABLE HANDLER heap_tableam_handler")
    try:
        yield
    finally:
        store.execute("DROP FOREIGN DATA WRAPPER nowhere CASCADE; DROP ACCESS METHOD another CASCADE")


def test_parts_of_tables(postgres_store: PostgresStore) -> None:
    found = {}
    with far_away(postgres_store):
        for part, (script, _) in PARTS.items():
            postgres_store.execute("BEGIN; CREATE SCHEMA parts; SET LOCAL search_path = parts; " + script + "; COMMIT")
            with closing(postgres_store.connect()) as engine:
                found[part] = engine.state_token(Table(TableName("one", "parts"), "table", ())) is not None
            postgres_store.execute("DROP SCHEMA parts CASCADE")
    assert found == {part: covered for part, (_, covered) in PARTS.items()}


def test_the_session_belongs_to_the_state(postgres_store: PostgresStore, reader: str) -> None:
    fill(postgres_store, one=SAFE)
    postgres_store.execute(f"GRANT SELECT ON one TO {reader}")

    def token(url: str) -> str | None:
        with closing(connect(url)) as engine:
            return engine.state_token(engine.describe("one"))

    def once() -> list[str | None]:
        settings = "%20-cTimeZone%3DAsia/Tokyo", "%20-cDateStyle%3DDMY", "%20-capplication_name%3Dother", ""
        own = postgres_store.url
        return [token(own), token(postgres_store.url_of(reader)), *(token(f"{own}{each}") for each in settings)]

    for _ in range(5):  # a server can have work of its own
        first, *others, same, last = once()
        if first == last:
            break
    assert first == same == last and len({first, *others}) == 4


@pytest.mark.exhaustive
@pytest.mark.parametrize("parent", ["one", "grandparent"])
def test_a_foreign_file_below_a_table(tmp_path: Path, parent: str) -> None:
    """The case of the issue, on a server that can read files."""
    file = tmp_path / "rows.csv"
    open_to_servers(tmp_path)
    file.write_text("".join(f"{sex},{ward}\n" for sex, ward in SAFE))
    with older_server("15") as url, PostgresStore(url) as store:
        store.execute("CREATE EXTENSION file_fdw; CREATE SERVER files FOREIGN DATA WRAPPER file_fdw")
        fill(store, one=SAFE, two=SAFE)
        child = "one"
        if parent != "one":
            store.execute("CREATE TABLE child () INHERITS (one)")
            child = "child"
        options = f"OPTIONS (filename '{file}', format 'csv')"
        store.execute(f"CREATE FOREIGN TABLE far () INHERITS ({child}) SERVER files {options}")
        policy_file(tmp_path, store.url, entries("one", "two"))
        table = again(tmp_path, lambda: file.write_text("".join(f"{sex},{ward}\n" for sex, ward in RISKY)))
        assert (table.resumed, str(table.verdict)) == (False, "violation")
