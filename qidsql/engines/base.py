"""The base class of engines: runs statements on parallel sessions, with deadlines, Ctrl-C and a consistent state.

An engine's own module opens the sessions, reads the catalog and translates errors. This one imports no driver.
"""

import logging
import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from sqlglot import exp

from qidsql.core.budget import bytes_limited, charge_bytes, earlier, grace, limit
from qidsql.core.catalog import Catalog, CatalogTable
from qidsql.core.results import Examination
from qidsql.core.tables import Condition, Table, TableName
from qidsql.engines.bytes_read import TableBytes, bytes_read
from qidsql.engines.condition import asks_zone, in_zone
from qidsql.engines.private_folder import PrivateFolder, in_memory
from qidsql.engines.workers import Batch, Session, Work, Worker, end_sessions
from qidsql.errors import BudgetSpent, ConnectionLost, Interrupted, QidsqlError, SourceError, Stopped, UsageError
from qidsql.sql.dialects import Dialect
from qidsql.sql.relation import making, name_text, table_node
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
    """The answer that a thread is working on: see `Engine.answer`."""

    depth = 0  # of nested `answer` blocks
    state: object = None  # the state of the data that its first statement read
    stopped_by: Stopped | None = None  # why no further statement runs
    in_round = counted = False  # see `Engine.one_round`: inside its block, and after its first statement
    credit = owing = (
        False  # see `Engine.on_credit`: inside its block, and whether answers are not shown to be one state
    )
    settled = 0.0  # when they were shown to be last

    def __init__(self) -> None:
        self.held: list[TableName] = []  # see `Engine.hold`


