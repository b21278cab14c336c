"""What the caller's own statement sees of the tables that an audit reads, asked by a query that its macro runs."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from qidsql.duckdb_extension.checks import MANY, checks_in, listed_query
from qidsql.duckdb_extension.queries import query_rows, server_of
from qidsql.engines.duckdb.macros import seen_of_all, seen_of_each, seen_of_typed, seen_query
from qidsql.engines.embedding import Caller, CatalogCache, HostConnection, HostError
from qidsql.errors import SourceError, UsageError

if TYPE_CHECKING:
    from qidsql.engines.duckdb.embedded import HostEngine

NAME = "qid_seen"  # of the scalar function that returns the query
ATTACHED = "SELECT 1 FROM system.main.duckdb_databases() WHERE type = 'postgres' LIMIT 1"
KEPT = 60.0  # seconds


@dataclass
class Guard:
    """The questions of an instance; one statement's questions about a server have the same moment."""

    parameters: Mapping[str, str]  # of a check: their types
    _moments: dict[tuple[str, str], tuple[float, str]] = field(default_factory=dict)

    def question(
        self, connection: HostConnection, table: str, where: str, beside: str, caller: Caller, statement: str
    ) -> str:
        """The query of what the caller sees of the table as typed; without one, of all tables.

        `beside` is a second table of the call. `statement` identifies the caller's statement, if
        this DuckDB can. Raises QidsqlError.
        """
        if beside == MANY:
            return self._of_checks(connection, table, where, caller, statement)
        try:
            if query := query_rows(table):
                return seen_query(query, where)
            if table and not connection.execute(ATTACHED).fetchall():
                return seen_of_typed(table, where)
            return self._of_any(connection, table, where, beside, caller, statement)
        except HostError:
            raise SourceError("this database's catalog cannot be read") from None
        finally:
            connection.close()

    def _of_checks(self, connection: HostConnection, typed: str, where: str, caller: Caller, statement: str) -> str:
        """What the caller sees of the checks and of each of their tables."""
        from qidsql.engines.duckdb.embedded import HostEngine

        host = HostEngine(connection, caller, CatalogCache())
        try:
            checks = checks_in(host, typed, self.parameters)
        finally:
            host.close()
        asked = [(each.table, each.given.get("where_", where)) for each in checks]
        listed = listed_query(typed) or self.question(connection.cursor(), typed, "", "", caller, statement)
        parts = (self.question(connection.cursor(), *each, "", caller, statement) for each in asked)
        return seen_of_each((listed, *parts))

    def _of_any(
        self, connection: HostConnection, table: str, where: str, beside: str, caller: Caller, statement: str
    ) -> str:
        from qidsql.engines.duckdb.embedded import HostEngine

        host = HostEngine(connection, caller, CatalogCache())
        database, inside = host.attached_postgres(table)
        if database is None or (beside and server_of(host, beside) != database):
            return seen_of_typed(table, where) if table else seen_of_all(host.stored_tables(host.name_in_session))
        if table and inside == table and "." not in table:
            raise UsageError(
                f"a temporary table or a CTE could be meant by {table}: write its name with its database, {database}"
            )
        return self._of_postgres(host, database, statement)

    def _of_postgres(self, host: "HostEngine", database: str, statement: str) -> str:
        from qidsql.engines.postgres.attached import moment_query, server_time

        now, place = time.monotonic(), (database, statement)
        self._moments = {each: known for each, known in self._moments.items() if known[0] > now - KEPT}
        if not statement or place not in self._moments:
            self._moments[place] = now, server_time(host.lent.cursor(), database)
        return moment_query(database, self._moments[place][1])
