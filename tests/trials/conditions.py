"""Conditions against the same text in a statement of a person's own, and attempts to smuggle something in by one."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from random import Random

import duckdb
import psycopg

from qidsql.core.tables import Table
from qidsql.engines.base import Engine
from qidsql.errors import QidsqlError
from qidsql.sql.classes import column_counts
from qidsql.sql.copies import suppressed_by_counts
from qidsql.sql.relation import relation, sample
from qidsql.sql.templates import Statement, integer
from tests.stores import DuckDBStore, PostgresStore
from tests.trials import Ground, Trials
from tests.trials import condition_texts as texts

ROWS = 120
POSTGRES_TABLE = """
CREATE TYPE address AS (city text, zip int);
CREATE TYPE mood AS ENUM ('sad', 'glad');
CREATE TABLE people ("A" int, a int, id int, age int, height numeric, city varchar(20), initial char(3), born date,
  seen timestamp, seen_there timestamptz, active boolean, "order" int, "with ""quote" int, "Größe" int, home address,
  tags text[], doc jsonb, stay interval, period int4range, mood mood, mark bytea, flags bit(3), address inet, code uuid,
  spot point, note xml);
INSERT INTO people SELECT i % 3, i % 4, i, NULLIF(15 + i % 40, 20 + i / 50), 1.5 + i % 4 / 4.0, city, left(city, 1),
  DATE '1970-05-01' + i * 97, TIMESTAMP '2020-01-01' + i * INTERVAL '37 hours', TIMESTAMPTZ '2019-12-31 23:30:00+00' +
  i * INTERVAL '1 hour', CASE i % 3 WHEN 0 THEN TRUE WHEN 1 THEN FALSE END, i % 7, i % 2, i % 3,
  ROW(city, 100 + i % 90)::address,
  CASE i % 4 WHEN 0 THEN '{{x,y}}' WHEN 1 THEN '{{}}' WHEN 2 THEN '{{x}}' END::text[],
  jsonb_build_object('a', i % 3, 'c', jsonb_build_array(i % 6, 5)), i * INTERVAL '11 minutes',
  int4range(i % 5, 6 + i % 3), (ARRAY['sad', 'glad'])[1 + i % 2]::mood, decode('010' || i % 3, 'hex'), (i % 8)::bit(3),
  '10.1.2.3', ('00000000-0000-0000-0000-00000000000' || i % 9)::uuid, point(i % 4, 1), NULL
  FROM generate_series(0, {rows} - 1) AS i, LATERAL (
    SELECT (ARRAY['Oslo', 'Bergen', 'O''Brien', '', NULL, 'O_x', '100%', 'a; b', 'é', 'oslo'])[1 + i % 10] AS city
  ) AS drawn
"""
DUCKDB_TABLE = """
CREATE TYPE mood AS ENUM ('sad', 'glad');
CREATE TABLE people (id INTEGER, age INTEGER, height DOUBLE, city VARCHAR, initial VARCHAR, born DATE, seen TIMESTAMP,
  seen_there TIMESTAMPTZ, active BOOLEAN, "order" INTEGER, "with ""quote" INTEGER, "Größe" INTEGER,
  home STRUCT(city VARCHAR, zip INTEGER), tags VARCHAR[], scores MAP(VARCHAR, INTEGER), doc JSON, stay INTERVAL,
  mood mood, mark BLOB, code UUID, pair INTEGER[2]);
