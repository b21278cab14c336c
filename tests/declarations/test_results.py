"""A result's JSON, its schema and its reading come from its fields."""

from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Any

import duckdb
import pytest
from jsonschema import Draft202012Validator, ValidationError

import qidsql
from qidsql.commands.audit.command import AuditResult
from qidsql.declarations.results import FLAT, OMITTED, Rounded, loaded, plain, reported, schema_of


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True)
class Size:
    width: int
    height: int | None


@dataclass(frozen=True)
class Box:
    size: Annotated[Size, FLAT]
    colour: Colour
    made: date
    share: Annotated[Fraction, "of the whole"]
    parts: tuple[Size, ...] = ()
    note: Annotated[str | None, OMITTED] = None
    format: int = field(default=3, init=False)

    @reported
    def heavy(self) -> bool:
        return self.size.width > 5


BOX = Box(Size(9, None), Colour.RED, date(2024, 2, 29), Fraction(9, 10), (Size(1, 2),))
PLAIN: dict[str, Any] = {
    "width": 9,
    "height": None,
    "colour": "red",
    "made": "2024-02-29",
    "share": "0.9",
    "parts": [{"width": 1, "height": 2}],
    "format": 3,
    "heavy": True,
}


def test_it_is_written_and_read_again() -> None:
    assert plain(BOX) == PLAIN
    assert loaded(Box, PLAIN) == BOX
    noted = Box(BOX.size, BOX.colour, BOX.made, BOX.share, (), "a note")
    assert loaded(Box, plain(noted)) == noted


def test_a_number_may_be_rounded_for_display() -> None:
    @dataclass(frozen=True)
    class Shown:
        share: Annotated[Fraction, Rounded(3)]

    assert plain(Shown(Fraction(2, 3))) == {"share": 0.667}


def test_the_schema_describes_what_is_written_and_nothing_else() -> None:
    schema = schema_of([Box], "box")
    Draft202012Validator.check_schema(schema)
    check = Draft202012Validator(schema).validate
    check(PLAIN)
    check(PLAIN | {"note": "a note"})
    assert schema["properties"]["share"]["description"] == "of the whole"
    assert schema["$id"] == "urn:qidsql:box:3"
    without = {name: value for name, value in PLAIN.items() if name != "made"}
    for wrong in (without, PLAIN | {"colour": "blue"}, PLAIN | {"width": "9"}, PLAIN | {"format": 2}):
        with pytest.raises(ValidationError):
            check(wrong)


@pytest.mark.parametrize("change", [{"colour": "blue"}, {"made": "today"}, {"width": 1.5}, {"share": "much"}])
def test_another_document_is_not_read(change: dict[str, object]) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        loaded(Box, PLAIN | change)


def test_a_document_without_a_key_that_has_a_default_is_older() -> None:
    """Histories outlive versions: each key that was added since has its default."""
    audited = qidsql.audit(duckdb.sql("SELECT range % 2 AS a FROM range(20)"), k=5, entity="row")
    written = plain(audited)
    lacking = {**written, "policy": {name: each for name, each in written["policy"].items() if name != "require"}}
    assert loaded(AuditResult, lacking) == loaded(AuditResult, written)
    for document in ({**written, "policy": []}, {name: each for name, each in written.items() if name != "columns"}):
        with pytest.raises((KeyError, TypeError)):
            loaded(AuditResult, document)
