"""Names of tables as a user's session finds them: by its search path, in every attached database."""

from collections.abc import Sequence

from sqlglot import exp

from qidsql.core.tables import TableName
from qidsql.engines.duckdb.engine import DuckDBEngine
from qidsql.engines.table_names import parsed_name
from qidsql.sql.relation import table_node


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
