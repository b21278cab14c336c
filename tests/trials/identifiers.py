"""Hostile names as schema, table, column, file, alias and policy entry, on both engines, by every way to ask.

Each table is the same five rows, so that every answer is known: by the command line, Python, the extension, psql and
its functions, DuckDB's macros, a run, and printed scripts, which are run. A table `canary` has to stay as it was. In
Postgres the second column, and another table beside, have the same name in other letter case, where there is one.
"""

import json
import os
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random
from shutil import which
from types import MethodType
from typing import Any

import duckdb
import psycopg
import pytest

import qidsql
from qidsql.engines.base import Engine
from qidsql.engines.duckdb.host import duckdb_macros
from qidsql.engines.duckdb.text_files import BLANKS
from qidsql.engines.postgres.functions import postgres_functions
from qidsql.errors import QidsqlError, SourceError
from tests.commandline import inside
from tests.definitions import profile_of
from tests.duckdb_hosts import Module, build
from tests.hostile_names import hostile_names
from tests.stores import DuckDBStore, PostgresStore, Store, quoted
from tests.trials import Ground, Trials

ROWS = [("a", "1"), ("a", "1"), ("a", "2"), ("b", "1"), ("b", "1")]
VALUES = ", ".join(f"('{one}', '{other}')" for one, other in ROWS)
PROFILE = profile_of(ROWS, 2)
BIRDS = [("tweety",), ("polly",), ("woodstock",)]
TOGETHER = 25
FORMATS = ("html", "markdown", "junit", "sarif", "github", "prometheus")
OURS = ("main", "public", "information_schema", "pg_catalog", "pg_temp")  # schemas that are there


def identifiers(number: int, seed: int, ground: Ground) -> Iterator[str | None]:
    """One trial is one name in every place and by every way."""
    with ground.stores(DuckDBStore, PostgresStore) as stores:
        for store in stores:
            store.table("canary", {"bird": "VARCHAR"}, BIRDS)
        host = _host(ground.folder / "extension")
        wanted = list(islice(_forever(seed), number))
        for first in range(0, number, TOGETHER):
            yield from _batch(stores, host, ground.folder / str(first), wanted[first : first + TOGETHER])


def _forever(seed: int) -> Iterator[str]:
    while True:
        found = hostile_names(seed)
        Random(seed).shuffle(found)
        yield from found
        seed += 1


def _host(folder: Path) -> Module | None:
    """A DuckDB to load the extension into; None where it cannot be built."""
    folder.mkdir()
    with suppress(QidsqlError, pytest.skip.Exception):
        return Module("module", build(folder), None)
    return None


def _batch(stores: Sequence[Store], host: Module | None, folder: Path, names: Sequence[str]) -> Iterator[str | None]:
    """The outcome for each name."""
    folder.mkdir()
    wrong: dict[str, list[str]] = defaultdict(list)
    for store in stores:
        made = [each for each in (_Place(store, name) for name in names) if each.made]
        for place in made:
            for way in (place.by_python, partial(place.by_command_line, folder), place.by_printed_scripts):
                wrong[place.name] += _tried(store.name, way)
        _by_a_run(made, folder / store.name, wrong)
        by_functions = _by_macros if isinstance(store, DuckDBStore) else _by_psql
        by_functions(made, store, wrong)
        if isinstance(store, DuckDBStore) and host is not None:
            _by_extension(made, store, host, wrong)
        for place in made:
            place.drop()
        if _content(store, "canary") != sorted(BIRDS):
            wrong[names[0]].append(f"{store.name}: the canary is dead")
    for number, name in enumerate(names):  # each in a folder: DuckDB's glob stumbles over files called \...
        wrong[name] += _tried("files", partial(_as_files, folder / str(number), name))
        yield f"{name!r}: {'; '.join(wrong[name])}" if wrong[name] else None


def _tried(where: str, way: Callable[[], list[str]]) -> list[str]:
    try:
        return [f"{where} {each}" for each in way()]
    except Exception as error:  # noqa: BLE001 - whatever it is, it is wrong, and the next name has its turn
        if isinstance(way, MethodType) and isinstance(way.__self__.store, PostgresStore):
            way.__self__.store.admin.rollback()  # out of a script that failed
        return [f"{where} {type(error).__name__}: {error}"]


