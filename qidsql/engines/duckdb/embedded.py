"""The engines in a database that somebody else has open: that of a user's connection, and of the shell that loads the
extension.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import duckdb
from sqlglot import exp

from qidsql.core.budget import bytes_limited
from qidsql.core.tables import CatalogTable, Condition, Table, TableName
from qidsql.engines.duckdb.engine import IN_USE, DuckDBEngine
from qidsql.engines.duckdb.host import Caller, CatalogCache, HostConnection, HostError, seen_of_all, seen_query
from qidsql.engines.runner import TableBytes
from qidsql.engines.table_names import parsed_name
from qidsql.engines.workers import run_in_thread
from qidsql.errors import QidsqlError, SourceError, StatementError, UnknownName, UsageError
from qidsql.sql.relation import name_text, table_node
from qidsql.sql.templates import Filling, Row

if TYPE_CHECKING:
    from qidsql.engines.postgres.attached import AttachedEngine


# Names of tables as a user's session finds them: by its search path, in every attached database.


class InSessionEngine(DuckDBEngine):
    """An engine in the database of a user's session."""

    _search_path: list[tuple[str, str]] | None  # catalog and schema of each entry; None if unknown

    def _take_over(self, search_path: str | None) -> None:
        """Looks for tables where the caller does: in its search path, or in the default schema if that is empty."""
        schemas = [(self._default.catalog, self._default.schema)]
        if search_path and search_path.strip():
            entries = [parsed_name(entry, "duckdb") for entry in _entries(search_path)]
            schemas = [self._schema(entry.db, entry.name) for entry in entries if entry]
        self._default = TableName("", schemas[0][1], schemas[0][0])
        self._search_path = None if search_path is None else schemas

    def _schema(self, catalog: str, schema: str) -> tuple[str, str]:
        """Catalog and schema of an entry; one name is a schema of the default database, or else a database."""
        if catalog:
            return catalog, schema
        within = (self._default.catalog.lower(), schema.lower()) in self._schemas()
        return (self._default.catalog, schema) if within else (schema, "main")

    def _schemas(self) -> set[tuple[str, str]]:
        """Catalog and name of each schema, in lower case."""
        return {(str(database).lower(), str(name).lower()) for database, name in self._catalog("schemas")}

    def _qualified(self, typed: str | None) -> str | None:
        """The name with the catalog and schema in which DuckDB itself would find it."""
        found = self.found_in_path(typed)
        return typed if found is None else table_node(found).sql("duckdb")

    def found_in_path(self, typed: str | None) -> TableName | None:
        """The table that DuckDB itself would find by a name without its database."""
        meant = self._meant(typed)
        known = {folded(name): name for name in self.table_names()} if meant else {}
        return next((known[folded(name)] for name in meant if folded(name) in known), None)

    def _meant(self, typed: str | None) -> list[TableName]:
        """The tables that DuckDB would look for, in order: by the search path, and a.b also as table b of database a.

        Empty for a name that includes its database, or is invalid.
        """
        node = None if typed is None else parsed_name(typed, "duckdb")
        if node is None or node.catalog:
            return []
        names = [TableName(node.name, node.db or schema, catalog) for catalog, schema in self._search_path or ()]
        return [*names, TableName(node.name, "main", node.db)] if node.db else names


def _entries(search_path: str) -> Sequence[str]:
    """The entries of a search path, whose quoted names can contain commas."""
    entries: exp.Expr = exp.maybe_parse(f"[{search_path}]", dialect="duckdb")
    return [part.sql("duckdb") for part in entries.expressions]


def folded(name: TableName) -> tuple[str, ...]:
    return name.catalog.lower(), name.schema.lower(), name.name.lower()


