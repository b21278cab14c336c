"""What the DuckDB extension hands in: connections to the database that it was loaded into. Knows no driver.

Nothing is imported that a shell would have to wait for when it loads the extension.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, Self

if TYPE_CHECKING:
    from qidsql.core.tables import Table
    from qidsql.sql.statements import Row


class HostError(RuntimeError):
    """A statement that the host could not answer: its kind of error, a `duckdb_error_type`, and its text."""

    def __init__(self, kind: int, text: str) -> None:
        super().__init__(text)
        self.kind = kind


class HostConnection(Protocol):
    """SQL in, rows out, for one thread at a time. `interrupt` comes from another. Raises HostError."""

    def execute(self, sql: str) -> Self: ...

    def fetchall(self) -> list[tuple[Any, ...]]: ...

    def cursor(self) -> Self: ...

    def interrupt(self) -> None: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Seen:
    """What the catalog has said: a call is bound and run by two engines, and the second need not ask again."""

    rows: "dict[str, list[Row]]" = field(default_factory=dict)
    tables: "dict[str | None, Table]" = field(default_factory=dict)