def _differ(what: str, got: object, wanted: object) -> list[str]:
    return [] if got == wanted else [f"{what} {got!r}, not {wanted!r}"]


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _content(store: Store, table: str) -> list[tuple[Any, ...]]:
    if isinstance(store, PostgresStore):
        return store.admin.execute(f"SELECT * FROM {table} ORDER BY 1".encode()).fetchall()
    with duckdb.connect(store.url, read_only=True) as connection:
        return connection.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()


class _Place:
    """A schema, a table and its columns of one name, and a view whose columns are called so by an alias."""

    def __init__(self, store: Store, name: str) -> None:
        self.store, self.name, self.made = store, name, False
        self.schema = f"{name} " if name in OURS else name
        twin = name.swapcase()
        twins = isinstance(store, PostgresStore) and twin != name and len(twin.encode()) < 64
        self.columns = [name, twin if twins else f"2{name}" if len(name.encode()) < 63 else name[1:]]
        self.typed = f"{quoted(self.schema)}.{quoted(name)}"
        self.view = f"{quoted(self.schema)}.{quoted('v' + name[:30])}"
        first, second = map(quoted, self.columns)
        aliased = f"SELECT a AS {first}, b AS {second} FROM (VALUES {VALUES}) AS v(a, b)"
        try:
            store.execute(f"CREATE SCHEMA {quoted(self.schema)}")
            store.execute(f"CREATE TABLE {self.typed} ({first} VARCHAR, {second} VARCHAR)")
            store.execute(f"INSERT INTO {self.typed} VALUES {VALUES}")
            store.execute(f"CREATE VIEW {self.view} AS {aliased}")
            if twins:
                store.execute(
                    f"CREATE TABLE {quoted(self.schema)}.{quoted(twin)} AS SELECT 1 AS {first}, 2 AS {second}"
                )
            self.made = True
        except (duckdb.Error, psycopg.Error):  # a name that the engine does not take
            self.drop()

    def drop(self) -> None:
        with suppress(duckdb.Error, psycopg.Error):
            self.store.execute(f"DROP SCHEMA {quoted(self.schema)} CASCADE")

    def by_python(self) -> list[str]:
        with self.store.connect() as engine:
            found = [*_audited(engine, self.typed, self.columns), *_audited(engine, self.view, self.columns)]
            first, second = self.columns
            scored = qidsql.uniques(engine, self.typed, key=second, columns=[first], scores="suda")
            return found + _differ("uniques", (scored.combinations, scored.key), (0, second))

    def by_command_line(self, folder: Path) -> list[str]:
        """Options by name, a condition, and the report in every format: names are in none of them code."""
        first, second = self.columns
        output = folder / "audit.json"
        where = f"{quoted(first)} IS NOT NULL AND {quoted(second)} <> 'x'"
        options = [*(f"--column={each}" for each in self.columns), "--k", 2, "-q", "--where", where]
        outcome = inside("audit", self.store.url, self.typed, *options, "--output", output)
        if outcome.code != 1:
            return [f"audit: {outcome}"]
        found = _differ("audit", _audited_names(json.loads(output.read_text())), self.columns)
        for form in FORMATS:
            text = inside("report", output, "--format", form).out
            if "<" in self.name and form in ("html", "junit") and self.name in text:
                found.append(f"{form} has the name as it is")
        outcome = inside("audit", self.store.url, self.typed, f"--only={first}", "--k", 2, "--format", "json")
        found_set = json.loads(outcome.out)
        return found + _differ("one set", (found_set["columns"], found_set["profile"]["classes"]), ([first], 2))

    def by_printed_scripts(self) -> list[str]:
        """What mask, suppress and anonymize print is run, and what suppress writes is there."""
        found = []
        with self.store.connect() as engine:
            view, role = f"m{self.name[:30]}", "pg_monitor"  # a role that is there
            masked = qidsql.protect(
                engine, self.typed, distinct="0.5", columns=self.columns, view=view, role=role, by="columns"
            )
            suppressed = qidsql.protect(
                engine, self.typed, columns=self.columns, sql="view", by="cells", against="released-rows", k=2
            )
            anonymized = qidsql.protect(engine, self.typed, k=2, columns=self.columns, sql="table", by="cells")
            beside = engine.dialect.name_beside
        for made, script in (
            (view, masked.script),
            (beside(self.name, "_suppressed"), suppressed.script),
            (beside(self.name, "_anonymized"), anonymized.script),
        ):
            self.store.execute(";\n".join(script))
            found += _differ(f"rows of {made}", self._rows(made), len(ROWS))
        into = f"i{self.name[:30]}"
        options = {"columns": self.columns, "into": f"{quoted(self.schema)}.{quoted(into)}"}
        result = qidsql.protect(self.store.url, self.typed, **options, by="cells")  # type: ignore[arg-type]
        return found + _differ("--into", (result.verdict, self._rows(into)), ("finished", len(ROWS)))

    def _rows(self, table: str) -> int:
        return len(_content(self.store, f"{quoted(self.schema)}.{quoted(table)}"))

    @property
    def as_a_policy_names_it(self) -> str:
        """In quotes; where a name has the signs of a pattern, as a pattern for itself alone."""
        if not any(sign in self.typed for sign in "*?["):
            return self.typed
        return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in f"{self.schema}.{self.name}")

    @property
    def arguments(self) -> str:
        """Those of a function in DuckDB: the table, and its columns."""
        return f"{_literal(self.typed)}, columns := [{', '.join(map(_literal, self.columns))}], k := 2"