class Engine(ABC):
    """A live source. Close it, or use it in a `with` block.

    All sessions of an engine see the same state of the data if the engine can guarantee that; `snapshot` describes the
    guarantee. `statements` is the number of statements sent to tables (catalog queries are not counted), `scans` the
    number of table reads they need at most, and `seconds` the time they took. `bytes_read` is how much these read at
    most (see `qidsql.engines.bytes_read`), an estimate unless `bytes_exact`, without those of `unmeasured` batches of
    statements, whose tables are of unknown size. It is counted only if `counts_bytes`, or if there is a limit.
    `rounds` counts the waits for answers:
    statements that are sent without the answer to any of the others are one round, however many sessions run them.

    An error ends only the answer in progress: sessions that failed or were cancelled are replaced for the next one.
    """

    dialect: Dialect
    export_format: str  # the file extension of exports
    label: str  # the source for messages: never a password
    version: str  # the engine's name and version
    snapshot: str  # a description of the state of the data that statements see
    role = ""  # who reads, where the engine has roles
    warning = ""  # on how the source is connected
    time_zone = ""  # the one in which the session reads times, where it has one
    workspace = False  # whether `make_working_copy` is allowed
    writable = False  # one session in one transaction, which is rolled back without `commit`
    writes_files = False  # a protected copy of its tables can be a file of this machine
    copied_instead = "a copy of its tables is a table there"  # where it writes none
    data_files: Sequence[Path] = ()  # the files read, if the source is files
    label_beside = ""  # the second source, for messages, if there is one
    read_with = ""  # the options behind the label that decide how files are read
    options_in_path = False  # text after a ? in the source is options, none of them secret
    limited = True  # whether the time limit of the calling block applies
    labelled = False  # its catalog has comments, labels or keys
    # The time when the source began to be opened: files that are newer may have been read before.
    opening = float("inf")
    dear_snapshot = False  # whether `_check_snapshot` asks a server several times
    latency = 0.0  # seconds of an empty statement, measured when connecting; 0: in this process, or on this machine

    def __init__(self, workers: int, folder: PrivateFolder | None = None) -> None:
        self.workers = workers
        self._folder = folder  # for exports and spilled intermediate results; None: the first export creates it
        self.statements = 0
        self.rounds = 0
        self.scans = 0
        self.seconds = 0.0
        self.counts_bytes = False
        self.bytes_read = self.unmeasured = 0
        self.bytes_exact = True
        self._table_bytes: dict[TableName, TableBytes | None] = {}
        self.watchers: list[Callable[[ExecutedStatement], None]] = []
        self._working_copy: TableName | None = None
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

    @property
    def memory_limit(self) -> int | None:
        """How many bytes of this process's memory the engine may use; None if it runs in another process."""
        return None

    @property
    def little_room(self) -> bool:
        """Whether classes may fit neither into the memory nor where they are spilled: then rows are counted first."""
        return False

    def parts(self, classes: int, columns: int, failures: int = 0) -> int:
        """Into how many parts so many classes of so many columns have to be divided to be counted, after so many
        `failures` to do so (OutOfRoom)."""
        return 1

    @property
    def remarks(self) -> tuple[str, ...]:
        """Facts about the work so far that a reader of the result may need."""
        return ()

    def doubts(self, table: Table, rows: int) -> tuple[str, ...]:
        """Why the number of rows that was counted may not be all that the table has."""
        return ()

    def expect(self, rows: int) -> None:  # noqa: B027 - not every engine plans by it
        """Takes note of how many rows the next statements read. It changes no answer, only how fast it comes."""

    def exports(self) -> Path:
        """A private folder for files that statements export (`into`); removed when the engine is closed."""
        self._folder = self._folder or PrivateFolder()
        return self._folder.exports

    @contextmanager
    def temporary_export(self, name: str) -> Iterator[Path]:
        """A path for an export that is read within the block: kept in memory if the system supports that."""
        with in_memory(self.exports() / f"{name}.{self.export_format}") as path:
            yield path

    def table_bytes(self, table: TableName) -> TableBytes | None:
        """What a scan of a table reads; None if the engine does not tell. Reads only the catalog."""
        return None

    @abstractmethod
    def table_names(self) -> list[TableName]:
        """All tables and views that can be audited."""

    @abstractmethod
    def describe(self, table: str | None) -> Table:
        """The table that the user's text names, as the catalog describes it; None stands for the only table.

        Raises UnknownName, UsageError, AccessError.
        """

    def describe_beside(self, table: str | None) -> Table:
        """The named table of the second source (`beside` of `connect`). Its tables are in `catalog` too.

        Raises as `describe`, and UsageError if the engine was opened without a second source.
        """
        raise UsageError(
            f"{self.label} was opened without a second source; name the source, so that both are opened together, or a "
            f"table of it"
        )

    def describe_listed(self, listed: CatalogTable) -> Table:
        """The description of a table of this engine's catalog; facts already in the catalog are not queried again.

        Raises UsageError, AccessError.
        """
        return self.describe(table_node(listed.name).sql(self.dialect.name))

    @abstractmethod
    def parse_condition(self, table: Table, where: str) -> Condition:
        """Checks a condition on the table's rows: see `narrowed`. Reads only the catalog."""

    @abstractmethod
    def catalog(self, schema: str | None = None) -> Catalog:
        """All tables and views of the source or of one schema, with their keys, comments and labels.

        Reads only the system catalog, with the same few statements for any number of tables. Includes tables that this
        user may not read, with the obstacle. Raises UnknownName, StatementError, AccessError.
        """

    def listed(self, name: TableName) -> CatalogTable:
        """A table as `catalog` has it, also one that is not in it, as a file of a server. Raises as `catalog`."""
        return next(table for table in self.catalog().tables if table.name == name)

    @abstractmethod
    def examine(self, schema: str | None = None, role: str | None = None) -> Examination:
        """Checks everything besides the tables that affects an audit: the session, its limits, its role's privileges.

        Also lists the grants that the session's role lacks, or all grants that `role` would need. Reads only the
        system catalog. Raises StatementError, UsageError (a role, if the engine has none).
        """

    @abstractmethod
    def import_file(self, path: Path, columns: Mapping[str, str]) -> exp.Expr:
        """Makes an exported file with these columns (name: type) available; returns the node to select from.

        For engines opened for writing. Raises Stopped, StatementError, AccessError.
        """

    @abstractmethod
    def existing_kind(self, name: TableName, replace: bool) -> str | None:
        """The kind of the existing object with this name, such as "table" or "view"; None if the name is free.

        Reads only the system catalog. Raises UsageError if no table can be created there, AccessError if this role may
        not create it, or may not drop the object it is to `replace`.
        """

    @abstractmethod
    def working_copy_name(self) -> TableName:
        """A name for a working copy, in the engine's own temporary space. Raises AccessError."""

    @abstractmethod
    def finish_working_copy(self, name: TableName) -> int:
        """Prepares a new working copy for queries, ends writing, returns its size in bytes. Raises StatementError."""

    # the same for all engines

    def narrowed(self, table: Table, where: str | None) -> Table:
        """The table, limited to the rows that meet a condition; all rows if it is None.

        The condition is the user's own SQL, in the engine's dialect. It must be one expression whose value depends only
        on the row and the time: no subquery, aggregate, window or parameter, no hidden column, and only built-in
        functions and operators that change nothing and do not depend on the session. The engine has bound it to the
        table when this returns; a repeated call sends no statement. If the condition depends on the time, all further
        statements run on one session, as they do on a view that uses the current time.
        Raises UsageError, UnknownName, AccessError, StatementError.
        """
        if table.time_dependent and self.dialect.snapshot:
            self._freeze_time()
        elif table.time_dependent:
            note = "each statement reads the current time anew: figures of two statements can differ"
            table = replace(table, notes=(*table.notes, note))
        if where is None:
            return table
        key = (table.name, where)
        if key not in self._conditions:
            self._conditions[key] = self.parse_condition(table, where)
        condition = self._conditions[key]
        notes = table.notes + condition.notes
        if condition.time_dependent:
            self._freeze_time()
            notes += ("the rows depend on the time of the audit: the where condition uses the current time",)
        if self.time_zone and asks_zone(table, where):
            notes += (in_zone("the rows of the where condition", self.time_zone),)
        return replace(table, condition=condition, notes=notes)

    def pretty(self, statement: str) -> str:
        """A statement formatted over several lines."""
        return self.dialect.pretty(statement, [text for _, text in self._conditions])

    def state_token(self, table: Table) -> str | None:
        """A text that changes whenever anything changes that an answer about the table reads, rows, settings and role
        included: with an equal token, earlier results remain valid.

        None if the source cannot guarantee that for each part of the table. Sends no statement to a table.
        """
        return None

    def file_hash(self, table: Table, key: bytes) -> str | None:
        """A hash with a key of all bytes that decide about the rows of the table: equal ones are the same table.

        None if it is not read from files alone, or these are large beside it. Sends no statement. Raises BudgetSpent.
        """
        return None

    def sees_one_state(self, table: Table) -> bool:
        """Whether all statements of an answer see the table in one state, each part of it."""
        return False

    def renew(self) -> bool:
        """Lets the next answer read the current state of the data; returns False if that needs a new connection.

        That is so after a statement that failed or was cancelled, with a fixed time, and with a working copy.
        """
        if self._closed or self._one_transaction or self._working_copy or len(self._sessions) < self.workers:
            return False
        self._conditions.clear()
        self._table_bytes.clear()
        return self._renew_sessions()

    def _renew_sessions(self) -> bool:
        """`renew` for an engine whose sessions are all open. By default they are replaced."""
        self._end_sessions(list(self._sessions))
        return True

    def make_working_copy(self, query: exp.Query, purpose: str, deadline: float | None = None) -> tuple[TableName, int]:
        """Stores the rows of a query as a table in the engine's temporary space; returns its name and size in bytes.

        All sessions see it until the engine is closed. Once per engine, which must be opened with `workspace`.
        One statement. Raises Stopped, StatementError, AccessError, UsageError.
        """
        if not self.workspace or self._working_copy is not None:
            raise UsageError(
                "a working copy needs a connection with workspace, and can be made only once per connection"
            )
        name = self.working_copy_name()
        self._working_copy = name
        made = making(table_node(name), exp.select("*").from_(query.subquery("rows_of_copy")))
        self.run(Statement(self.dialect.render(made), purpose, lambda rows: None), deadline)
        return name, self.finish_working_copy(name)

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

    @property
    def _held_as(self) -> str:
        """What held rows are made as."""
        return "TABLE"

    def _name_to_hold(self) -> TableName | None:
        """A new name for rows to hold; None if the engine holds none."""
        return None

    def _let_go(self, names: Sequence[TableName]) -> None:
        """Drops rows that were held, those that exist."""
        raise NotImplementedError

    def commit(self) -> None:
        """Commits all writes and closes the engine. Raises Stopped, StatementError."""
        self.run(Statement(self.dialect.render(exp.Commit()), "commit", lambda rows: None))
        self.close()

    def run(self, statement: Statement[Answer], deadline: float | None = None) -> Answer:
        """The answer to one statement. Raises as `run_many`."""
        return self.run_many([statement], deadline)[0]

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
        if self._folder is not None:
            self._folder.remove()

    def release(self) -> None:  # noqa: B027 - not every engine has other resources
        """Frees the engine's resources other than sessions. Safe to call twice."""

    def __enter__(self) -> "Engine":
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

    def _check_snapshot(self) -> None:  # noqa: B027 - not every engine needs it
        """Raises SnapshotLost if the last answers are not of one state of the data."""

    @property
    def _checks_snapshot(self) -> bool:
        """Whether answers are valid only after `_check_snapshot`, so that those of a failed batch are dropped."""
        return False

    def _ready_sessions(self, deadline: float | None) -> list[Worker]:
        """The sessions, after replacing lost ones."""
        if len(self._sessions) < self.workers:
            new = self._open(deadline)
            with self._lock:
                self._sessions += new
        return list(self._sessions)

    def _lost(self, state: object) -> Stopped:
        """The reason why a state of the data is no longer visible."""
        return ConnectionLost("the transaction of this work ended with a statement that failed")

    def _end_sessions(self, workers: Sequence[Worker]) -> None:
        """Ends sessions and cancels their statements."""
        with self._lock:
            self._sessions = [worker for worker in self._sessions if worker not in workers]
        end_sessions(workers, self.dialect.cancel)
