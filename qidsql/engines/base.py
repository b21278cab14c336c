"""What an engine is: sessions that take SQL and give rows, and the generic part that runs statements over them.

An engine's own file opens the sessions, reads the catalog and translates errors. Knows no driver.
"""

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from sqlglot import exp

from qidsql.core.catalog import Catalog, CatalogTable
from qidsql.core.checks import Examination
from qidsql.core.tables import Condition, Table, TableName
from qidsql.core.time_limit import earlier, limit
from qidsql.engines.private_folder import in_memory
from qidsql.engines.workers import Batch, Session, Work, Worker, part_with
from qidsql.errors import BudgetSpent, ConnectionLost, Interrupted, QidsqlError, SourceError, Stopped, UsageError
from qidsql.sql.copies import create_table
from qidsql.sql.dialects import Dialect
from qidsql.sql.relation import table_node
from qidsql.sql.statements import Row, Statement

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Asked:
    """A statement that was answered, for those who watch."""

    sql: str
    purpose: str
    seconds: float


class _Answer(threading.local):
    """The answer that a thread is working on."""

    depth = 0  # of the blocks that it stands in
    state: object = None  # of the data, as of its first question
    ended: Stopped | None = None  # why nothing more is asked


class Engine(ABC):
    """A live source. Close it, or use it in a `with` block.

    All sessions of an engine see one and the same state of the data where the engine can promise that (`snapshot`
    says what holds). `asked` counts the statements put to tables, the catalog's not included, `scans` how often these
    read a table at most; `seconds` is the time they took.

    What goes wrong ends the answer that is being worked out, and nothing else: sessions that failed or were cancelled
    are replaced for the next one.
    """

    dialect: Dialect
    export_format: str  # the ending of exported files
    label: str  # the source as people may see it: never a password
    version: str  # the engine's name and version
    snapshot: str  # what is known of the state that the statements see, in words
    workspace = False  # opened so that it may keep a working copy in its own temporary space: see `keep_aside`
    writable = False  # opened for writing: one session in one transaction, of which nothing stays without `commit`
    data_files: Sequence[Path] = ()  # that it reads, where the source is files
    options_in_path = False  # what is behind a ? in the source is options, none of which is a secret
    limited = True  # by the time limit of the block that asks

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.asked = 0
        self.scans = 0
        self.seconds = 0.0
        self.watchers: list[Callable[[Asked], None]] = []
        self._aside: TableName | None = None
        self._conditions: dict[tuple[TableName, str], Condition] = {}
        self._one_moment = False  # as of which all statements see the data and the time
        self._rehearsal: list[Statement[Any]] | None = None
        self._sessions: list[Worker] = []
        self._batches: set[Batch[Any]] = set()
        self._lock = threading.Lock()
        self._answer = _Answer()
        self._state = object()  # what the sessions see: another object where it may be another state of the data
        self._closed = False

    # the driver part

    @abstractmethod
    def _open(self, deadline: float | None) -> list[Worker]:
        """The sessions that are missing. Where these see another state than those before them, `_state` is replaced.

        Raises SourceError, BudgetSpent.
        """

    @abstractmethod
    def translate(self, error: Exception, purpose: str) -> QidsqlError:
        """The driver's error in our words; its text is not used, it can hold values and secrets."""

    @abstractmethod
    def exports(self) -> Path:
        """A private folder for the files of statements that have an `into`; removed when the engine is closed."""

    @property
    def memory_limit(self) -> int | None:
        """How many bytes of this process the engine may take for tables and groups; None: it is elsewhere."""
        return None

    @contextmanager
    def handing_over(self, name: str) -> Iterator[Path]:
        """A path for an export that is read once, and gone with the block: in memory where the system can."""
        with in_memory(self.exports() / f"{name}.{self.export_format}") as path:
            yield path

    @abstractmethod
    def table_names(self) -> list[TableName]:
        """All tables and views that can be audited."""

    @abstractmethod
    def describe(self, table: str | None) -> Table:
        """The table that the user means, as the catalog describes it; None: the only one there is.

        Raises UnknownName, UsageError, AccessError.
        """

    def describe_listed(self, listed: CatalogTable) -> Table:
        """A table of this engine's catalog, as `describe` describes it; what the catalog told is not asked again.

        Raises UsageError, AccessError.
        """
        return self.describe(table_node(listed.name).sql(self.dialect.name))

    @abstractmethod
    def accepted(self, table: Table, where: str) -> Condition:
        """The text as a condition on the table's rows: see `narrowed`. Only the catalog is read."""

    @abstractmethod
    def catalog(self, schema: str | None = None) -> Catalog:
        """All tables and views of the source or of one schema, with their keys, comments and labels.

        Only the system catalog is read, by the same few statements for any number of tables. Tables that this user
        may not read are in it, with the obstacle. Raises UnknownName, StatementError, AccessError.
        """

    @abstractmethod
    def examine(self, schema: str | None = None, role: str | None = None) -> Examination:
        """What bears on an audit besides the tables' own obstacles: the session, its limits, the rights of its role.

        The grants are those that the session's role lacks, or with `role` all that this role would need. Only the
        system catalog is read. Raises StatementError, UsageError (roles where the engine has none).
        """

    @abstractmethod
    def received(self, path: Path, columns: Mapping[str, str]) -> exp.Expr:
        """What to select from for a file of its exports with these columns (name: type). Engines opened for writing.

        Raises Stopped, StatementError, AccessError.
        """

    @abstractmethod
    def taken(self, name: TableName, replace: bool) -> str | None:
        """What has the name of a table to be made, in words such as "table" or "view"; None where nothing has.

        Only the system catalog is read. Raises UsageError where no table can be made there, AccessError where this role
        may not make it, or not remove what it is to `replace`.
        """

    @abstractmethod
    def place_aside(self) -> TableName:
        """Where a working copy can be made, in the engine's own temporary space. Raises AccessError."""

    @abstractmethod
    def settle_aside(self, name: TableName) -> int:
        """Makes a working copy ready for questions, and nothing else writable: its bytes. Raises StatementError."""

    # the generic part

    def narrowed(self, table: Table, where: str | None) -> Table:
        """The table, limited to the rows that meet a condition; None: to all of them.

        The condition is the person's own text, which the engine reads by its own rules. It is one expression that says
        the same of a row in each statement, from the row and the time alone: no query inside, no aggregate, window or
        parameter, no hidden column, and no function or operator but the engine's own, of these none that changes
        anything or depends on the session. The engine has bound it to the table once when this returns; a second time
        nothing is asked. Where it depends on the time, all statements from here on go over one session.
        Raises UsageError, UnknownName, AccessError, StatementError.
        """
        if where is None:
            return table
        key = (table.name, where)
        if key not in self._conditions:
            self._conditions[key] = self.accepted(table, where)
        condition = self._conditions[key]
        notes = table.notes + condition.notes
        if condition.momentary:
            self._hold_moment()
            notes += ("the rows depend on the time of the audit: the where condition asks what time it is",)
        return replace(table, condition=condition, notes=notes)

    def pretty(self, statement: str) -> str:
        """A statement over several lines, for people."""
        return self.dialect.pretty(statement, [text for _, text in self._conditions])

    def state_token(self) -> str | None:
        """A text that is the same again only while the data is: what was found out then still holds.

        None where the source cannot promise that. No statement to a table.
        """
        return None

    def keep_aside(self, query: exp.Query, purpose: str, deadline: float | None = None) -> tuple[TableName, int]:
        """Puts the rows of a query into a table in the engine's own temporary space: its name, and its bytes.

        All sessions see it; it is gone when the engine is closed. Once per engine, which was opened with `workspace`.
        One statement. Raises Stopped, StatementError, AccessError, UsageError.
        """
        if not self.workspace or self._aside is not None:
            raise UsageError("there is no place for a working copy, or one is there already; connect with workspace")
        name = self.place_aside()
        self._aside = name
        self.run(Statement(create_table(self.dialect, name, query), purpose, lambda rows: None), deadline)
        return name, self.settle_aside(name)

    def commit(self) -> None:
        """Makes what was written stay, all at once; the engine is closed then. Raises Stopped, StatementError."""
        self.run(Statement(self.dialect.render(exp.Commit()), "commit", lambda rows: None))
        self.close()

    def run(self, statement: Statement[Answer], deadline: float | None = None) -> Answer:
        """The answer to one statement. Raises as `run_many`."""
        return self.run_many([statement], deadline)[0]

    @contextmanager
    def answer(self) -> Iterator[None]:
        """All that is asked in the block is one answer: of one state of the data, and its first stop is its last.

        The state is that of the first question. Within such a block, the same answer. Outside of one, each call of
        `run_many` is an answer by itself.
        """
        answer = self._answer
        if not answer.depth:
            answer.ended = answer.state = None
        answer.depth += 1
        try:
            yield
        finally:
            answer.depth -= 1

    @property
    def ended(self) -> Stopped | None:
        """What stopped this thread's answer: nothing more can be asked for it."""
        return self._answer.ended

    def run_many(
        self,
        statements: Sequence[Statement[Answer]],
        deadline: float | None = None,
        keep: Callable[[int, Answer], None] = lambda place, answer: None,
    ) -> list[Answer]:
        """The answers in the order of the statements, asked in parallel on all workers.

        `keep` is handed each statement's place and answer, also when the others come to nothing.

        At the first error, at Ctrl-C and at the deadline (of `time.monotonic`) or the time limit of the block every
        running statement is cancelled on the server. A stop ends the answer. Raises StatementError, AccessError,
        SourceError, ConnectionLost, SnapshotLost, Interrupted, BudgetSpent.
        """
        if self._rehearsal is not None and not self._closed:
            self._rehearsal += statements
            raise BudgetSpent("a rehearsal asks nothing")
        started = time.monotonic()
        answers: dict[int, Answer] = {}
        try:
            works = {place: partial(self._ask, statement) for place, statement in enumerate(statements)}
            self._together(works, answers, deadline, self._vouch)
        finally:
            self.seconds += time.monotonic() - started
            for place, answer in sorted(answers.items()):
                keep(place, answer)
        return [answers[place] for place in range(len(statements))]

    def rehearsed(self, work: Callable[[], object]) -> list[Statement[Any]]:
        """The statements that the work would put to tables first, in one go. They are not asked: to the work its
        budget is spent. Raises what the work raises besides.
        """
        statements: list[Statement[Any]] = []
        self._rehearsal = statements
        try:
            work()
        except BudgetSpent:
            pass
        finally:
            self._rehearsal = None
        return statements

    @property
    def closed(self) -> bool:
        return self._closed

    def close(self) -> None:
        """Ends all sessions. Safe to call twice."""
        if not self._closed:
            self._closed = True
            self._dismiss(list(self._sessions))
        self.release()

    def release(self) -> None:  # noqa: B027 - not every engine holds more
        """Frees what the engine holds besides its sessions. Safe to call twice."""

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, statement: Statement[Answer], session: Session) -> Answer:
        """One statement on one session, in the session's thread."""
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
        except Exception as error:  # noqa: BLE001 - drivers raise what they like; translate knows
            raise self.translate(error, statement.purpose) from None
        seconds = time.monotonic() - started
        with self._lock:
            self.asked += 1
            self.scans += statement.scans
            for watch in self.watchers:
                watch(Asked(statement.sql, statement.purpose, seconds))
        return statement.read(rows)

    def _hold_moment(self) -> None:
        """Leaves one session, and the time stands still there: another one sees another state."""
        if not self._one_moment:
            self._one_moment, self.workers = True, 1
            self._dismiss(self._sessions[1:])
            self._alone(lambda session: session.hold_moment())

    def _together(
        self,
        works: Mapping[int, Work[Answer]],
        answers: dict[int, Answer],
        deadline: float | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        """Has the sessions do some numbered works, for the answer that this thread is working on, and adds what they
        return to `answers`, if `check` does not raise. Works that are answered are left out.

        Raises what the works and the check raise, and as `run_many`.
        """
        answer = self._answer
        if any(worker.is_current for worker in self._sessions):
            raise RuntimeError("a session's thread cannot wait for its own engine")
        if self._closed:
            raise SourceError(f"the connection to {self.label} is closed; connect again")
        if not answer.depth:
            answer.ended = answer.state = None
        if answer.ended is not None:
            raise type(answer.ended)(str(answer.ended))
        batch = Batch({number: work for number, work in works.items() if number not in answers})
        try:
            self._do(batch, earlier(deadline, limit() if self.limited else None), check)
        except KeyboardInterrupt:
            self._dismiss(batch.abandon())
            answer.ended = Interrupted("interrupted; the running statements were cancelled")
            raise answer.ended from None
        except BaseException as error:
            self._dismiss(batch.abandon())
            if isinstance(error, Stopped):
                answer.ended = error
            raise
        finally:
            self._batches.discard(batch)
            answers.update(batch.taken())

    def _alone(self, work: Work[Answer]) -> Answer:
        """What one of the sessions, always the same one if it can be, answers. Raises as `_together`."""
        answers: dict[int, Answer] = {}
        self._together({0: work}, answers)
        return answers[0]

    def _do(self, batch: Batch[Any], deadline: float | None, check: Callable[[], None]) -> None:
        """Raises what the works and the check raise, SourceError, SnapshotLost, BudgetSpent."""
        self._batches.add(batch)
        sessions = self._staffed(deadline)
        if self._answer.state is None:
            self._answer.state = self._state
        elif self._answer.state is not self._state:
            raise self._lost(self._answer.state)
        batch.start(sessions)
        batch.wait(deadline)
        try:
            check()
        except BaseException:
            batch.taken()
            raise

    def _vouch(self) -> None:  # noqa: B027 - not every engine has to look
        """Whether what was just answered is of one state. Raises SnapshotLost."""

    def _staffed(self, deadline: float | None) -> list[Worker]:
        """The sessions, those that were lost replaced."""
        if len(self._sessions) < self.workers:
            new = self._open(deadline)
            with self._lock:
                self._sessions += new
        return list(self._sessions)

    def _lost(self, state: object) -> Stopped:
        """Why a state of the data cannot be seen any more."""
        return ConnectionLost("the transaction that the work had begun in went with a statement that failed")

    def _dismiss(self, workers: Sequence[Worker]) -> None:
        """Ends sessions, and cancels what they are doing."""
        with self._lock:
            self._sessions = [worker for worker in self._sessions if worker not in workers]
        part_with(workers)
