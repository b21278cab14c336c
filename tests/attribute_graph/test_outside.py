"""The file of outside tables: what it says, and every way in which it can be wrong, with line and key."""

from pathlib import Path

import pytest

from qidsql.attribute_graph.graph import GraphTable
from qidsql.attribute_graph.outside import read_outside
from qidsql.core.tables import TableName
from qidsql.errors import UsageError

PATIENTS = GraphTable(TableName("patients", "main"), ("patient_id", "name", "zip_code", "city"))
STAFF = GraphTable(TableName("staff", "main"), ("staff_id", "name", "zip"))
WHOLE = """\
format = 1

[[tables]]
name = "voters"
columns = [
  "name",
  "zip",  # five digits
]
reason = "the roll can be bought"

[[tables]]
name = "press"
columns = ["name", "party"]
dependencies = {name = ["party"]}

[dependencies."main.patients"]
zip_code = ["city"]

[merges]
accept = [["voters.zip", "main.patients.zip_code"]]
refuse = [["main.staff.name", "voters.name"]]
"""


def read(tmp_path: Path, text: str) -> str:
    """The error without the folder."""
    path = tmp_path / "outside.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_outside(path, [PATIENTS, STAFF])
    return str(caught.value).replace(f"{tmp_path}/", "")


def test_what_a_file_says(tmp_path: Path) -> None:
    path = tmp_path / "outside.toml"
    path.write_text(WHOLE)
    found = read_outside(path, [PATIENTS, STAFF])
    tables = {str(table.name): table for table in found.tables}
    assert list(tables) == ["main.patients", "main.staff", "voters", "press"]
    assert tables["main.patients"].dependencies == (("zip_code", "city"),)
    assert (tables["voters"].columns, tables["voters"].reason) == (("name", "zip"), "the roll can be bought")
    assert tables["press"].dependencies == (("name", "party"),)
    joined = {(str(pair.left), str(pair.right), pair.detail) for pair in found.same_attributes}
    assert joined == {
        ("voters.name", "press.name", "one name in outside.toml"),
        ("voters.zip", "main.patients.zip_code", "accepted in outside.toml"),
    }
    assert [(str(each.left), str(each.right)) for each in found.refused] == [("main.staff.name", "voters.name")]


@pytest.mark.parametrize(
    ("change", "to", "expected"),
    [
        ("format = 1", "format = 2", "1: format: 2 needs a later qidsql"),
        ("format = 1", "format = ", "1:10: not valid TOML"),
        ("[merges]", "[merges", "19:8: not valid TOML"),
        ("[merges]", "[merge]", "19: merge: qidsql does not know this key; did you mean merges?"),
        ('name = "voters"', "nme = 1", "4: tables[1].nme: qidsql does not know this key; did you mean name?"),
        ('name = "voters"\n', "", "3: tables[1].name: it is missing; expected a text"),
        ('name = "press"', "name = 7", "12: tables[2].name: expected a text"),
        ('name = "press"', 'name = "voters"', "12: tables[2].name: voters is listed twice"),
        ('name = "press"', 'name = "staff"', "12: tables[2].name: staff is in the source too"),
        ('columns = ["name", "party"]', "columns = 3", "13: tables[2].columns: expected a list of names"),
        ('["name", "party"]', '["name", "party", "name"]', "13: tables[2].columns: name is in it twice"),
        ('  "zip",  # five digits', "  5,", "5: tables[1].columns: expected a list of names"),
        (
            '{name = ["party"]}',
            '{name = ["part"]}',
            "14: tables[2].dependencies.name: no column part (did you mean",
        ),
        ('{name = ["party"]}', '{name = ["name"]}', "14: tables[2].dependencies.name: name determines itself"),
        ('{name = ["party"]}', "5", "14: tables[2].dependencies: expected a line for each column"),
        (
            '"main.patients"]',
            '"main.patient"]',
            "16: dependencies.main.patient: no table main.patient (did you mean",
        ),
        ("zip_code = [", "zipcode = [", "17: dependencies.main.patients.zipcode: no column zipcode (did you mean"),
        (
            '"voters.zip", ',
            '"voters.zp", ',
            "20: merges.accept[1]: no attribute voters.zp (did you mean voters.zip",
        ),
        (
            '"voters.zip", ',
            '"name", ',
            "20: merges.accept[1]: name is ambiguous: main.patients.name, main.staff.name",
        ),
        ('["voters.zip", ', "[", "20: merges.accept[1]: expected two different attributes"),
        (
            '[["voters.zip", "main.patients.zip_code"]]',
            '"x"',
            "20: merges.accept: expected lists of two attributes",
        ),
        (
            '"main.staff.name", "voters.name"',
            '"main.patients.zip_code", "voters.zip"',
            "21: merges.refuse[1]: main.patients.zip_code and voters.zip are refused, and accepted",
        ),
    ],
)
def test_what_cannot_be_right_is_said_with_line_and_key(tmp_path: Path, change: str, to: str, expected: str) -> None:
    assert change in WHOLE
    error = read(tmp_path, WHOLE.replace(change, to, 1))
    assert error.startswith(f"outside.toml:{expected}"), error


def test_a_contradiction_in_several_steps(tmp_path: Path) -> None:
    accepted = '[["voters.zip", "main.patients.zip_code"], ["main.patients.zip_code", "main.staff.zip"]]'
    text = WHOLE.replace('[["voters.zip", "main.patients.zip_code"]]', accepted)
    error = read(tmp_path, text.replace('"main.staff.name", "voters.name"', '"main.staff.zip", "voters.zip"'))
    assert "main.staff.zip = main.patients.zip_code = voters.zip; choose one" in error


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no"):
        read_outside(tmp_path / "nope.toml", [])
    (tmp_path / "latin.toml").write_bytes(b'name = "\xe9"')
    with pytest.raises(UsageError, match=r"latin\.toml:1: not UTF-8"):
        read_outside(tmp_path / "latin.toml", [])


def test_dependencies_may_form_a_circle(tmp_path: Path) -> None:
    path = tmp_path / "outside.toml"
    path.write_text('[[tables]]\nname = "t"\ncolumns = ["a", "b"]\ndependencies = {a = ["b"], b = ["a"]}\n')
    assert read_outside(path, []).tables[0].dependencies == (("a", "b"), ("b", "a"))
