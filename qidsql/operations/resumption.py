"""Resuming an interrupted run: its finished tables are stored in the history until a complete run is recorded."""

import hashlib
import json
import time
from collections.abc import Sequence
from datetime import date

from qidsql.core.policy import Policy
from qidsql.core.recodings import read_hierarchy
from qidsql.core.requirements import read_order
from qidsql.core.tables import Table
from qidsql.declarations.results import plain
from qidsql.engines.base import Engine
from qidsql.errors import StoreError
from qidsql.operations.history.records import History, UnfinishedTable
from qidsql.operations.policy_file import TableEntry
from qidsql.operations.table_run import TableRun
from qidsql.version import __version__

# Seconds between two writes: a killed run loses the tables of so many seconds, and the one in progress.
KEEP_EVERY = 2.0


class Resumption:
    """The tables that this run can take over from interrupted ones, and those that it stores itself.

    `notes` receives what the user should know. If the history fails, the run goes on without it.
    """

    def __init__(self, run: str, history: History | None, unfinished: Sequence[UnfinishedTable], notes: list[str]):
        self._run = run
        self._history = history
        self._unfinished = unfinished
        self._notes = notes
        self._waiting: list[tuple[UnfinishedTable, TableRun]] = []
        self._written = time.monotonic()

    def key(
        self, entry: TableEntry, engine: Engine, table: Table, policy: Policy, today: date
    ) -> UnfinishedTable | None:
        """The key to store a table under; None if its data could change unnoticed."""
        time_dependent = table.condition is not None and table.condition.time_dependent
        token = None if self._history is None or time_dependent else engine.state_token(table)
        if token is None:
            return None
        files = [policy.hierarchy and read_hierarchy(policy.hierarchy), policy.order and read_order(policy.order)]
        inputs = [__version__, engine.version, plain(policy), files, entry.exemptions, entry.all_weights, today]
        question = hashlib.sha256(json.dumps(inputs, default=str).encode()).hexdigest()
        return UnfinishedTable(self._run, engine.label, str(table.name), question, token)

    def resumed(self, key: UnfinishedTable) -> TableRun | None:
        """The table from an interrupted run, if it is still valid; a note reports if it is not."""
        same = [each for each in self._unfinished if (each.source, each.table) == (key.source, key.table)]
        if self._history is None or not same:
            return None
        for each in reversed(same):
            if (each.question, each.token) == (key.question, key.token):
                try:
                    return self._history.unfinished_table(each)
                except StoreError as error:
                    self._give_up(f"this run resumes no further table: {error}")
                    return None
        changed = "policy" if same[-1].token == key.token else "source"
        self._notes.append(f"{key.table}: audited again, since the {changed} has changed since run {same[-1].run}")
        return None

    def keep(self, key: UnfinishedTable, table: TableRun) -> None:
        """Stores a finished table, together with others once in KEEP_EVERY seconds."""
        if self._history is not None:
            self._waiting.append((key, table))
            if time.monotonic() >= self._written + KEEP_EVERY:
                self.write()

    def write(self) -> None:
        """Stores the tables that wait for it; a failure is only noted."""
        waiting, self._waiting = self._waiting, []
        try:
            if self._history is not None and waiting:
                self._history.keep_unfinished(waiting)
        except StoreError as error:
            self._give_up(f"this run cannot be resumed: {error}")
        self._written = time.monotonic()

    def _give_up(self, note: str) -> None:
        self._notes.append(note)
        self._history = None  # each further attempt could take as long to fail
