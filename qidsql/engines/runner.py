"""Runs statements on parallel sessions, with deadlines, Ctrl-C and a consistent state, and counts what they read.

An engine's own module opens the sessions and translates errors. This one imports no driver.
"""

import logging
import os
import re
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self, TypeVar

from qidsql.core.budget import bytes_limited, charge_bytes, earlier, grace, limit
from qidsql.core.tables import Condition, TableName
from qidsql.engines.costs import Costs
from qidsql.engines.workers import Batch, Session, Work, Worker, end_sessions
from qidsql.errors import BudgetSpent, ConnectionLost, Interrupted, QidsqlError, SourceError, Stopped, UsageError
from qidsql.sql.dialects import Dialect
from qidsql.sql.relation import ALIAS, name_text
from qidsql.sql.templates import Row, Statement
from qidsql.wording.texts import setting

Answer = TypeVar("Answer")

LOG = logging.getLogger(__name__)

SETTLED = 60.0  # seconds on credit at most, as a search whose data has changed is in vain
SETTLING = 3.0  # seconds that showing it may take after the end of a budget


@dataclass(frozen=True, slots=True)
class ExecutedStatement:
    """A statement that has run, for the engine's watchers."""

    sql: str
    purpose: str
    seconds: float


class _Answer(threading.local):
    """The answer that a thread is working on: see `Runner.answer`."""

    depth = 0  # of nested `answer` blocks
    state: object = None  # the state of the data that its first statement read
    stopped_by: Stopped | None = None  # why no further statement runs
    in_round = counted = False  # see `Runner.one_round`: inside its block, and after its first statement
    credit = owing = (
        False  # see `Runner.on_credit`: inside its block, and whether answers are not shown to be one state
    )
    settled = 0.0  # when they were shown to be last

    def __init__(self) -> None:
        self.held: list[TableName] = []  # see `Runner.hold`


# How many bytes a statement reads: of each table that it names the columns that it names, as often as it names it.
#
# As far as the sizes of columns are known, that is an upper bound: an engine can skip parts of a table, or have them in
# memory. It is derived from the statement's text, in which all names of tables and columns are quoted.


QUOTED = r'"(?:[^"]|"")*"|`(?:[^`]|``)*`'
TABLE = re.compile(rf"\b(?:FROM|JOIN)\s+((?:{QUOTED})(?:\.(?:{QUOTED}))*)")
OF_RELATION = re.compile(rf"\b{ALIAS}\.({QUOTED})")
NAME = re.compile(QUOTED)


@dataclass(frozen=True, slots=True)
class TableBytes:
    """What a scan of a table reads: `whole` in any case, and of `columns` those that the statement names; an estimate
    unless `exact`."""

    whole: int = 0
    columns: Mapping[str, int] = field(default_factory=dict)
    exact: bool = False

    def of(self, named: Set[str], words: Set[str]) -> int:
        """Of the columns with these names, and those that a condition of these words can name in any case."""
        if not words:  # as of nearly all statements; a table can have many columns
            return self.whole + sum(self.columns.get(name, 0) for name in named)
        return self.whole + sum(s for name, s in self.columns.items() if name in named or name.lower() in words)


