"""The measures that a shell's macros take over from other templates, against their definitions, written again."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from fractions import Fraction
from random import Random
from typing import Any

import duckdb
import psycopg
import pytest

from qidsql.engines.duckdb.host import duckdb_macros
from qidsql.engines.postgres.functions import postgres_functions
from tests.exhaustive import first
from tests.sql.shell_measures import OF_POSTGRES, REFUSALS, WRITTEN, refusals, text, text_of_postgres
from tests.stores import TWO_ENGINES, PostgresStore, Store

Rows = list[tuple[Any, ...]]  # person, a, b, secret
MARKS = {duckdb.DuckDBPyConnection: "?", psycopg.Connection: "%s"}
VALUES = {"person": "INTEGER", "a": "VARCHAR", "b": "INTEGER", "secret": "VARCHAR"}


def test_the_scripts_are_those_that_are_written() -> None:
    assert WRITTEN.read_text(encoding="utf-8") == text(), "python -m tests.sql.shell_measures"
    assert OF_POSTGRES.read_text(encoding="utf-8") == text_of_postgres(), "python -m tests.sql.shell_measures"
    assert REFUSALS.read_text(encoding="utf-8") == refusals(), "python -m tests.sql.shell_measures"


@pytest.fixture(scope="module")
def shell(module_store: Store) -> Iterator[Any]:
    """A connection that has run the script of its engine."""
    if module_store.name == "duckdb":
        with duckdb.connect() as connection:
            connection.execute(duckdb_macros())
            yield connection
    else:
        assert isinstance(module_store, PostgresStore)
        with psycopg.connect(module_store.url) as other:
            other.execute("DROP SCHEMA IF EXISTS qidsql CASCADE")
            other.execute(postgres_functions().encode())
            yield other
            other.rollback()
            other.execute("DROP SCHEMA IF EXISTS qidsql CASCADE")


@TWO_ENGINES
@pytest.mark.parametrize("seed", first(range(20)))
def test_the_measures_are_those_of_the_definitions(shell: Any, seed: int) -> None:
    random = Random(seed)
    rows = _drawn(random)
    shell.execute("DROP TABLE IF EXISTS p")
    shell.execute(f"CREATE TABLE p ({', '.join(f'{name} {kind}' for name, kind in VALUES.items())})")
    for row in rows:
        shell.execute("INSERT INTO p VALUES (?, ?, ?, ?)".replace("?", MARKS[type(shell)]), row)
    k, least, limit = random.choice((2, 3, 5)), random.choice((2, 3)), random.choice((0, 0.1, 0.25, 0.5))

    def ask(sql: str) -> tuple[Any, ...]:
        [found] = shell.execute(sql.replace(":columns", _columns(shell))).fetchall()
        return tuple(found)

    for entity in ("", ", entity => 'person'"):
        found = ask(
            f"SELECT verdict, smallest, below_k, counted FROM qidsql.anonymity('p', :columns, k => {k}{entity})"
        )
        assert found == _anonymity(_persons(rows, entity), k)
        asked = "SELECT verdict, fewest_values, below_l FROM qidsql.diversity"
        found = ask(f"{asked}('p', :columns, 'secret', l => {least}{entity})")
        assert found == _diversity(_persons(rows, entity), least)
    verdict, furthest = ask(f"SELECT verdict, furthest FROM qidsql.closeness('p', :columns, 'secret', t => {limit})")
    distance = _distance(rows)
    if distance is None:
        assert (verdict, furthest) == ("inconclusive", None)
    else:
        assert verdict == ("pass" if distance <= Fraction(str(limit)) else "violation")
        assert furthest == pytest.approx(float(distance), abs=1e-6)
    sizes = Counter(row[1:3] for row in rows)
    found = ask(f"SELECT \"rows\", unique_rows, rows_below_k, highest FROM qidsql.risks('p', :columns, k => {k})")
    alone, below = (sum(size for size in sizes.values() if size < most) for most in (2, k))
    assert found == (len(rows), alone, below, 1 / min(sizes.values()) if rows else None)
    bars = shell.execute(f"SELECT class_size, classes FROM qidsql.sizes('p', {_columns(shell)})").fetchall()
    assert bars == sorted(Counter(sizes.values()).items())


@TWO_ENGINES
@pytest.mark.parametrize("seed", range(20))
def test_the_matches_of_two_tables_are_those_of_the_definition(shell: Any, seed: int) -> None:
    random = Random(f"matches {seed}")
    sides = _drawn(random), _drawn(random)
    for table, rows in zip("pq", sides, strict=True):
        shell.execute(f"DROP TABLE IF EXISTS {table}")
        shell.execute(f"CREATE TABLE {table} ({', '.join(f'{name} {kind}' for name, kind in VALUES.items())})")
        for row in rows:
            shell.execute(f"INSERT INTO {table} VALUES (?, ?, ?, ?)".replace("?", MARKS[type(shell)]), row)
    k = random.choice((2, 3, 5))
    for entity in ("", ", entity => 'person'"):
        asked = "SELECT verdict, smallest, below_k, counted, fitting_one, fitting_none, without_value"
        found = shell.execute(f"{asked} FROM qidsql.matches('p', 'q', {_columns(shell)}, k => {k}{entity})").fetchone()
        assert found == _matches(sides[0], _persons(sides[1], entity), k)


@TWO_ENGINES
@pytest.mark.parametrize(
    "call", ["anonymity('p', :columns", "diversity('p', :columns, 'secret'", "matches('q', 'p', :columns"]
)
def test_rows_of_nobody_are_no_persons(shell: Any, call: str) -> None:
    """Three of them were one person more: four persons reached k = 5."""
    shell.execute("DROP TABLE IF EXISTS p; DROP TABLE IF EXISTS q")
    shell.execute("CREATE TABLE p AS SELECT 1 AS person, 'a' AS a, 1 AS b, 'x' AS secret")
    shell.execute("INSERT INTO p SELECT 2, 'a', 1, 'x'")
    shell.execute("CREATE TABLE q AS SELECT * FROM p")
    asked = f"SELECT verdict FROM qidsql.{call}, entity => 'person')".replace(":columns", _columns(shell))
    assert shell.execute(asked).fetchone() == ("violation",)
    shell.execute("INSERT INTO p SELECT NULL, 'a', 1, 'x'")
    if isinstance(shell, psycopg.Connection):
        shell.execute("SAVEPOINT before")
    with pytest.raises((duckdb.Error, psycopg.Error), match="rows have no person"):
        shell.execute(asked).fetchall()
    if isinstance(shell, psycopg.Connection):
        shell.execute("ROLLBACK TO before")


@TWO_ENGINES
def test_columns_of_other_types_are_not_matched(shell: Any) -> None:
    shell.execute("DROP TABLE IF EXISTS p; DROP TABLE IF EXISTS q")
    shell.execute("CREATE TABLE p AS SELECT 1 AS a, '1' AS b; CREATE TABLE q AS SELECT '1' AS a, 1 AS b")
    with pytest.raises((duckdb.Error, psycopg.Error), match="one type here and another there"):
        shell.execute(f"SELECT * FROM qidsql.matches('p', 'q', {_columns(shell)})").fetchall()
    if isinstance(shell, psycopg.Connection):
        shell.rollback()  # the functions, too: this is the last test that uses them


def _columns(shell: Any) -> str:
    return "['a', 'b']" if isinstance(shell, duckdb.DuckDBPyConnection) else "'{a,b}'"


def _drawn(random: Random) -> Rows:
    texts, secrets = (None, "a", "A", "b"), (None, "x", "X", "y", "z")
    persons = random.choice((3, 10, 40))
    return [
        (random.randrange(persons), random.choice(texts[: 1 + seed]), random.choice((1, 2)),
         random.choice(secrets[: random.choice((1, 2, 5))]))
        for seed in [random.randrange(4)]
        for _ in range(random.choice((0, 1, 8, 30, 60)))
    ]  # fmt: skip


def _persons(rows: Rows, entity: str) -> Rows:
    """The rows, each with its person; without an entity, each row is one."""
    return [(row[0] if entity else number, *row[1:]) for number, row in enumerate(rows)]


def _members(rows: Rows) -> dict[tuple[Any, ...], set[Any]]:
    found = defaultdict(set)
    for person, a, b, _ in rows:
        found[a, b].add(person)
    return found


def _anonymity(rows: Rows, k: int) -> tuple[Any, ...]:
    members = _members(rows)
    if not rows:
        return "inconclusive", None, 0, 0
    persons = {row[0] for row in rows}
    smallest = {each: min(len(group) for group in members.values() if each in group) for each in persons}
    below = sum(size < k for size in smallest.values())
    return "violation" if below else "pass", min(smallest.values()), below, len(persons)


def _matches(rows: Rows, others: Rows, k: int) -> tuple[Any, ...]:
    people = {key: len(members) for key, members in _members(others).items()}
    own = Counter(row[1:3] for row in rows)
    fitting = {key: people.get(key, 0) for key in own if None not in key}
    counts = [fitting[row[1:3]] for row in rows if row[1:3] in fitting]
    below, missing = sum(0 < count < k for count in counts), len(rows) - len(counts)
    if below:
        verdict = "violation"
    else:
        doubts = not others or not rows or missing or any(fitting[key] < own[key] for key in fitting)
        verdict = "inconclusive" if doubts else "pass"
    return verdict, min(counts, default=None), below, len(rows), counts.count(1), counts.count(0), missing


def _diversity(rows: Rows, least: int) -> tuple[Any, ...]:
    """A class whose persons have a value in common has one; else as many as are somebody's only one, and at least 2."""
    members, own = _members(rows), defaultdict(set)
    for person, _, _, secret in rows:
        own[person].add(secret)
    if not rows:
        return "inconclusive", None, 0
    values = {}
    for key, group in members.items():
        only = {next(iter(own[person])) for person in group if len(own[person]) == 1}
        values[key] = 1 if set.intersection(*(own[person] for person in group)) else max(2, len(only))
    fewest = {each: min(values[key] for key, group in members.items() if each in group) for each in own}
    below = sum(number < least for number in fewest.values())
    return "violation" if below else "pass", min(fewest.values()), below


def _distance(rows: Rows) -> Fraction | None:
    """The furthest class: half the sum of the differences of the shares of each value."""
    table = Counter(row[3] for row in rows)
    classes = defaultdict(Counter[Any])
    for row in rows:
        classes[row[1:3]][row[3]] += 1
    return max(
        (
            sum((abs(Fraction(found[value], found.total()) - Fraction(table[value], len(rows))) for value in table),
                Fraction(0)) / 2
            for found in classes.values()
        ),
        default=None,
    )  # fmt: skip
