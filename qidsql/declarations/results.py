"""Results, and the keys of files, are declared once, as frozen dataclasses: JSON, schema and reading derive from them.

The names of the fields are the keys. `plain` returns values for `json.dump`, `loaded` reads them back, `schema_of`
returns the schema. A text in an annotation, `Annotated[int, "rows in classes below k"]`, is the description of the key.
A property under `@reported` is a key too; it is written but not read, since the fields determine it. Fractions are
written as decimals ("0.9"), or as floats for display under `Rounded`. A class with its own JSON form has the methods
`to_plain`, `of_plain` and `plain_schema`. A field with `init=False` is a constant, such as the number of a document's
format; it is written but not read.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, Field, dataclass, is_dataclass, replace
from datetime import date, datetime
from enum import Enum, StrEnum
from fractions import Fraction
from functools import cache
from inspect import getdoc
from pathlib import Path
from types import NoneType
from typing import Any, Final, Literal, TypeAlias, TypeVar, cast, get_args, get_origin, get_type_hints

from qidsql.declarations.annotations import Declared, declared_fields, is_optional, is_union, present
from qidsql.declarations.options import Ratio
from qidsql.wording.texts import decimal

Schema: TypeAlias = dict[str, Any]
Kind = TypeVar("Kind")

DRAFT = "https://json-schema.org/draft/2020-12/schema"
FLAT: Final = object()  # a field whose keys are merged into those of its object
OMITTED: Final = object()  # a field that is not written if it is None
UNWRITTEN: Final = object()  # a field that is not in the JSON; it has a default
SIGNED: Final = object()  # a number that can be negative
SIMPLE = {str: {"type": "string"}, bool: {"type": "boolean"}, Path: {"type": "string"}, Any: {}, object: {}}


@dataclass(frozen=True, slots=True)
class Rounded:
    """Writes a float or `Fraction` as a float with this many decimals, or significant digits, for display."""

    digits: int
    significant: bool = False

    def of(self, number: float | Fraction) -> float:
        return float(f"{float(number):.{self.digits}g}") if self.significant else round(float(number), self.digits)


def reported(method: Callable[[Any], Kind]) -> property:
    """A property that is written as a key."""
    found = property(method)
    _REPORTED.add(found)
    return found


_REPORTED: set[property] = set()


@dataclass(frozen=True, slots=True)
class _Key:
    name: str
    declared: Declared
    computed: bool  # written but not read
    constant: Any = None  # the value of a constant
    has_default: bool = False


@cache
def _keys(kind: Any) -> tuple[_Key, ...]:
    """The keys of a dataclass: its fields and the properties under `@reported`."""
    found = [
        _Key(
            name,
            declared,
            not field.init,
            None if field.init else field.default,
            field.default is not MISSING or field.default_factory is not MISSING,
        )
        for name, (field, declared) in declared_fields(kind).items()
        if not declared.marked(UNWRITTEN)
    ]
    for owner in reversed(kind.__mro__):
        for name, value in vars(owner).items():
            if isinstance(value, property) and value in _REPORTED:
                hint = get_type_hints(value.fget, include_extras=True)["return"]
                found.append(_Key(name, Declared.of(hint), True))
    return tuple(found)


def plain(value: Any, rounded: Rounded | None = None) -> Any:
    """The value as dicts, lists, strings, numbers, booleans and None."""
    kind: Any = type(value)
    return value if kind in UNCHANGED else _writer(kind)(value, rounded)


UNCHANGED = (NoneType, bool, int, str)  # types that are plain already
Writer: TypeAlias = Callable[[Any, Rounded | None], Any]


@cache
def _writer(kind: Any) -> Writer:
    """The function that makes a value of this type plain; cached for each type, since documents are large."""
    if hasattr(kind, "to_plain"):
        return lambda value, rounded: value.to_plain()
    if is_dataclass(kind):
        return _plain_object
    if issubclass(kind, Mapping):
        return lambda value, rounded: {str(key): plain(each, rounded) for key, each in value.items()}
    if issubclass(kind, (tuple, list)):
        return lambda value, rounded: [plain(each, rounded) for each in value]
    if issubclass(kind, Fraction):
        return lambda value, rounded: decimal(value) if rounded is None else rounded.of(value)
    if issubclass(kind, float):
        return lambda value, rounded: value if rounded is None else rounded.of(value)
    if issubclass(kind, datetime):
        return lambda value, rounded: value.isoformat(timespec="seconds")
    if issubclass(kind, date):
        return lambda value, rounded: value.isoformat()
    return lambda value, rounded: str(value) if isinstance(value, (StrEnum, Path)) else value


def _plain_object(value: Any, rounded: Rounded | None = None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    kind: Any = type(value)
    for name, flat, omitted, own_rounding in _written_keys(kind):
        own = getattr(value, name)
        if flat:
            found |= plain(own) if own is not None else {}
        elif own is not None or not omitted:
            found[name] = own if type(own) in UNCHANGED else plain(own, own_rounding)
    return found


@cache
def _written_keys(kind: Any) -> tuple[tuple[str, bool, bool, Rounded | None], ...]:
    """The name of each key, whether it is FLAT or OMITTED, and its rounding; cached for each class."""
    return tuple(
        (
            key.name,
            key.declared.marked(FLAT),
            key.declared.marked(OMITTED),
            key.declared.mark(Rounded),
        )
        for key in _keys(kind)
    )


def loaded(kind: Any, document: Any) -> Any:
    """The inverse of `plain` for a type. Raises KeyError, TypeError, ValueError for any other document."""
    return _reader(kind)(document)


Reader: TypeAlias = Callable[[Any], Any]
# raised by the reader of another type, or where the figures of a document do not go together
MISMATCH = (ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


@cache
def _reader(kind: Any) -> Reader:
    """The function that reads a value of this type; cached for each type, since documents are large."""
    kind = Declared.of(kind).kind
    origin, arguments = get_origin(kind), get_args(kind)
    if is_union(kind):
        return _union_reader(arguments)
    if hasattr(kind, "of_plain"):
        return cast(Reader, kind.of_plain)
    if is_dataclass(kind):
        return _object_reader(kind)
    if origin is tuple:
        if arguments[-1] is Ellipsis:
            each = _reader(arguments[0])
            return lambda document: tuple(map(each, _of_kind(list, document)))
        return lambda document: tuple(loaded(part, one) for part, one in zip(arguments, document, strict=True))
    if origin in (dict, Mapping):
        key, each = arguments[0], _reader(arguments[1])
        return lambda document: {key(name): each(value) for name, value in document.items()}
    if kind in (date, datetime):
        return cast(Reader, kind.fromisoformat)
    if kind in (bool, int, str):
        return lambda document: _of_kind(kind, document)
    if kind is Fraction:
        return _fraction
    return cast(Reader, kind) if isinstance(kind, type) and issubclass(kind, CONVERTED) else lambda document: document


CONVERTED = (Enum, Path, float)


def _of_kind(kind: type, document: Any) -> Any:
    if not isinstance(document, kind):
        raise TypeError(f"no {kind.__name__}")
    return document


def _fraction(document: Any) -> Fraction:
    """An exponent is refused: its number could have any length."""
    if isinstance(document, str) and "e" in document.lower():
        raise ValueError("an exponent")
    return Fraction(document)


def _union_reader(arguments: tuple[Any, ...]) -> Reader:
    """The reader of the only type besides None; of several types, the first one that can read the document."""
    simple = tuple(each for each in arguments if each in (bool, int, float, str))
    readers = [_reader(each) for each in arguments if each is not NoneType]
    if len(readers) == 1:
        [only] = readers
        return lambda document: None if document is None else only(document)

    def read(document: Any) -> Any:
        if document is None or isinstance(document, simple):
            return document
        for each in readers[:-1]:
            with suppress(*MISMATCH):
                return each(document)
        return readers[-1](document)

    return read


def _object_reader(kind: Any) -> Reader:
    """A missing key has its field's default: the document may have been written before there was such a field."""

    def read(document: Any) -> Any:
        found, (keys, others) = _of_kind(dict, document), _key_readers(kind)
        given = {name: read_value(found[name]) for name, read_value, may_lack in keys if name in found or not may_lack}
        return kind(**given, **{name: read_key(found) for name, read_key in others})

    return read


