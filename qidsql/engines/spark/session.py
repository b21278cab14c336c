"""A session of a Spark Connect server: statements in, rows out, over gRPC. Nothing is retried, nothing is logged.

Every call has a time limit and can be cancelled from another thread. While a statement runs, however long it takes, the
server is asked for a sign of life every few seconds: a server that hangs is noticed like one that is gone.
"""

import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import grpc
import pyarrow as arrow
import pyarrow.parquet as parquet
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from qidsql.engines.spark.address import Address
from qidsql.engines.workers import LARGEST_ANSWER
from qidsql.sql.templates import Row

# The messages of Spark Connect that qidsql exchanges, as far as it uses them: their fields, and the fields' numbers.
#
# The protocol is public and its numbers never change (spark/connect/base.proto, relations.proto, types.proto); fields
# that are not listed are ignored when they arrive. So no Spark client is needed, whose retries cannot be interrupted
# and whose log quotes statements.


PACKAGE = "spark.connect"
SERVICE = "/spark.connect.SparkConnectService/"
OPERATION = 3  # INTERRUPT_TYPE_OPERATION_ID
MARK = "[]"  # of a list

OF_REQUEST = {"session_id": (1, "string"), "user_context": (2, "UserContext")}
OBSERVED = "client_observed_server_side_session_id"  # of requests: the last that the server answered with
SERVED = "server_side_session_id"  # of answers: the server's own name of the session, another after a restart
NAMES = (  # of the types of columns, as SQL has them, by their numbers in DataType from 1
    "null binary boolean tinyint smallint int bigint float double decimal string char varchar date timestamp "
    "timestamp_ntz interval interval_year_to_month interval_day_to_second array struct map user_defined unparsed "
    "variant geometry geography time"
)
TYPES = {name: number for number, name in enumerate(NAMES.split(), 1)}
DETAILS = {"decimal": "Decimal", "string": "String", "char": "Length", "varchar": "Length"}
DETAILS |= {"array": "Array", "struct": "Struct"}
MESSAGES: dict[str, dict[str, tuple[int, str]]] = {
    "Empty": {},
    "UserContext": {"user_id": (1, "string"), "user_name": (2, "string")},
    "SQL": {"query": (1, "string")},
    "Relation": {"sql": (10, "SQL")},
    "Plan": {"root": (1, "Relation")},
    "ExecutePlanRequest": {
        **OF_REQUEST,
        "plan": (3, "Plan"),
        "client_type": (4, "string"),
        "operation_id": (6, "string"),
        OBSERVED: (8, "string"),
    },
    "ExecutePlanResponse": {"arrow_batch": (2, "ArrowBatch"), SERVED: (15, "string")},
    "ArrowBatch": {"row_count": (1, "int64"), "data": (2, "bytes")},
    "OfPlan": {"plan": (1, "Plan")},
    "AnalyzePlanRequest": {
        **OF_REQUEST,
        "schema": (4, "OfPlan"),
        "input_files": (9, "OfPlan"),
        OBSERVED: (17, "string"),
    },
    "AnalyzePlanResponse": {"schema": (2, "Schema"), "input_files": (7, "Files"), SERVED: (15, "string")},
    "Schema": {"schema": (1, "DataType")},
    "Files": {"files": (1, "string[]")},
    "DataType": {name: (number, DETAILS.get(name, "Empty")) for name, number in TYPES.items()},
    "Decimal": {"scale": (1, "int32"), "precision": (2, "int32")},
    "String": {"collation": (2, "string")},
    "Length": {"length": (1, "int32")},
    "Array": {"element_type": (1, "DataType")},
    "Struct": {"fields": (1, "Field[]")},
    "Field": {"name": (1, "string"), "data_type": (2, "DataType"), "nullable": (3, "bool")},
    "InterruptRequest": {**OF_REQUEST, "interrupt_type": (4, "int32"), "operation_id": (6, "string")},
    "InterruptResponse": {},
    "ConfigRequest": {**OF_REQUEST, "operation": (3, "Operation"), OBSERVED: (8, "string")},
    "Operation": {"set": (1, "Pairs"), "get_option": (4, "Keys"), "unset": (6, "Keys")},
    "Pairs": {"pairs": (1, "Pair[]")},
    "Keys": {"keys": (1, "string[]")},
    "Pair": {"key": (1, "string"), "value": (2, "string")},
    "ConfigResponse": {"pairs": (2, "Pair[]"), SERVED: (4, "string")},
    "ReleaseSessionRequest": OF_REQUEST,
    "ReleaseSessionResponse": {},
    # of an error, from google/rpc/status.proto and error_details.proto
    "Status": {"details": (3, "Any[]")},
    "Any": {"type_url": (1, "string"), "value": (2, "bytes")},
    "ErrorInfo": {"reason": (1, "string"), "metadata": (3, "Pair[]")},
}