LABEL = "this database"
UNSEEN = (
    "an audit runs on a connection of its own, which sees no temporary table and nothing uncommitted: "
    "CREATE TABLE qidsql.copy AS {rows}; then audit 'qidsql.copy'"
)
POSTGRES = "postgres"  # attached databases of this type are audited in the server, not through DuckDB
DRIVER_ERRORS = {  # duckdb_error_type: the exception that the Python driver raises for it
    1: duckdb.OutOfRangeException,
    2: duckdb.ConversionException,
    13: duckdb.CatalogException,
    14: duckdb.ParserException,
    24: duckdb.BinderException,
    28: duckdb.IOException,
    29: duckdb.InterruptException,
    31: duckdb.InternalException,
    32: duckdb.InvalidInputException,
    33: duckdb.OutOfMemoryException,
    34: duckdb.PermissionException,
}


class HostEngine(InSessionEngine):
    """The engine inside a user's DuckDB."""

    def __init__(self, connection: HostConnection, caller: Caller, cache: CatalogCache) -> None:
        self._cache, self.search_path, self.lent = cache, caller.settings(connection), connection
        super().__init__(connection, LABEL, folder=None)  # type: ignore[arg-type]  # most audits need none
        self.snapshot = "each statement sees what is committed when it starts, and nothing of an open transaction"
        self._kinds = {str(name).lower(): (str(name), kind) for name, kind in self._catalog("databases")}
        self._take_over(caller.search_path)

    def _defaults(self, connection: duckdb.DuckDBPyConnection) -> list[Row]:
        """Once for a call: two engines serve it."""
        if "defaults" not in self._cache.rows:
            self._cache.rows["defaults"] = super()._defaults(connection)
        return self._cache.rows["defaults"]

    def expect(self, rows: int) -> None:
        """Nothing: the settings are the user's."""

    def table_bytes(self, table: TableName) -> TableBytes | None:
        """Only for a limit, as no function returns what was read. Unknown if the table is not in a DuckDB database."""
        _, kind = self._kinds.get(table.catalog.lower(), ("", ""))
        return super().table_bytes(table) if bytes_limited() and kind == "duckdb" else None

    def _name_to_hold(self) -> None:
        """None: nothing is attached to the user's database."""

    def describe(self, table: str | None) -> Table:
        if table not in self._cache.tables:
            self._cache.tables[table] = self._described(table)
        found = self._cache.tables[table]
        if found.computed or self._kinds.get(found.name.catalog.lower(), ("", ""))[1] != "duckdb":
            self._measure(found.name)
        return found

    def _described(self, table: str | None) -> Table:
        """Describes a table. Lists the views, which is slow in DuckDB, only if no table has that name."""
        meant = self._meant(table)[:1]
        for row in self._catalog("tables") if meant else ():
            if folded(self._name(row)) == folded(meant[0]):
                return self._in_duckdb(table, self._described_row(row, bool(row[5])))
        try:
            return self._in_duckdb(table, super().describe(self._qualified(table)))
        except UnknownName as error:
            raise UsageError(f"{error}; {UNSEEN.format(rows=f'FROM {table}')}") from None

    def _in_duckdb(self, table: str | None, described: Table) -> Table:
        """The table. Raises SourceError if it is in an attached Postgres."""
        catalog = described.name.catalog
        if self._kinds.get(catalog.lower()) == (catalog, POSTGRES):
            raise SourceError(
                f"{table} is in {catalog}, an attached Postgres, and is audited there: write its name with its "
                f"database, {table_node(described.name).sql('duckdb')}"
            )
        return described

    def translate(self, error: Exception, purpose: str) -> QidsqlError:
        if not isinstance(error, HostError):
            return super().translate(error, purpose)
        kind = DRIVER_ERRORS.get(error.kind, duckdb.Error)
        if kind is duckdb.CatalogException and "does not exist" in str(error):  # the names existed before
            return StatementError(
                f"the table, or one that the view reads, no longer exists ({purpose}): it was dropped or renamed"
            )
        if kind is duckdb.OutOfMemoryException:
            return StatementError(
                f"DuckDB ran out of memory or temporary space ({purpose}); SET memory_limit = '8GB', or audit fewer "
                f"columns"
            )
        if kind is duckdb.PermissionException:
            return StatementError(
                f"this database may not use files ({purpose}): enable_external_access is off, and the codes of the "
                f"rows go through a private temporary file; use the command line: qidsql uniques, qidsql protect"
            )
        return super().translate(kind(str(error)), purpose)

    def _catalog(self, template: str, **holes: Filling) -> list[Row]:
        if holes:
            return super()._catalog(template, **holes)
        if template not in self._cache.rows:
            self._cache.rows[template] = super()._catalog(template)
        return self._cache.rows[template]

    def _each_row(self, template: str, keep: Callable[[Row], None]) -> None:
        for row in self._catalog(template):
            keep(row)

    def seen(self, tables: Sequence[str], where: str) -> tuple[list[str], str]:
        """What a connection with these settings sees of the tables, and their names; without one, of all.

        As one of the answers that the caller's statement may give to `Guard.question`. Raises QidsqlError.
        """
        names = [self._full_name(self.describe(table).name) for table in tables]
        asked = [seen_query(*each) for each in zip(names, (where, ""), strict=False)]
        if not tables:
            asked = [seen_of_all(self.stored_tables(self._full_name))]
        return ["; ".join(self.answers(asked))], ", ".join(map(self.whole_name, tables)) or "all tables"

    def answers(self, queries: Sequence[str]) -> list[str]:
        """What a connection with these settings answers. Raises QidsqlError."""
        connection = self.lent.cursor()

        def found() -> list[str]:
            connection.execute(self.search_path)
            return [str(connection.execute(query).fetchall()[0][0]) for query in queries]

        try:
            return run_in_thread(found, connection.interrupt, None)
        except HostError as error:
            raise self.translate(error, "rows of the table") from None
        finally:
            connection.close()

    def whole_name(self, table: str) -> str:
        """The table's name with its database, for people."""
        name = self.describe(table).name
        return f"{name.catalog}.{name}"

    def full_name(self, typed: str) -> str:
        """The name by which DuckDB finds a table as typed whatever the search path is. Raises UnknownName."""
        return self._full_name(self.describe(typed).name)

    def names_in(self, typed: str) -> list[str]:
        """Those of all tables and views of a schema, in order. Raises UsageError."""
        node = parsed_name(typed, "duckdb")
        place = self._schema(node.db, node.name) if node else ("", "")
        schema = folded(TableName("", place[1], place[0]))
        found = [name for name in self.table_names() if folded(replace(name, name="")) == schema]
        if not found:
            raise UsageError(f"there is no table in a schema {typed}")
        return [self._full_name(name) for name in sorted(found, key=str)]

    def stored_tables(self, named: Callable[[TableName], str]) -> list[str]:
        """The names of all stored tables."""
        return [named(each.name) for each in self.catalog().tables if each.kind == "table"]

    def _full_name(self, name: TableName) -> str:
        """The name by which DuckDB finds the table whatever the search path is."""
        return name_text(self.dialect, name)

    def name_in_session(self, name: TableName) -> str:
        """The name as short as a user can type it: a temporary table or a CTE may hide the table."""
        first = (self._search_path or [("", "")])[0]
        if folded(replace(name, name="")) == folded(TableName("", first[1], first[0])):
            return str(exp.to_identifier(name.name, quoted=True).sql("duckdb"))
        return self._full_name(name)

    def _has_schema(self, name: str) -> bool:
        """Whether the default database has the schema. No, if an attached server is lost: the audit tells that."""
        try:
            return (self._default.catalog.lower(), name.lower()) in self._schemas()
        except StatementError:
            return False

    def attached_postgres(self, typed: str) -> tuple[str | None, str]:
        """The attached Postgres that the name is in, and the name without it; None if it is in none."""
        node = parsed_name(typed, "duckdb")
        first, rest = (node.catalog or node.db, node.copy()) if node else ("", None)
        if node is not None and rest is not None and first.lower() in self._kinds:
            name, kind = self._kinds[first.lower()]
            if not node.catalog and self._has_schema(first):
                raise UsageError(f"{first} is both an attached database and a schema: write {first}.SCHEMA.TABLE")
            rest = exp.Table(this=rest.this, db=rest.args["db"] if rest.catalog else None)
            return (name, rest.sql("postgres")) if kind == POSTGRES else (None, typed)
        for catalog, _ in (self._search_path or ())[:1]:
            name, kind = self._kinds.get(catalog.lower(), (catalog, None))
            if kind == POSTGRES and not (node and node.catalog):
                return name, typed
        return None, typed


