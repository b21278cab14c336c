"""SQLite: one read-only connection to a database file, in one read transaction."""

import hashlib
import math
import sqlite3
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, TypeVar, cast

from sqlglot import exp

from qidsql.core.results import Check, Examination, State
from qidsql.core.tables import (
    Catalog,
    CatalogColumn,
    CatalogTable,
    Column,
    Comparison,
    Condition,
    Table,
    TableName,
    ValueKind,
    find_schema,
)
from qidsql.engines.base import Engine
from qidsql.engines.condition import Dependences, checked, picks
from qidsql.engines.runner import TableBytes
from qidsql.engines.table_names import find_table
from qidsql.engines.workers import CANCEL_PATIENCE, Worker
from qidsql.errors import ConnectionLost, QidsqlError, SourceError, StatementError, UsageError
from qidsql.sql.dialects import Dialect
from qidsql.sql.relation import table_node
from qidsql.sql.templates import Row, fill, integer

# SQLite's dialect. Functions missing in its SQL are Python functions: a hash, a bit count, numbers beyond 64 bits.


COMPARISONS = (exp.GT, exp.GTE, exp.LT, exp.LTE, exp.EQ)
SERIES = "WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < {}) SELECT n AS {} FROM s"


class SQLiteDialect(Dialect):
    """SQLite has typed values in untyped columns: a cast would merge 1 and '1', and its equality merges 1 and 1.0."""

    def comparable(self, column: exp.Expr, comparison: Comparison) -> exp.Expr:
        binary = exp.to_identifier(self.byte_collation, quoted=True)
        if comparison is Comparison.PUBLISHED:
            column = _in_its_form(column)
        return column if comparison is Comparison.VALUE else exp.Collate(this=column, expression=binary)

    def adapted(self, tree: exp.Expr) -> exp.Expr:
        """What may exceed 64 bits becomes a Python function, since SQLite would go on in floats: sums, and both sides
        of comparisons. A series of numbers becomes a recursive query."""
        for compared in list(tree.find_all(*COMPARISONS)):
            if _wide(compared):
                _compare_exactly(compared)
        for total in list(tree.find_all(exp.Sum)):
            if _wide(total):
                factors = list(total.this.args.values())[:2] if isinstance(total.this, exp.Mul) else [total.this]
                total.replace(exp.Anonymous(this="WIDE_SUM", expressions=factors))
        for series in list(tree.find_all(exp.GenerateSeries)):
            table = series.find_ancestor(exp.Table)
            assert table is not None
            text = SERIES.format(series.args["end"].sql("sqlite"), table.args["alias"].columns[0].name)
            table.replace(exp.maybe_parse(text, dialect="sqlite", into=exp.Select).subquery(table.alias))
        for widened in _wide(tree):  # SQLite has no wider type: a cast would cut the text of a wide number to 64 bits
            widened.replace(widened.this)
        return tree


def _in_its_form(value: exp.Expr) -> exp.Expr:
    """The value; floats and blobs as blobs of all their digits, which differ from each other and from all else."""
    digits, octets = exp.Literal.string("real %!.17g"), exp.Literal.string("blob %s")
    written = {
        "real": exp.Anonymous(this="PRINTF", expressions=[digits, value.copy()]),
        "blob": exp.Anonymous(
            this="PRINTF", expressions=[octets, exp.Anonymous(this="HEX", expressions=[value.copy()])]
        ),
    }
    forms = [exp.If(this=exp.Literal.string(kind), true=exp.cast(text, "BLOB")) for kind, text in written.items()]
    return exp.Case(this=exp.Anonymous(this="TYPEOF", expressions=[value.copy()]), ifs=forms, default=value)


def _wide(tree: exp.Expr) -> list[exp.Cast]:
    return [cast for cast in tree.find_all(exp.Cast) if cast.to.args.get("kind") == "WIDE"]


