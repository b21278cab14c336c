"""Each line of each checklist, through the command: a table that meets it, and one that misses it by one row."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

from qidsql.checklists.checklist import NAMED, PERSON, checklist
from qidsql.checklists.contents import SIGNS
from qidsql.commands.release.lines import CHECKS
from tests.checklists.test_contents import counted
from tests.commands.release.test_release import LIKELY, PEOPLE, ROLES, check, policy, state, table
from tests.exhaustive import always

LIKE_OTHERS = ["x"] * 48
SAFE_HARBOR: dict[str, list[tuple[str, Sequence[Any], Any, str]]] = {  # column, values that meet the line, and one more
    "A": [
        ("surname", [None] * 48, "Bianchi", "not examined"),
        ("last_name", [f"v{n}" for n in range(20)], "v", "both"),
    ],
    "B": [("zip", ["537"] * 48, "5370", "not met"), ("zip", ["537"] * 48, "036", "not met")],
    "C": [
        ("seen", ["2020"] * 48, "2020-02-01", "not met"),
        ("age", [89, 21] * 24, 91, "not met"),
        ("age", [89, 21] * 24, 90, "not examined"),
        ("birth_year", ["1990"] * 48, "1930", "not met"),
    ],
    "D E": [("c", LIKE_OTHERS, "call +49 30 1234567", "not examined"), ("phone", [None] * 48, "1", "not examined")],
    "F": [("c", LIKE_OTHERS, "at a.b@example.org", "not met")],
    "G H I K": [("c", LIKE_OTHERS, "123-45-6789", "not examined"), ("mrn", [None] * 48, "1", "not examined")],
    "J": [("c", LIKE_OTHERS, "GB82WEST12345698765432", "not met")],
    "L M": [("c", LIKE_OTHERS, "00:1A:2b:3C:4D:5E", "not examined")],
    "N O": [("c", LIKE_OTHERS, "http://x.org", "not met"), ("c", LIKE_OTHERS, "10.0.0.1", "not examined")],
    "P Q": [("c", LIKE_OTHERS, "/scans/7.JPG", "not met")],
    "R": [("c", LIKE_OTHERS, hashlib.sha256(b"x").hexdigest(), "not examined")],
    "free text": [("c", LIKE_OTHERS, "he came in on a horse", "not examined")],
}
PERSONS = ("A", "B", "G H I K", "L M", "P Q", "R")  # no pattern shows all of these things
CASES = [(item, *case) for item, cases in SAFE_HARBOR.items() for case in cases if case[-1] != "both"]


def lines(folder: Path, values: Sequence[Any], column: str) -> dict[str, str]:
    """The state of each line of a table with four large classes and this column."""
    name = f"{column}_" if column in ROLES else column
    policy(folder, {**{f"q_{each}": role for each, role in ROLES.items()}, name: "sensitive"})
    with duckdb.connect() as connection:
        kind = "INTEGER" if isinstance(values[0], int) else "VARCHAR"
        connection.execute(f"CREATE TABLE t (q_age INTEGER, q_state VARCHAR, q_diagnosis VARCHAR, {name} {kind})")
        rows = [(*PEOPLE[n % 48], each) for n, each in enumerate(values)]
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows)
        connection.execute(f"COPY t TO '{folder / 'out.parquet'}'")
    found = check(folder, "--checklist", "safe-harbor")
    return {each["item"]: each["state"] for each in found["predicate"]["lines"] if each["checklist"] == "safe-harbor"}


@pytest.mark.parametrize("case", always(longer=CASES), ids=lambda case: case[0])
def test_safe_harbor(case: tuple[str, str, Sequence[Any], Any, str], tmp_path: Path) -> None:
    item, column, clean, hit, expected = case
    before, after = lines(tmp_path, clean, column), lines(tmp_path, [*clean, hit], column)
    assert before[item] == ("for a person to say" if item in PERSONS else "met")
    assert after[item] == expected
    for other in before.keys() - ({item, "C"} if column in ("age", "birth_year") else {item}):
        assert after[other] in (before[other], "for a person to say"), other  # who may read it as another thing


UNTOLD = {  # what no pattern tells: the line is a box that names the column, and never met
    "C": ("2027.03.31", "03MAR2027", "31.12.99", "3. März 2027", "Mar-27", "31 03 2027", "20270331T120000", "2027-090"),
    "D E": ("0891234567", "5551234567", "004989123456", "call 089 123456 now"),
    "F": ("anna@localhost", "anna (at) example.org"),
    "J": ("4111.1111.1111.1111", "DE89.3704.0044.0532.0130.00"),
    "N O": ("facebook.com/anna.meier", "ftp://x", "[2001:db8::1]", "anna-meier.de"),
    "free text": ("seen by Dr Anna Meier", "one-two-three-four-five-six", "a\u00a0b\u00a0c\u00a0d\u00a0e\u00a0f"),
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("item", always("C", longer=[each for each in UNTOLD if each != "C"]))
def test_what_no_pattern_tells_is_for_a_person_to_say(item: str, tmp_path: Path) -> None:
    for value in UNTOLD[item] if item != "C" else UNTOLD[item][:2]:
        state_of = lines(tmp_path, [*LIKE_OTHERS, value], "c")[item]
        assert state_of != "met", value
    values = [value for values in UNTOLD.values() for value in values]
    for value in values:
        counts = counted([value])
        assert any(counts[sign] for signs in SIGNS.values() for sign in signs), value


@pytest.mark.exhaustive
def test_names_of_columns_decide_with_more_than_twenty_values(tmp_path: Path) -> None:
    for number, expected in ((20, "not examined"), (21, "not met")):
        assert lines(tmp_path, [f"v{n}" for n in range(number)], "last_name")["A"] == expected


def test_no_line_is_left_out() -> None:
    """Every line that is computed has its pair here, or, of those that need more than one table, next to it."""
    computed = {
        (name, line.item) for name in NAMED for line in checklist(name, frozenset(CHECKS)).lines if line.check != PERSON
    }
    beside = {
        ("statistics-netherlands-public", each) for each in ("2 identifiers", "2 region and origin", *"4578", "10")
    }
    here = {("safe-harbor", item) for item in SAFE_HARBOR} | set(PAIRS) | beside  # those in test_people.py
    assert computed - here == set()


FEW = [(20, "n", "abc"[n % 3]) for n in range(20)]
PAIRS: dict[tuple[str, str], tuple[list[Any], list[Any], dict[str, Any]]] = {
    ("cms", "cell size"): (FEW[:11], FEW[:10], {}),
    ("ihsn", "individual risk"): (FEW, FEW[:19], {}),
    ("ema-0070", "threshold"): (FEW[:12], FEW[:11], {}),
    ("ema-0070", "variables"): (PEOPLE, PEOPLE, {"roles": {each: ROLES[each] for each in ("age", "diagnosis")}}),
    ("ipc-low", "threshold"): (FEW[:12], FEW[:11], {}),
    ("ipc-medium", "threshold"): (FEW[:14], FEW[:13], {}),
    ("ipc-high", "threshold"): (FEW, FEW[:19], {}),
    ("wp216", "singling out"): (PEOPLE, [*PEOPLE, (99, "n", "a")], {}),
    ("wp216", "linkability"): (PEOPLE, [*PEOPLE, (50, "n", "a")], {}),
    ("wp216", "inference"): (
        [*PEOPLE, *[(40, "n", "a")] * 5, (40, "n", "b")],
        [*PEOPLE, *[(40, "n", "a")] * 5],
        {},
    ),
    ("policy", "requirements"): ([*PEOPLE, *[(40, "n", "a")] * 5, (40, "n", "b")], [*PEOPLE, (99, "n", "b")], {}),
    ("policy", "roles"): (PEOPLE, PEOPLE, {"roles": {**ROLES, "state": "other"}}),
}
LINKED = 'linked = [{table = "voters.parquet", on = ["age=age", "state=state"]}]'


@pytest.mark.parametrize(
    "line",
    always(("wp216", "inference"), longer=[each for each in PAIRS if each != ("wp216", "inference")]),
    ids=" ".join,
)
def test_lines_of_figures(line: tuple[str, str], tmp_path: Path) -> None:
    meets, misses, more = PAIRS[line]
    table(tmp_path, [*PEOPLE, *PEOPLE, *[(40, "n", "a"), (99, "n", "a")] * 50, *[(50, "n", "a")] * 4])
    with duckdb.connect() as connection:
        voters = f"SELECT age, state, row_number() OVER () AS voter FROM '{tmp_path / 'out.parquet'}'"
        connection.execute(f"COPY ({voters}) TO '{tmp_path / 'voters.parquet'}'")
    given = ("--checklist", line[0]) if line[0] != "policy" else ()
    for rows, roles, met in ((meets, ROLES, True), (misses, more.get("roles", ROLES), False)):
        policy(tmp_path, roles, f'k = 5\nentity = "row"\n{LIKELY}', release=LINKED)
        table(tmp_path, rows)
        found = state(check(tmp_path, *given), " ".join(line))
        assert (found == "met") is met, found
