"""Views, generated columns and conditions whose values depend on the role, the zone, settings, the time or chance: each
is refused or noted, and those that depend on the rows alone get the verdict of a copy."""

from collections.abc import Iterator
from random import Random

import duckdb
import psycopg

import qidsql
from qidsql.core.tables import Table
from qidsql.errors import QidsqlError, UsageError
from tests.stores import DuckDBStore, PostgresStore, SQLiteStore, Store
from tests.trials import Ground, Trials
from tests.trials.session_texts import FUNCTIONS, MACROS, OF, QUERIES, On

TYPES = {
    "duckdb": "id INTEGER, age INTEGER, name VARCHAR, born DATE, seen TIMESTAMP, seen_there TIMESTAMPTZ, words VARCHAR",
    "sqlite": "id INTEGER, age INTEGER, name TEXT, born TEXT, seen TEXT, words TEXT",
}
TYPES["postgres"] = TYPES["duckdb"]
ROWS = ", ".join(
    f"({i}, {20 + i % 3}, '{['anna', 'bob', 'eve'][i % 3]}', '19{80 + i % 4}-05-01', '2020-01-0{1 + i % 2} 10:00:00'"
    + ", {there}"
    + f"'{['now', 'word'][i % 2]}')"
    for i in range(24)
)
KINDS = (On.DATA, On.DATA, On.DATA, On.TIME, On.ZONE, On.SESSION, On.SESSION, On.CHANCE, On.CHANCE, On.STYLE)
STYLES = "".join(f"%20-c{each}" for each in ("datestyle%3DGerman", "intervalstyle%3Diso_8601", "bytea_output%3Descape"))
SAID = {On.TIME: "current time", On.ZONE: "time zone"}
CHANGES = (
    *("can change from statement to statement", "may return another value each time"),
    *("was opened read-only", "and no function, operator or type but Postgres' own"),
)
REASONS = {  # a refusal in other words holds by accident; some functions of the session are declared as changing
    On.SESSION: ("can show other rows to others", "depends on the session and not on the row", *CHANGES),
    On.CHANCE: CHANGES,
    On.STYLE: ("turns values into texts",),
}


def sessions(number: int, seed: int, ground: Ground) -> Iterator[str | None]:
    """One trial is one view, table or condition on one engine, in turn."""
    with ground.stores(DuckDBStore, PostgresStore, SQLiteStore) as stores:
        for store in stores:
            _fill(store)
        for place in range(number):
            store, random = stores[place % 5 % 3], Random(seed * 1_000_000 + place)
            wrong = _trial(store, place, random)
            yield wrong and f"seed {seed * 1_000_000 + place}: {store.name}: {wrong}"


def _fill(store: Store) -> None:
    store.execute(f"CREATE TABLE people ({TYPES[store.name]})")
    there = "" if store.name == "sqlite" else "'2019-12-31 23:30:00+00', "
    store.execute(f"INSERT INTO people VALUES {ROWS.format(there=there)}")
    if store.name != "sqlite":
        store.execute("CREATE SEQUENCE numbers")
    if store.name == "postgres":
        store.execute(
            "CREATE FUNCTION pg_sleep_of(x int) RETURNS float LANGUAGE plpgsql AS $$ BEGIN RETURN random(); END $$"
        )


def _trial(store: Store, place: int, random: Random) -> str | None:
    kind = random.choice(KINDS)
    if kind is On.STYLE and store.name != "postgres":
        kind = On.DATA
    text = random.choice(OF[store.name][kind]).replace("{schema}", getattr(store, "schema", ""))
    if store.name != "sqlite" and kind is not On.STYLE and random.random() < 0.25:
        return _of_condition(store, kind, text)
    made = _made(store, place, kind, text, random)
    try:
        for statement in made:
            store.execute(statement)
    except (duckdb.Error, psycopg.Error):  # this place takes no such expression
        return None
    with qidsql.connect(store.url + STYLES * (kind is On.STYLE)) as engine:
        try:
            table = engine.narrowed(engine.describe(f"v{place}"), None)
        except QidsqlError as error:
            found: Table | QidsqlError = error
        else:
            found = table
    wrong = _wrong(store, kind, text, found)
    if wrong is None and kind is On.DATA:
        wrong = _unlike_a_copy(store, f"v{place}")
    return wrong and f"{wrong}: {kind}: {'; '.join(made)}"


