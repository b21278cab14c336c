"""The entry points called by stub.c: registers the table functions with a database and handles DuckDB's calls."""

import atexit
import ctypes
import itertools
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from ctypes import CFUNCTYPE, c_int, c_uint, c_void_p
from dataclasses import dataclass, replace
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any

from qidsql.duckdb_extension.capi import Api, LogicalType, argument, put_rows, texts_of
from qidsql.duckdb_extension.functions import (
    FUNCTIONS,
    GUARD,
    SESSION,
    STATEMENT,
    TRACE,
    VERDICTS,
    Columns,
    Row,
    TableFunction,
    comments,
    descriptions,
    help_definition,
    in_sql,
)
from qidsql.duckdb_extension.guard import NAME as GUARD_NAME
from qidsql.duckdb_extension.guard import Guard, as_typed, checks_in, checks_query, listed_query
from qidsql.duckdb_extension.waiting import (
    ANSWER_KEPT_SECONDS,
    INTERRUPTIBLE,
    PLANNING_TICK,
    AwaitedQuery,
    Result,
    Work,
    raising_interrupts,
)
from qidsql.duckdb_extension.waiting import ARGUMENTS as SEARCHED
from qidsql.duckdb_extension.waiting import NAME as SEARCHED_NAME
from qidsql.errors import Interrupted, QidsqlError, SourceError, UsageError, internal

if TYPE_CHECKING:
    from qidsql.engines.duckdb.embedded import HostEngine
    from qidsql.engines.duckdb.host import Caller, CatalogCache
    from qidsql.engines.postgres.attached import AttachedEngine

QUESTION = 4 + len(SESSION)  # the parameters of the guard's function
LAYOUT = 3  # version of EntryPoints; increase it here and in stub.c with every change
ON_CALL = CFUNCTYPE(None, c_void_p)
ON_SCAN = CFUNCTYPE(None, c_void_p, c_void_p)
ON_EVALUATE = CFUNCTYPE(None, c_void_p, c_void_p, c_void_p)
ENDING = "qidsql: Python is shutting down"
Place = tuple[int, int]  # a frame and its current instruction
WAIT = 5.0  # the most seconds to wait at exit for interrupted callers


class EntryPoints(ctypes.Structure):
    """The struct of stub.c: DuckDB's API, the functions of the stub, and our callbacks."""

    _fields_ = [
        ("api", c_void_p),
        ("database", c_void_p),
        ("bind", c_void_p),
        ("init", c_void_p),
        ("scan", c_void_p),
        ("evaluate", c_void_p),
        ("forget", c_void_p),
        ("next_forgotten", CFUNCTYPE(ctypes.c_size_t)),
        ("watch", CFUNCTYPE(None, c_int)),
        ("interrupts", CFUNCTYPE(c_uint)),
        ("close", CFUNCTYPE(None)),
        ("on_bind", ON_CALL),
        ("on_init", ON_CALL),
        ("on_scan", ON_SCAN),
        ("on_evaluate", ON_EVALUATE),
    ]


@dataclass(frozen=True, slots=True)
class Call:
    """A bound call of a function, before it runs."""

    function: TableFunction
    instance: int
    tables: tuple[str, ...]
    views: tuple[str, ...]  # those that stand for queries and files
    options: dict[str, Any]
    trace: bool
    caller: "Caller"
    cache: "CatalogCache"

    @property
    def columns(self) -> Columns:
        return {**(TRACE if self.trace else self.function.columns), **GUARD}


@dataclass(slots=True)
class Scan:
    """The rows of one call, and the number already returned.

    DuckDB notices that its caller interrupts it only between two chunks of rows, so while the work lasts it gets rows
    that say nothing. `dropped`: DuckDB wants no more of it.
    """

    call: Call
    work: Work[list[Row]] | None = None
    done: int = 0
    dropped: bool = False