def bytes_read(
    sql: str, scans: int, conditions: Collection[str], table_bytes: Callable[[TableName], TableBytes]
) -> int:
    """What a statement reads that scans its tables so often. `conditions` are texts that it can contain."""
    total = named = 0
    words: set[str] = set()
    for text in conditions:
        if text in sql:
            sql = sql.replace(text, " ")
            words.update(re.findall(r"\w+", text.lower()), map(_plain, NAME.findall(text.lower())))
    for part in sql.split("UNION ALL"):
        tables = [_name(each) for each in TABLE.findall(part)]
        columns = {_plain(each) for each in OF_RELATION.findall(part) or NAME.findall(TABLE.sub(" ", part))}
        total += sum(table_bytes(each).of(columns, words) for each in tables)
        named += len(tables)
    return total * -(-scans // max(1, named)) if scans > named else total


def _name(dotted: str) -> TableName:
    *above, name = map(_plain, NAME.findall(dotted))
    schema, *catalog = [*above[::-1], ""][:2] if above else [""]
    return TableName(name, schema, *catalog)


def _plain(quoted: str) -> str:
    mark = quoted[0]
    return quoted[1:-1].replace(2 * mark, mark)


# What runs the statements.


class Runner(ABC):
    """What runs the statements of an engine on its sessions, which all see the same state of the data if they can.

    `statements` is the number of statements sent to tables (catalog queries are not counted), `scans` the number of
    table reads they need at most, and `seconds` the time they took. `bytes_read` is how much these read at most (see
    `bytes_read`), an estimate unless `bytes_exact`, without those of `unmeasured` batches of statements, whose tables
    are of unknown size. It is counted only if `counts_bytes`, or if there is a limit.
    `rounds` counts the waits for answers: statements that are sent without the answer to any of the others are one
    round, however many sessions run them.

    An error ends only the answer in progress: sessions that failed or were cancelled are replaced for the next one.
    """

    dialect: Dialect
    costs = Costs()
    label: str  # the source for messages: never a password
    limited = True  # whether the time limit of the calling block applies
    dear_snapshot = False  # whether `_check_snapshot` asks a server several times

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.statements = 0
        self.rounds = 0
        self.scans = 0
        self.seconds = 0.0
        self.counts_bytes = False
        self.bytes_read = self.unmeasured = 0
        self.bytes_exact = True
        self._table_bytes: dict[TableName, TableBytes | None] = {}
        self.watchers: list[Callable[[ExecutedStatement], None]] = []
        self._conditions: dict[tuple[TableName, str], Condition] = {}
        self._one_transaction = False  # for all statements: they see one state of the data and one time
        self._planned: list[Statement[Any]] | None = None
        self._sessions: list[Worker] = []
        self._batches: set[Batch[Any]] = set()
        self._lock = threading.Lock()
        self._answer = _Answer()
        self._state = object()  # identifies the state of the data; replaced whenever that may have changed
        self._closed = False
        self._process = os.getpid()

    # implemented by each engine

    @abstractmethod
    def _open(self, deadline: float | None) -> list[Worker]:
        """Opens the missing sessions. Replaces `_state` if they see another state of the data.

        Raises SourceError, BudgetSpent.
        """

    @abstractmethod
    def translate(self, error: Exception, purpose: str) -> QidsqlError:
        """The driver's error as an error of qidsql. Its text is not used: it can contain values and secrets."""

    def table_bytes(self, table: TableName) -> TableBytes | None:
        """What a scan of a table reads; None if the engine does not tell. Reads only the catalog."""
        return None

    def release(self) -> None:  # noqa: B027 - not every engine has other resources
        """Frees the engine's resources other than sessions. Safe to call twice."""

    def _renew_sessions(self) -> bool:
        """`renew` for an engine whose sessions are all open. By default they are replaced."""
        self._end_sessions(list(self._sessions))
        return True

    def _check_snapshot(self) -> None:  # noqa: B027 - not every engine needs it
        """Raises SnapshotLost if the last answers are not of one state of the data."""

    @property
    def _checks_snapshot(self) -> bool:
        """Whether answers are valid only after `_check_snapshot`, so that those of a failed batch are dropped."""
        return False

    def _lost(self, state: object) -> Stopped:
        """The reason why a state of the data is no longer visible."""
        return ConnectionLost("the transaction of this work ended with a statement that failed")

    def _name_to_hold(self) -> TableName | None:
        """A new name for rows to hold; None if the engine holds none."""
        return None

    @property
    def _held_as(self) -> str:
        """What held rows are made as."""
        return "TABLE"

    def _let_go(self, names: Sequence[TableName]) -> None:
        """Drops rows that were held, those that exist."""
        raise NotImplementedError

    # the same for all engines

    def run(self, statement: Statement[Answer], deadline: float | None = None) -> Answer:
        """The answer to one statement. Raises as `run_many`."""
        return self.run_many([statement], deadline)[0]

    def run_many(
        self,
        statements: Sequence[Statement[Answer]],
        deadline: float | None = None,
        keep: Callable[[int, Answer], None] = lambda place, answer: None,
    ) -> list[Answer]:
        """Runs the statements in parallel on all workers; returns their answers in the same order.

        `keep` is called with the position and answer of each statement that succeeded, even if others fail.

        At the first error, at Ctrl-C, and at the deadline (of `time.monotonic`) or the time limit of the calling block,
        every running statement is cancelled on the server. A stop ends the answer. Raises StatementError, AccessError,
        SourceError, ConnectionLost, SnapshotLost, Interrupted, BudgetSpent.
        """
        if self._planned is not None and not self._closed:
            self._planned += statements
            raise BudgetSpent("only planned: no statement was sent")
        self._charge(statements)
        started = time.monotonic()
        answers: dict[int, Answer] = {}
        if statements and not self._answer.counted:
            self.rounds += 1
            self._answer.counted = self._answer.in_round
        try:
            works = {place: partial(self._run_on, statement) for place, statement in enumerate(statements)}
            owed = self._answer.credit and time.monotonic() < self._answer.settled + SETTLED
            self._run_works(works, answers, deadline, self._owe if owed else self._check_snapshot)
        finally:
            self.seconds += time.monotonic() - started
            for place, answer in sorted(answers.items()):
                keep(place, answer)
        return [answers[place] for place in range(len(statements))]

    @contextmanager
    def answer(self) -> Iterator[None]:
        """Makes the statements of the block one answer: they read one state of the data, and none runs after a stop.

        The first statement fixes the state. A nested block belongs to the outer answer. Outside of such a block each
        call of `run_many` is an answer of its own.
        """
        answer = self._answer
        if not answer.depth:
            answer.stopped_by = answer.state = None
        answer.depth += 1
        try:
            yield
        finally:
            answer.depth -= 1
            if not answer.depth and answer.held:
                self._let_go(answer.held)
                answer.held.clear()

    @contextmanager
    def on_credit(self) -> Iterator[None]:
        """Where it costs calls to a server to show that answers are of one state of the data: those of the block are
        given before, and `settle` shows it, at its end at the latest.
        """
        answer = self._answer
        answer.credit, answer.settled = self.dear_snapshot, time.monotonic()
        try:
            yield
            self.settle()
        finally:
            answer.credit = answer.owing = False

    def settle(self) -> None:
        """Shows that all answers so far are of one state of the data, also after the end of a budget.

        Raises Stopped if they are not, or if that cannot be shown: then those since the last call are worth nothing.
        """
        answer = self._answer
        if not answer.owing:
            return
        answer.owing, stop, answer.stopped_by = False, answer.stopped_by, None
        try:
            if stop is not None and not isinstance(stop, BudgetSpent):
                raise type(stop)(str(stop))
            with nullcontext() if stop is None else grace(SETTLING):
                self._check_snapshot()
            answer.settled = time.monotonic()
        except Stopped as lost:
            stop = lost
            raise
        finally:
            answer.stopped_by = stop

    def _owe(self) -> None:
        self._answer.owing = True

    @contextmanager
    def one_round(self) -> Iterator[None]:
        """Counts the statements of the block as one round: none of them depends on the answer to another."""
        answer = self._answer
        outermost, answer.in_round = not answer.in_round, True
        try:
            yield
        finally:
            if outermost:
                answer.in_round = answer.counted = False

    @property
    def stopped_by(self) -> Stopped | None:
        """The error that stopped this thread's answer, if any: no further statement can run for it."""
        return self._answer.stopped_by

    def planned_statements(self, work: Callable[[], object]) -> list[Statement[Any]]:
        """The first batch of statements that the work would send to tables. None is sent: the work gets BudgetSpent.

        Raises any other error of the work.
        """
        statements: list[Statement[Any]] = []
        self._planned = statements
        try:
            work()
        except BudgetSpent:
            pass
        finally:
            self._planned = None
        return statements

    def hold(self, query: str, purpose: str, deadline: float | None = None) -> TableName | None:
        """Keeps the rows of a query in the memory of this process, where all sessions see them, until the answer ends.

        None if the engine cannot: it writes nothing, and nothing to disk unless memory runs out, as for any statement.
        One statement. Raises Stopped, StatementError, AccessError.
        """
        name = self._name_to_hold()
        if name is not None:
            self._answer.held.append(name)
            text = f"CREATE {self._held_as} {name_text(self.dialect, name)} AS {query}"
            self.run(Statement(text, purpose, lambda rows: None), deadline)
        return name

    def bytes_of(self, statements: Sequence[Statement[Any]]) -> int | None:
        """What the statements read at most; None if that is not known. Reads only the catalog. Raises Stopped."""
        conditions = [f"\n{text}\n" for _, text in self._conditions]

        def known(table: TableName) -> TableBytes:
            if table not in self._table_bytes:
                self._table_bytes[table] = self.table_bytes(table)
            found = self._table_bytes[table]
            if found is None:
                raise LookupError
            self.bytes_exact = self.bytes_exact and found.exact
            return found

        if not self.dialect.bytes:
            return None
        try:
            return sum(bytes_read(each.sql, each.scans, conditions, known) for each in statements)
        except LookupError:
            return None

    def _charge(self, statements: Sequence[Statement[Any]]) -> None:
        """Count what the statements are about to read. Raises BudgetSpent, UsageError."""
        if not self.counts_bytes and not bytes_limited():
            return
        found = self.bytes_of(statements)
        if found is not None:
            charge_bytes(found)
            self.bytes_read += found
            return
        self.unmeasured += 1
        if bytes_limited():
            raise UsageError(
                f"{self.label} does not tell how many bytes these rows have, as of a view: audit a table, or leave out "
                f"{setting('max_bytes')}"
            )

    @property
    def closed(self) -> bool:
        return self._closed

    @property
    def _forked(self) -> bool:
        """Whether this process was forked from the one that connected: the threads of the sessions are only there."""
        return os.getpid() != self._process

    def close(self) -> None:
        """Ends all sessions. Safe to call twice."""
        if self._forked:
            return
        if not self._closed:
            self._closed = True
            self._end_sessions(list(self._sessions))
        self.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run_on(self, statement: Statement[Answer], session: Session) -> Answer:
        """Runs one statement on one session, in the session's thread."""
        started = time.monotonic()
        try:
            rows: list[Row] = []
            if statement.out_of is not None:
                session.load(statement.sql, statement.out_of)
            elif statement.into is not None:
                session.export(statement.sql, statement.into)
            else:
                rows = session.execute(statement.sql)
        except QidsqlError:
            raise
        except Exception as error:  # noqa: BLE001 - drivers raise any kind of exception
            raise self.translate(error, statement.purpose) from None
        seconds = time.monotonic() - started
        LOG.debug("%.3f s: %s", seconds, statement.purpose)
        with self._lock:
            self.statements += 1
            self.scans += statement.scans
            for watch in self.watchers:
                watch(ExecutedStatement(statement.sql, statement.purpose, seconds))
        return statement.read(rows)

    def _freeze_time(self) -> None:
        """Ends all sessions but one and fixes the time there: another session would see another time."""
        if not self._one_transaction:
            self._one_transaction, self.workers = True, 1
            self._end_sessions(self._sessions[1:])
            self._on_one_session(lambda session: session.freeze_time())

    def _run_works(
        self,
        works: Mapping[int, Work[Answer]],
        answers: dict[int, Answer],
        deadline: float | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        """Runs numbered works on the sessions, as part of this thread's answer, and adds their results to `answers`
        unless `check` raises. Skips works that have an answer.

        Raises errors of the works and of the check, and as `run_many`.
        """
        answer = self._answer
        if any(worker.is_current for worker in self._sessions):
            raise RuntimeError("a session's thread cannot wait for its own engine")
        if self._closed:
            raise SourceError(f"the connection to {self.label} is closed; connect again")
        if self._forked:
            raise SourceError(
                f"the connection to {self.label} belongs to process {self._process}, which this one was forked from; "
                f"connect in this process"
            )
        if not answer.depth:
            answer.stopped_by = answer.state = None
        if answer.stopped_by is not None:
            raise type(answer.stopped_by)(str(answer.stopped_by))
        batch = Batch({number: work for number, work in works.items() if number not in answers})
        try:
            self._run_batch(batch, earlier(deadline, limit() if self.limited else None), check)
        except KeyboardInterrupt:
            self._end_sessions(batch.abandon())
            answer.stopped_by = Interrupted("interrupted; the running statements were cancelled")
            raise answer.stopped_by from None
        except BaseException as error:
            self._end_sessions(batch.abandon())
            if isinstance(error, Stopped):
                answer.stopped_by = error
            raise
        finally:
            self._batches.discard(batch)
            answers.update(batch.taken())

    def _on_one_session(self, work: Work[Answer]) -> Answer:
        """The result of a work on one session, the same one if possible. Raises as `_run_works`."""
        answers: dict[int, Answer] = {}
        self._run_works({0: work}, answers)
        return answers[0]

    def _run_batch(self, batch: Batch[Any], deadline: float | None, check: Callable[[], None]) -> None:
        """Raises errors of the works and of the check, SourceError, SnapshotLost, BudgetSpent."""
        self._batches.add(batch)
        sessions = self._ready_sessions(deadline)
        if self._answer.state is None:
            self._answer.state = self._state
        elif self._answer.state is not self._state:
            raise self._lost(self._answer.state)
        try:
            batch.start(sessions)
            batch.wait(deadline)
            check()
        except BaseException:
            if self._checks_snapshot:
                batch.taken()  # and dropped: nothing shows that they are of one state of the data
            raise

    def _ready_sessions(self, deadline: float | None) -> list[Worker]:
        """The sessions, after replacing lost ones."""
        if len(self._sessions) < self.workers:
            new = self._open(deadline)
            with self._lock:
                self._sessions += new
        return list(self._sessions)

    def _end_sessions(self, workers: Sequence[Worker]) -> None:
        """Ends sessions and cancels their statements."""
        with self._lock:
            self._sessions = [worker for worker in self._sessions if worker not in workers]
        end_sessions(workers, self.costs.cancel_seconds)
