"""Keys of files, declared with the fields of a class: their schema, and reading them."""

from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Annotated

import jsonschema
import pytest

from qidsql.declarations.results import FileKey, keys_schema, read_keys


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True)
class Stop:
    """A stop of the bus."""

    day: Annotated[date, FileKey("when")]
    name: Annotated[str, FileKey("where")] = ""


@dataclass(frozen=True)
class Bus:
    """A bus. It drives."""

    line: int  # no key
    colour: Annotated[Colour | None, FileKey("its paint")]
    wheels: Annotated[int, FileKey("how many", most=8)]
    stops: Annotated[tuple[Stop, ...], FileKey("its stops", "stop")] = ()
    seats: Annotated[frozenset[Annotated[str, FileKey("a seat")]], FileKey("taken")] = frozenset()
    tariffs: Annotated[tuple[tuple[str, Annotated[int, FileKey("a price")]], ...], FileKey("prices")] = ()
    late: Annotated[bool, FileKey("always")] = False


WRITTEN = {
    "wheels": 6,
    "colour": "red",
    "stop": [{"day": "2026-12-01"}, {"day": "2026-12-02", "name": ""}],
    "seats": ["a", "b"],
    "tariffs": {"child": 2},
    "late": True,
}


def test_a_table_that_fits_the_schema_is_read() -> None:
    jsonschema.validate(WRITTEN, keys_schema(Bus))
    bus = read_keys(Bus, WRITTEN, line=3)
    stops = (Stop(date(2026, 12, 1)), Stop(date(2026, 12, 2), ""))
    assert bus == Bus(3, Colour.RED, 6, stops, frozenset({"a", "b"}), (("child", 2),), True)
    assert read_keys(Bus, {"wheels": 4}, line=1) == Bus(1, None, 4)
    assert read_keys(Stop, {"day": date(2026, 12, 1)}) == stops[0]  # TOML has days


@pytest.mark.parametrize(
    "wrong",
    [
        {"colour": "red"},  # without wheels
        {"wheels": 9},
        {"wheels": 0},
        {"wheels": 4, "line": 3},
        {"wheels": 4, "colour": "green"},
        {"wheels": 4, "stop": [{}]},
        {"wheels": 4, "stop": [{"day": "soon"}]},
        {"wheels": 4, "seats": [""]},
        {"wheels": 4, "tariffs": {"child": "2"}},
        {"wheels": 4, "late": "yes"},
    ],
)
def test_the_schema_refuses_all_else(wrong: dict[str, object]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, keys_schema(Bus))


def test_the_words_are_in_the_schema() -> None:
    schema = keys_schema(Bus)
    assert schema["description"] == "a bus. It drives"
    assert schema["properties"]["wheels"] == {"type": "integer", "minimum": 1, "maximum": 8, "description": "how many"}
    assert schema["properties"]["seats"]["items"]["description"] == "a seat"
    assert schema["properties"]["stop"]["items"]["required"] == ["day"]
