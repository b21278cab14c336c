"""DuckDB's C API for extensions: functions by their index in an array of pointers, the same since DuckDB 1.2; values
between DuckDB and Python; a connection to the shell's own database.
"""

import ctypes
from collections.abc import Callable, Iterator, Sequence
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_bool,
    c_char_p,
    c_double,
    c_int,
    c_int64,
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
)
from typing import Any, Self

from qidsql.engines.duckdb.host import HostError


class ResultHandle(Structure):
    """duckdb_result, opaque to us."""

    _fields_ = [(f"word{place}", c_void_p) for place in range(6)]


class ShortText(Structure):
    """duckdb_string_t: up to twelve bytes inline, longer texts at `address`."""

    _fields_ = [("length", c_uint32), ("start", ctypes.c_char * 4), ("address", c_void_p)]


BOOLEAN, BIGINT, DOUBLE, VARCHAR = 1, 5, 11, 17  # duckdb_type of the values written here

INDEX = c_uint64
STABLE: dict[str, tuple[int, Any, list[Any]]] = {  # name: index, result, arguments
    "connect": (3, c_int, [c_void_p, POINTER(c_void_p)]),
    "interrupt": (4, None, [c_void_p]),
    "disconnect": (6, None, [POINTER(c_void_p)]),
    "library_version": (7, c_char_p, []),
    "query": (13, c_int, [c_void_p, c_char_p, POINTER(ResultHandle)]),
    "destroy_result": (14, None, [POINTER(ResultHandle)]),
    "column_type": (16, c_int, [POINTER(ResultHandle), INDEX]),
    "column_count": (19, INDEX, [POINTER(ResultHandle)]),
    "result_error": (21, c_char_p, [POINTER(ResultHandle)]),
    "result_error_type": (22, c_int, [POINTER(ResultHandle)]),
    "malloc": (24, c_void_p, [c_size_t]),
    "free": (25, None, [c_void_p]),
    "vector_size": (26, INDEX, []),
    "destroy_value": (92, None, [POINTER(c_void_p)]),
    "get_bool": (118, c_bool, [c_void_p]),
    "get_int64": (125, c_int64, [c_void_p]),
    "get_double": (130, c_double, [c_void_p]),
    "get_varchar": (142, c_void_p, [c_void_p]),
    "is_null_value": (149, c_bool, [c_void_p]),
    "get_list_size": (151, INDEX, [c_void_p]),
    "get_list_child": (152, c_void_p, [c_void_p, INDEX]),
    "create_logical_type": (156, c_void_p, [c_int]),
    "create_list_type": (159, c_void_p, [c_void_p]),
    "destroy_logical_type": (184, None, [POINTER(c_void_p)]),
    "destroy_data_chunk": (187, None, [POINTER(c_void_p)]),
    "data_chunk_get_vector": (190, c_void_p, [c_void_p, INDEX]),
    "data_chunk_get_size": (191, INDEX, [c_void_p]),
    "data_chunk_set_size": (192, None, [c_void_p, INDEX]),
    "vector_get_data": (194, c_void_p, [c_void_p]),
    "vector_get_validity": (195, c_void_p, [c_void_p]),
    "vector_ensure_validity_writable": (196, None, [c_void_p]),
    "vector_assign_string_element_len": (198, None, [c_void_p, INDEX, c_char_p, INDEX]),
    "list_vector_get_child": (199, c_void_p, [c_void_p]),
    "list_vector_get_size": (200, INDEX, [c_void_p]),
    "list_vector_set_size": (201, c_int, [c_void_p, INDEX]),
    "list_vector_reserve": (202, c_int, [c_void_p, INDEX]),
    "validity_set_row_invalid": (207, None, [c_void_p, INDEX]),
    "create_scalar_function": (209, c_void_p, []),
    "destroy_scalar_function": (210, None, [POINTER(c_void_p)]),
    "scalar_function_set_name": (211, None, [c_void_p, c_char_p]),
    "scalar_function_add_parameter": (215, None, [c_void_p, c_void_p]),
    "scalar_function_set_return_type": (216, None, [c_void_p, c_void_p]),
    "scalar_function_set_extra_info": (217, None, [c_void_p, c_void_p, c_void_p]),
    "scalar_function_set_function": (218, None, [c_void_p, c_void_p]),
    "register_scalar_function": (219, c_int, [c_void_p, c_void_p]),
    "scalar_function_get_extra_info": (220, c_void_p, [c_void_p]),
    "scalar_function_set_error": (221, None, [c_void_p, c_char_p]),
    "create_table_function": (242, c_void_p, []),
    "destroy_table_function": (243, None, [POINTER(c_void_p)]),
    "table_function_set_name": (244, None, [c_void_p, c_char_p]),
    "table_function_add_parameter": (245, None, [c_void_p, c_void_p]),
    "table_function_add_named_parameter": (246, None, [c_void_p, c_char_p, c_void_p]),
    "table_function_set_extra_info": (247, None, [c_void_p, c_void_p, c_void_p]),
    "table_function_set_bind": (248, None, [c_void_p, c_void_p]),
    "table_function_set_init": (249, None, [c_void_p, c_void_p]),
    "table_function_set_function": (251, None, [c_void_p, c_void_p]),
    "register_table_function": (253, c_int, [c_void_p, c_void_p]),
    "bind_get_extra_info": (254, c_void_p, [c_void_p]),
    "bind_add_result_column": (255, None, [c_void_p, c_char_p, c_void_p]),
    "bind_get_parameter": (257, c_void_p, [c_void_p, INDEX]),
    "bind_get_named_parameter": (258, c_void_p, [c_void_p, c_char_p]),
    "bind_set_bind_data": (259, None, [c_void_p, c_void_p, c_void_p]),
    "bind_set_error": (261, None, [c_void_p, c_char_p]),
    "init_get_bind_data": (263, c_void_p, [c_void_p]),
    "init_set_init_data": (264, None, [c_void_p, c_void_p, c_void_p]),
    "init_set_error": (268, None, [c_void_p, c_char_p]),
    "function_get_init_data": (271, c_void_p, [c_void_p]),
    "function_set_error": (273, None, [c_void_p, c_char_p]),
    "fetch_chunk": (306, c_void_p, [ResultHandle]),
}
REBINDS_FROM = (2,)


