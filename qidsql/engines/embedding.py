"""The interface to the DuckDB extension: connections to the database it is loaded into. Imports no driver.

Imports stay light, since a shell waits for them when it loads the extension.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, Self

from qidsql.sql import quoted

if TYPE_CHECKING:
    from qidsql.core.tables import Table
    from qidsql.sql.templates import Row

SETTINGS = """SELECT system.main.current_setting('default_collation') AS default_collation,
  system.main.current_setting('TimeZone') AS time_zone"""


class HostError(RuntimeError):
    """A statement that failed in the host: the kind of error (`duckdb_error_type`) and its text."""

    def __init__(self, kind: int, text: str) -> None:
        super().__init__(text)
        self.kind = kind


class HostConnection(Protocol):
    """Runs SQL for one thread at a time; another thread may call `interrupt`. Raises HostError."""

    def execute(self, sql: str) -> Self: ...

    def fetchall(self) -> list[tuple[Any, ...]]: ...

    def cursor(self) -> Self: ...

    def interrupt(self) -> None: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Caller:
    """The settings of the session that calls; None if unknown."""

    search_path: str | None = None
    time_zone: str | None = None

    def settings(self, connection: HostConnection) -> str:
        """The statements under which a connection measures: only DuckDB's functions, texts byte by byte, this zone.

        Only what has to change is set, as settings can be locked.
        """
        [(collation, zone)] = connection.execute(SETTINGS).fetchall()
        statements = ["SET search_path = 'system.main'"]
        if str(collation).lower() not in ("", "binary"):
            statements.append("SET SESSION default_collation = 'binary'")
        if self.time_zone and self.time_zone != zone:
            statements.append(f"SET SESSION TimeZone = {quoted(self.time_zone)}")
        return "; ".join(statements)


@dataclass(frozen=True, slots=True)
class CatalogCache:
    """Rows of catalog queries: one engine binds a call and another runs it, with the same catalog."""

    rows: "dict[str, list[Row]]" = field(default_factory=dict)
    tables: "dict[str | None, Table]" = field(default_factory=dict)