class _Process:
    """The state of the process: the C API, and the objects that DuckDB has handles of."""

    def __init__(self, address: int) -> None:
        self.entry = EntryPoints.from_address(address)
        self.api = Api(self.entry.api)
        self._objects: dict[int, Any] = {}
        self._handles = itertools.count(1)
        self._numbers = itertools.count(1)  # of views
        self._stale: dict[int, list[str]] = {}  # by instance: views whose statement is gone
        # These must never be freed: DuckDB can always call them.
        self._on_bind = ON_CALL(self._guarded(self.bind, "bind_set_error"))
        self._on_init = ON_CALL(self._guarded(self.init, "init_set_error"))
        self._on_scan = ON_SCAN(self._guarded(self.scan, "function_set_error"))
        self._on_evaluate = ON_EVALUATE(self._guarded(self.evaluate, "scalar_function_set_error"))
        self.entry.on_bind, self.entry.on_init, self.entry.on_scan = self._on_bind, self._on_init, self._on_scan
        self.entry.on_evaluate = self._on_evaluate
        self._closes_in_time = self._closing = False
        self._guard = Guard(VERDICTS.parameters)
        self._searches: dict[str, AwaitedQuery] = {}  # by number: for protected rows
        self._callers: dict[int, Place] = {}  # by thread: the place of its last call
        atexit.register(self.close)

    def register(self, instance: int) -> None:
        """Registers the functions, and the macros, with a database. Raises SourceError."""
        from qidsql.duckdb_extension import protected
        from qidsql.duckdb_extension.capi import Connection
        from qidsql.engines.duckdb.host import HostError, duckdb_macros

        # a database can be where a closed one was, and number its statements alike
        self._searches = {each: kept for each, kept in self._searches.items() if kept.place[0] != str(instance)}
        connection = Connection(self.api, instance)
        try:
            connection.execute(duckdb_macros())
            self._register_question(connection, instance, GUARD_NAME, QUESTION)
            self._register_question(connection, instance, protected.NAME, protected.arguments())
            self._register_question(connection, instance, SEARCHED_NAME, SEARCHED)
            for number, function in enumerate(FUNCTIONS):
                self._register(connection, instance, number, function)
            statement = _known(connection, STATEMENT)
            for function in FUNCTIONS:
                connection.execute(function.definition(statement))
            connection.execute(protected.definition(statement))
            connection.execute(help_definition())
            connection.execute(comments(descriptions()))
        except HostError as error:
            raise SourceError(str(error).partition("qidsql: ")[2] or "the macros could not be created") from None
        finally:
            connection.close()

    def _register(self, connection: Any, instance: int, number: int, function: TableFunction) -> None:
        api = self.api
        made = c_void_p(api.create_table_function())
        extra = api.malloc(16)  # freed by DuckDB's own `free`, with the instance
        (ctypes.c_uint64 * 2).from_address(extra)[:] = [instance, number]
        api.table_function_set_name(made, function.name.encode())
        with LogicalType(api, "VARCHAR") as kind:
            for _ in function.tables:
                api.table_function_add_parameter(made, kind)
        for name, kind_name in {**function.parameters, **SESSION}.items():
            with LogicalType(api, kind_name) as kind:
                api.table_function_add_named_parameter(made, name.encode(), kind)
        api.table_function_set_extra_info(made, extra, ctypes.cast(api.free, c_void_p))
        api.table_function_set_bind(made, self.entry.bind)
        api.table_function_set_init(made, self.entry.init)
        api.table_function_set_function(made, self.entry.scan)
        failed = api.register_table_function(connection.handle, made)
        api.destroy_table_function(ctypes.byref(made))
        if failed:
            raise RuntimeError(f"{function.name} could not be registered")

    def _register_question(self, connection: Any, instance: int, name: str, arguments: int) -> None:
        """A scalar function of texts that returns a query for the caller's statement, while DuckDB binds that."""
        api = self.api
        made = c_void_p(api.create_scalar_function())
        extra = api.malloc(16)
        (ctypes.c_uint64 * 2).from_address(extra)[:] = [instance, arguments]
        api.scalar_function_set_name(made, name.encode())
        with LogicalType(api, "VARCHAR") as kind:
            for _ in range(arguments):
                api.scalar_function_add_parameter(made, kind)
            api.scalar_function_set_return_type(made, kind)
        api.scalar_function_set_extra_info(made, extra, ctypes.cast(api.free, c_void_p))
        api.scalar_function_set_function(made, self.entry.evaluate)
        failed = api.register_scalar_function(connection.handle, made)
        api.destroy_scalar_function(ctypes.byref(made))
        if failed:
            raise RuntimeError(f"{name} could not be registered")

    def evaluate(self, info: int, chunk: int, vector: int) -> None:
        """The queries of a scalar function, which its number of arguments identifies."""
        api = self.api
        instance, arguments = (ctypes.c_uint64 * 2).from_address(api.scalar_function_get_extra_info(info))
        answers: dict[int, Callable[..., str]] = {QUESTION: self._question, SEARCHED: self._searched}
        for row, given in enumerate(texts_of(api, chunk, arguments)):
            query = answers.get(arguments, self._protected)(instance, *given).encode()
            api.vector_assign_string_element_len(vector, row, query, len(query))

    def _searched(self, instance: int, number: str, once: str) -> str:
        return self._searches[number].answer(number, bool(once))

    def _question(
        self, instance: int, table: str, where: str, beside: str, path: str, zone: str, statement: str
    ) -> str:
        from qidsql.duckdb_extension.capi import Connection
        from qidsql.engines.duckdb.host import Caller

        connection = Connection(self.api, instance)
        return self._guard.question(connection, table, where, beside, Caller(path, zone), statement)

    def _protected(self, instance: int, table: str, collation: str, *rest: str) -> str:
        """The query of protected rows; searched once for a statement, which DuckDB can bind several times."""
        from qidsql.duckdb_extension import protected

        if collation.lower() not in ("", "binary"):
            raise UsageError("a default_collation would merge values: RESET default_collation")
        place = (str(instance), table, *rest)
        (path, zone, statement), texts = rest[: len(SESSION) + 1], rest[len(SESSION) + 1 :]
        known = (number for number, each in self._searches.items() if statement and each.place == place)
        if (number := next(known, None)) is None:
            given = protected.options_of(dict(zip(protected.carried_out(), texts, strict=True)))
            asked = self._question(instance, table, given.get("where", ""), "", path, zone, statement)
            search = AwaitedQuery(place, self._is_interruptible(instance))
            task = partial(self._protected_query, instance, table, asked, given, path, zone)
            search.work = self._begun(instance, task, search.is_left)
            self._searches = {
                each: kept for each, kept in self._searches.items() if not kept.is_left(ANSWER_KEPT_SECONDS)
            }
            self._searches[number := str(next(self._numbers))] = search
        return self._searches[number].answer(number)

    def _protected_query(
        self, instance: int, table: str, asked: str, given: dict[str, Any], path: str, zone: str
    ) -> str:
        from qidsql.duckdb_extension import protected
        from qidsql.duckdb_extension.capi import Connection
        from qidsql.engines.duckdb.embedded import engine_for
        from qidsql.engines.duckdb.host import Caller

        self._close_in_time()
        engine = engine_for([table], Connection(self.api, instance), Caller(path, zone), _new_cache())
        with engine:
            return protected.protected_query(engine, table, asked, given)

    def _is_interruptible(self, instance: int) -> bool:
        """Whether DuckDB can be made to look for interrupts while it plans: it cannot where it may read no files."""
        from qidsql.duckdb_extension.capi import Connection

        connection = Connection(self.api, instance)
        try:
            return _known(connection, f"EXISTS {INTERRUPTIBLE}") != "''"
        finally:
            connection.close()

    def bind(self, info: int) -> None:
        """Reads and checks the arguments before anything runs."""
        from qidsql.engines.duckdb.host import Caller

        api = self.api
        self._sweep()
        instance, number = (ctypes.c_uint64 * 2).from_address(api.bind_get_extra_info(info))
        self._drop_views(instance)
        function = FUNCTIONS[number]
        values: dict[str, Any] = {}
        for name, kind in function.parameters.items():
            if value := api.bind_get_named_parameter(info, name.encode()):
                values[name] = argument(api, value, kind)
        if values.keys() != function.parameters.keys():
            raise UsageError(f"write {function.usage}: {function.name} by itself would not see what this session sees")
        options = function.given(values)
        tables = tuple(
            argument(api, api.bind_get_parameter(info, place), "VARCHAR") for place in range(len(function.tables))
        )
        if None in tables:
            raise UsageError("the table's name must not be NULL")
        trace = bool(options.pop("trace", False))
        path, zone = (argument(api, api.bind_get_named_parameter(info, name.encode()), "VARCHAR") for name in SESSION)
        caller, views = Caller(path, zone), {}
        for place, table in enumerate(() if function.many else tables):
            if view := self._view_of(instance, table, caller, tables[:place] + tables[place + 1 :]):
                views[table] = view
        tables = tuple(views.get(table, table) for table in tables)
        call = Call(function, instance, tables, tuple(views.values()), options, trace, caller, _new_cache())
        try:
            if views and "sql" in options:
                raise UsageError("the statements would need the query or file by a name: create a view of it")
            if function.many:
                host = self._host(call)
                with host:
                    self._checks(host, call)
            else:
                with self._engine(call) as engine:
                    function.check(engine, tables, options)
        except BaseException:
            self._stale.setdefault(instance, []).extend(call.views)
            raise
        for name, kind in call.columns.items():
            with LogicalType(api, kind) as logical:
                api.bind_add_result_column(info, name.encode(), logical)
        api.bind_set_bind_data(info, self._handle_of(call), self.entry.forget)

    def _view_of(self, instance: int, table: str, caller: "Caller", beside: tuple[str, ...]) -> str | None:
        from qidsql.duckdb_extension.capi import Connection
        from qidsql.duckdb_extension.guard import made_view

        connection = Connection(self.api, instance)
        try:
            return made_view(connection, table, next(self._numbers), caller, beside)
        finally:
            connection.close()

    def _drop_views(self, instance: int) -> None:
        """Drops the views that no statement needs any more, while one is bound: the instance may be gone later."""
        from qidsql.duckdb_extension.capi import Connection
        from qidsql.engines.duckdb.host import HostError

        connection = Connection(self.api, instance)
        for view in self._stale.pop(instance, []):
            with suppress(HostError):
                connection.execute(f"DROP VIEW IF EXISTS {view}")
        connection.close()

    def init(self, info: int) -> None:
        """Prepares the call.

        Before 2.0 a prepared statement is not bound again, so the table is described again: it may have changed.
        """
        call: Call = self._objects[self.api.init_get_bind_data(info)]
        if not self.api.rebinds:
            call = replace(call, cache=_new_cache())
        self.api.init_set_init_data(info, self._handle_of(Scan(call)), self.entry.forget)

    def scan(self, info: int, chunk: int) -> None:
        """Returns the next rows to DuckDB, or after a tick one that says that there are none yet.

        The database may be closed once the caller has been interrupted: a connection holds it until the work ends.
        """
        scan: Scan = self._objects[self.api.function_get_init_data(info)]
        if scan.work is None:
            scan.work = self._begun(scan.call.instance, partial(self._rows, scan.call), partial(self._is_dropped, scan))
        kinds = list(scan.call.columns.values())
        if not scan.work.is_over(PLANNING_TICK):
            put_rows(self.api, chunk, kinds, [(*[None] * (len(kinds) - 1), "nothing yet")])
            return
        rows = scan.work.result[scan.done : scan.done + self.api.vector_size()]
        put_rows(self.api, chunk, kinds, rows)
        scan.done += len(rows)

    def _begun(self, instance: int, task: Callable[[], Result], dropped: Callable[[], bool]) -> Work[Result]:
        """The task, begun in a thread of its own, which ends early if it is interrupted or dropped."""
        from qidsql.duckdb_extension.capi import Connection

        holding = Connection(self.api, instance)
        _ = holding.handle

        def interruptible() -> Result:
            try:
                with raising_interrupts(self.entry.watch, lambda: self.entry.interrupts() + dropped()):
                    if self._closing:  # closed before interrupts were counted, so none will come
                        raise Interrupted(ENDING)
                    return task()
            finally:
                holding.close()

        return Work(interruptible)

    def _rows(self, call: Call) -> list[Row]:
        """What the audit saw, in the guard's columns, then the result."""
        if call.function.many:
            return self._checked(call)
        with self._engine(call) as engine:
            run = call.function.trace if call.trace else call.function.run
            rows = run(engine, call.tables, call.options)
            seen, audited = engine.seen(call.tables, call.options.get("where", ""))
        first = (*[None] * (len(call.columns) - len(GUARD)), seen, as_typed(audited))
        return [first, *((*row, *[None] * len(GUARD)) for row in rows)]

    def _checks(self, host: "HostEngine", call: Call) -> "list[Call]":
        """The checks as calls of their own. Raises QidsqlError."""
        checks = checks_in(host, call.tables[0], VERDICTS.parameters)
        return [
            replace(
                call, function=VERDICTS, tables=(each.table,), options={**call.options, **VERDICTS.given(each.given)}
            )
            for each in checks
        ]

    def _checked(self, call: Call) -> list[Row]:
        """The rows of each check in turn, and what all of them saw."""
        host = self._host(call)
        with host:
            parts = self._checks(host, call)
            answers = [host.answers([listed_query(call.tables[0]) or checks_query(host, call.tables[0])])]
        rows, seen_of = [], []
        for part in parts:
            view = self._view_of(call.instance, part.tables[0], call.caller, ())
            guard, *found = self._rows(replace(part, tables=(view,), cache=_new_cache()) if view else part)
            self._stale.setdefault(call.instance, []).extend([view] if view else [])
            answers.append(guard[-2])
            seen_of.append(guard[-1])
            rows += [(part.tables[0], *row[1:]) for row in found] if view else found
        several = range(max(map(len, answers)))
        joined = ["; ".join(each[min(place, len(each) - 1)] for each in answers) for place in several]
        return [(*[None] * (len(call.columns) - 2), joined, ", ".join(seen_of)), *rows]

    def _is_dropped(self, scan: Scan) -> bool:
        self._sweep()
        return scan.dropped

    @contextmanager
    def _engine(self, call: Call) -> "Iterator[HostEngine | AttachedEngine]":
        from qidsql.duckdb_extension.capi import Connection
        from qidsql.engines.duckdb.embedded import engine_for

        self._close_in_time()
        tables = call.tables or ("",)  # without one: this database, or the one of the search path
        engine = engine_for(tables, Connection(self.api, call.instance), call.caller, call.cache)
        with engine:
            yield engine

    def _host(self, call: Call) -> "HostEngine":
        """The engine of this database, whatever is attached to it."""
        from qidsql.duckdb_extension.capi import Connection
        from qidsql.engines.duckdb.embedded import HostEngine

        if call.trace:
            raise UsageError("trace shows the statements of one table")
        self._close_in_time()
        return HostEngine(Connection(self.api, call.instance), call.caller, call.cache)

    def _close_in_time(self) -> None:
        """Registers `close` to run before Python joins the threads that run statements at exit.

        Handlers run in reverse order, so this must come after the engines import concurrent.futures, which registers
        the joining with the same private function.
        """
        if not self._closes_in_time:
            try:
                getattr(threading, "_register_atexit", atexit.register)(self.close)
            except RuntimeError:  # too late
                raise UsageError("Python is shutting down") from None
            self._closes_in_time = True

    def close(self) -> None:
        """Interrupts running audits, and waits at most `WAIT` seconds until their callers are back in Python.

        A caller that returns from DuckDB's module during the shutdown of Python is killed while it takes Python's lock
        inside C++, which crashes the process. It is back once it has left the instruction of its call.
        """
        self._closing = True
        self.entry.close()
        end = time.monotonic() + WAIT
        while self._callers.items() & _places().items() and time.monotonic() < end:
            time.sleep(0.005)

    def _handle_of(self, thing: object) -> int:
        handle = next(self._handles)
        self._objects[handle] = thing
        return handle

    def _sweep(self) -> None:
        """Deletes the objects whose handles DuckDB has dropped."""
        while handle := self.entry.next_forgotten():
            thing = self._objects.pop(handle, None)
            if isinstance(thing, Scan):
                thing.dropped = True
            elif isinstance(thing, Call):
                self._stale.setdefault(thing.instance, []).extend(thing.views)

    def _guarded(self, work: Callable[..., None], set_error: str) -> Callable[..., None]:
        """Runs the work and reports any exception as an error of the SQL statement."""

        def guarded(info: int, *more: int) -> None:
            if caller := sys._getframe().f_back:  # none in DuckDB's own threads, whose caller is waiting
                self._callers[threading.get_ident()] = _place(caller)
            try:
                work(info, *more)
            except BaseException as error:  # noqa: BLE001 - nothing may pass into C
                message = ENDING if self._closing else _message(error)
                getattr(self.api, set_error)(info, message.encode("utf-8", "replace"))

        return guarded


