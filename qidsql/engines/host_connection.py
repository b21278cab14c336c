"""What the DuckDB extension hands in: connections to the database that it was loaded into. Knows no driver."""

from typing import Any, Protocol, Self


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
