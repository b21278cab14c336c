"""What an error suggests instead of a name that does not exist."""

import pytest

from qidsql.errors import UnknownName, near_misses


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