@cache
def _key_readers(kind: Any) -> tuple[tuple[tuple[str, Reader, bool], ...], tuple[tuple[str, Reader], ...]]:
    """The name of each key, the reader of its value, and whether it may be missing; and of the keys that are FLAT, or
    None where they are missing, the names and the readers of the whole document."""
    keys = [key for key in _keys(kind) if not key.computed]
    others = [
        key for key in keys if key.declared.marked(FLAT) or (key.declared.marked(OMITTED) and not key.has_default)
    ]
    return (
        tuple((key.name, _reader(key.declared.kind), key.has_default) for key in keys if key not in others),
        tuple((key.name, _key_reader(key)) for key in others),
    )


def _key_reader(key: _Key) -> Reader:
    name, read = key.name, _reader(key.declared.kind)
    if not key.declared.marked(FLAT):
        return lambda document: read(document.get(name))
    if not is_optional(key.declared.kind):
        return read

    def read_optional(document: Any) -> Any:
        try:
            return read(document)
        except KeyError:
            return None

    return read_optional


def schema_of(kinds: Sequence[type], name: str) -> Schema:
    """The JSON Schema of a dataclass under this name, or of one of several; nested dataclasses become definitions."""
    definitions: dict[str, Schema] = {}
    version = next((f":{key.constant}" for key in _keys(kinds[0]) if key.name == "format"), "")
    head = {"$schema": DRAFT, "$id": f"urn:qidsql:{name}{version}", "title": f"qidsql {name}"}
    made = [_object(kind, definitions) for kind in kinds]
    return {**head, **(made[0] if len(made) == 1 else {"anyOf": made}), "$defs": definitions}


def described(kind: Any, definitions: dict[str, Schema]) -> Schema:
    """The JSON Schema of a type, for use in `plain_schema`; dataclasses become definitions."""
    return _schema(kind, (), definitions)


