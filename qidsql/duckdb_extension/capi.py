"""DuckDB's C API for extensions: functions by their index in an array of pointers, the same since DuckDB 1.2."""

import ctypes
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
from typing import Any


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
