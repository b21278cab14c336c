"""The workbench: an embedded DuckDB of our own, in memory, for codes, masks and row numbers."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import sqlglot
from sqlglot import exp

from qidsql.engines.duckdb.engine import DuckDBEngine
from qidsql.engines.private_folder import PrivateFolder
from qidsql.sql.statements import Row, Statement
from qidsql.sql.table_changes import inserting

if TYPE_CHECKING:
    from numpy.typing import NDArray

MEMORY_LIMIT = "1GB"  # what does not fit is spilled into a private folder


class Workbench(DuckDBEngine):
    """Working tables in memory. It reads what other engines have exported, and writes files where it is told to.

    What a search has found when its time is up is still to be read here, so that its statements have no limits but
    their own.
    """

    search_path = "SET search_path = 'main'"
    limited = False

    def __init__(self, memory_limit: str = MEMORY_LIMIT) -> None:
        folder = PrivateFolder()
        try:
            connection = duckdb.connect(
                config={
                    "temp_directory": str(folder.path / "spill"),
                    "memory_limit": memory_limit,
                    "autoinstall_known_extensions": False,
                    "autoload_known_extensions": False,
                },
            )
            connection.execute("SET enable_progress_bar = false")
        except BaseException:
            folder.remove()
            raise
        super().__init__(connection, "the workbench", folder)

    def ask(self, statement: exp.Expr, purpose: str, deadline: float | None = None) -> list[Row]:
        """The rows of a statement on its tables. Raises Stopped, StatementError."""
        return self.run(Statement(self.dialect.render(statement), purpose, lambda rows: rows), deadline)

    def node(self, text: str) -> exp.Expr:
        """Our own words as a node."""
        return sqlglot.parse_one(text, read=self.dialect.name)

    def numbers(self, query: exp.Query, purpose: str) -> "dict[str, NDArray[Any]]":
        """The same as arrays, by the names of the columns, none of which may hold a NULL. Raises as `ask`."""
        try:
            with self._connection.cursor() as cursor:
                return cursor.execute(self.dialect.render(query)).fetchnumpy()
        except (duckdb.Error, RuntimeError) as error:
            raise self.translate(error, purpose) from None

    def add(self, table: str, purpose: str, **columns: "NDArray[Any]") -> None:
        """Adds rows to one of its tables, given column by column. Raises as `ask`."""
        rows = exp.select(*(exp.column(name) for name in columns)).from_("block")
        try:
            with self._connection.cursor() as cursor:
                cursor.register("block", columns)
                cursor.execute(self.dialect.render(inserting(table, rows, list(columns))))
        except (duckdb.Error, RuntimeError) as error:
            raise self.translate(error, purpose) from None


def exported(path: Path, types: Sequence[tuple[str, str]]) -> exp.Expr:
    """What to select from for an exported file: parquet, or csv with these columns and types."""
    name = exp.Literal.string(str(path))
    if path.suffix == ".parquet":
        return exp.func("read_parquet", name, dialect="duckdb")
    columns = exp.Struct(
        expressions=[
            exp.PropertyEQ(this=exp.to_identifier(column), expression=exp.Literal.string(kind))
            for column, kind in types
        ]
    )
    settings = {"columns": columns, "auto_detect": exp.false()}
    arguments = [exp.PropertyEQ(this=exp.to_identifier(key), expression=value) for key, value in settings.items()]
    return exp.Anonymous(this="read_csv", expressions=[name, *arguments])
