"""An engine on a Spark Connect server: reads tables, views and files of the server; each worker is a session of it."""

import re
import time
from bisect import bisect_left
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, NoReturn, TypeVar, cast
from urllib.parse import unquote

import grpc
from sqlglot import exp

from qidsql.core.results import Examination
from qidsql.core.tables import (
    Catalog,
    CatalogColumn,
    CatalogTable,
    Column,
    Comparison,
    Condition,
    Table,
    TableName,
    Version,
    find_schema,
    kind_of,
)
from qidsql.engines.base import Engine
from qidsql.engines.condition import PICKING, Dependences, checked
from qidsql.engines.kind import ConnectOptions
from qidsql.engines.runner import TableBytes
from qidsql.engines.spark.address import Address, address
from qidsql.engines.spark.condition import parse_condition
from qidsql.engines.spark.costs import COSTS
from qidsql.engines.spark.dialect import PATTERNS, SPARK, column, width
from qidsql.engines.spark.doctor import NEEDED, Introduction, checks, not_promised
from qidsql.engines.spark.errors import not_there, translate, unreachable
from qidsql.engines.spark.plans import (
    FAIL_FAST,
    FOOTERS_BELIEVED,
    believes_footers,
    lenient,
    planned_bytes,
    planned_sizes,
    unsigned,
)
from qidsql.engines.spark.session import COLLECTED, KeptSettings, ServerGone, SparkSession
from qidsql.engines.table_names import find_table, parsed_name
from qidsql.engines.workers import Session, Worker, run_in_thread
from qidsql.errors import (
    AccessError,
    BudgetSpent,
    QidsqlError,
    SnapshotLost,
    StatementError,
    Stopped,
    UnknownName,
    UsageError,
)
from qidsql.sql.relation import rows_node, table_node
from qidsql.sql.templates import Row

Answer = TypeVar("Answer")

FORMATS = ("parquet", "orc", "delta", "iceberg", "avro")  # files whose columns have types
LOOKS_LIKE_A_PATH = r"/|\\|^\w+://"
WHERE_AND_WHAT = "SELECT VERSION(), CURRENT_CATALOG(), CURRENT_DATABASE(), CURRENT_USER(), CURRENT_TIMEZONE()"
GIVING_BACK = 2.0  # seconds that a server gets to take back the settings of a session that the user named
EMPTY = "SELECT id % 2, COUNT(*) FROM RANGE(4) GROUP BY id % 2"  # a constant alone would start no job of Spark
# Functions and samples whose result differs each time a plan runs, as plans of Spark and of Sail name them.
CHANGING = re.compile(
    r"\b(rand|randn|random|randstr|uniform|uuid|shuffle|(?:try_)?reflect|java_method|monotonically_increasing_id|spark_partition_id)\("
    r"|^[\W\d]*(Sample|MonotonicId|SparkPartitionId|(?:Batch|Arrow|BatchUDTF|ArrowUDTF)EvalPython(?:UDTF)?)\b"
    r"|\b(Hive(?:Simple|Generic)UDT?F|HiveUDAFFunction|pythonUDF\d+|ScalaUDF|PythonUDF)\b",
    re.MULTILINE,
)
OWN_FUNCTIONS = "SHOW USER FUNCTIONS"  # of Java, Hive or Python, which a plan names as if they were Spark's
# Of the session: its role, its catalog and schema, its rights.
SESSION = re.compile(
    r"\b(current_user|session_user|user|current_catalog|current_database|current_schema|current_timezone|is_member"
    r"|is_account_group_member)\("
)
TIME = re.compile(
    r"\b(timestamp_now|now|current_timestamp|current_date|current_time|localtimestamp)\("
    r"|(?:\bcast\((?:\w+\([^#]*\)|(?:{0})\b(?!#))[^#()]* as (?:date|timestamp)|\bUtf8\(\"(?:{0}))".format(
        "now|today|tomorrow|yesterday"
    ),
    re.IGNORECASE,
)
ZONED = re.compile(r"\bcast\([^()]*#\d+ as date\)|, Some\([\w/+-]+\)\)", re.IGNORECASE)  # of Spark
ZONED_BY_SAIL = re.compile(r"Timestamp(?:\(µs, \"|\w+\(-?\d+, Some)")
BY_DAYS = re.compile(
    r"AS Date32\)|\b(?:date_trunc|spark_(?:year|month|day\w*|hour|date_format|to_utf8|quarter|week\w*))\("
)
PICKED = re.compile(rf"\b(?:GlobalLimit|LocalLimit|Limit: skip)\b|\b(?:{PICKING})\(", re.IGNORECASE)
EACH_ITS_OWN = "each statement sees the data at its own moment"
SAME_FILES = "every statement reads the same files; an error if one is added, removed or replaced meanwhile"
ONE_VERSION = "every statement reads the same version of the table"
ONE_TIME = "every statement reads the table as of the time it was described, by the clocks of its writers"
NOW = "SELECT CURRENT_TIMESTAMP()"
TICK = timedelta(milliseconds=1)  # the precision of Iceberg's times
MOST_VERSIONS = 1 << 40


