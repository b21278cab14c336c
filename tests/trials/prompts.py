"""Sessions at a SQL prompt, against rows fetched in the same session.

A session has tables of one name in two schemas, another database and as it is committed; what decides which rows the
prompt shows is drawn: USE, search paths, collations, transactions, temporary tables and views, CTEs, variables, time
zones, macros with the names of DuckDB's functions, what other sessions write meanwhile, statements that were prepared
before. What the session shows and what is committed mostly differ in what is asked. Every function must say what its
rows say, or refuse; where the session sees what is committed, none may refuse.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import Any

import duckdb

import qidsql
from qidsql.errors import QidsqlError
from tests.duckdb_hosts import build
from tests.trials import Ground, Trials

COLUMNS = {  # the columns of p, by kind: expressions of the row's number i, which repeat, or nearly never
    "numbers": ("i % {n}", "i"),
    "texts": ("chr(97 + CAST(i % {n} AS INTEGER))", "CASE i % 2 WHEN 0 THEN 'a' ELSE 'A' END || i // 2"),
    "cases": ("'anna'", "list_extract(['anna', 'Anna', 'aNna', 'anNa', 'annA', 'ANna', 'aNNa', 'anNA'], 1 + i % 8)"),
    "moments": ("TIMESTAMPTZ '2024-06-01 01:00:00+00' + INTERVAL (i % {n}) DAY",
                "TIMESTAMPTZ '2024-06-01 00:00:00+00' + INTERVAL (i * 4) HOUR"),
    "periods": ("INTERVAL 1 MONTH", "CASE WHEN i % 4 = 0 THEN INTERVAL 1 MONTH ELSE INTERVAL 30 DAY END"),
}  # fmt: skip
SIZES = (0, 6, 8, 9, 9, 24, 24, 24)  # mostly so large that what repeats is anonymous
CHANGES = ("", "", "INSERT", "UPDATE", "DROP", *("DELETE", "OUTSIDE") * 2, *("REPLACE",) * 3)
OPERATORS = ("+", "-", "*", "/", "||", "//", "%", "~~", "^@", "!~~")
ALL = "roles := 'none', keep_identifiers := true"
CALLS = {  # the function, and what it claims about p for k
    "verdict": "SELECT verdict = 'pass', smallest, rows FROM qidsql.verdict({name}, k := {k}, " + ALL + ")",
    "audit": "SELECT verdict = 'pass', smallest, rows FROM qidsql.audit({name}, k := {k}, " + ALL + ") "
    "WHERE finding = 'table'",
    "profile": "SELECT rows_below_k = 0, smallest, rows FROM qidsql.profile({name}, k := {k})",
    "violations": "SELECT false, class_size, NULL FROM qidsql.violations({name}, k := {k})",
    "columns": "SELECT rows_below_k = 0, smallest, rows FROM qidsql.columns({name}, k := {k})",
    "protect_cells": "SELECT cells = 0, NULL, NULL FROM qidsql.protect_cells({name}, against := 'released-rows', "
    "k := {k}, keep_identifiers := true) WHERE finding = 'table'",
    "keys": "SELECT false, NULL, NULL FROM qidsql.keys({name}, violates := {k}, columns := ['a'])",
    "query": "SELECT verdict = 'pass', smallest, rows FROM qidsql.verdict('SELECT * FROM {raw}', k := {k}, "
    + ALL
    + ")",
    "anonymity": "SELECT verdict = 'pass', smallest, counted FROM qidsql.anonymity({name}, CAST('[a]' AS VARCHAR[]), "
    "k := {k})",
    "risks": "SELECT rows_below_k = 0, NULL, \"rows\" FROM qidsql.risks({name}, CAST('[a]' AS VARCHAR[]), k := {k})",
    "sizes": "SELECT min(class_size) >= {k}, min(class_size), sum(rows) FROM qidsql.sizes({name})",
    "check": "SELECT true, smallest, rows FROM qidsql.check({name}, k := {k}, " + ALL + ")",
    "checks": "SELECT verdict = 'pass', smallest, rows FROM qidsql.checks('SELECT ''{raw}'' AS table_name', k := {k}, "
    + ALL
    + ")",
    "roles": "SELECT percent_below_k = 0, smallest, NULL FROM qidsql.roles({name}, k := {k}) WHERE column_name = 'a'",
    "uniques": "SELECT combinations = 0, NULL, NULL FROM qidsql.uniques({name}, k := {k}) WHERE finding = 'table'",
    "risk": "SELECT rows_below_k = 0, NULL, rows FROM qidsql.risk({name}, k := {k}) WHERE finding = 'table'",
    "protect": "SELECT cells = 0, NULL, NULL FROM qidsql.protect_cells({name}, k := {k}, keep_identifiers := true) "
    "WHERE finding = 'table'",
    "link": "SELECT matching_below_k = 0, NULL, rows FROM qidsql.link({name}, 'memory.s.q', on_ := ['a=a'], "
    "k := {k}) WHERE finding = 'join'",
    "link back": "SELECT matching_below_k = 0, NULL, rows FROM qidsql.link('memory.s.q', {name}, "
    "on_ := CAST('[a=a]' AS VARCHAR[]), k := {k}) WHERE finding = 'join'",
    "population": "SELECT rows_below_k = 0, NULL, rows FROM qidsql.risk_population({name}, 'memory.s.q', "
    "on_ := CAST('[a=a]' AS VARCHAR[]), k := {k})",
    "matches": "SELECT below_k = 0, NULL, counted FROM qidsql.matches({name}, 'memory.s.q', "
    "CAST('[a]' AS VARCHAR[]), k := {k})",
    "protected": "SELECT COLUMNS(*)::VARCHAR FROM qidsql.protected({name}, k := {k}, keep_identifiers := true)",
    "protected levels": "SELECT COLUMNS(*)::VARCHAR FROM qidsql.protected({name}, k := {k}, by_ := 'levels', "
    "suppress := '0', keep_identifiers := true)",
    "protected cells": "SELECT COLUMNS(*)::VARCHAR FROM qidsql.protected({name}, k := {k}, by_ := 'cells', "
    "against := 'released-rows', keep_identifiers := true)",
}
ONE_COLUMN = ("keys", "anonymity", "risks", "roles")
SINGLE = (
    "profile",
    "violations",
    "columns",
    "anonymity",
    "risks",
    "sizes",
    "matches",
)  # a part of the statement itself
PAIRS = {
    "link": False,
    "link back": True,
    "population": False,
    "matches": False,
}  # with s.q; whether p is the second table
ALLOWED = {  # refusals that are not about what the session sees
    call: ("no rows of", "a default_collation would merge values") for call in CALLS if call.startswith("protected")
}
OUTSIDE = "-- another session: "
PYTHON = "python"  # the library on the session's own connection


@dataclass
class Session:
    """What was drawn: statements in order, the words before a query, the name of p, and whether others see the same."""

    statements: list[str] = field(default_factory=list)
    before: str = ""
    name: str = "p"
    honest: bool = True
    prepared: bool = False  # the question, before the last statement
    unique: bool = False  # the rows that the session is about to see; what is committed in main differs
    kind: str = "numbers"  # of column a

    def other_rows(self, random: Random) -> str:
        """A query of rows that differ in what is asked, mostly."""
        return _rows(random, not self.unique if random.random() < 0.8 else self.unique, self.kind)


def prompts(number: int, seed: int, ground: Ground) -> Iterator[str | None]:
    """One trial is one session with one function."""
    extension = build(ground.folder)
    for place in range(number):
        random = Random(f"{seed}.{place}")
        session, call, k = _session(random), _call(random), random.choice((2, 3, 5))
        try:
            wrong = _tried(session, call, k, str(extension))
        except duckdb.Error as error:
            wrong = f"the session itself: {str(error).splitlines()[0]}"
        yield wrong and (
            f"{seed}.{place}: {call}, k = {k}: {wrong}: {'; '.join(session.statements)} {session.before}"
            f"{' (prepared)' if session.prepared else ''}"
        )


def _call(random: Random) -> str:
    """Mostly a function that runs on a connection of its own."""
    return (
        random.choice(SINGLE)
        if random.random() < 0.2
        else random.choice([*(each for each in CALLS if each not in SINGLE), PYTHON])
    )


def _rows(random: Random, unique: bool, kind: str) -> str:
    """A query of rows with the column a of this kind, and maybe b."""
    kinds = [kind, random.choice(list(COLUMNS))][: random.choice((1, 1, 2))]
    shown = [
        COLUMNS[kind][unique and not place].format(n=random.choice((1, 1, 2, 3))) + f" AS {name}"
        for place, (kind, name) in enumerate(zip(kinds, "ab", strict=False))
    ]
    return f"SELECT {', '.join(shown)} FROM range({random.choice(SIZES)}) AS r(i)"


def _session(random: Random) -> Session:
    session = Session(unique=random.random() < 0.3, kind=random.choice(list(COLUMNS)))
    does = session.statements.append
    for place in ("main", "s"):
        does(f"CREATE SCHEMA IF NOT EXISTS {place}")
        query = _rows(random, session.unique, session.kind) if place == "main" else session.other_rows(random)
        does(f"CREATE TABLE {place}.p AS {query}")
    does("ATTACH ':memory:' AS other")
    does(f"CREATE TABLE other.p AS {session.other_rows(random)}")
    does(f"CREATE TABLE s.q AS {_rows(random, random.random() < 0.5, session.kind)}")
    for step in random.sample(STEPS, random.choice((0, 1, 1, 2, 2, 3))):
        step(session, random)
    session.prepared = not session.before and random.random() < 0.2
    return session


def _uses(session: Session, random: Random) -> None:
    session.statements.append(
        random.choice(("USE s", "USE other", "USE memory.s", "SET search_path = 's,main'", "SET schema = 's'"))
    )


def _names(session: Session, random: Random) -> None:
    session.name = random.choice(("p", "s.p", "memory.s.p", "other.p", "other.main.p"))


def _collates(session: Session, random: Random) -> None:
    session.statements.append(f"SET default_collation = '{random.choice(('NOCASE', 'NOACCENT', 'binary'))}'")


def _zones(session: Session, random: Random) -> None:
    session.statements.append(f"SET TimeZone = '{random.choice(('America/New_York', 'Asia/Tokyo', 'UTC'))}'")


def _shadows(session: Session, random: Random) -> None:
    """Macros of the file or of the session, with the names of DuckDB's functions."""
    found = duckdb.execute(
        "SELECT DISTINCT function_name FROM duckdb_functions() WHERE internal AND regexp_full_match(function_name, "
        "'[a-z_]+') AND function_type IN ('scalar', 'aggregate') ORDER BY ALL"
    ).fetchall()
    for _ in range(random.choice((1, 5, 25))):
        name = random.choice(OPERATORS) if random.random() < 0.3 else random.choice(found)[0]
        given = random.choice(("a", "a, b", "a, b")) if name not in OPERATORS else "a, b"
        kind = random.choice(("", "TEMP "))
        session.statements.append(f'CREATE OR REPLACE {kind}MACRO "{name}"({given}) AS {random.choice(("9", "a"))}')