@cache
def message_class(name: str) -> Any:
    """The class of that message: a protobuf message, apart from those of any Spark client in the same process."""
    return message_factory.GetMessageClass(_pool().FindMessageTypeByName(f"{PACKAGE}.{name}"))


@cache
def _pool() -> descriptor_pool.DescriptorPool:
    file = descriptor_pb2.FileDescriptorProto(name="qidsql.proto", package=PACKAGE, syntax="proto3")
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, (number, kind) in fields.items():
            plain = kind.removesuffix(MARK)
            label = "LABEL_REPEATED" if kind != plain else "LABEL_OPTIONAL"
            added = message.field.add(name=field, number=number, label=label)
            if plain in MESSAGES:
                added.type_name = f".{PACKAGE}.{plain}"
            else:
                added.type = f"TYPE_{plain.upper()}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return pool


CONNECTING = 10.0  # seconds
PULSE = 4.0  # seconds between two checks that the server is alive
IDLE = 60.0  # seconds after which another session is asked too, as servers end idle ones: Sail after 15 minutes
HANGING = 8.0  # seconds without an answer to such a check, after which the server counts as gone
FAREWELL_SECONDS = 1.0  # seconds for a cancel or a farewell
CHANNEL = [("grpc.max_receive_message_length", LARGEST_ANSWER), ("grpc.max_metadata_size", 1 << 20)]
CELL = 8  # bytes of one in a list, also where the batch needs none for it
LOST = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)
SETTINGS = {
    "spark.sql.ansi.enabled": "true",  # a number that is too large is an error, not NULL
    "spark.sql.variable.substitute": "false",  # ${NAME} in a name stays what it is
    "spark.sql.constraintPropagation.enabled": "false",  # it takes minutes where rows are compared over 63 columns
    "spark.sql.debug.maxToStringFields": "1000000",  # plans list all expressions
}
# How files are read. A platform that fixes its settings may refuse these: then the user is told what is not promised.
OF_FILES = {
    "spark.sql.parquet.mergeSchema": "true",  # columns that only some files have are read
    "spark.sql.orc.mergeSchema": "true",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",  # folders zip=01 and zip=1 are two values
    "spark.sql.files.ignoreCorruptFiles": "false",  # a file that cannot be read is an error
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.parquet.aggregatePushdown": "false",  # values are counted, not looked up in footers
    "spark.sql.orc.aggregatePushdown": "false",
}
# Sail's, set by statements. By the first it takes what footers say for the values, where they name one value for a
# column of a file (it knows the sizes of files by it); by the others it leaves out parts of files by their bounds.
COLLECTED = "datafusion.execution.collect_statistics"
PRUNED = ("datafusion.execution.parquet.pruning", "datafusion.execution.parquet.bloom_filter_on_read")
TOLD = "spark.sql.debug.maxToStringFields"  # one of them that no server has by itself
LETTER_CASE = "spark.sql.caseSensitive"


class ServerGone(Exception):
    """The server did not show that it is alive while a statement ran."""


class EndlessRows(Exception):
    """More rows arrived than an answer can have."""


class ServerRestarted(ServerGone):
    """The server no longer is the one that was told the settings."""


