"""`dataclass`, which differs from the standard library's in when the methods of a frozen class are made.

The standard library compiles six methods for each frozen class where it is defined: 0.6 ms. The 180 classes on the way
to an audit took a fifth of the time of a small one. Here all classes share the methods' code, but for `__init__`, which
is compiled when a class is first used: most are not. `dataclasses.fields`, `replace` and `asdict` work as usual; a
dataclass that inherits from a frozen one must be made here too.
"""

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls: type | None = None, /, **options: bool) -> Any:
        """The standard library's decorator, with cheaper methods for frozen classes without an order."""
        if cls is None:
            return lambda cls: dataclass(cls, **options)
        if not options.pop("frozen", False):
            return dataclasses.dataclass(cls, **options)
        if options.pop("order", False):
            return dataclasses.dataclass(cls, frozen=True, order=True, **options)
        return _frozen(cls, **options)


def _frozen(cls: type, eq: bool = True, repr: bool = True, **options: bool) -> Any:
    own, text = vars(cls), cls.__doc__
    cls.__doc__ = text or "none"  # else the standard library writes one, and compiles __init__ for it
    made: Any = dataclasses.dataclass(init=False, eq=False, repr=False, **options)(cls)
    made.__doc__ = text
    methods: dict[str, object] = {"__init__": _Init(made), "__setattr__": _set, "__delattr__": _delete}
    if repr:
        methods["__repr__"] = _repr
    if eq:
        methods |= _comparison(*(field.name for field in dataclasses.fields(made) if field.compare))
    if options.get("slots"):
        methods |= {"__getstate__": _state, "__setstate__": _set_state}
    for name, method in methods.items():
        if own.get(name) is None:  # as is __hash__ of a class with its own __eq__
            setattr(made, name, method)
    return made


class _Init:
    """`__init__` of a class, until the class is first used."""

    def __init__(self, cls: type) -> None:
        self._cls = cls

    def __get__(self, instance: object, owner: type) -> Any:
        self._cls.__init__ = init = _compiled(self._cls)  # type: ignore[misc]
        return init.__get__(instance, owner)


def _compiled(cls: type) -> Callable[..., None]:
    """`__init__` with the fields as parameters, those for keywords alone at the end."""
    names: dict[str, Any] = {"_set": object.__setattr__, "_absent": dataclasses.MISSING}
    parameters, lines = ["self"], []
    fields = sorted(dataclasses.fields(cls), key=lambda field: bool(field.kw_only))
    for field in fields:
        name, given, value = field.name, field.name, field.name
        if field.default is not dataclasses.MISSING:
            names[f"_default_{name}"] = field.default
            given, value = f"{name}=_default_{name}", name if field.init else f"_default_{name}"
        elif field.default_factory is not dataclasses.MISSING:
            names[f"_make_{name}"] = field.default_factory
            given, value = f"{name}=_absent", f"_make_{name}()"
            value += f" if {name} is _absent else {name}" if field.init else ""
        if field.init:
            parameters += ["*", given] if field.kw_only and "*" not in parameters else [given]
        lines.append(f"_set(self, '{name}', {value})")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    exec(f"def __init__({', '.join(parameters)}):\n  " + "\n  ".join(lines or ["pass"]), names)
    init: Callable[..., None] = names["__init__"]
    init.__qualname__, init.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    init.__annotations__ = {field.name: field.type for field in fields if field.init} | {"return": None}
    return init


def _comparison(*names: str) -> dict[str, object]:
    """`__eq__` and `__hash__` by the values of these fields."""
    values = attrgetter(*names) if names else lambda record: ()

    def __eq__(self: object, other: object) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: object) -> int:
        return hash(values(self))

    return {"__eq__": __eq__, "__hash__": __hash__}


def _repr(self: Any) -> str:
    shown = (f"{each.name}={getattr(self, each.name)!r}" for each in dataclasses.fields(self) if each.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _set(self: object, name: str, value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _delete(self: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[object]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _set_state(self: Any, state: list[object]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)