def _made(store: Store, place: int, kind: On, text: str, random: Random) -> list[str]:
    """The statements that make the relation v{place}."""
    own = {"duckdb": MACROS, "postgres": FUNCTIONS, "sqlite": ()}[store.name]
    made, used = [], text.format(t="people")
    if store.name == "duckdb" and random.random() < 0.2:
        value = text.replace("{t}.", "").format(t="").replace("people.", "")
        stored = TYPES["duckdb"].removeprefix("id INTEGER, ").removesuffix(", words VARCHAR")
        made.append(f"CREATE TABLE g{place} ({stored}, since TIMESTAMP DEFAULT now(), x AS ({value}))")
        made.append(f"INSERT INTO g{place} SELECT age, name, born, seen, seen_there, seen FROM people")
        made.append(f"CREATE VIEW v{place} AS SELECT {random.choice(('*', 'age, x'))} FROM g{place}")
        return made
    fitting = [each for each in own if each[2] or "{t}" not in text]
    if fitting and random.random() < 0.6:
        statements, use, _ = random.choice(fitting)
        row = "r" if store.name == "duckdb" else "(r)"
        operator = "@" * (1 + place % 7) + "#" * (1 + place // 7 % 9) + "&" * (place // 63 % 20)
        fill = {"schema": getattr(store, "schema", ""), "n": place, "x": text.format(t=row), "o": operator}
        made, used = [each.format(**fill) for each in statements], use.format(**fill)
    query = random.choice(QUERIES).replace("{x}", used)
    if kind is On.CHANCE and store.name != "sqlite" and random.random() < 0.1:
        sampled = "USING SAMPLE 50%" if store.name == "duckdb" else "TABLESAMPLE BERNOULLI (50)"
        made, query = [], f"SELECT age FROM people {sampled}"
    for depth in range(random.choice((0, 0, 1, 2))):
        made.append(f"CREATE VIEW w{place}_{depth} AS {query}")
        query = f"SELECT * FROM w{place}_{depth}"
    return [*made, f"CREATE VIEW v{place} AS {query}"]


def _of_condition(store: Store, kind: On, text: str) -> str | None:
    where = f"CAST({text.format(t='people')} AS VARCHAR) <> 'x'"
    with store.connect() as engine:
        table = engine.describe("people")
        try:
            found: Table | QidsqlError = engine.narrowed(table, where)
        except QidsqlError as error:
            found = error
    wrong = _wrong(store, kind, text, found)
    if wrong and kind is On.DATA and isinstance(found, UsageError) and "a query inside" in str(found):
        return None
    return wrong and f"{wrong}: {kind}: where {where}"


def _wrong(store: Store, kind: On, text: str, found: Table | QidsqlError) -> str | None:
    """What is wrong with how a relation or condition was taken."""
    notes = " ".join(found.notes) if isinstance(found, Table) else ""
    if kind in REASONS:
        if not isinstance(found, QidsqlError):
            return "accepted"
        queries = ("without a query inside",) if "(SELECT" in text else ()
        held = any(each in str(found) for each in (*REASONS[kind], *queries))
        return None if held else f"refused for another reason ({found})"
    if isinstance(found, QidsqlError) and not isinstance(found, UsageError):
        return f"not refused, but an error ({found})"
    if isinstance(found, UsageError):
        return None if store.name == "sqlite" and kind is not On.DATA else f"refused ({found})"
    if kind is On.DATA:
        known = any(
            each in text for each in ("seen_there", "age({t}.seen", "' now()'")
        )  # of which the words alone tell too little
        return f"noted ({notes})" if any(said in notes for said in SAID.values()) and not known else None
    return None if SAID[kind] in notes else "accepted without a note"


def _unlike_a_copy(store: Store, name: str) -> str | None:
    try:
        seen = qidsql.audit(store.url, name, k=2)
    except QidsqlError as error:
        return f"not audited ({error})"
    store.execute(f"CREATE TABLE copy_of_{name} AS SELECT * FROM {name}")
    copied = qidsql.audit(store.url, f"copy_of_{name}", k=2)
    store.execute(f"DROP TABLE copy_of_{name}")
    same = (seen.verdict, seen.account.rows) == (copied.verdict, copied.account.rows)
    return None if same else f"{seen.reason}, of its copy: {copied.reason}"


TRIALS = Trials("views, columns, conditions that depend on the session, beside honest ones", 300, 10, sessions)