def _compare_exactly(compared: exp.Expr) -> None:
    """Calculates both sides in Python, where a literal beyond 64 bits comes as text: SQLite would read a float."""
    for node in list(compared.find_all(exp.Mul, exp.Add, exp.Literal)):
        if isinstance(node, exp.Literal):
            node.replace(exp.Literal.string(node.name))
        else:
            name = "WIDE_PRODUCT" if isinstance(node, exp.Mul) else "WIDE_TOTAL"
            node.replace(exp.Anonymous(this=name, expressions=[node.this, node.expression]))
    sides = [compared.this, compared.expression]
    compared.set("this", exp.Anonymous(this="WIDE_DIFFERENCE", expressions=sides))
    compared.set("expression", exp.Literal.number(0))


def _hash(*values: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="HASH_63", expressions=[value.copy() for value in values])


def _row_hash(values: Sequence[exp.Expr]) -> exp.Expr:
    return _hash(*(exp.cast(value.copy(), "BLOB") for value in values))  # a text can be invalid UTF-8


SQLITE = SQLiteDialect(
    name="sqlite",
    quote='"',
    wide="INTEGER",
    hashed="INTEGER",
    text="TEXT",
    byte_collation="BINARY",
    row_hash=_row_hash,
    shuffled=lambda number, seed: _hash(number, exp.Literal.number(seed)),
    keyed=_hash,
    decimal="REAL",
    number="REAL",
    value_hash=lambda value, number: _row_hash([value]),
    about_distinct=lambda value: exp.Count(this=exp.Distinct(expressions=[value.copy()]), big_int=True),
    caseless=True,
    bytes="the whole file",
    tested=("SQLite 3",),
    own_hashes=True,
    texts_among=lambda rows, column: fill("sqlite/texts_among", relation=rows, sensitive=column),
    recodable=((ValueKind.TEXT, r"text|clob|n?(var)?char(acter)?(\(\d+\))?"),),  # no dates, and no exact remainders
)


def hash_63(*values: object) -> int:
    """A non-negative 63-bit integer."""
    return int.from_bytes(hashlib.blake2b(repr(values).encode(), digest_size=8).digest(), "big") >> 1


def exact(value: int | str) -> int:
    """A number, or the text of one beyond 64 bits. A float is what SQLite makes of an overflow."""
    if isinstance(value, float):
        raise OverflowError
    return int(value)


def _fitting(value: int) -> int | str:
    return value if value.bit_length() < 64 else str(value)


def wide_product(one: int | str, other: int | str) -> int | str:
    return _fitting(exact(one) * exact(other))


def wide_total(one: int | str, other: int | str) -> int | str:
    return _fitting(exact(one) + exact(other))


def wide_difference(one: int | str, other: int | str) -> int:
    """The sign of the difference."""
    return (exact(one) > exact(other)) - (exact(one) < exact(other))


class WideSum:
    """The exact sum of integers, or of products of two; returned as text if it exceeds 64 bits."""

    total: int | None = None

    def step(self, value: int | str | None, times: int | str = 1) -> None:
        self.total = (self.total or 0) + exact(value or 0) * exact(times)

    def finalize(self) -> int | str | None:
        return None if self.total is None else _fitting(self.total)


Answer = TypeVar("Answer")

OVERFLOWS = ("integer overflow", "user-defined")  # ours raise when they get a float
WIDE_FUNCTIONS = {"WIDE_PRODUCT": wide_product, "WIDE_TOTAL": wide_total, "WIDE_DIFFERENCE": wide_difference}
DATES = {"date", "time", "datetime", "julianday", "unixepoch", "strftime", "timediff"}
NOW = ("now", "subsec", "subsecond")  # as the first argument that is a time
OF_ZONE = ("localtime", "utc")
WHY = {  # by SQLite's result codes
    "BUSY": "is locked by another process that writes to it; try again later, or audit a copy",
    "NOTADB": "is not an SQLite database, or an encrypted one",
    "CORRUPT": "is damaged; restore it from a backup",
    "CANTOPEN": "cannot be opened; a database in WAL mode needs a folder that this user may write to",
    "READONLY": "is in WAL mode, or has an unfinished transaction; its folder must be writable",
}


