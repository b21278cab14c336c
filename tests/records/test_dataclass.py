"""The dataclass of the house behaves as the standard library's, which is its definition."""

import copy
import dataclasses
import inspect
import pickle
import re
from collections.abc import Callable
from dataclasses import KW_ONLY, asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

import qidsql

OPTIONS = [
    {**flags, **others}
    for flags in ({"frozen": True}, {"frozen": True, "slots": True}, {"frozen": True, "slots": True, "kw_only": True})
    for others in ({}, {"repr": False}, {"eq": False})
] + [{"frozen": True, "order": True}]


def plain(made: Callable[..., Any]) -> type:
    @made
    class Plain:
        a: int
        b: "str" = "x"
        c: list[int] = field(default_factory=lambda: [1], compare=False, repr=False)
        kind: ClassVar[str] = "plain"

    return Plain


def full(made: Callable[..., Any]) -> type:
    @made
    class Base:
        """A base."""

        first: int = 1
        fixed: int = field(default=7, init=False)
        listed: tuple[int, ...] = field(default_factory=tuple, init=False)

    @made
    class Full(Base):  # type: ignore[misc]
        _: KW_ONLY
        named: int = 2
        first: int = 3

        def __post_init__(self) -> None:
            if self.named < 0:
                raise ValueError("negative")

        def __eq__(self, other: object) -> bool:
            return type(other) is type(self) and self.named == other.named  # type: ignore[attr-defined]

        def __repr__(self) -> str:
            return "mine"

    return Full


def empty(made: Callable[..., Any]) -> type:
    @made
    class Empty:
        pass

    return Empty


def outcome(call: Callable[[], Any]) -> object:
    """What it returns, or the type and message of what it raises."""
    try:
        return call()
    except (TypeError, ValueError, AttributeError) as error:
        return type(error), str(error).replace("Base", "").replace("Full", "")


def behaviour(cls: Any) -> list[object]:
    """All that can be seen of a class of one of the shapes above, in a form that compares."""
    parameters = inspect.signature(cls).parameters.values()
    seen: list[object] = [
        [(each.name, each.kind, each.default is each.empty, each.annotation) for each in parameters],
        [(each.name, each.type, each.init, each.kw_only) for each in fields(cls)],
        cls.__match_args__,
    ]
    records = []
    by_name = (
        {},
        {"a": 1},
        {"a": 2, "b": "y", "c": []},
        {"x": 1},
        {"first": 4},
        {"named": 5},
        {"named": -1},
        {"fixed": 1},
    )
    for positions, names in [((), names) for names in by_name] + [((1,), {}), ((1, "z"), {}), ((1, "z", [], 4), {})]:
        made = outcome(lambda positions=positions, names=names: cls(*positions, **names))
        records += [made] if isinstance(made, cls) else []
        seen.append(asdict(made) if isinstance(made, cls) else made)
    for one in records:
        seen += [*(one == other for other in records), one == 1, hasattr(one, "__dict__")]
        seen += [None if " at 0x" in repr(one) else repr(one), outcome(lambda one=one: one < records[0])]
        seen += [outcome(lambda one=one: hash(one) == hash(copy.copy(one)))]
        seen += [asdict(copied) for copied in (copy.copy(one), copy.deepcopy(one), replace(one))]
        for each in fields(one):
            seen += [outcome(lambda one=one, name=each.name: setattr(one, name, 9))]
            seen += [outcome(lambda one=one, name=each.name: delattr(one, name))]
    return seen


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("shape", [plain, full, empty])
def test_a_record_behaves_as_one_of_the_standard_library(shape: Any, options: dict[str, bool]) -> None:
    assert behaviour(shape(dataclass(**options))) == behaviour(shape(dataclasses.dataclass(**options)))


@dataclass(frozen=True, slots=True)
class Sent:
    value: int
    named: str = "x"


def test_a_record_can_be_sent_to_another_process() -> None:
    assert pickle.loads(pickle.dumps(Sent(1, "y"))) == Sent(1, "y")


def test_init_is_compiled_when_a_class_is_first_used() -> None:
    cls = plain(dataclass(frozen=True, slots=True))
    assert not [
        each for each in vars(cls).values() if inspect.isfunction(each) and each.__code__.co_filename == "<string>"
    ]
    cls(1)  # type: ignore[call-arg]
    assert vars(cls)["__init__"].__code__.co_filename == "<string>"


def test_every_dataclass_of_the_package_is_made_here() -> None:
    files = sorted(Path(qidsql.__file__).parent.rglob("*.py"))
    others = re.compile(r"^ *(import dataclasses|from dataclasses import .*\bdataclass\b)", re.MULTILINE)
    assert [file.name for file in files if others.search(file.read_text())] == ["dataclass.py"]