INSERT INTO people SELECT i, NULLIF(15 + i % 40, 20 + i // 50), 1.5 + i % 4 / 4, city, left(city, 1),
  DATE '1970-05-01' + CAST(i * 97 AS INTEGER), TIMESTAMP '2020-01-01' + to_hours(37 * i),
  TIMESTAMPTZ '2019-12-31 23:30:00+00' + to_hours(i), CASE i % 3 WHEN 0 THEN TRUE WHEN 1 THEN FALSE END, i % 7, i % 2,
  i % 3, {{'city': CASE i % 2 WHEN 0 THEN 'Oslo' ELSE city END, 'zip': 100 + i % 90}},
  CASE i % 4 WHEN 0 THEN ['x', 'y'] WHEN 1 THEN [] WHEN 2 THEN ['x'] END, MAP {{'a': i % 6}},
  json_object('a', i % 3, 'c', [i % 6, 5]), to_minutes(i * 11), CASE i % 2 WHEN 0 THEN 'sad' ELSE 'glad' END,
  from_hex('010' || i % 3), ('00000000-0000-0000-0000-00000000000' || i % 9)::UUID, [i % 3, 2]
  FROM (SELECT i, ['Oslo', 'Bergen', 'O''Brien', '', NULL, 'O_x', '100%', 'a; b', 'é', 'oslo'][1 + i % 10] AS city
  FROM range({rows}) AS r(i))
"""
EVIL = """
CREATE TABLE secrets (a int); CREATE SEQUENCE numbers;
CREATE FUNCTION evil() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_notify('eve', 'x'); RETURN TRUE; END $$;
CREATE FUNCTION evil(anyelement) RETURNS boolean LANGUAGE sql AS 'SELECT {eve}.evil()';
CREATE FUNCTION evil_of(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT {eve}.evil()';
CREATE OPERATOR === (LEFTARG = text, RIGHTARG = text, FUNCTION = evil_of);
CREATE DOMAIN checked AS text CHECK ({eve}.evil())
"""


class Place(ABC):
    """A table `people` on one engine: what a condition selects there, and whether it leaves anything behind."""

    name: str
    engine: Engine
    table: Table
    ordinary: Sequence[str]
    smuggled: Sequence[str]

    @abstractmethod
    def open(self) -> Engine:
        """An engine on the table."""

    @abstractmethod
    def raw(self, where: str) -> int | None:
        """The rows that the text selects in a person's own statement; None where that is an error."""

    @abstractmethod
    def traces(self) -> object:
        """What a condition could have left behind."""

    def selected(self, where: str) -> set[int]:
        """The rows that qidsql selects: in an audit's statements, in a sample, in a script. Raises QidsqlError."""
        engine, dialect = self.engine, self.engine.dialect
        table = engine.narrowed(self.table, where)
        columns = table.resolve(["id", "city", "doc", "born"])
        sources = relation(dialect, table, columns), sample(dialect, table, columns, 1000, 1)
        counts = {engine.run(column_counts(dialect, source, ["id"]))[0] for source in sources}
        copy = suppressed_by_counts(dialect, table, columns[:2], columns, [0, 1], 2)
        text = f"SELECT COUNT(*) FROM ({dialect.render(copy)}) AS copy"
        counted = Statement(text, "rows of a copy", lambda rows: integer(rows[0][0]))
        return counts | {engine.run(counted)}

    def trial(self, where: str, ordinary: bool) -> str | None:
        """What is wrong with one condition; None where nothing is."""
        before = self.traces()
        try:
            found: set[int] | str = self.selected(where)
        except QidsqlError as error:
            found = str(error)
            if self.engine.closed:  # by a statement that failed
                self.engine.close()
                self.engine = self.open()
            if "internal" in found or "report it" in found:
                return f"{where!r}: {found}"
        if self.traces() != before:
            return f"{where!r} has left something behind"
        if not ordinary:
            return None if isinstance(found, str) else f"{where!r} is accepted"
        raw = self.raw(where)
        if found == {raw} or (isinstance(found, str) and raw is None):
            return None
        return f"{where!r} selects {found}, not {raw}"


class PostgresPlace(Place):
    """A schema on the path, with functions of somebody's own. Where the engine may write, nothing but we forbids it."""

    name = "postgres"

    def __init__(self, url: str, folder: Path, held: ExitStack, writable: bool) -> None:
        self.store = held.enter_context(PostgresStore(url))
        self.store.execute(POSTGRES_TABLE.format(rows=ROWS))
        self.store.execute(EVIL.format(eve=self.store.schema))
        self.ear = held.enter_context(psycopg.connect(url, autocommit=True))
        self.ear.execute("LISTEN eve")
        self.folder = folder
        self.writable = writable
        self.engine = self.open()
        held.callback(lambda: self.engine.close())
        self.table = self.engine.describe("people")
        fill = {"{schema}": self.store.schema, "{eve}": self.store.schema, "{file}": str(folder / "caught")}
        self.ordinary = [_filled(each, fill) for each in (*texts.SHARED, *texts.comparisons(), *texts.POSTGRES)]
        calls = [_filled(each, fill) for each in texts.POSTGRES_CALLS]
        whole = [_filled(each, fill) for each in (*texts.WHOLE, *texts.POSTGRES_WHOLE)]
        self.smuggled = [*_wrapped(calls), *(each.replace("{call}", "pg_notify('eve', 'x')") for each in whole)]

    def open(self) -> Engine:
        return self.store.connect(statement_seconds=20, writable=self.writable)

    def raw(self, where: str) -> int | None:
        try:
            [(count,)] = self.store.admin.execute(f"SELECT COUNT(*) FROM people WHERE {where}".encode()).fetchall()
        except psycopg.Error:
            return None
        return integer(count)

    def traces(self) -> object:
        heard = [notice.payload for notice in self.ear.notifies(timeout=0)]
        state = self.engine._attempt(  # type: ignore[attr-defined]
            "SELECT current_setting('qidsql.canary', TRUE), current_setting('search_path'), "
            "(SELECT COUNT(*) FROM pg_largeobject_metadata), "
            "(SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory'), "
            f"pg_current_xact_id_if_assigned() IS NULL, (SELECT last_value FROM {self.store.schema}.numbers), "
            f"(SELECT COUNT(*) FROM {self.store.schema}.people), (SELECT COUNT(*) FROM pg_class)"
        )
        return heard, state, sorted(self.folder.iterdir())


class DuckDBPlace(Place):
    """A database file, opened for writing: nothing but we forbids it."""

    name = "duckdb"

    def __init__(self, folder: Path, held: ExitStack) -> None:
        self.folder = folder
        self.store = store = held.enter_context(DuckDBStore(folder / "conditions.duckdb"))
        for statement in DUCKDB_TABLE.format(rows=ROWS).split(";\n"):
            store.execute(statement)
        store.execute("CREATE TABLE secrets AS SELECT 1 AS a; CREATE SEQUENCE numbers")
        store.execute(
            "CREATE MACRO evil(x) AS nextval('numbers'); CREATE MACRO of_secrets() AS (SELECT a FROM secrets)"
        )
        store.execute("CREATE MACRO upper_of(x) AS 'OSLO'; CREATE MACRO sum(x) AS 0; CREATE MACRO count(x) AS 0")
        self.engine = self.open()
        held.callback(lambda: self.engine.close())
        self.table = self.engine.describe("people")
        fill = {"{file}": str(folder / "caught")}
        self.ordinary = [_filled(each, fill) for each in (*texts.SHARED, *texts.comparisons(), *texts.DUCKDB)]
        whole = [_filled(each, fill) for each in (*texts.WHOLE, *texts.DUCKDB_WHOLE)]
        self.smuggled = [
            *_wrapped(texts.DUCKDB_CALLS),
            *(each.replace("{call}", "nextval('numbers')") for each in whole),
        ]

    def open(self) -> Engine:
        return self.store.connect(writable=True)

    def raw(self, where: str) -> int | None:
        try:
            own = self.engine._connection.cursor()  # type: ignore[attr-defined]
            own.execute("USE conditions")
            [(count,)] = own.execute(f"SELECT system.main.count_star() FROM people WHERE {where}").fetchall()
        except (duckdb.Error, RuntimeError):
            return None
        return integer(count)

    def traces(self) -> object:
        state = self.engine._execute(  # type: ignore[attr-defined]
            "SELECT (SELECT list(last_value) FROM duckdb_sequences()), (SELECT list(table_name) FROM duckdb_tables()), "
            "current_setting('threads'), current_setting('search_path'), (SELECT count(*) FROM conditions.main.people)",
            "traces",
        )
        return state, sorted(path for path in self.folder.iterdir() if not path.name.startswith("conditions"))


def _filled(text: str, fill: dict[str, str]) -> str:
    for hole, value in fill.items():
        text = text.replace(hole, value)
    return text


def _wrapped(calls: Sequence[str]) -> list[str]:
    return [wrap.replace("{}", call) for call in calls for wrap in texts.WRAPPED]


def conditions(number: int, seed: int, ground: Ground) -> Iterator[str | None]:
    """One trial is one condition on one engine; there are 2,685. Another seed: another order."""
    with ExitStack() as held:
        folders = [ground.folder / name for name in ("postgres", "writable", "duckdb")]
        for folder in folders:
            folder.mkdir()
        places = [
            PostgresPlace(ground.postgres_url(), folders[0], held, writable=False),
            PostgresPlace(ground.postgres_url(), folders[1], held, writable=True),
            DuckDBPlace(folders[2], held),
        ]
        every = [(place, text, True) for place in places for text in place.ordinary]
        every += [(place, text, False) for place in places for text in place.smuggled]
        Random(seed).shuffle(every)  # a share holds some of every kind
        for place, text, ordinary in every[:number]:
            wrong = place.trial(text, ordinary)
            yield wrong and f"{place.name} {'ordinary' if ordinary else 'smuggled'} {wrong}"


TRIALS = Trials("conditions beside the raw statement, and smuggling by them; two engines", 2_685, 20, conditions)
