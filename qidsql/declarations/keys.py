"""A key of a file that people write is declared once, as a field of a frozen dataclass; its schema and reading derive.

    @dataclass(frozen=True)
    class Snooze:
        \"\"\"Sends nothing about tables until a day.\"\"\"

        until: Annotated[date, FileKey("the first day with messages again, such as 2026-12-01")]
        reason: Annotated[str, FileKey("why")] = ""

`keys_schema(Snooze)` is its JSON Schema: a closed object, described by the first sentence of the docstring; keys
without a default are required. `read_keys(Snooze, table)` makes the object from a table that fits the schema. Fields
without a `FileKey` are no keys of the file.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, is_dataclass, replace
from datetime import date, datetime
from enum import StrEnum
from inspect import getdoc
from typing import Any, TypeVar, get_args, get_origin

from qidsql.declarations.annotations import Declared, declared_fields, is_optional, present
from qidsql.declarations.results import Schema

Kind = TypeVar("Kind")

DAY = r"^\d{4}-\d\d-\d\d$"


@dataclass(frozen=True, slots=True)
class FileKey:
    """The words of a key, else those beside it in the annotation; its name if that is not the field's; its values."""

    words: str = ""
    name: str = ""
    most: int | None = None
    choices: tuple[str, ...] = ()
    pattern: str = ""


def keys_schema(kind: type) -> Schema:
    """The JSON Schema of a table with the keys of this class."""
    found = {name: _schema(hint, key, field.default == "") for name, (field, hint, key) in _keys(kind).items()}
    required = [name for name, (field, hint, _) in _keys(kind).items() if _is_required(field, hint)]
    words = (getdoc(kind) or "").split("\n\n")[0].replace("\n", " ").removesuffix(".")
    closed = {"type": "object", "properties": found, "additionalProperties": False}
    closed["description"] = f"{words[:1].lower()}{words[1:]}"
    return {**closed, "required": required} if required else closed


def read_keys(kind: Callable[..., Kind], table: Mapping[str, Any], **others: Any) -> Kind:
    """The object of a table that fits the schema; `others` are the fields that are no keys."""
    values = {
        field.name: _value(hint, table[name]) if name in table else None
        for name, (field, hint, _) in _keys(kind).items()
        if name in table or is_optional(hint)
    }
    return kind(**values, **others)


def _keys(kind: Any) -> dict[str, tuple[Field[Any], Any, FileKey]]:
    """The keys by name: the field, its type and its declaration."""
    keys = {name: (field, declared.kind, _key(declared)) for name, (field, declared) in declared_fields(kind).items()}
    return {key.name or name: (field, hint, key) for name, (field, hint, key) in keys.items() if key is not None}


def _key(declared: Declared) -> FileKey | None:
    key = declared.mark(FileKey)
    return key if key is None or key.words else replace(key, words=declared.mark(str) or "")


def _is_required(field: Field[Any], hint: Any) -> bool:
    return field.default is MISSING and field.default_factory is MISSING and not is_optional(hint)


def _item(hint: Any) -> Any:
    """The type of the items of a list."""
    return get_args(hint)[0]


def _is_mapping(hint: Any) -> bool:
    """Whether a table stands for it: a tuple of pairs, by the names of the user's choice."""
    return get_origin(hint) is tuple and get_origin(_item(hint)) is tuple


def _schema(hint: Any, key: FileKey, may_be_empty: bool = False) -> Schema:
    words = {"description": key.words} if key.words else {}
    hint = present(hint)
    if key.choices:
        return {"enum": [*key.choices], **words}
    if _is_mapping(hint):
        return {"type": "object", "additionalProperties": _item_schema(get_args(_item(hint))[1]), **words}
    if get_origin(hint) in (tuple, frozenset):
        return {"type": "array", "items": _item_schema(_item(hint)), **words}
    if hint is str:
        least = {} if may_be_empty else {"minLength": 1}
        return {"type": "string", **least, **words, **({"pattern": key.pattern} if key.pattern else {})}
    if hint is bool:
        return {"type": "boolean", **words}
    if hint is int:
        return {"type": "integer", "minimum": 1, **words, **({} if key.most is None else {"maximum": key.most})}
    if hint is date:
        return {"type": "string", "minLength": 1, "format": "date", "pattern": DAY, **words}
    if issubclass(hint, StrEnum):
        return {"enum": [str(each) for each in hint], **words}
    if isinstance(hint, type) and is_dataclass(hint) and not hasattr(hint, "PATTERN"):
        return {**keys_schema(hint), **words}
    return {"type": "string", "minLength": 1, "pattern": hint.PATTERN, **words}  # a text with a class of its own


def _item_schema(hint: Any) -> Schema:
    declared = Declared.of(hint)
    kind, key = declared.kind, _key(declared)
    plain = isinstance(kind, type) and is_dataclass(kind) and key is None
    return keys_schema(kind) if plain else _schema(kind, key or FileKey())


def _value(hint: Any, given: Any) -> Any:
    hint = present(Declared.of(hint).kind)
    if _is_mapping(hint):
        return tuple((name, _value(get_args(_item(hint))[1], each)) for name, each in given.items())
    if get_origin(hint) in (tuple, frozenset):
        return get_origin(hint)(_value(_item(hint), each) for each in given)
    if hint is date:
        return _day(given)
    if hint in (str, int, bool) or isinstance(given, hint):
        return given
    return read_keys(hint, given) if isinstance(given, Mapping) else hint(given)


def _day(given: str | date) -> date:
    if isinstance(given, str):
        return date.fromisoformat(given)
    return given.date() if isinstance(given, datetime) else given
