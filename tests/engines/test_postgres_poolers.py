"""Behind a pooler with one connection there is one session, and nothing waits for a second one."""

import pytest

import qidsql
from qidsql.engines.connect import connect
from qidsql.engines.postgres import engine as postgres
from qidsql.errors import SourceError
from tests.pooler import PoolOfOne
from tests.postgres_server import PostgresServer
from tests.stores import PostgresStore


@pytest.fixture(scope="module")
def server(spare_server: PostgresServer) -> PostgresServer:
    with PostgresStore(spare_server.url) as store:
        store.admin.execute("CREATE TABLE public.wards AS SELECT i % 3 AS ward FROM generate_series(1, 90) AS g(i)")
    return spare_server


@pytest.mark.exhaustive
def test_a_pool_of_one(server: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "FURTHER", 0.3)
    with PoolOfOne(server.folder) as pooler:
        with connect(pooler.url, workers=4) as engine:
            assert engine.workers == 1
            assert qidsql.audit(engine, "wards", k=2).verdict == "pass"
        assert pooler.refused == 0  # nothing waited until the pooler lost its patience


@pytest.mark.exhaustive
def test_a_pooler_whose_connection_is_taken(server: PostgresServer) -> None:
    with (
        PoolOfOne(server.folder, patience=0.3) as pooler,
        connect(pooler.url, workers=1),
        pytest.raises(SourceError, match=r"the pooler at .* had no connection"),
    ):
        connect(pooler.url, workers=1)


def test_statement_mode_is_named(server: PostgresServer) -> None:
    with PoolOfOne(server.folder, by_statement=True) as pooler, pytest.raises(SourceError, match="statement mode"):
        connect(pooler.url)