class SparkEngine(Engine):
    """The catalogs of a server, and files that it can read.

    A server has no snapshot of several statements. Delta tables are read in the version that they had when they were
    described first, Iceberg's as of that time. Of other tables the server may say which files a query reads: then all
    statements of an answer must read the same, as data files of lakehouses never change, and others rarely do.
    """

    dialect = SPARK
    costs = COSTS
    export_format = "parquet"
    copied_instead = "it is only read; export the rows to parquet, and protect that file here"
    dear_snapshot = True

    def __init__(self, server: Address, workers: int, statement_seconds: int) -> None:
        super().__init__(workers)
        self.label = server.label
        self.snapshot = EACH_ITS_OWN
        self._server = server
        self._kept = KeptSettings()
        self._made: list[SparkSession] = []  # all sessions whose answers may have to be shown to be the server's
        self._seconds = statement_seconds
        self._files: dict[TableName, frozenset[str]] = {}  # of the tables described, but those in a version
        self._plans: dict[str, str] = {}  # of reading the tables described, with sizes, by the query
        self._widths: dict[str, dict[str, int]] = {}  # of their columns
        self._versions: dict[TableName, Version | None] = {}  # of the tables described; None: it keeps none
        self._lenient: dict[TableName, frozenset[str]] = {}  # the tables behind a table whose files may not fit them
        self._own_functions: frozenset[str] | None = None  # None: not asked yet
        self._exact: bool | None = None  # whether columns of the tables described are found exactly; None: no table
        try:
            self._answer.credit = True  # the first answer about a table shows that no session was lost
            self._introduction, self._refused, cold = self._all_asked(
                [
                    ("version", _introduced),
                    ("settings", lambda session: session.refused),
                    ("latency", _seconds_of_nothing),
                ]
            )
            self.latency = min(cold, self._asked("latency", _seconds_of_nothing))
            self._answer.credit = False
        except BaseException:
            self.close()
            raise
        self.version = self._introduction.version
        self.role, self.time_zone = self._introduction.user, self._introduction.time_zone

    def _open(self, deadline: float | None) -> list[Worker]:
        workers = [
            Worker(partial(_session, self._made, self._server, self._seconds, bool(self._exact), self._kept))
            for _ in range(self.workers - len(self._sessions))
        ]
        try:
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.opened(deadline)
        except grpc.RpcError as error:
            raise unreachable(error, self.label) from None
        return workers

    def close(self) -> None:
        for made in self._made:
            made.owing = False  # who needed to know has asked
        super().close()

    def release(self) -> None:
        """A session that the user named gets its settings back; whoever works in it meanwhile has ours.

        A server that is too busy to answer keeps ours: the report does not wait for it.
        """
        if self._kept.values:
            with suppress(grpc.RpcError, ServerGone, BudgetSpent):
                run_in_thread(self._put_back, None, time.monotonic() + GIVING_BACK)

    def _put_back(self) -> None:
        session = SparkSession(self._server, self._seconds)
        session.put_back(self._kept)
        session.close()

    def translate(self, error: Exception, purpose: str) -> QidsqlError:
        return translate(error, purpose, self.label)

    def table_names(self) -> list[TableName]:
        """One statement for the schemas, and one for each of them."""
        found = []
        for schema in self._rows("SHOW SCHEMAS", "schemas"):
            name = exp.to_identifier(str(schema[0]), quoted=True).sql(SPARK.name)
            found += [
                TableName(str(table), str(space)) if not temporary else TableName(str(table))
                for space, table, temporary, *_ in self._rows(f"SHOW TABLES IN {name}", "tables")
            ]
        return sorted(set(found))

    def describe(self, table: str | None) -> Table:
        """A path stands for its files; anything else is a table or view: as typed, else by the list of all."""
        if table is not None:
            name = _path(table) or _typed(table)
            fields = None if name is None else self._fields(name)
            if name is not None and fields is not None:
                return self._described(name, fields)
            if name is not None and name.catalog in FORMATS:
                raise UnknownName("files", [name.name], f"the reach of {self.label}", ())
        found = find_table(table, self.table_names(), _quotes(table or ""), [self._introduction.schema], self.label)
        fields = self._fields(found)
        if fields is None:
            raise UnknownName("table", [str(found)], self.label, ())
        return self._described(found, fields)

    def _look_up(self, name: TableName, fields: list[Any]) -> None:
        """Has columns found in any letter case, or exactly where the table has some that differ only in that.

        One way for all tables that an answer may read. Raises StatementError if those before need the other.
        """
        same = _same_but_for_case([field.name for field in fields])
        if self._exact is None:
            if same:
                self._end_sessions(list(self._sessions))
            self._exact = bool(same)
        if self._exact and not same:
            raise StatementError(
                f"columns of a table before {name} differ in letter case only, so that names must be exact, which may "
                f"not find those in files of {name}: audit {name} with a connection of its own"
            )
        if same and not self._exact:
            raise StatementError(
                f"columns {same[0]} and {same[1]} of {name} differ in letter case only; those of tables before may "
                f"not: audit {name} with a connection of its own"
            )

    def _described(self, name: TableName, fields: list[Any]) -> Table:
        self._look_up(name, fields)
        self._widths[_all_of(name)] = _widths(fields)
        version = self._version(name)
        if version is None:
            self._files |= self._states([name])
            if lost := lost_folders(self._files[name], [field.name for field in fields]):
                raise StatementError(
                    f"files of {name} lie in folders {lost}=..., of which no column is made, so that values would be "
                    f"lost: name the folder above them, or a table that has the column"
                )
        else:
            fields = self._fields(name, version) or []
        read_in = {type(each) for each in self._versions.values()}
        kept = [words for kind, words in ((int, ONE_VERSION), (datetime, ONE_TIME)) if kind in read_in]
        kept += [SAME_FILES if all(self._files.values()) else EACH_ITS_OWN] if self._files else []
        self.snapshot = "; of others, ".join(kept)
        kind = "data file" if name.catalog in FORMATS else "table"
        notes = [not_promised(self._refused)] if self._refused else []
        if COLLECTED in self._refused and believes_footers(self._cost(name, version)):
            raise StatementError(FOOTERS_BELIEVED)
        by_name = kind == "table" and version is None
        columns = self._columns(name, version, fields)
        table = Table(name, kind, columns, version=version, notes=tuple(notes), by_name=by_name)
        if not by_name:
            return table
        plan = self._plan(name)
        if self._introduction.is_apache:  # Sail has an error for what does not fit
            self._lenient.setdefault(name, lenient(plan))
        return checked(table, self._functions(plan), self.time_zone)

    def narrowed(self, table: Table, where: str | None) -> Table:
        """Files of csv, json and xml are read whole once, since values that do not fit would be NULL without a word."""
        for name in sorted(self._lenient.get(table.name, ())):
            self._check_fit(table.name, name)
        self._lenient[table.name] = frozenset()
        return super().narrowed(table, where)

    def _check_fit(self, table: TableName, name: str) -> None:
        """Raises StatementError unless all values of the files of a table fit the types of its columns."""
        hidden = f"values that do not fit their columns' types are NULL in {table}, or their rows are left out"
        if not name:
            raise StatementError(f"{hidden}: it reads files of no table; CREATE TABLE ... USING csv for them before")
        text = table_node(TableName(*reversed(name.split(".")))).sql(SPARK.name)
        facts = {key: str(value) for key, value, *_ in self._rows(f"DESCRIBE TABLE EXTENDED {text}", "mode of reading")}
        mode = re.search(r"\bmode=(\w+)", facts.get("Storage Properties", ""), flags=re.IGNORECASE)
        if mode and mode[1].upper() != "FAILFAST":
            raise StatementError(f"{hidden}: {name} has the option mode = {mode[1].upper()}; leave it out, or FAILFAST")
        try:
            self._rows(FAIL_FAST.format(text), f"whether files fit {name}")
        except StatementError as error:
            if "FAILED_READ_FILE" not in str(error):
                raise StatementError(f"{hidden}, and reading {name} in mode FAILFAST failed: {error}") from None
            raise StatementError(
                f"{hidden}: files of {name} have some; declare these columns as STRING, or correct the files"
            ) from None

    def _columns(self, name: TableName, version: Version | None, fields: list[Any]) -> tuple[Column, ...]:
        """The columns of these fields. Sail has no hash of unsigned numbers: their texts are compared. A call to it."""
        columns = tuple(column(field) for field in fields)
        if self._introduction.is_apache or not columns:
            return columns
        odd = unsigned(self._plan(name, version))
        if len(odd) != len(columns):
            return columns
        return tuple(replace(c, comparison=Comparison.TEXT) if o else c for c, o in zip(columns, odd, strict=True))

    def table_bytes(self, table: TableName) -> TableBytes | None:
        """The server's estimate of the rows, divided among the columns by the widths of their types."""
        widths = self._widths.get(_all_of(table)) or _widths(self._fields(table) or [])
        row = sum(widths.values())
        whole = planned_bytes(self._plans.get(_all_of(table)) or self._cost(table), row)
        return None if whole is None else TableBytes(columns={name: whole * w // row for name, w in widths.items()})

    def _cost(self, name: TableName, version: Version | None = None) -> str:
        """The plan of reading a table, with sizes; empty if the server tells none."""
        try:
            query = _all_of(name, version)
            rows = self._asked(f"size of {name}", lambda session: session.plan_with_sizes(query))
            return "".join(str(row[0]) for row in rows)
        except StatementError:
            return ""

    def _functions(self, plan: str) -> Dependences:
        """Those that change or ask the session in the plan of reading it: the catalog does not say what is a view."""
        if self._own_functions is None:
            try:
                rows = self._rows(OWN_FUNCTIONS, "functions of users")
            except StatementError:
                rows = []  # a server without them
            self._own_functions = frozenset(str(row[0]).rpartition(".")[2].lower() for row in rows)
        return depending(plan, self._own_functions)

    def _plan(self, name: TableName, version: Version | None = None) -> str:
        rows = self._rows(f"EXPLAIN EXTENDED {_all_of(name, version)}", f"plan of {name}")
        return "\n".join(str(row[0]) for row in rows)

    def _version(self, name: TableName) -> Version | None:
        """The version in which a table of Delta or Iceberg is read: the newest when it was seen first."""
        if name not in self._versions:
            self._versions[name] = self._newest_version(name)
        return self._versions[name]

    def _newest_version(self, name: TableName) -> Version | None:
        """The newest version of a table; None if it keeps none, and if the server does not find it."""
        try:
            kind = (self._format(name) or "").lower()
            if kind == "iceberg":
                return self._moment(name)
            if kind != "delta":
                return None
            [(newest, *_)] = self._rows(f"DESCRIBE HISTORY {table_node(name).sql(SPARK.name)} LIMIT 1", "versions")
            return cast(int, newest)
        except StatementError:
            return self._newest_by_trial(name)

    def _moment(self, name: TableName) -> datetime | None:
        """The server's time just now, before which no version can be added; None if there was none by then."""
        [(now, *_)] = self._rows(NOW, "time")
        assert isinstance(now, datetime) and now.tzinfo is not None
        before = now.astimezone(UTC).replace(microsecond=now.microsecond // 1000 * 1000) - TICK
        return before if self._fields(name, before) else None

    def _newest_by_trial(self, name: TableName) -> int | None:
        """The newest version, on a server that lists none: those that can be read have no gap. Reads no row."""
        above = 1
        while self._fields(name, above) and above < MOST_VERSIONS:
            above *= 2
        if above >= MOST_VERSIONS or not self._fields(name, 0):
            return None
        versions = range(above // 2, above)
        return versions[bisect_left(versions, 1, lo=1, key=lambda each: not self._fields(name, each)) - 1]

    def _format(self, name: TableName) -> str | None:
        """The format of a table's data, if the catalog says it."""
        if name.catalog in FORMATS:
            return name.catalog
        described = self._rows(f"DESCRIBE TABLE EXTENDED {table_node(name).sql(SPARK.name)}", "format")
        return next((str(value) for key, value, *_ in described if key == "Provider"), None)

    def _fields(self, name: TableName, version: Version | None = None) -> list[Any] | None:
        """The columns of a table, without reading it; None if there is none of this name, or not in this version."""

        def look(session: SparkSession) -> list[Any]:
            try:
                return session.columns(_all_of(name, version))
            except grpc.RpcError as error:
                if not_there(error) or version is not None:
                    return []
                raise

        return self._asked(f"columns of {name}", look) or None

    def _states(self, names: Sequence[TableName]) -> dict[TableName, frozenset[str]]:
        """The files that each table consists of, and their size; none if the server does not say. Calls side by side,
        with those that show that no session was lost so far."""

        def sizes(session: SparkSession, name: TableName) -> str:
            return "".join(str(row[0]) for row in session.plan_with_sizes(_all_of(name)))

        def files(session: SparkSession, name: TableName) -> frozenset[str]:
            return session.files(_all_of(name))

        def settings(_: SparkSession, made: SparkSession) -> None:
            if made.closed and made in self._made:
                self._made.remove(made)
            made.check_settings()

        works: list[tuple[str, Callable[[SparkSession], Any]]] = []
        for name in names:
            works += [(f"size of {name}", partial(sizes, name=name)), (f"files of {name}", partial(files, name=name))]
        works += [("settings", partial(settings, made=made)) for made in self._made]
        answers = self._asked_each(works)
        for number, (_, failure) in enumerate(answers):
            if failure is not None and (number >= 2 * len(names) or not isinstance(failure, StatementError)):
                raise failure
        found = {}
        for name, (plan, _), (read, _) in zip(names, answers[::2], answers[1::2], strict=False):
            self._plans[_all_of(name)] = plan or ""
            found[name] = read | planned_sizes(plan or "") if read else frozenset()
        return found

    def _check_snapshot(self) -> None:
        found = self._states([name for name, files in self._files.items() if files])
        for name, files in found.items():
            if files != self._files[name]:
                raise SnapshotLost(f"files of {name} were added, removed or replaced meanwhile; run this again")

    @property
    def _checks_snapshot(self) -> bool:
        return any(self._files.values()) or any(made.owing for made in self._made)

    def _renew_sessions(self) -> bool:
        self._versions.clear()
        self._files.clear()
        self._plans.clear()
        self._widths.clear()
        self._lenient.clear()
        if self._exact:
            self._end_sessions(list(self._sessions))
        self._exact = None
        return super()._renew_sessions()

    def parse_condition(self, table: Table, where: str) -> Condition:
        """Two calls to the server, which read no row."""

        def bind(sql: str) -> object:
            return self._asked("where condition", lambda session: session.columns(sql))

        return parse_condition(bind, table, where, folder_columns(self._files.get(table.name, frozenset())))

    def catalog(self, schema: str | None = None) -> Catalog:
        """A statement per schema, and two calls per table, a few more if it is of Delta."""
        names = self.table_names()
        schema = find_schema(schema, names, self.label)
        return Catalog(tuple(self.listed(name) for name in names if schema is None or name.schema == schema))

    def listed(self, name: TableName) -> CatalogTable:
        try:
            version = self._version(name)
            fields = self._fields(name, version) or []
            columns = tuple(map(_catalog_column, self._columns(name, version, fields)))
        except (StatementError, AccessError) as error:
            return CatalogTable(name, "table", (), obstacle=str(error).replace(";", ","))
        obstacle = None if columns else f"{name} cannot be read"
        return CatalogTable(name, "table", columns, obstacle=obstacle, version=version)

    def examine(self, schema: str | None = None, role: str | None = None) -> Examination:
        if role is not None:
            raise UsageError("the rights of a Spark server are those of its catalog; ask there what a role may read")
        missing = [name for name, sql in NEEDED.items() if not self._runs(sql)]
        return Examination(tuple(checks(self._server, self._introduction, self.latency, missing, self._refused)))

    def _runs(self, sql: str) -> bool:
        try:
            return bool(self._rows(sql, "check of the server"))
        except StatementError:
            return False

    def _only_read(self, *_: Any, **__: Any) -> NoReturn:
        raise UsageError(f"{self.label} is a Spark server: {self.copied_instead}")

    import_file = existing_kind = working_copy_name = finish_working_copy = _only_read

    def _rows(self, sql: str, purpose: str) -> list[Row]:
        """The rows of a statement that reads no table."""
        return self._asked(purpose, lambda session: session.execute(sql))

    def _asked(self, purpose: str, work: Callable[[SparkSession], Answer]) -> Answer:
        """The answer of a call that reads no table. The session stays unless it is lost."""
        [answer] = self._all_asked([(purpose, work)])
        return cast(Answer, answer)

    def _all_asked(self, works: Sequence[tuple[str, Callable[[SparkSession], Any]]]) -> list[Any]:
        """The answers of several such calls, side by side. Raises the first failure."""
        found = self._asked_each(works)
        for _, failure in found:
            if failure is not None:
                raise failure
        return [answer for answer, _ in found]

    def _asked_each(
        self, works: Sequence[tuple[str, Callable[[SparkSession], Answer]]]
    ) -> list[tuple[Answer, None] | tuple[None, QidsqlError]]:
        """The answers of several such calls, each with its purpose, side by side; an error in its place."""
        credit = self._answer.credit

        def tried(
            session: Session, purpose: str, work: Callable[[SparkSession], Answer]
        ) -> tuple[Answer, None] | tuple[None, QidsqlError]:
            spark = cast(SparkSession, session)
            try:
                answer = work(spark)
                if not credit:
                    spark.check_settings()
                return answer, None
            except (grpc.RpcError, ServerGone) as error:
                found = self.translate(error, purpose)
                if isinstance(found, Stopped):
                    raise found from None
                return None, found

        answers: dict[int, tuple[Answer, None] | tuple[None, QidsqlError]] = {}
        numbered = {number: partial(tried, purpose=purpose, work=work) for number, (purpose, work) in enumerate(works)}
        self._run_works(numbered, answers)
        return [answers[number] for number in numbered]


def connect(text: str, options: ConnectOptions) -> SparkEngine:
    """An engine on a server. Raises SourceError, UsageError, StatementError, Interrupted, BudgetSpent."""
    if options.writable or options.workspace:
        raise UsageError("a Spark server is only read: leave out --workspace and --into")
    return SparkEngine(address(text), 1 if options.gentle else options.workers, options.statement_seconds)


def _widths(fields: list[Any]) -> dict[str, int]:
    return {field.name: width(field.data_type) for field in fields}


def _session(
    made: list[SparkSession], server: Address, seconds: float, exact: bool, kept: KeptSettings
) -> SparkSession:
    """A new session, among those made."""
    made.append(SparkSession(server, seconds, exact, kept, made))
    return made[-1]


def _seconds_of_nothing(session: SparkSession) -> float:
    started = time.monotonic()
    session.execute(EMPTY)
    return time.monotonic() - started


def _introduced(session: SparkSession) -> Introduction:
    """Apache Spark's version ends with the hash of a commit."""
    [(version, catalog, schema, user, zone)] = session.execute(WHERE_AND_WHAT)
    number, _, commit = str(version).partition(" ")
    name = f"Spark {number}" if commit else f"Spark Connect server {number}"
    return Introduction(name, str(catalog), str(schema), str(user), bool(commit), str(zone))


def _path(typed: str) -> TableName | None:
    """The files that a text means: a path, or format.`path`. Spark names them like a table in a catalog."""
    table = parsed_name(typed, SPARK.name)
    if table is not None and table.db in FORMATS and re.search(LOOKS_LIKE_A_PATH, table.name):
        return TableName(table.name, catalog=table.db)
    if not re.search(LOOKS_LIKE_A_PATH, typed):
        return None
    ending = re.search(r"\.(\w+)[*]*$", typed.lower())
    return TableName(typed, catalog=ending[1] if ending and ending[1] in FORMATS else FORMATS[0])


def _typed(typed: str) -> TableName | None:
    """The name as SQL reads it, with Spark's quotes or with those of other engines."""
    table = parsed_name(typed, _quotes(typed))
    return None if table is None else TableName(table.name, table.db, table.catalog)


def _quotes(typed: str) -> str:
    """The dialect whose quotes a typed name has."""
    return "" if '"' in typed else SPARK.name


def _all_of(name: TableName, version: Version | None = None) -> str:
    return SPARK.render(exp.select("*").from_(rows_node(Table(name, "table", (), version=version))))


def _same_but_for_case(names: list[str]) -> tuple[str, ...]:
    """The first two names that differ in letter case only; none if there are none."""
    seen: dict[str, str] = {}
    for name in names:
        if seen.setdefault(name.lower(), name) != name:
            return seen[name.lower()], name
    return ()


def depending(plan: str, own: frozenset[str] = frozenset()) -> Dependences:
    """What the values in the plan of a query depend on besides rows. `own` are the functions that users made: nothing
    tells what they do, so they count as changing."""
    changing = {next(filter(None, each.groups())) for each in CHANGING.finditer(plan)}
    changing |= {name for name in re.findall(r"([\w$]+)\(", plan) if name.lower() in own}
    zone = ZONED.search(plan) or (ZONED_BY_SAIL.search(plan) and BY_DAYS.search(plan))
    session = frozenset(SESSION.findall(plan))
    time, order = TIME.search(plan) is not None, PICKED.search(plan) is not None
    return Dependences(frozenset(changing), session, zone is not None, time, order=order)


def folder_columns(files: frozenset[str]) -> frozenset[str]:
    """The names of folders such as zip=.../ in which each of the files lies."""
    named = ({name for name, sign, _ in map(_named, file.split("/")[:-1]) if sign} for file in files if "/" in file)
    return frozenset(set.intersection(*named)) if any("/" in file for file in files) else frozenset()


def _named(folder: str) -> tuple[str, str, str]:
    return unquote(folder).partition("=")


def lost_folders(files: frozenset[str], columns: list[str]) -> str:
    """The name of folders such as zip=.../ that differ from file to file, and make no column; empty if there are none.

    One value around all files distinguishes no rows.
    """
    values: dict[str, list[str]] = {}
    paths = [file for file in files if "/" in file]  # not the sizes of files
    for file in paths:
        for part in file.split("/")[:-1]:
            name, sign, value = _named(part)
            if sign and name.lower() not in {column.lower() for column in columns}:
                values.setdefault(name, []).append(value)
    return next((name for name, own in sorted(values.items()) if len(own) < len(paths) or len(set(own)) > 1), "")


def _catalog_column(found: Column) -> CatalogColumn:
    return CatalogColumn(
        found.name,
        found.type,
        found.nullable,
        readable=found.readable,
        comparison=found.comparison,
        base=found.type,
        kind=kind_of(found.type, PATTERNS),
    )