class Api:
    """The functions by name without `duckdb_`.

    Python's lock is released while a function runs. `rebinds`: a prepared statement is bound again for each execution.
    """

    def __init__(self, address: int) -> None:
        places = ctypes.cast(address, POINTER(c_void_p))
        self._bind(places, STABLE)
        self.version: str = self.library_version().decode()
        self.rebinds = _numbers(self.version) >= REBINDS_FROM

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"this DuckDB's C API has no {name}, or not at a known index")

    def _bind(self, places: Any, functions: dict[str, tuple[int, Any, list[Any]]]) -> None:
        for name, (place, result, arguments) in functions.items():
            setattr(self, name, CFUNCTYPE(result, *arguments)(places[place]))

    def text(self, value: int) -> str:
        """The text of a duckdb_value."""
        address = self.get_varchar(value)
        try:
            return ctypes.string_at(address).decode()
        finally:
            self.free(address)


def _numbers(version: str) -> tuple[int, ...]:
    """(1, 5, 6) for v1.5.6 and v1.5.6-dev12."""
    plain = version.removeprefix("v").partition("-")[0]
    return tuple(int(part) for part in plain.split(".") if part.isdigit())


# A connection to the shell's own database through the C API.


# Converts values between DuckDB and Python: arguments, rows of results, and rows of table functions.


