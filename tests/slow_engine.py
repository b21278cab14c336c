"""DuckDB as an engine over a slow network: statements have a latency, declared, and felt where that is asked for."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from qidsql.engines.base import Engine
from qidsql.engines.connect import connect
from qidsql.engines.duckdb.engine import DuckDBEngine
from tests.stores import DuckDBStore

LATENCY = 0.5  # seconds
SESSIONS = 8
SETS = 16


class _SlowSession:
    """A session whose statements take longer."""

    def __init__(self, session: Any, seconds: float) -> None:
        self._session, self._seconds = session, seconds

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def execute(self, sql: str) -> Any:
        time.sleep(self._seconds)
        return self._session.execute(sql)


def slow(source: Path, felt: float = 0.0, **options: Any) -> Engine:
    """The source on an engine with latency. Tests count rounds and feel none of it; a benchmark does."""
    engine = connect(str(source), **options)
    assert isinstance(engine, DuckDBEngine)
    engine.latency, engine.workers = LATENCY, SESSIONS
    plain = engine._session
    engine._session = lambda cursor: _SlowSession(plain(cursor), felt)  # type: ignore[method-assign,assignment,return-value]
    engine._end_sessions(list(engine._sessions))  # those opened before
    return engine


class SlowStore(DuckDBStore):
    """A database file, read over such a network, by an engine that takes many column sets in one statement."""

    def connect(self, **options: Any) -> Engine:
        engine = slow(self.path, **options)
        engine.costs = replace(engine.costs, finest_sets=SETS, finest_rows=200_000, calls_are_dear=True)
        return engine
