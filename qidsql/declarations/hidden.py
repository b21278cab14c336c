"""The hidden form of a result: what `--min-count` keeps of it. A field is hidden unless its annotation shows it.

    @dataclass(frozen=True)
    class Withheld:
        columns: Shown[tuple[str, ...]]
        profile: ClassProfile

`hidden_form(Withheld)` has the columns alone; a hidden field is None, or () if it is a tuple. Of a dataclass in a field
that is shown, its own fields decide; under `WHOLE` all of it is kept, as of a policy, which holds no figure of a table.
"""

from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, make_dataclass
from functools import cache, reduce
from operator import or_
from types import GenericAlias
from typing import Annotated, Any, Final, TypeAlias, TypeVar, get_args, get_origin

from qidsql.declarations.annotations import Declared, declared_fields, is_union

Kind = TypeVar("Kind")

SHOWN: Final = object()
WHOLE: Final = object()
FIELDS = "__dataclass_fields__"  # of dataclasses
COUNTED: Final = object()  # the number of rows: in the hidden form a `Total`
Shown: TypeAlias = Annotated[Kind, SHOWN]


@dataclass(frozen=True, slots=True)
class Range:
    """The number of rows of a small table, as a range."""

    at_least: int
    at_most: int


Total: TypeAlias = int | Range | None

FORMS: dict[type, type] = {}  # hidden forms that no declaration gives


@cache
def _parts(kind: Any) -> dict[str, Declared]:
    """The fields that are given."""
    return {name: declared for name, (field, declared) in declared_fields(kind).items() if field.init}


def fields_shown(value: Any) -> dict[str, Any]:
    """The fields of a dataclass that are shown, as they are."""
    kind: Any = type(value)
    return {name: getattr(value, name) for name, each in _parts(kind).items() if each.marked(SHOWN, WHOLE)}


@cache
def hidden_form(kind: Any) -> Any:
    """The subclass of a dataclass without what is hidden; its attribute `hidden` is true."""
    own: list[tuple[str, Any, Any]] = []
    form: Any
    default: Any
    for name, declared in _parts(kind).items():
        hint, marks = declared
        form, default = (tuple[None, ...], ()) if get_origin(hint) is tuple else (None, None)
        if declared.marked(SHOWN, WHOLE):
            form, default = hint if declared.marked(WHOLE) else _form(hint), MISSING
        elif declared.marked(COUNTED):
            form = Total
        own.append((name, Annotated[form, *marks] if marks else form, field(default=default)))
    about = {"hidden": True, "__doc__": kind.__doc__, "__module__": kind.__module__}
    return make_dataclass(
        f"Hidden{kind.__name__}", own, bases=(kind,), namespace=about, frozen=True, kw_only=True, repr=False
    )


def _form(hint: Any) -> Any:
    origin, arguments = get_origin(hint), get_args(hint)
    if is_union(hint):
        return reduce(or_, map(_form, arguments))
    if origin is tuple:
        return GenericAlias(tuple, tuple(map(_form, arguments)))
    return FORMS.get(hint) or (hidden_form(hint) if hasattr(hint, FIELDS) else hint)


def hidden(value: Any, made: Callable[[Any], Any]) -> Any:
    """The value in its hidden form; `made` gives those of `FORMS`."""
    if isinstance(value, tuple):
        return tuple(hidden(each, made) for each in value)
    if type(value) in FORMS:
        return made(value)
    kind: Any = type(value)
    if not hasattr(kind, FIELDS):
        return value
    parts = _parts(kind)
    kept = {n: each if parts[n].marked(WHOLE) else hidden(each, made) for n, each in fields_shown(value).items()}
    return hidden_form(kind)(**kept)