def _begins(session: Session, random: Random) -> None:
    viewed = any(
        "CREATE VIEW" in each for each in session.statements
    )  # DuckDB neither replaces nor drops it as a table
    change = "" if viewed else random.choice(CHANGES)
    session.statements.append("BEGIN")
    session.statements += {
        "INSERT": ["INSERT INTO memory.main.p FROM (FROM memory.main.p LIMIT 1)"],
        "DELETE": ["DELETE FROM memory.main.p WHERE rowid % 5 > 0"],
        "UPDATE": ["UPDATE memory.main.p SET a = (SELECT max(a) FROM memory.main.p)"],
        "REPLACE": [
            f"CREATE OR REPLACE TABLE memory.{place}.p AS {session.other_rows(random)}" for place in ("s", "main")
        ],
        "DROP": ["DROP TABLE memory.main.p"],
        # a transaction sees what was committed when it first read
        "OUTSIDE": ["FROM memory.main.p", OUTSIDE + f"INSERT INTO memory.main.p BY NAME {session.other_rows(random)}"],
    }.get(change, [])
    session.honest = session.honest and not change


def _hides(session: Session, random: Random) -> None:
    kind = random.choice(("TABLE", "VIEW"))
    session.statements.append(f"CREATE OR REPLACE TEMP {kind} p AS {session.other_rows(random)}")
    session.honest = False


