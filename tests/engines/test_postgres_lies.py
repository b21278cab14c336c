"""A server that lies, or something between that changes its answers: an error or a verdict, never an internal one."""

import random
from pathlib import Path

import pytest

import qidsql
from qidsql.errors import QidsqlError, internal
from tests.exhaustive import always
from tests.lying_server import LyingServer, random_lie
from tests.postgres_server import PostgresServer
from tests.stores import PostgresStore


@pytest.fixture(scope="module")
def people(spare_server: PostgresServer) -> Path:
    with PostgresStore(spare_server.url) as store:
        store.admin.execute("DROP TABLE IF EXISTS public.people")
        rows = "SELECT i % 3 AS ward, i % 2 AS sex, i % 5 AS ill FROM generate_series(1, 90) AS g(i)"
        store.admin.execute(f"CREATE TABLE public.people AS {rows}".encode())
    return spare_server.folder


@pytest.mark.parametrize("number", always(5, longer=[300]))
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