def _schema(kind: Any, marks: tuple[Any, ...], definitions: dict[str, Schema]) -> Schema:
    kind, own = Declared.of(kind)
    marks = (*marks, *own)
    origin, arguments = get_origin(kind), get_args(kind)
    words = next((mark for mark in marks if isinstance(mark, str)), None)
    if words is not None:
        others = tuple(mark for mark in marks if not isinstance(mark, str))
        return {**_schema(kind, others, definitions), "description": words}
    if kind == Ratio:
        return {"anyOf": [{"type": "string"}, {"type": "null"}]}
    if is_union(kind):
        return {"anyOf": [_schema(each, marks, definitions) for each in arguments]}
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin is tuple and arguments[-1] is not Ellipsis:
        parts = [_schema(each, marks, definitions) for each in arguments]
        return {"type": "array", "prefixItems": parts, "items": False, "minItems": len(parts)}
    if origin in (tuple, list):
        return {"type": "array", "items": _schema(arguments[0], marks, definitions)}
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": _schema(arguments[1], marks, definitions)}
    if is_dataclass(kind):
        return _reference(kind, definitions)
    if hasattr(kind, "plain_schema"):
        return cast(Schema, kind.plain_schema(definitions))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {"enum": [each.value for each in kind]}
    if kind in (date, datetime):
        return {"type": "string", "format": "date" if kind is date else "date-time"}
    if kind in (None, NoneType):
        return {"type": "null"}
    if kind is Fraction and not any(isinstance(mark, Rounded) for mark in marks):
        return {"type": "string"}
    if kind in (float, Fraction, int):
        least = {} if any(mark is SIGNED for mark in marks) else {"minimum": 0}
        return {"type": "integer" if kind is int else "number", **least}
    return dict(SIMPLE[kind])


def _reference(kind: Any, definitions: dict[str, Schema]) -> Schema:
    name = kind.__name__
    if name not in definitions:
        definitions[name] = {}  # allows recursive classes
        own = getattr(kind, "plain_schema", None)
        definitions[name] = own(definitions) if own else _object(kind, definitions)
    return {"$ref": f"#/$defs/{name}"}


def _flat(kind: Any, definitions: dict[str, Schema]) -> Schema:
    """The schema whose keys a FLAT field adds; none of them is required if the field can be None."""
    kinds = [each for each in (*get_args(kind), kind) if is_dataclass(each)]
    own = getattr(kinds[0], "plain_schema", None)
    found = own(definitions) if own else _object(kinds[0], definitions)
    return found if kind in kinds else {**found, "required": []}


def _object(kind: Any, definitions: dict[str, Schema]) -> Schema:
    properties: Schema = {}
    required: list[str] = []
    for key in _keys(kind):
        if key.declared.marked(FLAT):
            own = _flat(key.declared.kind, definitions)
            properties |= own["properties"]
            required += own["required"]
            continue
        if key.constant is not None:
            properties[key.name] = {"const": key.constant}
        else:
            properties[key.name] = _schema(*key.declared, definitions)
        if not key.declared.marked(OMITTED):
            required.append(key.name)
    words = (getdoc(kind) or "").split("\n\n")[0].replace("\n", " ")
    return {"type": "object", "description": words, "properties": properties, "required": required}


# A key of a file that people write is declared once, as a field of a frozen dataclass; its schema and reading derive.
#
#     @dataclass(frozen=True)
#     class Snooze:
#         """Sends nothing about tables until a day."""
#
#         until: Annotated[date, FileKey("the first day with messages again, such as 2026-12-01")]
#         reason: Annotated[str, FileKey("why")] = ""
#
# `keys_schema(Snooze)` is its JSON Schema: a closed object, described by the first sentence of the docstring; keys
# without a default are required. `read_keys(Snooze, table)` makes the object from a table that fits the schema. Fields
# without a `FileKey` are no keys of the file.


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
    found = {name: _key_schema(hint, key, field.default == "") for name, (field, hint, key) in _file_keys(kind).items()}
    required = [name for name, (field, hint, _) in _file_keys(kind).items() if _is_required(field, hint)]
    words = (getdoc(kind) or "").split("\n\n")[0].replace("\n", " ").removesuffix(".")
    closed = {"type": "object", "properties": found, "additionalProperties": False}
    closed["description"] = f"{words[:1].lower()}{words[1:]}"
    return {**closed, "required": required} if required else closed


def read_keys(kind: Callable[..., Kind], table: Mapping[str, Any], **others: Any) -> Kind:
    """The object of a table that fits the schema; `others` are the fields that are no keys."""
    values = {
        field.name: _value(hint, table[name]) if name in table else None
        for name, (field, hint, _) in _file_keys(kind).items()
        if name in table or is_optional(hint)
    }
    return kind(**values, **others)


def _file_keys(kind: Any) -> dict[str, tuple[Field[Any], Any, FileKey]]:
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


def _key_schema(hint: Any, key: FileKey, may_be_empty: bool = False) -> Schema:
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
    return keys_schema(kind) if plain else _key_schema(kind, key or FileKey())


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
