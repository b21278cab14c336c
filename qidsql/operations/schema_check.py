"""Checks values against a JSON Schema: the few keywords that policy files use.

A test compares it with the jsonschema package.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from difflib import get_close_matches
from typing import Any

from qidsql.core.files import KeyPath, unknown_key

TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}
WORDS = {
    "string": "a text in quotes",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list in brackets",
    "object": "a table",
}


def schema_problems(value: object, schema: Mapping[str, Any], path: KeyPath = ()) -> Iterator[tuple[KeyPath, str]]:
    """The errors of a value, each with the path of its key. They never repeat a value, which may be a secret."""
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_is(value, kind) for kind in kinds):
        if schema.get("items", {}).get("type") == "object":
            words = f"[[{'.'.join(part for part in path if isinstance(part, str))}]] in double brackets, once for each"
        else:
            words = " or ".join(WORDS[kind] for kind in kinds)
        yield path, f"expected {words}{_meaning(schema)}"
        return
    if "enum" in schema and value not in schema["enum"]:
        near = get_close_matches(str(value).lower(), list(map(str, schema["enum"])), n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        yield path, f"expected {' or '.join(map(str, schema['enum']))}{hint}"
    if isinstance(value, str):
        if len(value) < schema.get("minLength", 0):
            yield path, f"expected {WORDS['string']}, got an empty text{_meaning(schema)}"
        elif not re.search(schema.get("pattern", ""), value):
            yield path, f"expected {schema['description']}"
    elif isinstance(value, (int, float)):
        if value < schema.get("minimum", value):
            yield path, f"expected at least {schema['minimum']}, got {value}{_meaning(schema)}"
        if value > schema.get("maximum", value):
            yield path, f"expected at most {schema['maximum']}, got {value}{_meaning(schema)}"
        if "exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]:
            yield path, f"expected more than {schema['exclusiveMinimum']}, got {value}{_meaning(schema)}"
    elif isinstance(value, list):
        for place, each in enumerate(value):
            yield from schema_problems(each, schema.get("items", {}), (*path, place))
    elif isinstance(value, dict):
        yield from _keys(value, schema, path)


def _keys(value: Mapping[str, object], schema: Mapping[str, Any], path: KeyPath) -> Iterator[tuple[KeyPath, str]]:
    known = schema.get("properties", {})
    others = schema.get("additionalProperties", True)
    for key, each in value.items():
        if key in known:
            yield from schema_problems(each, known[key], (*path, key))
        elif isinstance(others, dict):
            yield from schema_problems(each, others, (*path, key))
        elif not others:
            yield (*path, key), unknown_key(key, known)
    for key in schema.get("required", []):
        if key not in value:
            yield path, f"{key} is missing{_meaning(known[key])}"


def _is(value: object, kind: str) -> bool:
    return isinstance(value, TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def _meaning(schema: Mapping[str, Any]) -> str:
    return f" ({schema['description']})" if "description" in schema else ""


def with_dates_as_text(value: Any) -> Any:
    """Replaces dates, which JSON Schema does not have, by text."""
    if isinstance(value, dict):
        return {key: with_dates_as_text(each) for key, each in value.items()}
    if isinstance(value, list):
        return [with_dates_as_text(each) for each in value]
    if isinstance(value, date):
        return (value.date() if isinstance(value, datetime) else value).isoformat()
    return value
