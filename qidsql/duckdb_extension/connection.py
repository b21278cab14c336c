"""A connection of the shell's own database, made through the C API."""

import ctypes
from ctypes import c_void_p
from typing import Any, Self

from qidsql.duckdb_extension.capi import Api, Result
from qidsql.duckdb_extension.values import rows_of
from qidsql.engines.duckdb_host import HostError

QUIET = "SET enable_progress_bar = false"  # a shell's own setting, which would draw over its prompt


class Connection:
    """One connection to an instance, for one thread at a time; `interrupt` may come from another.

    Raises HostError.
    """

    def __init__(self, api: Api, instance: int) -> None:
        self._api, self._instance = api, instance
        self._handle = c_void_p()
        self._rows: list[tuple[Any, ...]] = []
        if api.connect(instance, ctypes.byref(self._handle)):
            raise HostError(0, "no connection")
        self.execute(QUIET)

    def execute(self, sql: str) -> Self:
        result = Result()
        try:
            if self._api.query(self._handle, sql.encode(), ctypes.byref(result)):
                kind = self._api.result_error_type(ctypes.byref(result))
                text = self._api.result_error(ctypes.byref(result)) or b"unknown error"
                raise HostError(kind, text.decode("utf-8", "replace"))
            self._rows = list(rows_of(self._api, result))
        finally:
            self._api.destroy_result(ctypes.byref(result))
        return self

    def fetchall(self) -> list[tuple[Any, ...]]:
        """The rows of the last statement."""
        rows, self._rows = self._rows, []
        return rows

    @property
    def handle(self) -> c_void_p:
        """For functions of the C API."""
        return self._handle

    def cursor(self) -> "Connection":
        return Connection(self._api, self._instance)

    def interrupt(self) -> None:
        if self._handle:
            self._api.interrupt(self._handle)

    def close(self) -> None:
        if self._handle:
            self._api.disconnect(ctypes.byref(self._handle))
