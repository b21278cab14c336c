"""A connection to the shell's own database through the C API."""

import ctypes
from ctypes import c_void_p
from typing import Any, Self

from qidsql.duckdb_extension.capi import Api, ResultHandle
from qidsql.duckdb_extension.values import rows_of
from qidsql.engines.embedding import HostError


class Connection:
    """A connection to an instance, for use by one thread at a time; `interrupt` is safe from another.

    It is opened by the first statement. Raises HostError.
    """

    def __init__(self, api: Api, instance: int) -> None:
        self._api, self._instance = api, instance
        self._handle = c_void_p()
        self._rows: list[tuple[Any, ...]] = []

    def execute(self, sql: str) -> Self:
        self._rows = self._query(self.handle, sql)
        return self

    @property
    def handle(self) -> c_void_p:
        """The handle for functions of the C API; opens the connection."""
        if not self._handle:
            made = c_void_p()
            if self._api.connect(self._instance, ctypes.byref(made)):
                raise HostError(0, "no connection")
            self._handle = made
        return self._handle

    def _query(self, handle: c_void_p, sql: str) -> list[tuple[Any, ...]]:
        result = ResultHandle()
        try:
            if self._api.query(handle, sql.encode(), ctypes.byref(result)):
                kind = self._api.result_error_type(ctypes.byref(result))
                text = self._api.result_error(ctypes.byref(result)) or b"unknown error"
                raise HostError(kind, text.decode("utf-8", "replace"))
            return list(rows_of(self._api, result))
        finally:
            self._api.destroy_result(ctypes.byref(result))

    def fetchall(self) -> list[tuple[Any, ...]]:
        """The rows of the last statement."""
        rows, self._rows = self._rows, []
        return rows

    def cursor(self) -> "Connection":
        return Connection(self._api, self._instance)

    def interrupt(self) -> None:
        if self._handle:
            self._api.interrupt(self._handle)

    def close(self) -> None:
        if self._handle:
            self._api.disconnect(ctypes.byref(self._handle))
