"""The workbench: a private in-memory DuckDB that computes with codes, masks and row numbers."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import sqlglot
from sqlglot import exp

from qidsql.engines.duckdb.engine import DuckDBEngine
from qidsql.engines.duckdb.settings import without_progress_bar
from qidsql.engines.private_folder import PrivateFolder
from qidsql.sql.relation import inserting
from qidsql.sql.templates import Row, Statement

if TYPE_CHECKING:
    from numpy.typing import NDArray

WORKBENCH_BYTES = 1_000_000_000  # bytes, unless its user gives a limit; beyond it, data is spilled to a private folder


class Workbench(DuckDBEngine):
    """Working tables in memory. Reads exports of other engines and can write files.

    Results of a search must be readable after its time is up, so only the deadlines given to its statements apply.
    """

    search_path = "SET search_path = 'main'"
    limited = False

    def __init__(self, memory: int = WORKBENCH_BYTES) -> None:
        folder = PrivateFolder()
        try:
            connection = duckdb.connect(
                config={
                    "temp_directory": str(folder.path / "spill"),
                    "memory_limit": f"{memory}B",
                    "autoinstall_known_extensions": False,
                    "autoload_known_extensions": False,
                },
            )
            without_progress_bar(connection)
        except BaseException:
            folder.remove()
            raise
        super().__init__(connection, "the workbench", folder)

    def query(self, statement: exp.Expr, purpose: str, deadline: float | None = None) -> list[Row]:
        """Runs a statement on its tables; returns the rows. Raises Stopped, StatementError."""
        return self.run(Statement(self.dialect.render(statement, copy=True), purpose, lambda rows: rows), deadline)

    def node(self, text: str) -> exp.Expr:
        """SQL of qidsql as a node. Never for text of a user."""
        return sqlglot.parse_one(text, read=self.dialect.name)

    def numbers(self, query: exp.Query, purpose: str) -> "dict[str, NDArray[Any]]":
        """The rows of a query as one array per column name. No column may contain NULL. Raises as `query`."""
        try:
            with self._connection.cursor() as cursor:
                return cursor.execute(self.dialect.render(query, copy=True)).fetchnumpy()
        except (duckdb.Error, RuntimeError) as error:
            raise self.translate(error, purpose) from None

    def add(self, table: str, purpose: str, **columns: "NDArray[Any]") -> None:
        """Inserts rows, given as one array per column, into one of its tables. Raises as `query`."""
        rows = exp.select(*(exp.column(name) for name in columns)).from_("block")
        try:
            with self._connection.cursor() as cursor:
                cursor.register("block", columns)
                cursor.execute(self.dialect.render(inserting(table, rows, list(columns))))
        except (duckdb.Error, RuntimeError) as error:
            raise self.translate(error, purpose) from None


def exported(path: Path, types: Sequence[tuple[str, str]]) -> exp.Expr:
    """The node to select from for an exported file: parquet, or csv with these columns and types."""
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