def _place(frame: FrameType) -> Place:
    return id(frame), frame.f_lasti


def _places() -> dict[int, Place]:
    """The current place of each Python thread."""
    return {thread: _place(frame) for thread, frame in sys._current_frames().items()}


def _message(error: BaseException) -> str:
    """The error in one line, with option names as in SQL."""
    if isinstance(error, KeyboardInterrupt):
        return "qidsql: interrupted"
    if isinstance(error, ImportError):  # loaded by another Python than that of its installation
        return (
            f"qidsql: the Python of this process ({sys.executable}) lacks {error.name}, which this function needs: "
            f"install qidsql in it, or use those that need no Python, such as anonymity"
        )
    if not isinstance(error, QidsqlError):  # its text can contain cell values
        return f"qidsql: {internal(error)}"
    return f"qidsql: {_one_line(error)}"


def _one_line(error: QidsqlError) -> str:
    return in_sql(" ".join(str(error).split()))


def _known(connection: Any, expression: str) -> str:
    """The expression, or an empty text where this DuckDB lacks its function."""
    from qidsql.engines.duckdb.host import HostError

    try:
        connection.execute(f"SELECT {expression}")
    except HostError:
        return "''"
    return expression


def _new_cache() -> "CatalogCache":
    from qidsql.engines.duckdb.host import CatalogCache

    return CatalogCache()


_processes: dict[int, _Process] = {}  # by file of the extension: each version of DuckDB has its own


def load(address: int, layout: int = 1) -> str:
    """Registers the functions with one database; returns an error text, empty on success."""
    if layout != LAYOUT:
        return "the extension was built by another version of qidsql; run: qidsql shell install"
    try:
        if address not in _processes:
            _processes[address] = _Process(address)
        process = _processes[address]
        process.register(process.entry.database)
    except QidsqlError as error:
        return _one_line(error)
    except BaseException as error:  # noqa: BLE001 - nothing may pass into C
        return f"{type(error).__name__}: {error}"
    return ""
