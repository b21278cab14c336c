"""Reports as JSON, indented, with one line for each object without nested objects, such as a column set."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from qidsql.declarations.results import plain

if TYPE_CHECKING:
    from qidsql.operations.document import RunResult

STEP = "  "  # of indentation


def render(result: object) -> str:
    """The plain form of a result as JSON text; in canonical form if it is to be signed."""
    own = getattr(result, "canonical_json", None)
    return str(own()) if own else _object(plain(result), "") + "\n"


def indented(result: object) -> str:
    """The plain form of a result as JSON text, with one line for each key."""
    return json.dumps(plain(result), indent=2, ensure_ascii=False) + "\n"


def written(document: "RunResult") -> Iterator[str]:
    """A run document as JSON text, one part for each table, so that only one table is in memory."""
    from qidsql.operations.document import PackedTables  # here: results of other commands are no runs

    frame, inner = render(replace(document, tables=PackedTables())), STEP * 2
    yield from filled(frame, (_object(table, inner) for table in document.tables.compact()), inner)


def filled(frame: str, items: Iterable[str], indent: str) -> Iterator[str]:
    """A JSON text in parts: the frame, with these items in its last list, which must be empty."""
    head, _, foot = frame.rpartition("[]")
    yield head + "["
    between = "\n"
    for item in items:
        yield between + indent + item
        between = ",\n"
    yield ("" if between == "\n" else "\n" + indent.removesuffix(STEP)) + "]" + foot


def _object(value: Mapping[str, Any], indent: str) -> str:
    """An object with one line for each key."""
    inner = indent + STEP
    lines = (f"{inner}{_line(str(key))}: {_text(each, inner)}" for key, each in value.items())
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}"


def _text(value: Any, indent: str) -> str:
    """Any value; on one line if it contains no nested objects."""
    if isinstance(value, dict) and not all(map(_is_plain, value.values())):
        return _object(value, indent)
    if isinstance(value, (list, tuple)) and not _is_plain(value):
        inner = indent + STEP
        return "[\n" + ",\n".join(inner + _text(each, inner) for each in value) + f"\n{indent}]"
    return _line(value)


def _is_plain(value: Any) -> bool:
    """Whether it contains no non-empty object."""
    return all(map(_is_plain, value)) if isinstance(value, (list, tuple)) else not value or not isinstance(value, dict)


_line = json.JSONEncoder(ensure_ascii=False).encode
