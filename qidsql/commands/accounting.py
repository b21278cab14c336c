"""The account of a command's work on one table: started when it is made, closed when the result is put together."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TypedDict

from qidsql.core.policy import Policy
from qidsql.core.results import Account
from qidsql.core.tables import Table
from qidsql.engines.base import Engine


class Spent(TypedDict):
    """Time, statements, rounds and scans since the start."""

    started: datetime
    seconds: float
    statements: int
    rounds: int
    scans: int
    bytes_read: int | None
    bytes_exact: bool


class Accounting:
    """Counts from the moment it is made."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._started, self._clock = datetime.now(UTC), time.monotonic()
        self._statements, self._rounds, self._scans = engine.statements, engine.rounds, engine.scans
        self._bytes, self._unmeasured, engine.counts_bytes = engine.bytes_read, engine.unmeasured, True

    @property
    def spent(self) -> Spent:
        return Spent(
            started=self._started,
            seconds=time.monotonic() - self._clock,
            statements=self._engine.statements - self._statements,
            rounds=self._engine.rounds - self._rounds,
            scans=self._engine.scans - self._scans,
            bytes_read=self._bytes_read,
            bytes_exact=self._engine.bytes_exact,
        )

    @property
    def _bytes_read(self) -> int | None:
        return self._engine.bytes_read - self._bytes if self._engine.unmeasured == self._unmeasured else None

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
        return Account(
            source=engine.label,
            engine=engine.version,
            table=str(table.name),
            kind=table.kind,
            snapshot=engine.snapshot,
            policy=policy,
            rows=rows,
            sets_profiled=sets_profiled,
            unfinished=tuple(unfinished),
            notes=(*(policy.origin.sentences if policy.origin else ()), *notes, *engine.remarks),
            **self.spent,
        )
