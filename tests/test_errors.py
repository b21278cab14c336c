"""What an error suggests instead of a name that does not exist."""

import ast
import re

import pytest

from qidsql import errors
from qidsql.core.files import key_lines
from qidsql.errors import UnknownName, near_misses
from tests.test_floors import FILES, nodes


@pytest.mark.parametrize(
    ("name", "known", "near"),
    [
        ("peopel", ["people", "visits"], ["people"]),
        ("PEOPEL", ["People"], ["People"]),
        # A long schema, shared by all, makes nothing look alike.
        ("test_246.peopel", ["test_246.people", 'test_246.A "table"'], ["test_246.people"]),
        ("publc.people", ["public.people", "other.people", "public.x"], ["public.people", "other.people"]),
        ("patient.nme", ["staff.name", "patients.name"], ["patients.name", "staff.name"]),
        ("publc.zzz", ["public.aaa"], []),
        # A table that is known with and without its schema is one table.
        ("peopel", ["people", "main.people"], ["people"]),
        ("code", ["code_of_ward_and_of_bed", "x"], ["code_of_ward_and_of_bed"]),
        ("main.", ["people"], []),
        ("people", [], []),
    ],
)
def test_near_misses(name: str, known: list[str], near: list[str]) -> None:
    assert near_misses(name, known) == near


def test_the_names_there_are_stand_where_nothing_is_near() -> None:
    assert (
        str(UnknownName("column", ["zzz"], "people", ["age", "sex"])) == "no column zzz in people; there are: age, sex"
    )
    assert str(UnknownName("column", ["agee", "zzz"], "people", ["age", "sex"])) == (
        "no columns agee (did you mean age?), zzz in people"
    )


NOT_FOR_USERS = {  # errors that an engine catches itself; their texts can be a driver's
    "RetryStatement",
    "FilesForbidden",
    "HostError",
    "RowSecurity",
    "EndlessAnswer",
    "EndlessRows",
    "ServerGone",
    "_Enough",
    "_Late",
    "_NoFingerprint",
    "_Stands",
    "_Untraceable",
}


def test_every_error_is_in_the_tree() -> None:
    """All are defined in errors.py, whose first lines list them."""
    found: dict[str, str] = {}
    for path in FILES:
        for node in nodes(path):
            bases = [ast.unparse(base) for base in node.bases] if isinstance(node, ast.ClassDef) else []
            if any(re.search(r"(Error|Exception|Stopped)$", base) for base in bases):
                found[node.name] = path.name  # type: ignore[attr-defined]
    assert {name for name, place in found.items() if place != "errors.py"} == NOT_FOR_USERS
    listed = set(re.findall(r"\w+", (errors.__doc__ or "").split("The error text")[0]))
    assert set(found) - NOT_FOR_USERS <= listed
    for name in set(found) - NOT_FOR_USERS - {"QidsqlError"}:
        assert issubclass(getattr(errors, name), errors.QidsqlError)


def test_an_internal_error_names_our_last_line_and_no_text() -> None:
    """Not the line of the standard library that raised it."""
    with pytest.raises(ValueError) as raised:
        key_lines("hunter2 = = 1")
    said = errors.internal(raised.value)
    assert re.fullmatch(r"internal error \(TOMLDecodeError at files.py:\d+\); please report it", said), said