def _audited(engine: Engine, table: str, columns: Sequence[str]) -> list[str]:
    result = qidsql.audit(engine, table, k=2, keep_identifiers=True)
    found = _differ("columns", [column.name for column in result.columns], list(columns))
    found += _differ("profile", result.profile, PROFILE)
    keys = qidsql.keys(engine, table, columns=columns, violates=2, k=2)
    return found + _differ("set below k", keys.column_sets[0].columns, (columns[1],))


def _audited_names(document: dict[str, Any]) -> list[str]:
    return [column["name"] for column in document["columns"] if column["audited"]]


def _by_a_run(places: Sequence[_Place], home: Path, wrong: dict[str, list[str]]) -> None:
    """A policy file with an entry for each table, its columns by name, its source by another such name."""
    lines = ["format = 1"]
    for place in places:
        source, first, second = map(_in_toml, (place.name, *place.columns))
        lines += [f"[sources.{source}]", f"url = {json.dumps(place.store.url)}"]
        lines += ["[[tables]]", f"source = {source}", f"table = {_in_toml(place.as_a_policy_names_it)}", "k = 2"]
        lines += ["[tables.roles]", f'{first} = "other"', f'{second} = "quasi-identifier"']
    home.mkdir()
    (home / "qidsql.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    outcome = inside("run", "-q", "--format", "json", cwd=home)
    if not outcome.out:
        wrong[places[0].name].append(f"run: {outcome.err}")
        return
    for place, table in zip(places, json.loads(outcome.out)["tables"], strict=True):
        found = _differ("source", table["source"], place.name)
        found += _differ("table", table["table"], f"{place.schema}.{place.name}")
        found += _differ("columns", table["audit"] and _audited_names(table["audit"]), place.columns[1:])
        called = f"{table['source']}: {table['table']}"
        through = inside("history", f"--table={called}", "--format", "json", cwd=home)
        found += _differ("history", through.code, 0)
        wrong[place.name] += [f"{place.store.name} run: {each}" for each in found]


def _in_toml(text: str) -> str:
    return '"' + "".join(sign if sign.isalnum() else f"\\U{ord(sign):08x}" for sign in text) + '"'


def _by_macros(places: Sequence[_Place], store: Store, wrong: dict[str, list[str]]) -> None:
    with duckdb.connect(store.url, read_only=True) as connection:
        connection.execute(duckdb_macros())
        for place in places:
            calls = (f"SELECT rows, classes, smallest FROM qidsql.profile({place.arguments})",)
            [found] = connection.execute(calls[0]).fetchall()
            wrong[place.name] += _differ("macro", found, (5, 3, 1))
            shown = connection.execute(f"FROM qidsql.violations({place.arguments})")
            expected = [f"{each}_1" if each == "class_size" else each for each in place.columns]
            wrong[place.name] += _differ("macro's columns", [each[0] for each in shown.description][1:], expected)


def _by_psql(places: Sequence[_Place], store: Store, wrong: dict[str, list[str]]) -> None:
    """The functions in the real psql; by the driver where there is none."""
    assert isinstance(store, PostgresStore)
    calls = [
        f"qidsql.profile({_literal(place.typed)}, ARRAY[{', '.join(map(_literal, place.columns))}], k => 2)"
        for place in places
    ]
    asked = [f"SELECT 'answer', {number}, rows, classes, smallest FROM {call}" for number, call in enumerate(calls)]
    if which("psql") is None:
        store.execute(postgres_functions())
        lines = ["|".join(map(str, store.admin.execute(each.encode()).fetchone() or ())) for each in asked]
        store.execute("DROP SCHEMA qidsql CASCADE")
    else:
        script = ";\n".join([postgres_functions(), *asked, "DROP SCHEMA qidsql CASCADE"]) + ";\n"
        done = subprocess.run(
            ["psql", "--no-psqlrc", "-qAt", store.server],
            input=script.encode(),
            capture_output=True,
            env={**os.environ, "PGOPTIONS": f"-csearch_path={store.schema}", "PGCLIENTENCODING": "UTF8"},
            check=False,
        )
        lines = done.stdout.decode().splitlines()
    answers = {line.split("|")[1]: line.split("|")[2:] for line in lines if line.startswith("answer|")}
    for number, place in enumerate(places):
        wrong[place.name] += _differ("psql", answers.get(str(number)), ["5", "3", "1"])


def _by_extension(places: Sequence[_Place], store: Store, host: Module, wrong: dict[str, list[str]]) -> None:
    statements = [host.load]
    for place in places:
        statements.append(f"SELECT columns, rows, classes FROM qidsql.audit({place.arguments}) WHERE finding = 'table'")
        statements.append(f"SELECT columns FROM qidsql.keys({place.arguments}, violates := 2)")
    answers = host.run(statements, database=store.url, read_only=True)[1:]
    for place, audit, keys in zip(places, answers[::2], answers[1::2], strict=True):
        wrong[place.name] += _differ("extension", audit, [{"columns": place.columns, "rows": 5, "classes": 3}])
        wrong[place.name] += _differ("extension's keys", keys, [{"columns": place.columns[1:]}])


def _as_files(folder: Path, name: str) -> list[str]:
    """Columns of csv, json and parquet files that are called so, as the files are."""
    folder.mkdir()
    found = []
    columns = [name, f"2{name}"]
    lost = "\\" in name and any(sign in name for sign in "*?[")  # which DuckDB cannot find, so that it is refused
    stem = "plain" if lost or "/" in name or name in (".", "..") or len(name.encode()) > 200 else name
    csv, jsons, parquet = (folder / f"{stem}.{ending}" for ending in ("csv", "json", "parquet"))
    fields = [['"' + cell.replace('"', '""') + '"' for cell in row] for row in (columns, *ROWS)]
    csv.write_text("".join(",".join(row) + "\n" for row in fields), encoding="utf-8", newline="")
    jsons.write_text(json.dumps([dict(zip(columns, row, strict=True)) for row in ROWS]), encoding="utf-8")
    with duckdb.connect() as connection:
        selected = f"SELECT a AS {quoted(name)}, b AS {quoted(columns[1])} FROM (VALUES {VALUES}) AS v(a, b)"
        connection.execute(f"COPY ({selected}) TO {_literal(str(parquet))} (FORMAT parquet)")
    bare = [column.strip(BLANKS) if column.split() else "column0" for column in columns]  # as DuckDB reads them
    for path, shown in ((csv, bare), (jsons, columns), (parquet, columns)):
        source = f"{path}?header=true" if path is csv else str(path)
        if path is csv and "\r" in name:  # another end of a line than those of the file
            with pytest.raises(SourceError, match="or line endings"):
                qidsql.connect(source)
            continue
        result = qidsql.audit(source, k=2, keep_identifiers=True)
        found += _differ(f"{path.suffix} columns", [column.name for column in result.columns], shown)
        found += _differ(f"{path.suffix} profile", result.profile, PROFILE)
        outcome = inside("audit", source, f"--only={shown[1]}", "--k", 2, "--format", "json")
        found += _differ(f"{path.suffix} command line", outcome.code, 0)
        if lost and "/" not in name:
            with pytest.raises(SourceError, match="has a backslash and one of"):
                qidsql.connect(str(path.rename(folder / f"{name}{path.suffix}")))
    return found


TRIALS = Trials("hostile names in every place, by every way, on both engines", 500, 1, identifiers)
