"""DuckDB as an engine over a slow network: statements have a latency, declared, and felt where that is asked for."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from qidsql.engines.connect import connect
from qidsql.engines.duckdb.engine import DuckDBEngine

LATENCY = 0.5  # seconds
SESSIONS = 8


class _SlowSession:
    """A session whose statements take longer."""

    def __init__(self, session: Any, seconds: float) -> None:
        self._session, self._seconds = session, seconds

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def execute(self, sql: str) -> Any:
        time.sleep(self._seconds)
        return self._session.execute(sql)


@contextmanager
def slow(source: Path, felt: float = 0.0, sessions: int = SESSIONS) -> Iterator[DuckDBEngine]:
    """The source on an engine with latency. Tests count rounds and feel none of it; a benchmark does."""
    with connect(str(source)) as engine:
        assert isinstance(engine, DuckDBEngine)
        engine.latency, engine.workers = LATENCY, sessions
        plain = engine._session
        engine._session = lambda cursor: _SlowSession(plain(cursor), felt)  # type: ignore[method-assign,assignment,return-value]
        engine._end_sessions(list(engine._sessions))  # those opened before
        yield engine
