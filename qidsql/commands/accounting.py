"""The account of a command's work on one table: started when it is made, closed when the result is put together."""

import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import TypedDict

from qidsql.core.policy import Policy
from qidsql.core.results import Account
from qidsql.core.tables import Table
from qidsql.engines.base import Engine
from qidsql.errors import QidsqlError


class Spent(TypedDict):
    """Time, statements, rounds, scans and bytes since the start."""

    started: datetime
    seconds: float
    statements: int
    rounds: int
    scans: int
    bytes_read: int | None
    bytes_exact: bool


class Accounting:
    """Counts from the moment it is made. Without an engine only the time."""

    def __init__(self, engine: Engine | None) -> None:
        self._engine = engine
        self._started, self._clock = datetime.now(UTC), time.monotonic()
        self._before = self._counters
        if engine is not None:
            engine.counts_bytes = True

    @property
    def _counters(self) -> tuple[int, ...]:
        found = self._engine
        return (found.statements, found.rounds, found.scans, found.bytes_read, found.unmeasured) if found else (0,) * 5

    @property
    def spent(self) -> Spent:
        pairs = zip(self._counters, self._before, strict=True)
        statements, rounds, scans, read, unmeasured = (now - before for now, before in pairs)
        return Spent(
            started=self._started,
            seconds=time.monotonic() - self._clock,
            statements=statements,
            rounds=rounds,
            scans=scans,
            bytes_read=None if unmeasured else read,
            bytes_exact=self._engine is None or self._engine.bytes_exact,
        )

    def account(
        self,
        table: Table,
        policy: Policy,
        rows: int | None,
        sets_profiled: int,
        unfinished: Sequence[str],
        notes: Sequence[str],
    ) -> Account:
        """The account of work on one table so far."""
        engine = self._engine
        assert engine is not None
        doubts: tuple[str, ...] = ()
        with suppress(QidsqlError):  # the connection can be lost
            doubts = () if rows is None else engine.doubts(table, rows)
        return Account(
            source=engine.label + engine.read_with,
            engine=engine.version,
            table=str(table.name),
            kind=table.kind,
            snapshot=engine.snapshot,
            reader=engine.role or None,
            time_zone=engine.time_zone or None,
            policy=policy,
            rows=rows,
            sets_profiled=sets_profiled,
            unfinished=tuple(unfinished),
            notes=(*(policy.origin.sentences if policy.origin else ()), *notes, *doubts, *engine.remarks),
            **self.spent,
        )
