"""The checklist of Statistics Netherlands: people who have each value, by definition; kinds of released columns."""

import json
import random
from collections import Counter
from collections.abc import Sequence
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.commandline import inside
from tests.commands.release.test_release import PEOPLE, ROLES, check, holds, policy, state, table
from tests.exhaustive import always
from tests.stores import Store

NAME = "statistics-netherlands-public"
COLUMNS = ("age", "state")
CENSUS = 'people = {table = "census.parquet", counts = "inhabitants"}'
RELEASED = sorted({row[:2] for row in PEOPLE})
Counted = Sequence[tuple[Any, Any, Any]]  # a row of the census: age, state, inhabitants


def census(folder: Path, rows: Counted, columns: str = "age, state, inhabitants") -> None:
    with duckdb.connect() as connection:
        values = ", ".join(f"({', '.join('NULL' if it is None else repr(it) for it in row)})" for row in rows)
        connection.sql(f"SELECT * FROM (VALUES {values}) AS t({columns})").write_parquet(str(folder / "census.parquet"))


def fewest(rows: Counted, together: int) -> int:
    """The people of the rarest combination of released values, each counted by going through the census."""
    found = []
    for names in combinations(range(2), together):
        people: Counter[tuple[Any, ...]] = Counter()
        for row in rows:
            people[tuple(row[place] for place in names)] += row[2]
        found += [people[tuple(row[place] for place in names)] for row in RELEASED]
    return min(found)


def states(folder: Path) -> tuple[str, str]:
    found = check(folder, "--checklist", NAME)
    return state(found, f"{NAME} 7"), state(found, f"{NAME} 8")


ENOUGH = [(age, letter, 100_000) for age, letter in RELEASED]  # 200,000 of each value, 100,000 of each pair
APART = [(20, "n", 199_000), (20, "m", 1_000), (30, "n", 1_000), (30, "m", 199_000)]  # 1,000 of two pairs
PAIRS: dict[str, tuple[Counted, tuple[str, str]]] = {
    "enough": (ENOUGH, ("met", "met")),
    "one person fewer of a value": ([*ENOUGH[:3], (*ENOUGH[3][:2], 99_999)], ("not met", "met")),
    "enough of each pair": (APART, ("met", "met")),
    "one person fewer of a pair": (
        [(20, "n", 199_001), (20, "m", 999), APART[2], (30, "m", 199_001)],
        ("met", "not met"),
    ),
    "nobody": (ENOUGH[:3], ("not met", "not examined")),
    "no count": ([*ENOUGH, (20, "n", None)], ("not examined", "not examined")),
    "values that nobody released": ([*ENOUGH, (99, "x", 1)], ("met", "met")),
}


@pytest.mark.parametrize("case", always(*[*PAIRS][3:4], longer=[*[*PAIRS][:3], *[*PAIRS][4:]]))
def test_people_with_each_value_and_each_pair(case: str, tmp_path: Path) -> None:
    rows, expected = PAIRS[case]
    policy(tmp_path, release=CENSUS)
    table(tmp_path)
    census(tmp_path, rows)
    assert states(tmp_path) == expected
    if case not in ("nobody", "no count"):
        limits = ((1, 200_000), (2, 1_000))
        assert expected == tuple("met" if fewest(rows, size) >= limit else "not met" for size, limit in limits)


@pytest.mark.exhaustive
def test_without_the_people_nothing_is_met(tmp_path: Path) -> None:
    """Neither without a table, nor without a column of it; a blank cell is no value, and nothing to verify later."""
    policy(tmp_path)
    table(tmp_path)
    assert states(tmp_path) == ("not examined", "not examined")
    policy(tmp_path, release=CENSUS)
    assert states(tmp_path) == ("not examined", "not examined")  # no file
    census(tmp_path, ENOUGH, "age, land, inhabitants")
    assert states(tmp_path) == ("not examined", "not examined")
    policy(tmp_path, release=CENSUS.replace("counts", 'on = ["age=age", "state=land"], counts'))
    assert states(tmp_path) == ("met", "met")
    with duckdb.connect() as connection:
        path = tmp_path / "out.parquet"
        connection.execute(f"CREATE TABLE t AS FROM '{path}'; INSERT INTO t VALUES (20, NULL, 'a')")
        connection.execute(f"COPY t TO '{path}'")
    assert states(tmp_path) == ("met", "met")
    inside("release", "out.parquet", "--of", "patients", "--checklist", NAME, "-o", "r.json", cwd=tmp_path)
    assert holds(inside("verify", "r.json", "out.parquet", cwd=tmp_path))
    (tmp_path / "census.parquet").unlink()
    outcome = inside("verify", "r.json", "out.parquet", cwd=tmp_path)
    assert holds(outcome) and f"the line {NAME} 7" in " ".join(outcome.out.split())