class SQLiteSession:
    """The connection. Results with a float are an error: SQLite switches to floats when integers exceed 64 bits."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._line = _connected(path)
        self._trusting: sqlite3.Connection | None = None  # a second one, at work: see `clock_asked`
        self._line.text_factory = partial(str, encoding="utf-8", errors="replace")
        self._line.create_function("HASH_63", -1, hash_63, deterministic=True)
        self._line.create_function("BIT_COUNT", 1, int.bit_count, deterministic=True)
        self._line.create_function("LN", 1, math.log, deterministic=True)  # SQLite has these only if built with them
        self._line.create_function("EXP", 1, math.exp, deterministic=True)
        for name, function in WIDE_FUNCTIONS.items():
            self._line.create_function(name, 2, function, deterministic=True)
        self._line.create_aggregate("WIDE_SUM", -1, cast(Any, WideSum))
        for sql in ("PRAGMA query_only = ON", "PRAGMA trusted_schema = OFF", "BEGIN", "SELECT 1 FROM sqlite_schema"):
            self._line.execute(sql).fetchall()

    def execute(self, sql: str) -> list[Row]:
        rows = self._line.execute(sql).fetchall()
        if any(isinstance(cell, float) for row in rows for cell in row):
            raise OverflowError
        return rows

    def export(self, sql: str, path: Path) -> None:
        with path.open("w", encoding="utf-8", newline="") as file:
            for row in self._line.execute(sql):
                file.write(",".join("" if c is None else '"' + str(c).replace('"', '""') + '"' for c in row) + "\n")

    def load(self, sql: str, path: Path) -> None:
        raise NotImplementedError("nothing is written to an SQLite database")

    def freeze_time(self) -> None:
        """Nothing to do: no condition depends on the time."""

    def changing_functions(self, sql: str) -> tuple[frozenset[str], frozenset[str], bool]:
        """The functions of a query, and of the views it reads, that SQLite calls not deterministic, those of dates, and
        whether a view picks rows by the order in which they are read. Reads no row.

        Functions of dates are deterministic for SQLite, although they return the time for 'now' or without an argument.
        """
        called: set[str] = set()
        views: set[str | None] = set()

        def note(action: int, first: str | None, name: str | None, _: str | None, view: str | None) -> int:
            views.add(view)
            if action == sqlite3.SQLITE_FUNCTION:
                called.add(str(name).lower())
            return sqlite3.SQLITE_OK

        self._line.set_authorizer(note)
        try:
            plan = self._line.execute(f"EXPLAIN {sql}").fetchall()
        finally:
            self._line.set_authorizer(None)
        rows = self._line.execute(
            "SELECT name FROM pragma_function_list WHERE type = 's' AND flags & 2048 = 0"
        ).fetchall()
        steps = [(str(step[1]), step[3], str(step[5]).lower()) for step in plan]
        timeless = all(text != "now" for _, _, text in steps)
        without = {
            text.partition("(")[0] for kind, first, text in steps if kind in ("Function", "PureFunc") and not first
        }
        time = called & DATES if not timeless else called & DATES & without
        texts = self._line.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'view'").fetchall()
        order = any(name in views and picks(str(text)) for name, text in texts)
        return frozenset(called & {str(name) for (name,) in rows} | time), frozenset(called & DATES), order

    def clock_asked(self, sql: str, functions: Collection[str]) -> tuple[frozenset[str], bool]:
        """Which of the functions of dates ask the clock while a query runs, whose arguments can be values of its rows,
        and whether any goes by the time zone of this machine.

        They are replaced in a connection of its own, which trusts views with them, as it has no function that does
        more than compute. Raises sqlite3.Error.
        """
        asked: set[str] = set()
        zones: list[object] = []
        with closing(_connected(self._path)) as trusting, closing(sqlite3.connect(":memory:")) as other:

            def called(name: str, *given: object) -> Any:
                times = given[name == "strftime" :][: 2 if name == "timediff" else 1]
                if not times or any(str(each).lower() in NOW for each in times):
                    asked.add(name)
                zones.extend(each for each in given if str(each).lower().strip() in OF_ZONE)
                marks = ", ".join("?" * len(given))
                return other.execute(f"SELECT {name}({marks})", given).fetchone()[0]

            for name in functions:
                trusting.create_function(name, -1, partial(called, name))
            self._trusting = trusting
            try:
                for text in ("PRAGMA query_only = ON", "PRAGMA trusted_schema = ON", sql):
                    trusting.execute(text).fetchall()
            finally:
                self._trusting = None
        return frozenset(asked), bool(zones)

    def cancel(self) -> None:
        for line in filter(None, (self._line, self._trusting)):
            line.interrupt()

    def hang_up(self) -> None:
        """Nothing to disconnect."""

    def close(self) -> None:
        self._line.close()


class SQLiteEngine(Engine):
    """The schema main of a database file. Declared keys are not read."""

    dialect = SQLITE
    export_format = "csv"
    version = f"SQLite {sqlite3.sqlite_version}"
    snapshot = "one read transaction for all statements"

    def __init__(self, path: Path, label: str) -> None:
        super().__init__(1)
        self.label = label
        self.time_zone = time.tzname[0]
        self._path = path
        self._tables: dict[TableName, tuple[str, bool]] = {}

    def _open(self, deadline: float | None) -> list[Worker]:
        worker = Worker(partial(SQLiteSession, self._path))
        try:
            worker.opened(deadline)
        except sqlite3.Error as error:
            raise SourceError(str(self.translate(error, "opening"))) from None
        self._state = object()
        self._tables = {}
        return [worker]

    def _renew_sessions(self) -> bool:
        self._tables = {}
        return super()._renew_sessions()

    def translate(self, error: Exception, purpose: str) -> QidsqlError:
        result = getattr(error, "sqlite_errorname", "SQLITE_ERROR").split("_")[1]
        if result == "INTERRUPT":
            return ConnectionLost(f"SQLite was interrupted ({purpose})")
        if isinstance(error, OverflowError) or any(each in str(error) for each in OVERFLOWS):
            return StatementError(f"SQLite's integers are too small for the result ({purpose})")
        if "unsafe use of" in str(error):  # of a virtual table or a function, by what a database itself defines
            return StatementError(
                f"a view of {self.label} rests on tables such as those of pragmas, which SQLite keeps from views, so "
                f"that what it shows depends on the session and not on the rows ({purpose}); audit a copy"
            )
        return StatementError(f"{self.label} {WHY.get(result, 'could not be read by SQLite')} ({purpose}; {result})")

    def table_bytes(self, table: TableName) -> TableBytes:
        """The whole file: SQLite does not tell how much of it is the table's."""
        return TableBytes(sum(integer(size) for (size,) in self._catalog("file_bytes")))

    def table_names(self) -> list[TableName]:
        return list(self._kinds())

    def _kinds(self) -> dict[TableName, tuple[str, bool]]:
        """Of each table and view its kind, and whether its rows have numbers: asked once for a read transaction."""
        if not self._tables:
            rows = self._catalog("tables")
            self._tables = {TableName(str(name), "main"): (str(kind), bool(own)) for name, kind, own in rows}
        return self._tables

    def describe(self, table: str | None) -> Table:
        """Of a view with functions of dates all rows are computed once, to see whether they ask the clock."""
        kinds = self._kinds()
        name = find_table(table, list(kinds), "sqlite", ["main"], self.label)
        kind, numbered = kinds[name]
        columns = tuple(Column(c.name, c.type, c.nullable, True, c.comparison) for c in self._columns(name.name))
        taken = {column.name.lower() for column in columns}
        address = [each for each in ("rowid", "_rowid_", "oid") if numbered and each not in taken]
        described = Table(name, kind, columns, row_address=tuple(address[:1]))
        if kind != "view":
            return described
        query = self.dialect.render(exp.select("*").from_(table_node(name)))
        changing, dates, order = self._of_view(lambda session: session.changing_functions(query))
        zone = False
        if dates and not changing:
            counts = [exp.Count(this=exp.column(each.name, quoted=True)) for each in columns]
            query = self.dialect.render(exp.select(*counts).from_(table_node(name)))
            changing, zone = self._of_view(lambda session: session.clock_asked(query, dates))
        return checked(described, Dependences(changing, zone=zone, order=order), self.time_zone)

    def _of_view(self, work: Callable[[SQLiteSession], Answer]) -> Answer:
        try:
            return self._on_one_session(lambda session: work(cast(SQLiteSession, session)))
        except sqlite3.Error as error:
            raise self.translate(error, "functions of the view") from None

    def parse_condition(self, table: Table, where: str) -> Condition:
        raise UsageError("an SQLite database takes no where condition; create a view with it, and audit the view")

    def catalog(self, schema: str | None = None) -> Catalog:
        """One statement, and one more for each table."""
        kinds = self._kinds()
        find_schema(schema, list(kinds), self.label)
        return Catalog(tuple(self._listed(name, kind) for name, (kind, _) in kinds.items()))

    def _listed(self, name: TableName, kind: str) -> CatalogTable:
        """A view of what is not there has no columns."""
        try:
            return CatalogTable(name, kind, self._columns(name.name))
        except StatementError as error:
            return CatalogTable(name, kind, (), obstacle=str(error))

    def examine(self, schema: str | None = None, role: str | None = None) -> Examination:
        if role is not None:
            raise UsageError("SQLite has no roles: anyone who can read the file can read all of it")
        return Examination((Check(State.OK, "opened read only, in one read transaction"),))

    def _only_read(self, *_: Any, **__: Any) -> NoReturn:
        raise UsageError(f"{self.label} is an SQLite database, which is only read")

    import_file = existing_kind = working_copy_name = finish_working_copy = _only_read

    def _columns(self, table: str) -> tuple[CatalogColumn, ...]:
        """Columns with a collation are compared by bytes, since it can equate different texts. Unknown for a view."""

        def comparison(collated: object, keeps_forms: object) -> Comparison:
            return Comparison.PUBLISHED if keeps_forms else Comparison.BYTES if collated else Comparison.VALUE

        return tuple(
            CatalogColumn(
                str(name),
                str(kind) or "ANY",
                not required,
                comparison=comparison(collated, keeps_forms),
            )
            for name, kind, required, collated, keeps_forms in self._catalog(
                "columns", f"columns of {table}", table=table
            )
        )

    def _catalog(self, template: str, purpose: str = "catalog", **holes: str) -> list[Row]:
        text = self.dialect.render(fill(f"sqlite/{template}", **holes))
        try:
            return self._on_one_session(lambda session: session.execute(text))
        except sqlite3.Error as error:
            raise self.translate(error, purpose) from None


def _connected(path: Path) -> sqlite3.Connection:
    url = f"{path.absolute().as_uri()}?mode=ro"
    return sqlite3.connect(url, CANCEL_PATIENCE, isolation_level=None, check_same_thread=False, uri=True)


def opened(path: Path, label: str) -> SQLiteEngine:
    """An engine on a database file. Raises SourceError, Interrupted, BudgetSpent."""
    if sqlite3.sqlite_version_info < (3, 37, 0):  # the first with PRAGMA table_list
        raise SourceError(f"this Python has SQLite {sqlite3.sqlite_version}; qidsql needs 3.37 or later")
    engine = SQLiteEngine(path, label)
    try:
        engine.table_names()
    except BaseException:
        engine.close()
        raise
    return engine
