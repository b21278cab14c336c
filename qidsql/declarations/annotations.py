"""What is declared at the fields of a dataclass: the type of each, and the marks in `Annotated[type, mark, ...]`."""

from dataclasses import Field, fields
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

Mark = TypeVar("Mark")


class Declared(NamedTuple):
    """An annotation: a type and its marks."""

    kind: Any
    marks: tuple[Any, ...] = ()

    @classmethod
    def of(cls, hint: Any) -> "Declared":
        if get_origin(hint) is not Annotated:
            return cls(hint)
        kind, *marks = get_args(hint)
        return cls(kind, tuple(marks))

    def mark(self, kind: type[Mark]) -> Mark | None:
        """The first mark of a class."""
        return next((mark for mark in self.marks if isinstance(mark, kind)), None)

    def marked(self, *marks: object) -> bool:
        """Whether one of the marks is there."""
        return any(own is mark for own in self.marks for mark in marks)


@cache
def declared_fields(owner: Any) -> dict[str, tuple[Field[Any], Declared]]:
    """The fields of a dataclass with their annotations, by name."""
    hints = get_type_hints(owner, include_extras=True)
    return {field.name: (field, Declared.of(hints[field.name])) for field in fields(owner)}


def is_union(kind: Any) -> bool:
    return get_origin(kind) in (Union, UnionType)


def is_optional(kind: Any) -> bool:
    return is_union(kind) and NoneType in get_args(kind)


def present(kind: Any) -> Any:
    """The type of what is not None; the type itself where there is no None, or more than one other."""
    kinds = [each for each in get_args(kind) if each is not NoneType] if is_optional(kind) else []
    return kinds[0] if len(kinds) == 1 else kind