@pytest.mark.exhaustive
def test_a_row_per_person_of_the_same_database(store: Store, tmp_path: Path) -> None:
    """Rows of a table with a number of persons that repeats are fewer persons."""
    store.table("public_patients", {"age": "INTEGER", "state": "TEXT", "diagnosis": "TEXT"}, PEOPLE)
    store.table("census", {"age": "INTEGER", "state": "TEXT"}, [row for row in RELEASED for _ in range(600)])
    listed = [(n // 2, *row) for n, row in enumerate(row for row in RELEASED for _ in range(600))]
    store.table("visits", {"person_id": "INTEGER", "age": "INTEGER", "state": "TEXT"}, listed)
    for people, limits, expected in (
        ("census", (1200, 600), ("met", "met")),
        ("census", (1201, 601), ("not met", "not met")),
        ("visits", (1200, 600), ("not examined", "not examined")),
    ):
        (tmp_path / "own.toml").write_text(OWN.format(*limits))
        policy(tmp_path, release=f'people = {{table = "{people}"}}\nchecklists = ["own.toml"]')
        given = ("release", "check", store.url, "public_patients", "--of", "patients", "-o", "r.json")
        assert inside(*given, cwd=tmp_path).code in (1, 3)
        found = json.loads((tmp_path / "r.json").read_text())
        assert (state(found, "own.toml v"), state(found, "own.toml p")) == expected, people


OWN = (
    'title = "House"\ntext = "House, 2026"\n'
    '[[lines]]\nitem = "v"\nasks = "v"\ncheck = "people of values"\nlimit = "{}"\n'
    '[[lines]]\nitem = "p"\nasks = "p"\ncheck = "people of pairs"\nlimit = "{}"\n'
)


def by_definition(rows: Sequence[tuple[Any, ...]], people: Sequence[tuple[Any, ...]], together: int, limit: int) -> str:
    """Of each combination of columns, each combination of their values without a NULL: its people, one by one."""
    found = set()
    for places in combinations(range(3), together):
        for values in {tuple(row[place] for place in places) for row in rows}:
            if None not in values:
                here, there = (
                    sum(tuple(row[place] for place in places) == values for row in each) for each in (rows, people)
                )
                found.add("odd" if there < here else "few" if there < limit else "enough")
    return "not met" if "few" in found else "not examined" if "odd" in found else "met"


@pytest.mark.parametrize("seed", always(1, longer=[0, *range(2, 6)]))
def test_random_people_by_definition(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    domains = ((20, 30, None), ("n", "m", "x", None), ("a", "b"))
    names = ("age", "state", "diagnosis")
    people = [tuple(map(draw.choice, domains)) for _ in range(draw.choice((60, 200)))]
    rows = draw.sample(people, 40) if seed else [*people[:40], (30, "z", "a")]
    policy(tmp_path, dict.fromkeys(names, "quasi-identifier"), release='people = {table = "people.parquet"}')
    for name, listed in (("out", rows), ("people", people)):
        with duckdb.connect() as connection:
            connection.execute("CREATE TABLE t (age INTEGER, state VARCHAR, diagnosis VARCHAR)")
            connection.executemany("INSERT INTO t VALUES (?, ?, ?)", listed)
            connection.execute(f"COPY t TO '{tmp_path / name}.parquet'")
    counts = Counter(row[0] for row in people if row[0] is not None)
    for limits in ((min(counts.values()), 1), (10, 5), (500, 100)):
        (tmp_path / "own.toml").write_text(OWN.format(*limits))
        found = check(tmp_path, "--checklist", "own.toml")
        told = tuple(state(found, f"own.toml {item}") for item in "vp")
        assert told == tuple(by_definition(rows, people, size, limits[size - 1]) for size in (1, 2)), limits


def columns(folder: Path, roles: dict[str, str], rows: int = 48) -> dict[str, Any]:
    policy(folder, roles)
    values = [tuple("ab"[n % 2] for _ in roles) for n in range(rows)]
    table(folder, values, ", ".join(roles))
    return check(folder, "--checklist", NAME)


@pytest.mark.exhaustive
def test_columns_that_are_released(tmp_path: Path) -> None:
    """At most 15 that identify, none that is sensitive; by its name, none of a region or an origin."""
    fifteen = {f"q{n}": "quasi-identifier" for n in range(15)}
    found = columns(tmp_path, fifteen)
    assert (state(found, f"{NAME} 4"), state(found, f"{NAME} 5")) == ("met", "met")
    origin, identifiers = f"{NAME} 2 region and origin", f"{NAME} 2 identifiers"
    assert state(found, origin) == state(found, identifiers) == "for a person to say"
    assert state(columns(tmp_path, {**fifteen, "q": "quasi-identifier"}), f"{NAME} 4") == "not met"
    assert state(columns(tmp_path, {**ROLES}), f"{NAME} 5") == "not met"
    for name in ("town", "nationality", "birth_country", "ethnicity", "region"):
        assert state(columns(tmp_path, {"q": "quasi-identifier", name: "quasi-identifier"}), origin) == "not examined"
    policy(tmp_path, {"q": "quasi-identifier", "c": "quasi-identifier"})
    for rows, expected in (
        ([("a", "x")] * 48, "for a person to say"),
        ([("a", "x")] * 47 + [("a", "a@b.org")], "not met"),
    ):
        table(tmp_path, rows, "q, c")
        assert state(check(tmp_path, "--checklist", NAME), identifiers) == expected


def order(folder: Path, rows: Sequence[tuple[Any, ...]]) -> tuple[str, str]:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (age INTEGER, state VARCHAR, diagnosis VARCHAR)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
        connection.execute(f"COPY t TO '{folder / 'out.parquet'}'")
    found = check(folder, "--checklist", NAME)
    [line] = [each for each in found["predicate"]["lines"] if each["checklist"] == NAME and each["item"] == "10"]
    return line["state"], line["measured"]


@pytest.mark.exhaustive
def test_rows_of_a_value_that_stand_together_are_in_no_random_order(tmp_path: Path) -> None:
    """Counted row by row against chance, in each column; that an order is random, only a person can say."""
    policy(tmp_path)
    draw = random.Random(5)
    rows = [(draw.choice((20, 30, None)), draw.choice("nm"), draw.choice("abc")) for _ in range(300)]
    assert order(tmp_path, rows)[0] == "for a person to say"
    by_state = sorted(rows, key=lambda row: row[1])
    alike = sum(one[1] == other[1] for one, other in pairwise(by_state))
    chance = sum(rows * (rows - 1) for rows in Counter(row[1] for row in rows).values()) / 300
    found = order(tmp_path, by_state)
    assert found[0] == "not examined"
    assert f"state: {alike} rows of 300 like the row before, {round(chance)} by chance" in found[1]
    assert order(tmp_path, [(20, "n", "abc"[n % 3]) for n in range(300)])[0] == "for a person to say"  # of one value
    assert order(tmp_path, [*sorted(rows[:150], key=str), *rows[150:]])[0] == "not examined"


@pytest.mark.exhaustive
def test_the_order_of_a_table_is_where_its_rows_lie(store: Store, tmp_path: Path) -> None:
    policy(tmp_path, release=f'checklists = ["{NAME}"]')
    for name, rows in (("sorted", sorted(PEOPLE * 5)), ("drawn", random.Random(1).sample(PEOPLE * 5, 240))):
        store.table(name, {"age": "INTEGER", "state": "TEXT", "diagnosis": "TEXT"}, rows)
        inside("release", "check", store.url, name, "--of", "patients", "-o", "r.json", cwd=tmp_path)
        found = state(json.loads((tmp_path / "r.json").read_text()), f"{NAME} 10")
        assert found == ("not examined" if name == "sorted" else "for a person to say")


@pytest.mark.exhaustive
def test_a_column_without_a_role_may_be_one_too_many(tmp_path: Path) -> None:
    roles = {f"q{n}": "quasi-identifier" for n in range(15)}
    policy(tmp_path, roles)
    table(tmp_path, [tuple("ab"[n % 2] for _ in range(16)) for n in range(48)], ", ".join([*roles, "more"]))
    found = check(tmp_path, "--checklist", NAME)
    assert (state(found, f"{NAME} 4"), state(found, f"{NAME} 5")) == ("not examined", "not examined")