def engine_for(
    tables: Sequence[str], connection: HostConnection, caller: Caller, cache: CatalogCache
) -> "HostEngine | AttachedEngine":
    """The engine for tables: this database, or the attached Postgres that their names or the search path name.

    `connection` belongs to the engine. Only names are looked up. Raises SourceError, StatementError.
    """
    host = HostEngine(connection, caller, cache)
    found = {table: host.attached_postgres(table) for table in tables}
    database, _ = found[tables[0]]
    if database is None:
        return host
    from qidsql.engines.postgres.attached import AttachedEngine

    try:
        return AttachedEngine(
            connection.cursor(), host, database, {table: inside for table, (_, inside) in found.items()}, cache
        )
    except BaseException:
        host.close()
        raise


# The engine on the database of a user's connection, which says so if that connection sees something else.


SETTINGS = "SELECT system.main.current_setting('TimeZone'), system.main.current_setting('search_path')"


OTHER_ROWS = (
    "only what is committed in a table or view is read; pass other rows (a temporary table, a query, a file, what is "
    "registered) as a relation: qidsql.audit(connection.sql('FROM ...'))"
)


class BorrowedEngine(InSessionEngine):
    """Audits by a cursor, in one transaction beside those of the `lender`, and refuses what that sees differently."""

    def __init__(
        self, lender: duckdb.DuckDBPyConnection, cursor: duckdb.DuckDBPyConnection, label: str, writable: bool
    ) -> None:
        try:
            [(zone, path)] = lender.sql(SETTINGS).fetchall()
        except IN_USE:
            raise SourceError(
                f"{label} has a result that was not fetched to its end; fetch it first: connection.fetchall()"
            ) from None
        self.search_path = Caller(time_zone=zone).settings(cursor)
        super().__init__(cursor, label, None, writable=writable, borrowed=True)
        if writable and self._catalog("doctor_session", database=self._default.catalog)[0][0]:
            raise SourceError(f"{label} is read-only; connect without read_only, or leave out writable")
        self._take_over(str(path))
        self._lender = lender
        self._same: set[tuple[str, str]] = set()  # what was compared: later the lender can see newer rows

    def describe(self, table: str | None) -> Table:
        try:
            found = super().describe(self._qualified(table))
        except UnknownName as error:
            raise UsageError(f"{error}; {OTHER_ROWS}") from None
        node = parsed_name(table, "duckdb") if table else None
        self._compare(found, node.sql("duckdb", identify=True) if node else name_text(self.dialect, found.name))
        return found

    def describe_listed(self, listed: CatalogTable) -> Table:
        found = super().describe_listed(listed)
        self._compare(found, name_text(self.dialect, found.name))
        return found

    def parse_condition(self, table: Table, where: str) -> Condition:
        condition = super().parse_condition(table, where)
        self._compare(table, name_text(self.dialect, table.name), where)
        return condition

    def _compare(self, table: Table, typed: str, where: str = "") -> None:
        """Raises SourceError if the lender, which calls the table `typed`, sees other rows of it."""
        if (typed, where) in self._same:
            return
        here = self._execute(seen_query(name_text(self.dialect, table.name), where), "rows of the table")
        try:
            there = self._lender.sql(seen_query(typed, where)).fetchall()
        except duckdb.CatalogException:
            if self.writable:  # a copy that is not committed yet
                return
            there = []
        except duckdb.Error as error:
            raise self.translate(error, "rows that the connection sees") from None
        if here != there:
            raise SourceError(
                f"{self.label} sees other rows of {typed} than what is committed, which alone is read: COMMIT or "
                f"ROLLBACK its transaction, drop its temporary table or view of this name, or RESET its collation or "
                f"variables"
            )
        self._same.add((typed, where))