def settings(exact: bool) -> dict[str, str]:
    """What each session is told. Names of columns are looked up in files, too: those of a catalog are often in lower
    case there. If that is `exact`, a column whose name a file has in other letter case is NULL in every row."""
    return SETTINGS | OF_FILES | {LETTER_CASE: "true" if exact else "false"}


class KeptSettings:
    """The settings of a session that a user named, as they were before the first of its workers changed them."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.values: dict[str, str] = {}  # "" for one that was not set


class SparkSession:
    """One session. A statement runs until it ends, `cancel` or `hang_up` is called, or its time is up.

    `exact`: columns whose names differ in letter case only are two. `refused`: settings that the server did not accept.
    `beside`: sessions that are kept alive while a statement of this one runs.
    """

    def __init__(
        self,
        address: Address,
        statement_seconds: float,
        exact: bool = False,
        kept: KeptSettings | None = None,
        beside: Sequence["SparkSession"] = (),
    ) -> None:
        self._seconds, self._beside = statement_seconds, beside
        self._asked = time.monotonic()  # when the server was last asked for anything
        self._operation: str | None = None
        self._call: Any = None
        self._gone = False
        self.owing = False  # answers that count only if the server still knows the settings
        self.closed = False
        self._served = ""  # the server's own name of the session
        self.borrowed = address.session is not None
        self._metadata = address.headers
        self._session = {
            "session_id": address.session or str(uuid.uuid4()),
            "user_context": {"user_id": address.user, "user_name": address.user},
        }
        self._channel = _channel(address)
        self._stub = {
            method: self._channel.unary_unary(SERVICE + method, _bytes, message_class(f"{answer}Response").FromString)
            for method, answer in {
                "AnalyzePlan": "AnalyzePlan",
                "Config": "Config",
                "Interrupt": "Interrupt",
                "ReleaseSession": "ReleaseSession",
            }.items()
        }
        self._execute = self._channel.unary_stream(
            f"{SERVICE}ExecutePlan", _bytes, message_class("ExecutePlanResponse").FromString
        )
        try:
            wanted = settings(exact)
            if kept is not None and self.borrowed:
                with kept.lock:
                    kept.values = kept.values or self.settings_now(list(wanted))
            self.refused = self._configure(wanted)
            if self._is_sail:
                self.refused += self._switched_off((COLLECTED, *PRUNED))
            self._may_count = self._is_sail and not self.borrowed and COLLECTED not in self.refused
        except BaseException:
            self._channel.close()
            raise

    def _configure(self, wanted: dict[str, str]) -> tuple[str, ...]:
        """Sets all in one call; if the server refuses that, one by one. Returns those of files that it refuses. Raises
        grpc.RpcError."""
        try:
            self._set(wanted)
        except grpc.RpcError as error:
            if error.code() in (*LOST, grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.UNIMPLEMENTED):
                raise
            self._set({key: value for key, value in wanted.items() if key not in OF_FILES})
            return tuple(key for key in OF_FILES if not self._accepts(key, wanted[key]))
        return ()

    def _accepts(self, key: str, value: str) -> bool:
        try:
            self._set({key: value})
        except grpc.RpcError as error:
            if error.code() in LOST:
                raise
            return False
        return True

    def _set(self, wanted: dict[str, str]) -> None:
        pairs = [{"key": key, "value": value} for key, value in wanted.items()]
        self._ask("Config", CONNECTING, operation={"set": {"pairs": pairs}})

    @property
    def _is_sail(self) -> bool:
        """Whether the server calls the session by our own name of it."""
        return self._served == self._session["session_id"]

    def _note_answer(self) -> None:
        """Of a server that calls the session by our own name of it, as Sail does after a restart too."""
        self.owing = self.owing or self._served in ("", self._session["session_id"])

    def _switched_off(self, keys: tuple[str, ...]) -> tuple[str, ...]:
        """Sets some of Sail's own settings, in calls side by side; those that it refuses."""
        calls = [self._started(f"SET {key} = false") for key in keys]
        refused = []
        for key, call in zip(keys, calls, strict=True):
            try:
                for _ in self._tables_of(call):
                    pass
            except grpc.RpcError as error:
                if error.code() in LOST:
                    raise
                refused.append(key)
        return tuple(refused)

    def _switched(self, key: str, on: bool) -> bool:
        """Sets one of Sail's own settings; False if it refuses."""
        try:
            self.execute(f"SET {key} = {str(on).lower()}")
        except grpc.RpcError as error:
            if error.code() in LOST:
                raise
            return False
        return True

    def plan_with_sizes(self, sql: str) -> list[Row]:
        """The plan of a query, with sizes: Sail knows those from footers. In a session that others use it stays told to
        read none of them."""
        if not self._may_count:
            return self.execute(f"EXPLAIN COST {sql}")
        self._switched(COLLECTED, on=True)
        try:
            return self.execute(f"EXPLAIN COST {sql}")
        finally:
            if not self._switched(COLLECTED, on=False):
                raise ServerGone

    def settings_now(self, keys: list[str], seconds: float = CONNECTING) -> dict[str, str]:
        """What the session is told at present; "" for what it is not told."""
        answer = self._ask("Config", seconds, operation={"get_option": {"keys": keys}})
        return dict.fromkeys(keys, "") | {pair.key: pair.value for pair in answer.pairs}

    def put_back(self, kept: KeptSettings) -> None:
        """Gives a session of a user its settings back. Those that a platform refuses were not changed."""
        for key, value in kept.values.items():
            with suppress(grpc.RpcError):
                if value:
                    self._set({key: value})
                else:
                    self._ask("Config", FAREWELL_SECONDS, operation={"unset": {"keys": [key]}})
        kept.values = {}

    def execute(self, sql: str) -> list[Row]:
        """The rows of a statement. Raises EndlessRows, and as `_tables` does."""
        rows: list[Row] = []
        size = 0
        for table in self._tables(sql):
            size += table.nbytes + CELL * table.num_rows * table.num_columns
            if size > LARGEST_ANSWER:
                raise EndlessRows
            rows += zip(*(column.to_pylist() for column in table.columns), strict=True)
        return rows

    def export(self, sql: str, path: Path) -> None:
        """Writes the rows to a parquet file as they arrive."""
        tables = self._tables(sql)
        first = next(tables)
        with parquet.ParquetWriter(path, first.schema) as file:
            file.write_table(first)
            for table in tables:
                file.write_table(table)

    def load(self, sql: str, path: Path) -> None:
        raise NotImplementedError("nothing is written to a Spark server")

    def freeze_time(self) -> None:
        """Nothing to do: no condition depends on the time."""

    def columns(self, sql: str) -> list[Any]:
        """The fields of a query's result, without running it: name, data_type, nullable."""
        answer = self._ask("AnalyzePlan", self._seconds, schema={"plan": _plan(sql)})
        self._note_answer()
        return list(answer.schema.schema.struct.fields)

    def files(self, sql: str) -> frozenset[str]:
        """The files that a query would read, without running it; empty if they are not known."""
        return frozenset(self._ask("AnalyzePlan", self._seconds, input_files={"plan": _plan(sql)}).input_files.files)

    def keep_alive(self) -> None:
        """Sets nothing either, where the server was asked for nothing for long. Any thread may ask; whether it answers
        shows when the session is used next."""
        if not self.closed and time.monotonic() > self._asked + IDLE:
            with suppress(grpc.RpcError, ServerRestarted, ValueError):
                self.pulse()

    def pulse(self) -> None:
        """Sets nothing. Raises grpc.RpcError if the server does not answer."""
        self._ask("Config", HANGING, operation={"set": {}})

    def cancel(self) -> None:
        if self._operation is not None:
            self._ask("Interrupt", FAREWELL_SECONDS, interrupt_type=OPERATION, operation_id=self._operation)

    def hang_up(self) -> None:
        if self._call is not None:
            self._call.cancel()

    def close(self) -> None:
        with suppress(grpc.RpcError, ServerGone):
            self.check_settings(FAREWELL_SECONDS)
        self.closed = True
        if not self.borrowed:
            with suppress(grpc.RpcError):
                self._ask("ReleaseSession", FAREWELL_SECONDS)
        self._channel.close()

    def _ask(self, method: str, seconds: float, **fields: Any) -> Any:
        """The answer to a call other than a statement. Raises grpc.RpcError, ServerRestarted."""
        self._asked = time.monotonic()
        kind = message_class(f"{method}Request")
        observed = {OBSERVED: self._served} if OBSERVED in kind.DESCRIPTOR.fields_by_name else {}
        answer = self._stub[method](
            kind(**self._session, **observed, **fields), timeout=seconds, metadata=self._metadata
        )
        if observed:
            self._check_served(answer)
        return answer

    def _check_served(self, answer: Any) -> None:
        """Raises ServerRestarted if another server answers, or the same one that has lost the session."""
        found = getattr(answer, SERVED)
        if found and self._served not in ("", found):
            raise ServerRestarted
        self._served = self._served or found

    def check_settings(self, seconds: float = CONNECTING) -> None:
        """Shows that the answers so far were given by the server that was told the settings: it still knows them. Any
        thread may ask. Raises ServerGone, grpc.RpcError."""
        if not self.owing:
            return
        if self.closed:
            raise ServerGone
        self.owing = False
        try:
            if self.settings_now([TOLD], seconds) != {TOLD: SETTINGS[TOLD]}:
                raise ServerRestarted
        except BaseException:
            self.owing = True
            raise

    def _tables(self, sql: str) -> Iterator[arrow.Table]:
        """The rows of a statement, batch by batch; at least one, which may be empty. Raises grpc.RpcError, ServerGone,
        ValueError if rows are missing."""
        yield from self._tables_of(self._started(sql))

    def _started(self, sql: str) -> Any:
        """The call of a statement that has been sent."""
        self._asked = time.monotonic()
        self._operation = str(uuid.uuid4())
        request = message_class("ExecutePlanRequest")(
            **self._session,
            **{OBSERVED: self._served},
            plan=_plan(sql),
            client_type="qidsql",
            operation_id=self._operation,
        )
        self._call = self._execute(request, timeout=self._seconds, metadata=self._metadata)
        return self._call

    def _tables_of(self, call: Any) -> Iterator[arrow.Table]:
        try:
            with self._watched(call):
                for response in call:
                    self._check_served(response)
                    if response.HasField("arrow_batch"):
                        table = arrow.ipc.open_stream(response.arrow_batch.data).read_all()
                        if table.num_rows != response.arrow_batch.row_count:
                            raise ValueError("a batch of rows is not complete")
                        yield table
            self._note_answer()
        except grpc.RpcError:
            if self._gone:
                raise ServerGone from None
            raise
        finally:
            call.cancel()  # if the rows were not all taken
            self._operation = self._call = None

    @contextmanager
    def _watched(self, call: Any) -> Iterator[None]:
        """Cancels the call if the server hangs."""
        done = threading.Event()
        threading.Thread(target=self._watch, args=(call, done), name="qidsql pulse", daemon=True).start()
        try:
            yield
        finally:
            done.set()

    def _watch(self, call: Any, done: threading.Event) -> None:
        while not done.wait(PULSE):
            try:
                self.pulse()
                for other in list(self._beside):
                    other.keep_alive()
            except grpc.RpcError as error:
                if error.code() in LOST and not done.is_set():
                    self._gone = True
                    call.cancel()
                    return
            except ServerRestarted:
                self._gone = True
                call.cancel()
                return
            except ValueError:  # the channel is closed
                return


def _channel(address: Address) -> grpc.Channel:
    target = f"{address.host}:{address.port}"
    if not address.encrypted:
        return grpc.insecure_channel(target, CHANNEL)
    credentials = grpc.ssl_channel_credentials()
    if address.token is not None:
        credentials = grpc.composite_channel_credentials(credentials, grpc.access_token_call_credentials(address.token))
    return grpc.secure_channel(target, credentials, CHANNEL)


def _plan(sql: str) -> dict[str, Any]:
    return {"root": {"sql": {"query": sql}}}


def _bytes(message: Any) -> bytes:
    return bytes(message.SerializeToString())