def _with(session: Session, random: Random) -> None:
    session.before = f"WITH p AS ({session.other_rows(random)}) "
    session.honest = False


def _views(session: Session, random: Random) -> None:
    """A view in place of p that depends on the session's zone, variables or settings."""
    shown = random.choice(
        (
            "CAST(TIMESTAMPTZ '2024-06-01 00:00:00+00' + INTERVAL (i * 4) HOUR AS DATE)",
            "CASE WHEN getvariable('role') = 'admin' THEN i END",
            "CASE WHEN current_setting('TimeZone') = 'Asia/Tokyo' THEN i ELSE 1 END",
            "CASE WHEN 'a' = list_extract(['a', 'A'], CAST(1 + i % 2 AS INTEGER)) THEN 1 ELSE i END",
            "CASE WHEN current_schema() = 's' THEN i ELSE 1 END",
        )
    )
    session.statements += [
        f"SET VARIABLE role = '{random.choice(('admin', 'reader'))}'",
        "DROP TABLE memory.main.p",
        f"CREATE VIEW memory.main.p AS SELECT {shown} AS a FROM range(9) AS r(i)",
    ]
    session.honest = False


STEPS = (_uses, _names, _collates, _zones, _shadows, _begins, _hides, _with, _views)


def _tried(session: Session, call: str, k: int, extension: str) -> str | None:
    with duckdb.connect(config={"allow_unsigned_extensions": "true"}) as connection:
        connection.load_extension(extension)
        question = session.before + CALLS.get(call, "").format(name=f"'{session.name}'", raw=session.name, k=k)
        for place, statement in enumerate(session.statements):
            if session.prepared and question and place == len(session.statements) - 1:
                with suppress(duckdb.Error):  # there is no such table yet
                    connection.execute(f"PREPARE asked AS {question}")
                    question = "EXECUTE asked"
            _does(connection, statement)
        try:
            people = _classes(connection, "", "memory.s.q") if call in PAIRS else None
            sizes = _classes(connection, session.before, session.name)
        except duckdb.Error:  # no such table from here
            sizes = None
        try:
            found = _python(connection, session, k) if call == PYTHON else _asked(connection, question, call, k)
        except (duckdb.Error, QidsqlError) as error:
            refused = str(error).splitlines()[0]
            if not session.honest or not sizes or any(words in refused for words in ALLOWED.get(call, ())):
                return None
            if call == "check" and "qidsql: violation" in refused:
                return f"a violation where the least is {min(sizes.values())}" if min(sizes.values()) >= k else None
            return f"refused: {refused}"
    if sizes is not None and people is not None:
        return _linked(found, *((people, sizes) if PAIRS[call] else (sizes, people)), k)
    return _compared(found, sizes, call, k)


