"""What an engine is: sessions that take SQL and give rows, and the generic part that runs statements over them.

An engine's own file opens the sessions, reads the catalog and translates errors. Knows no driver.
"""

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from sqlglot import exp

from qidsql.catalog import Catalog, CatalogTable
from qidsql.checks import Examination
from qidsql.engines.private_folder import in_memory
from qidsql.errors import BudgetSpent, Interrupted, QidsqlError, SourceError, UsageError
from qidsql.schema import Condition, Table, TableName
from qidsql.sql.dialects import Dialect
from qidsql.sql.relation import table_node
from qidsql.sql.statements import Row, Statement
from qidsql.sql.suppression import create_table

Answer = TypeVar("Answer")

PATIENCE = 20.0  # seconds that cancelled statements get to end
TICK = 0.2  # seconds between looks at the clock while statements run: Ctrl-C is noticed at once, a deadline by this


class Session(Protocol):
    """One connection, used by one thread at a time: SQL in, rows out. `cancel` is called from another thread.

    After `hold_moment` the time of all its statements is the same, where the engine can promise that.
    """

    def execute(self, sql: str) -> list[Row]: ...

    def export(self, sql: str, path: Path) -> None: ...

    def load(self, sql: str, path: Path) -> None: ...

    def hold_moment(self) -> None: ...

    def cancel(self) -> None: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Asked:
    """A statement that was answered, for those who watch."""

    sql: str
    purpose: str
    seconds: float


class Engine(ABC):
    """A live source. Close it, or use it in a `with` block.

    All sessions of an engine see one and the same state of the data where the engine can promise that (`snapshot`
    says what holds). `asked` counts the statements put to tables, the catalog's not included, `scans` how often these
    read a table at most; `seconds` is the time they took.
    """

    dialect: Dialect
    export_format: str  # the ending of exported files
    label: str  # the source as people may see it: never a password
    version: str  # the engine's name and version
    snapshot: str  # what is known of the state that the statements see, in words
    workspace = False  # opened so that it may keep a working copy in its own temporary space: see `keep_aside`
    writable = False  # opened for writing: one session in one transaction, of which nothing stays without `commit`

    def __init__(self, sessions: Sequence[Session]) -> None:
        self.workers = len(sessions)
        self.asked = 0
        self.scans = 0
        self.seconds = 0.0
        self.watchers: list[Callable[[Asked], None]] = []
        self._aside: TableName | None = None
        self._conditions: dict[tuple[TableName, str], Condition] = {}
        self._first = sessions[0]
        self._rehearsal: list[Statement[Any]] | None = None
        self._idle = list(sessions)
        self._busy: set[Session] = set()
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(self.workers, thread_name_prefix="qidsql")
        self._closed = False

    # the driver part

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

    def run_many(
        self,
        statements: Sequence[Statement[Answer]],
        deadline: float | None = None,
        keep: Callable[[int, Answer], None] = lambda place, answer: None,
    ) -> list[Answer]:
        """The answers in the order of the statements, asked in parallel on all workers.

        `keep` is handed each statement's place and answer, also when the others come to nothing.

        At the first error, at Ctrl-C and at the deadline (of `time.monotonic`) every running statement is cancelled
        on the server and the engine is closed. Raises StatementError, AccessError, ConnectionLost, Interrupted,
        BudgetSpent.
        """
        if self._closed:
            raise SourceError(f"the connection to {self.label} is closed; connect again")
        if self._rehearsal is not None:
            self._rehearsal += statements
            raise BudgetSpent("a rehearsal asks nothing")
        started = time.monotonic()
        futures: list[Future[Answer]] = []
        try:
            futures += [self._threads.submit(self._ask, statement) for statement in statements]
            pending = set(futures)
            while pending:
                left = TICK if deadline is None else min(TICK, deadline - time.monotonic())
                if left <= 0:
                    raise BudgetSpent("the time budget is used up")
                done, pending = wait(pending, timeout=left, return_when=FIRST_EXCEPTION)
                for future in done:
                    future.result()
        except KeyboardInterrupt:
            self._stop(futures)
            raise Interrupted("interrupted; the running statements were cancelled") from None
        except BaseException:
            self._stop(futures)
            raise
        finally:
            self.seconds += time.monotonic() - started
            for place, future in enumerate(futures):
                if future.done() and not future.cancelled() and future.exception() is None:
                    keep(place, future.result())
        return [future.result() for future in futures]

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
            self._stop([])
        self.release()

    def release(self) -> None:  # noqa: B027 - not every engine holds more
        """Frees what the engine holds besides its sessions. Safe to call twice."""

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, statement: Statement[Answer]) -> Answer:
        """One statement on one session, in a worker thread."""
        started = time.monotonic()
        with self._lock:
            if self._closed:
                raise SourceError(f"the connection to {self.label} is closed; connect again")
            session = self._idle.pop()  # there are as many sessions as threads
            self._busy.add(session)
        try:
            rows: list[Row] = []
            if statement.out_of is not None:
                session.load(statement.sql, statement.out_of)
            elif statement.into is not None:
                session.export(statement.sql, statement.into)
            else:
                rows = session.execute(statement.sql)
        except Exception as error:  # noqa: BLE001 - drivers raise what they like; translate knows
            raise self.translate(error, statement.purpose) from None
        finally:
            self._give_back(session)
        seconds = time.monotonic() - started
        with self._lock:
            self.asked += 1
            self.scans += statement.scans
            for watch in self.watchers:
                watch(Asked(statement.sql, statement.purpose, seconds))
        return statement.read(rows)

    def _hold_moment(self) -> None:
        """Leaves one session, the first, and the time stands still there."""
        if self.workers > 1:
            with self._lock:
                others = [session for session in self._idle if session is not self._first]
                self._idle = [self._first]
            for session in others:
                session.close()
            self._threads.shutdown()
            self.workers, self._threads = 1, ThreadPoolExecutor(1, thread_name_prefix="qidsql")
        self._first.hold_moment()

    def _give_back(self, session: Session) -> None:
        with self._lock:
            self._busy.discard(session)
            if not self._closed:
                self._idle.append(session)
                return
        session.close()

    def _stop(self, futures: Sequence[Future[Answer]]) -> None:
        """Cancels what runs, on the server, and closes every session.

        A session that was cancelled is not used again: a cancel that arrives late would hit its next statement.
        """
        for future in futures:
            future.cancel()
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        give_up = time.monotonic() + PATIENCE
        while time.monotonic() < give_up:
            with self._lock:
                busy = list(self._busy)
            if not busy:
                break
            for session in busy:  # again and again: a cancel that comes before its statement starts is lost
                session.cancel()
            time.sleep(0.05)
        self._threads.shutdown(wait=not self._busy, cancel_futures=True)
        for session in idle:
            session.close()
