"""A server that lies, or something between that changes its answers: an error or a verdict, never an internal one."""

import random
from pathlib import Path

import pytest

import qidsql
from qidsql.engines.postgres import lock_watch
from qidsql.engines.postgres.engine import PostgresEngine
from qidsql.engines.postgres.errors import answered
from qidsql.errors import QidsqlError, StatementError, internal
from tests.exhaustive import always
from tests.local_server import message
from tests.lying_server import EndlessServer, LyingServer, random_lie
from tests.postgres_server import PostgresServer
from tests.stores import PostgresStore

NOTIFICATION = message(b"A", b"\0\0\0\1channel\0" + 100 * b"x" + b"\0")
NOTICE = message(b"N", b"SNOTICE\0C00000\0Mhello\0\0")
LONG_ROW = message(b"D", b"\0\1" + (1 << 23).to_bytes(4, "big") + bytes(1 << 23))


@pytest.fixture(scope="module")
def people(spare_server: PostgresServer) -> Path:
    with PostgresStore(spare_server.url) as store:
        store.admin.execute("DROP TABLE IF EXISTS public.people")
        rows = "SELECT i % 3 AS ward, i % 2 AS sex, i % 5 AS ill FROM generate_series(1, 90) AS g(i)"
        store.admin.execute(f"CREATE TABLE public.people AS {rows}".encode())
    return spare_server.folder


@pytest.mark.exhaustive
@pytest.mark.parametrize("number", always(2, longer=[20]))
def test_random_lies(people: Path, number: int) -> None:
    wrong = []
    for trial in range(number):
        chance = random.Random(trial)
        with LyingServer(people, random_lie(chance)) as server:
            try:
                found = qidsql.audit(server.url, "people", k=2, sensitive="ill", l_diversity=2)
            except QidsqlError:
                continue
            except Exception as error:  # noqa: BLE001 - what is looked for
                wrong.append(f"trial {trial}: {internal(error)}")
                continue
            if found.profile is not None and min(found.profile.smallest, found.profile.classes) < 0:
                wrong.append(f"trial {trial}: {found.reason}")
    assert wrong == []


@pytest.mark.parametrize("after", [1, 20])
@pytest.mark.parametrize(
    "said", [None, NOTIFICATION, NOTICE, LONG_ROW], ids=["rows", "notifications", "notices", "row"]
)
def test_a_server_that_sends_without_end(
    people: Path, said: bytes | None, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is hung up on at the limit, whatever it sends and when: nothing of it is kept in memory."""
    monkeypatch.setattr(lock_watch, "LARGEST_ANSWER", 1 << 20)
    with (
        EndlessServer(people, said, after) as server,
        pytest.raises(QidsqlError, match=r"sends without end|more than a whole answer"),
    ):
        qidsql.audit(server.url, "people", k=2)
    assert server.sent < server.MUCH


@pytest.mark.parametrize(
    ("template", "row"),
    [
        ("catalog_views", ("7", "SELECT 1")),
        ("catalog_keys", (7, [None])),
        ("keywords", ("abort", "absent")),
        ("columns", ("a", "integer", False, True, "likeness", 7, "integer")),
        ("columns", ("a", "integer", 0, True, "value", 7, "integer")),
        ("tables", (7, "public", "t", "x", None, None, False, False, False)),
        ("tables", (7, "public", "t", "r", None, "weather", False, False, False)),
    ],
)
def test_cells_that_no_catalog_has(template: str, row: tuple[object, ...]) -> None:
    with pytest.raises(StatementError, match="is none that Postgres gives"):
        answered(template, [row])


def test_a_fault_of_our_own_is_not_said_to_be_the_servers(
    postgres_store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(*_: object) -> None:
        raise ValueError("of our own")

    postgres_store.execute("CREATE TABLE t (a int)")
    monkeypatch.setattr(PostgresEngine, "_checked", wrong)
    with postgres_store.connect() as engine, pytest.raises(ValueError, match="of our own"):
        engine.describe("t")