def _does(connection: duckdb.DuckDBPyConnection, statement: str) -> None:
    if statement.startswith(OUTSIDE):
        with suppress(duckdb.Error), connection.cursor() as other:  # rows of another shape
            other.execute(statement.removeprefix(OUTSIDE))
    elif _valid(connection, statement):
        connection.execute(statement)


def _valid(connection: duckdb.DuckDBPyConnection, statement: str) -> bool:
    """Whether DuckDB lets a macro have this name, and what the step changes is a table: else it is left out."""
    try:
        if statement.startswith(("CREATE", "DELETE", "DROP", "INSERT", "UPDATE")):
            connection.execute(f"EXPLAIN {statement}").fetchall()
    except duckdb.Error:
        return False
    return True


def _classes(connection: duckdb.DuckDBPyConnection, before: str, name: str) -> Counter[Any]:
    """The classes of a table as this session shows it, by their texts."""
    return Counter(connection.execute(f"{before}SELECT COLUMNS(*)::VARCHAR FROM {name}").fetchall())


def _asked(connection: duckdb.DuckDBPyConnection, question: str, call: str, k: int) -> tuple[Any, ...]:
    answers = connection.execute(question).fetchall()
    if call == "protected cells":
        return (False, None, len(answers)) if _fits(answers, k) else (True, -1, len(answers))
    if call.startswith("protected"):
        least = min(Counter(answers).values(), default=k)
        return (False, None, len(answers)) if least >= k else (True, -1, len(answers))
    least = min((smallest for _, smallest, _ in answers if smallest is not None), default=None)
    return all(good for good, _, _ in answers), least, next((rows for *_, rows in answers), None)


def _fits(rows: list[tuple[Any, ...]], k: int) -> bool:
    """Whether each row agrees with k rows, itself included, wherever neither has a blank."""
    return all(
        sum(
            all(one is None or one == other or other is None for one, other in zip(row, each, strict=True))
            for each in rows
        )
        >= k
        for row in rows
    )


def _python(connection: duckdb.DuckDBPyConnection, session: Session, k: int) -> tuple[Any, ...]:
    if session.before:
        raise QidsqlError("a CTE is a part of a statement")
    result = qidsql.audit(connection, session.name, k=k, roles="none", keep_identifiers=True)
    profile = result.profile
    return result.verdict == "pass", profile and profile.smallest, profile and profile.rows


def _linked(found: tuple[Any, ...], own: Counter[Any], others: Counter[Any], k: int) -> str | None:
    """Whether each row of one table fits none or k of the other, by their column a."""
    good, _, rows = found
    people = Counter(row[0] for row in others.elements())
    below = sum(0 < people[row[0]] < k for row in own.elements())
    if rows is not None and rows != own.total():
        return f"counts {rows} rows, the session sees {own.total()}"
    return f"{'claims' if good else 'denies'} {k}, the session sees {below} rows below" if good is bool(below) else None


def _compared(found: tuple[Any, ...], sizes: Counter[Any] | None, call: str, k: int) -> str | None:
    if sizes is None:
        return f"answered {found} where the session has no such table"
    good, smallest, rows = found
    least = min(sizes.values(), default=0)
    if call == "columns":
        columns = list(zip(*sizes.elements(), strict=True))
        least = min((min(Counter(column).values()) for column in columns), default=0)
    elif call in ONE_COLUMN:
        least = min(Counter(row[0] for row in sizes.elements()).values(), default=0)
    if good and 0 < least < k:
        return f"claims {k}, the session sees a class of {least}"
    if rows is not None and rows != sum(sizes.values()):
        return f"counts {rows} rows, the session sees {sum(sizes.values())}"
    if smallest is not None and sizes and smallest != least:
        return f"smallest {smallest}, the session sees {least}"
    return None


TRIALS = Trials("sessions at a SQL prompt, each function against the rows that the session shows", 500, 4, prompts)
