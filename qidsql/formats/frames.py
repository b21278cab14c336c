"""The lists of a result as a data frame of pandas or polars, or an Arrow table."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import is_dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, get_args, get_origin

from qidsql.core.results import Result
from qidsql.declarations.annotations import declared_fields
from qidsql.declarations.results import plain
from qidsql.errors import UnknownName, UsageError

LIBRARIES = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}


def frame_of(result: Result, part: str | None, library: str | None) -> Any:
    """One of the result's lists, a row for each item. Raises UnknownName, UsageError."""
    parts = _lists(type(result))
    if part is not None and part not in parts:
        raise UnknownName("list", [part], type(result).__name__, parts)
    if not parts:
        raise UsageError(f"{type(result).__name__} has no list; to_dict() has all its values")
    rows = [_flat(each) for each in plain(result)[part or parts[0]]]
    heads = dict.fromkeys(head for row in rows for head in row)
    columns = {head: [row.get(head) for row in rows] for head in heads if not _is_missing(head, heads, rows)}
    name = _library(library)
    return getattr(import_module(name), LIBRARIES[name])(columns)


def _is_missing(head: str, heads: Iterable[str], rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether this is an object that some rows do not have: its values have columns of their own."""
    return any(other.startswith(f"{head}_") for other in heads) and all(row.get(head) is None for row in rows)


def _lists(kind: type) -> list[str]:
    """The fields that are lists of objects, in order."""
    return [name for name, (_, declared) in declared_fields(kind).items() if _is_list(declared.kind)]


def _is_list(hint: Any) -> bool:
    return get_origin(hint) is tuple and is_dataclass(get_args(hint)[0])


def _flat(row: Mapping[str, Any], begin: str = "") -> dict[str, Any]:
    """The values of an object; those of an object in it are called like profile_rows."""
    found: dict[str, Any] = {}
    for key, value in row.items():
        found |= _flat(value, f"{begin}{key}_") if isinstance(value, Mapping) else {f"{begin}{key}": value}
    return found


def _library(wanted: str | None) -> str:
    """The named library, else one that is in use, else one that is installed. Raises UnknownName, UsageError."""
    if wanted is not None and wanted not in LIBRARIES:
        raise UnknownName("library", [wanted], "to_frame", LIBRARIES)
    names = [wanted] if wanted else sorted(LIBRARIES, key=lambda name: name not in sys.modules)
    for name in names:
        if find_spec(name) is not None:
            return name
    raise UsageError(f"to_frame needs {wanted or 'pandas, polars or pyarrow'}, which is not installed")
