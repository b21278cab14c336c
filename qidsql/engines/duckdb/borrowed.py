"""The engine on the database of a user's connection, which says so if that connection sees something else."""

import duckdb

from qidsql.core.catalog import CatalogTable
from qidsql.core.tables import Condition, Table
from qidsql.engines.duckdb.engine import IN_USE
from qidsql.engines.duckdb.in_session import InSessionEngine
from qidsql.engines.duckdb.macros import seen_query
from qidsql.engines.embedding import Caller
from qidsql.engines.table_names import parsed_name
from qidsql.errors import SourceError, UnknownName, UsageError
from qidsql.sql.relation import name_text

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