HUGEINT, UHUGEINT, LIST, SQLNULL = 16, 32, 24, 36
TYPES = {"BOOLEAN": BOOLEAN, "BIGINT": BIGINT, "HUGEINT": HUGEINT, "DOUBLE": DOUBLE, "VARCHAR": VARCHAR}
C_TYPES: dict[int, Any] = {BOOLEAN: ctypes.c_bool, BIGINT: ctypes.c_int64, DOUBLE: ctypes.c_double}
NUMBERS: dict[int, Any] = {  # duckdb_type: the C type in a vector
    1: ctypes.c_bool,
    2: ctypes.c_int8,
    3: ctypes.c_int16,
    4: ctypes.c_int32,
    5: ctypes.c_int64,
    6: ctypes.c_uint8,
    7: ctypes.c_uint16,
    8: ctypes.c_uint32,
    9: ctypes.c_uint64,
    10: ctypes.c_float,
    11: ctypes.c_double,
}
INLINED = 12


class LogicalType:
    """A logical type by its name, with `[]` for a list; freed at the end of the block."""

    def __init__(self, api: Api, name: str) -> None:
        self._api = api
        self._types = [c_void_p(api.create_logical_type(TYPES[name.removesuffix("[]")]))]
        if name.endswith("[]"):
            self._types.append(c_void_p(api.create_list_type(self._types[0])))

    def __enter__(self) -> c_void_p:
        return self._types[-1]

    def __exit__(self, *_: object) -> None:
        for each in self._types:
            self._api.destroy_logical_type(ctypes.byref(each))


def argument(api: Api, address: int | None, kind: str) -> Any:
    """Converts and frees a duckdb_value; None if it was not given or is NULL."""
    if not address:
        return None
    try:
        if api.is_null_value(address):
            return None
        if kind.endswith("[]"):
            places = range(api.get_list_size(address))
            return [argument(api, api.get_list_child(address, place), kind[:-2]) for place in places]
        readers: dict[str, Callable[[int], Any]] = {
            "BOOLEAN": api.get_bool,
            "BIGINT": api.get_int64,
            "DOUBLE": api.get_double,
            "VARCHAR": api.text,
        }
        return readers[kind](address)
    finally:
        api.destroy_value(ctypes.byref(c_void_p(address)))


def rows_of(api: Api, result: ResultHandle) -> Iterator[tuple[Any, ...]]:
    """The rows of a result: numbers, booleans, texts and lists of texts, the only types that qidsql asks for."""
    kinds = [api.column_type(ctypes.byref(result), place) for place in range(api.column_count(ctypes.byref(result)))]
    while chunk := api.fetch_chunk(result):
        try:
            size = api.data_chunk_get_size(chunk)
            vectors = [api.data_chunk_get_vector(chunk, place) for place in range(len(kinds))]
            columns = [_cells(api, vector, kind, size) for vector, kind in zip(vectors, kinds, strict=True)]
            yield from zip(*columns, strict=True)
        finally:
            api.destroy_data_chunk(ctypes.byref(c_void_p(chunk)))


def texts_of(api: Api, chunk: int, columns: int) -> Iterator[tuple[Any, ...]]:
    """The rows of a chunk of texts."""
    size = api.data_chunk_get_size(chunk)
    vectors = [api.data_chunk_get_vector(chunk, place) for place in range(columns)]
    yield from zip(*(_cells(api, vector, VARCHAR, size) for vector in vectors), strict=True)


def _cells(api: Api, vector: int, kind: int, size: int) -> list[Any]:
    data, validity = api.vector_get_data(vector), api.vector_get_validity(vector)
    if kind == SQLNULL:  # of a literal NULL
        return [None] * size
    if kind in NUMBERS:
        cells: list[Any] = list((NUMBERS[kind] * size).from_address(data))
    elif kind in (HUGEINT, UHUGEINT):
        halves = (ctypes.c_uint64 * (2 * size)).from_address(data)
        cells = [_wide(halves[2 * row], halves[2 * row + 1], kind == HUGEINT) for row in range(size)]
    elif kind == LIST:
        texts = _cells(api, api.list_vector_get_child(vector), VARCHAR, api.list_vector_get_size(vector))
        places = (ctypes.c_uint64 * (2 * size)).from_address(data)
        cells = [texts[places[2 * row] : places[2 * row] + places[2 * row + 1]] for row in range(size)]
    elif kind == VARCHAR:
        short = (ShortText * size).from_address(data)
        valid = _valid(validity, size)
        return [_text(short[row], data + 16 * row) if valid[row] else None for row in range(size)]
    else:
        raise TypeError(f"a statement returned the unsupported type {kind}")
    if not validity:
        return cells
    return [cell if valid else None for cell, valid in zip(cells, _valid(validity, size), strict=True)]


def _valid(validity: int | None, size: int) -> list[bool]:
    if not validity:
        return [True] * size
    words = (ctypes.c_uint64 * ((size + 63) // 64)).from_address(validity)
    return [bool(words[row // 64] >> row % 64 & 1) for row in range(size)]


def _wide(low: int, high: int, signed: bool) -> int:
    number = high << 64 | low
    return number - (1 << 128) if signed and high >> 63 else number


def _text(text: ShortText, address: int) -> str:
    start = address + 4 if text.length <= INLINED else text.address
    return ctypes.string_at(start, text.length).decode()


def put_rows(api: Api, chunk: int, kinds: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Writes the rows into the chunk, at most `duckdb_vector_size` of them."""
    for place, kind in enumerate(kinds):
        vector = api.data_chunk_get_vector(chunk, place)
        cells = [row[place] for row in rows]
        if kind.endswith("[]"):
            _put_lists(api, vector, kind[:-2], cells)
        else:
            _put(api, vector, kind, cells, 0)
    api.data_chunk_set_size(chunk, len(rows))


def _put(api: Api, vector: int, kind: str, cells: Sequence[Any], first: int) -> None:
    """Writes cells into a vector, from index `first` on."""
    data = api.vector_get_data(vector)
    for place, cell in enumerate(cells, start=first):
        if cell is None:
            _put_null(api, vector, place)
        elif kind == "VARCHAR":
            text = str(cell).encode("utf-8", "replace")
            api.vector_assign_string_element_len(vector, place, text, len(text))
        elif kind == "HUGEINT":
            halves = (ctypes.c_uint64 * 2).from_address(data + 16 * place)
            halves[0], halves[1] = cell & (1 << 64) - 1, cell >> 64 & (1 << 64) - 1
        else:
            c_type = C_TYPES[TYPES[kind]]
            c_type.from_address(data + place * ctypes.sizeof(c_type)).value = cell


def _put_lists(api: Api, vector: int, kind: str, lists: Sequence[Sequence[Any] | None]) -> None:
    total = sum(len(each or ()) for each in lists)
    api.list_vector_reserve(vector, total)
    api.list_vector_set_size(vector, total)
    child = api.list_vector_get_child(vector)
    data, first = api.vector_get_data(vector), 0
    for place, cells in enumerate(lists):
        entry = (ctypes.c_uint64 * 2).from_address(data + 16 * place)
        entry[0], entry[1] = first, len(cells or ())
        if cells is None:
            _put_null(api, vector, place)
        _put(api, child, kind, cells or (), first)
        first += len(cells or ())


def _put_null(api: Api, vector: int, place: int) -> None:
    api.vector_ensure_validity_writable(vector)
    api.validity_set_row_invalid(api.vector_get_validity(vector), place)


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

    def fetchmany(self, size: int) -> list[tuple[Any, ...]]:
        """The next rows of the last statement; none at their end."""
        rows, self._rows = self._rows[:size], self._rows[size:]
        return rows

    def cursor(self) -> "Connection":
        return Connection(self._api, self._instance)

    def interrupt(self) -> None:
        if self._handle:
            self._api.interrupt(self._handle)

    def close(self) -> None:
        if self._handle:
            self._api.disconnect(ctypes.byref(self._handle))
