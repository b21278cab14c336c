"""What is Spark Connect's own: an address, a server that dies or hangs, files that come and go, statements evaluated
twice. The server is Sail, from PyPI."""

import json
import re
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import combinations
from pathlib import Path
from random import Random
from socket import create_server
from typing import Any

import duckdb
import pytest
import sqlglot
from sqlglot import exp

import qidsql
from qidsql.commands.audit import figures
from qidsql.core.tables import Column, Comparison, Table, TableName
from qidsql.engines.connect import connect, shown
from qidsql.engines.spark import kind, session
from qidsql.engines.spark.address import TOKEN, address
from qidsql.engines.spark.dialect import SPARK, column
from qidsql.engines.spark.doctor import NEEDED, Introduction, checks
from qidsql.engines.spark.session import SparkSession, message_class
from qidsql.errors import SnapshotLost, SourceError, StatementError, UsageError
from qidsql.linkage.lineage import same_attributes
from qidsql.profiling.by_entity import profiler_for
from qidsql.sql.classes import class_profiles
from qidsql.sql.dialects import Dialect
from qidsql.sql.matching_rows import Domain, matching_profile, witness_rows
from qidsql.sql.relation import Relation, relation, sample
from qidsql.sql.row_codes import coded_copy
from qidsql.sql.row_pairs import agreeing, pair_masks
from tests.commandline import environment, finished, inside
from tests.commandline import qidsql as qidsql_process
from tests.definitions import profile_of
from tests.exhaustive import always
from tests.hostile_names import GIVEN
from tests.random_tables import random_table
from tests.spark_server import SailProcess, sail, spark_url
from tests.sql.golden_statements import FOLDER
from tests.stores import SparkStore, quoted
from tests.trials.disturbed import PROOF
from tests.ways import measured_set

ENDLESS = "SELECT a.id % 7 AS x, b.id % 5 AS y FROM RANGE(10000000) AS a CROSS JOIN RANGE(10000000) AS b"
SECRET = "geheim"


@pytest.fixture
def people(tmp_path: Path) -> str:
    """A parquet file with NULLs, equal rows and awkward names, that no column set of fewer than three is a key of."""
    draw = Random(1)
    rows = [
        (
            draw.choice(["a", "A", "a ", "", None]),
            draw.choice([1, 2, None]),
            draw.randrange(40),
            draw.choice([0.5, None]),
        )
        for _ in range(300)
    ]
    return parquet(tmp_path / "people.parquet", ['zi"p', "b`c", "years", "share"], rows + rows[:3])


def parquet(path: Path, names: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    with duckdb.connect() as connection:
        values = ", ".join("(" + ", ".join("?" * len(names)) + ")" for _ in rows)
        aliases = ", ".join(f"x{place}" for place in range(len(names)))
        named = ", ".join(f"x{place} AS {quoted(name)}" for place, name in enumerate(names))
        cells = [cell for row in rows for cell in row]
        connection.execute(f"COPY (SELECT {named} FROM (VALUES {values}) AS t({aliases})) TO '{path}'", cells)
    return str(path)


# One answer


pytestmark = pytest.mark.spark

OWN = {"source", "engine", "reader", "time_zone", "kind", "snapshot", "seconds", "started", "table"}
OWN |= {"statements", "rounds", "scans", "sets_profiled", "bytes_read", "bytes_exact", *PROOF}
OWN |= {"coarser", "blanked"}  # levels by type are those of engines that declare which types they recode
DRAWN = {"alone", "below_k", "alone_of_many", "low", "high"}
COMMANDS: dict[str, Callable[[str, str], Any]] = {
    "audit": lambda source, table: qidsql.audit(source, table, k=5),
    "audit of persons": lambda source, table: qidsql.audit(source, table, k=3, entity="years"),
    "audit with wildcards": lambda source, table: qidsql.audit(source, table, k=3, nulls="wildcard"),
    "only": lambda source, table: measured_set(source, table, k=5),
    "keys": lambda source, table: qidsql.keys(source, table),
    "keys, all": lambda source, table: qidsql.keys(source, table, all=True),
    "keys by ratio": lambda source, table: qidsql.keys(source, table, distinct="0.5"),
    "columns": lambda source, table: qidsql.protect(source, table, distinct="0.3", by="columns"),
    "uniques": lambda source, table: qidsql.uniques(source, table, max_size=3),
    "matching": lambda source, table: qidsql.protect(source, table, k=2, by="cells", against="released-rows"),
}


def without_its_own(found: Any, names: Sequence[str]) -> Any:
    """A result without what is the engine's own: how it is called, its types, its work."""
    if isinstance(found, dict):
        drawn = DRAWN if found.get("drawn") else set()  # by the engine's own hash
        kept = {key: value for key, value in found.items() if key not in OWN | {"type", "script"} | drawn}
        return {key: without_its_own(value, names) for key, value in kept.items()}
    if isinstance(found, list | tuple):
        return [without_its_own(each, names) for each in found]
    for name in names if isinstance(found, str) else ():
        found = found.replace(name, "the table")
    return found


def same_answer(command: Callable[[str, str], Any], path: str) -> bool:
    stem = Path(path).stem
    results = [command(spark_url(), path), command(path, stem)]
    first, second = (without_its_own(result.to_dict(), [path, f"main.{stem}", stem]) for result in results)
    return bool(first == second)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_has_the_same_answer_as_in_duckdb(command: str, people: str) -> None:
    assert same_answer(COMMANDS[command], people)


@pytest.mark.parametrize(
    ("command", "told"), [("audit", "column_sets"), ("keys, all", "column_sets"), ("matching", "by_cells")]
)
def test_unsigned_numbers_have_the_same_answer_as_in_duckdb(command: str, told: str, tmp_path: Path) -> None:
    """Sail describes them as signed, but has no hash of them; Spark reads the largest as decimals."""
    file = tmp_path / "unsigned.parquet"
    duckdb.sql(
        f"COPY (SELECT (i % 7)::UTINYINT AS a, (i * i % 50)::USMALLINT AS b, (i // 3)::UINTEGER AS c, "
        f"[(i % 5)::UINTEGER] AS d, 18446744073709551615 - (i % 40)::UBIGINT AS e FROM range(120) AS t(i)) TO '{file}'"
    )
    found, exact = (COMMANDS[command](*at).to_dict() for at in ((spark_url(), str(file)), (str(file), "unsigned")))
    assert found[told] and found[told] == exact[told] and found["unfinished"] == []


def test_a_sample_of_unsigned_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "share_for", lambda rows, k, error: 2)
    file = tmp_path / "unsigned.parquet"
    duckdb.sql(f"COPY (SELECT (i % 9)::UBIGINT AS a, (i * i % 50)::UTINYINT AS b FROM range(400) AS t(i)) TO '{file}'")
    found = qidsql.audit(spark_url(), str(file), k=5, approximate=0.1)
    assert found.verdict == "violation" and found.estimate is not None and not found.account.unfinished


@pytest.fixture(scope="module")
def adult_file(adult_path: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("adult") / "adult.parquet"
    with duckdb.connect(str(adult_path), read_only=True) as connection:
        connection.execute(f"COPY (FROM adult) TO '{file}'")
    return str(file)


ADULT = {
    "audit": lambda source, table: qidsql.audit(source, table, k=2),
    "keys, all": lambda source, table: qidsql.keys(source, table, all=True, distinct="0.9"),
    "columns": lambda source, table: qidsql.protect(source, table, distinct="0.5", by="columns"),
    "uniques": lambda source, table: qidsql.uniques(source, table, max_size=3),
    "matching": lambda source, table: qidsql.protect(source, table, k=2, by="cells", against="released-rows"),
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("command", ADULT)
def test_adult_has_the_same_answer_as_in_duckdb(command: str, adult_file: str) -> None:
    assert same_answer(ADULT[command], adult_file)


@pytest.mark.exhaustive
def test_profiles_of_adult(adult_file: str) -> None:
    """All pairs of columns, and random larger sets: 129 and more."""
    sets = [1 << one | 1 << other for one, other in combinations(range(14), 2)]
    sets += [Random(seed).randrange(1, 1 << 14) for seed in range(60)]
    found = []
    for source, table in ((spark_url(), adult_file), (adult_file, "adult")):
        with connect(source) as engine:
            described = engine.describe(table)
            rows = relation(engine.dialect, described, described.columns)
            names = [column.name for column in described.columns]
            found.append(profiler_for(engine, rows, names, 5).profiles(sets))
    assert found[0] == found[1]


@pytest.mark.parametrize("seeds", always(range(12), longer=[range(12, 150)]))
def test_random_tables_by_definition(spark_store: SparkStore, seeds: range) -> None:
    """NaN, -0.0, NULL, texts that look alike: each set of columns."""
    tables = [table for table in (random_table(seed, "spark") for seed in seeds) if table.rows]
    for table in tables:
        for statement in table.statements:
            spark_store.execute(statement)
    with spark_store.connect() as engine:
        for table in tables:
            described = engine.describe(table.name)
            rows = relation(engine.dialect, described, described.columns)
            sets = list(range(1, 1 << table.columns))
            found = profiler_for(engine, rows, table.names, 3).profiles(sets)
            for mask, profile in zip(sets, found, strict=True):
                chosen = [tuple(row[p] for p in range(table.columns) if mask >> p & 1) for row in table.rows]
                assert profile == profile_of(chosen, 3), (table, mask)


@pytest.mark.exhaustive
@pytest.mark.parametrize("partitions", [1, 2, 7, 200])
def test_any_number_of_partitions(tmp_path: Path, partitions: int) -> None:
    """As `test_spark_cluster.py` has it for Spark."""
    server = SailProcess(SAIL_EXECUTION__DEFAULT_PARALLELISM=str(partitions))
    with server, SparkStore(tmp_path / "store.duckdb", server.url) as store:
        [(plan,)] = store._session.execute("EXPLAIN SELECT id % 3, COUNT(*) FROM RANGE(9) GROUP BY id % 3")
        assert (f", {partitions})" in plan) == (partitions > 1)
        same_in_partitions(store, range(1 if partitions == 200 else 6))


def same_in_partitions(store: SparkStore, seeds: range) -> None:
    """All profiles of random tables, and all their keys, as in DuckDB."""
    for seed in seeds:
        table = random_table(seed, "spark")
        if not table.rows:
            continue
        for statement in table.statements:
            store.execute(statement)
        with store.connect() as engine, connect(str(store.path)) as local:
            sets = list(range(1, 1 << table.columns))
            found = []
            for each in (engine, local):
                described = each.describe(table.name)
                rows = relation(each.dialect, described, described.columns)
                profiler = profiler_for(each, rows, table.names, 3)
                keys = qidsql.keys(each, table.name, all=True)
                found.append((profiler.profiles(sets), [key.columns for key in keys.column_sets], keys.verdict))
            assert found[0] == found[1], table


def test_hostile_names(spark_store: SparkStore) -> None:
    some = GIVEN[:: max(1, len(GIVEN) // 16)]
    for place, name in enumerate(some):
        spark_store.table(f"t{place}", {name: "VARCHAR", f"{name} 2": "INTEGER"}, [("a", 1), ("a", 1), ("b", 2)])
    with spark_store.connect() as engine:
        for place, name in enumerate(some):
            result = measured_set(engine, f"t{place}", k=2, columns=[name, f"{name} 2"])
            assert result.profile == profile_of([("a", 1), ("a", 1), ("b", 2)], 2), name


# Statements whose table expressions are evaluated twice


ROWS = [("x", 1, "p"), ("x", 1, "p"), ("x", 2, "q"), ("y", 1, "p"), ("y", 1, "q"), (None, 1, "p"), (None, None, "p")]
ABC = tuple(Column(name, kind) for name, kind in (("a", "STRING"), ("b", "INT"), ("c", "STRING")))


def statements(dialect: Dialect, rows: Relation, drawn: Relation) -> dict[str, str]:
    """What proves something, or is counted on by what does."""
    names, domain = ("a", "b", "c"), Domain(len(ROWS) * 4, {"a": 1, "b": 1, "c": 0}, {"a": 2, "b": 2, "c": 2})
    return {
        "agreeing": agreeing(dialect, rows, names, 0b001, 10_000, 100).sql,
        "agreeing on nothing": agreeing(dialect, rows, names, 0, 10_000, 100).sql,
        "agreeing, sampled": agreeing(dialect, rows, names, 0b001, 2, 100).sql,
        "pair masks": pair_masks(dialect, drawn, names, len(ROWS) * 4, 40, 7).sql,
        "matching rows": matching_profile(dialect, rows, names, 3, domain).sql,
        "codes": dialect.render(coded_copy(dialect, rows, names)),
        "witnesses": witness_rows(dialect, rows, names, 9, 4, 100).sql,
        "sample": class_profiles(dialect, drawn, [names], 3).sql,
    }


def parts(sql: str) -> Iterator[str]:
    """Each table expression and each derived table of the statement by itself, and the statement."""
    tree = sqlglot.parse_one(sql, read=SPARK.name)
    for common in tree.find_all(exp.CTE):
        within = common.parent
        assert isinstance(within, exp.With)
        before = within.expressions[: within.expressions.index(common)]
        query = exp.select("*").from_(exp.to_identifier(common.alias))
        for each in before:
            query = query.with_(each.alias, as_=each.this.copy())
        yield query.with_(common.alias, as_=common.this.copy()).sql(SPARK.name)
    yield sql


def evaluated(server: SparkSession, sql: str) -> list[str]:
    return sorted(map(repr, server.execute(sql)))


@pytest.fixture
def server() -> Iterator[SparkSession]:
    opened = SparkSession(address(spark_url()), 60)
    yield opened
    opened.close()


@pytest.mark.parametrize("statement", statements(SPARK, *[Relation(exp.to_table("x").as_("relation"))] * 2))
def test_each_table_expression_is_the_same_whenever_it_is_evaluated(
    server: SparkSession, tmp_path: Path, statement: str
) -> None:
    """Also where the rows come in another order, as they may at any second evaluation."""
    assert moved(server, tmp_path, SPARK, statement) == []


def test_a_numbering_of_rows_as_they_come_would_be_noticed(tmp_path: Path) -> None:
    """As engines have it that evaluate a table expression once. (Spark itself refuses it.)"""
    server = SparkSession(address(sail()), 60)
    assert moved(server, tmp_path, replace(SPARK, materialized=True), "agreeing")
    server.close()


def moved(server: SparkSession, folder: Path, dialect: Dialect, statement: str) -> list[str]:
    """The parts of a statement that change with the order of the rows."""
    name = str(folder / "rows.parquet")
    source = relation(dialect, the_table(name), ABC)
    drawn = sample(dialect, the_table(name), ABC, 20, 3)
    found: dict[str, list[list[str]]] = {}
    many = [(a, b, f"{c}{copy // 2}") for copy in range(4) for a, b, c in ROWS]
    for seed in range(2):
        parquet(Path(name), "abc", Random(seed).sample(many, len(many)))
        for part in parts(statements(dialect, source, drawn)[statement].replace(" MATERIALIZED", "")):
            found.setdefault(part, []).append(evaluated(server, part))
    assert all(len(each) == 2 for each in found.values())
    return [part for part, answers in found.items() if answers[0] != answers[1]]


def the_table(path: str) -> Table:
    return Table(TableName(path, catalog="parquet"), "data file", ABC)


# Those that take a date for a number, or have a condition, are only there to be read.
UNTYPED = r"where|column_ranges_of_num|values_in_common_of_digits|population_match_counts|sampled_in_common_of_num"
GOLDEN = sorted(path.name for path in FOLDER.glob("*.spark.sql") if not re.match(UNTYPED, path.name))


@pytest.mark.parametrize("name", GOLDEN)
def test_the_server_runs_every_golden_statement(clinic: SparkSession, name: str) -> None:
    text = (FOLDER / name).read_text(encoding="utf-8")
    for given, view in (("`clinic`.", ""), ('`town`.`vo"ters`', "voters")):
        text = text.replace(given, view)
    clinic.execute(text)


@pytest.fixture(scope="module")
def clinic() -> Iterator[SparkSession]:
    """A session with the tables of the golden statements."""
    opened = SparkSession(address(spark_url()), 60)
    numbers = "SELECT id, CAST(id % 9 AS STRING) AS zip, DATE_ADD(DATE '2020-01-01', CAST(id % 5 AS INT)) AS day"
    weird = "zip, NULLIF(day, DATE '2020-01-01') AS `we\"ird`, CAST(id AS INT) AS person, day AS born"
    for view in ("people", "people_protected"):
        opened.execute(f"CREATE TEMPORARY VIEW {view} AS SELECT {weird} FROM ({numbers} FROM RANGE(300))")
    opened.execute(f"CREATE TEMPORARY VIEW voters AS SELECT {weird} FROM ({numbers} FROM RANGE(50))")
    codes = "id % 8 AS w0, id % 2 AS w1, 1 AS n, id % 3 AS g_0_1, id % 5 AS sensitive0, CAST(id AS INT) AS person"
    opened.execute(f"CREATE TEMPORARY VIEW coded AS SELECT {codes} FROM RANGE(60)")
    yield opened
    opened.close()


# What a user types


def test_an_address() -> None:
    found = address("sc://spark.example.org/;use_ssl=true;token=geheim%3D;user_id=eve;x-cluster=a%3Bb")
    assert (found.host, found.port, found.encrypted, found.token, found.user) == (
        "spark.example.org", 15002, True, "geheim=", "eve",
    )  # fmt: skip
    assert found.headers == (("x-cluster", "a;b"),)
    assert SECRET not in repr(found) + found.label + shown("sc://h:1/;token=geheim")
    assert address("sc://[::1]:7").label == "sc://[::1]:7"


def test_a_token_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN, SECRET)
    assert (address("sc://h").token, address("sc://h").encrypted) == (SECRET, True)


@pytest.mark.parametrize(
    "text", ["sc://", "sc://h:x", "sc://h/geheim", "sc://u:geheim@h", "sc://h;geheim", "sc://h:99999"]
)
def test_addresses_that_cannot_be_read(text: str) -> None:
    with pytest.raises(SourceError) as error:
        connect(text)
    assert SECRET not in str(error.value) and "expected sc://host:port" in str(error.value)
    assert SECRET not in shown(text)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kind, "NEEDS", ("grpc", "no_such_package"))
    with pytest.raises(SourceError, match=re.escape("pip install 'qidsql[spark]'")):
        connect(spark_url())


def test_tables_and_files_that_are_not_there(tmp_path: Path, spark_store: SparkStore) -> None:
    spark_store.table("people", {"a": "INTEGER"}, [(1,)])
    with spark_store.connect() as engine:
        assert TableName("people") in engine.table_names()
        assert engine.describe('"people"') == engine.describe("`people`") == engine.describe(None)
        for name in ("peopel", f"{tmp_path}/none.parquet", f"parquet.`{tmp_path}/none`"):
            with pytest.raises(UsageError, match=r"did you mean people|no files"):
                engine.describe(name)


def test_what_it_cannot_do_is_refused(people: str) -> None:
    for options in ({"writable": True}, {"workspace": True}):
        with pytest.raises(UsageError, match="only read"):
            connect(spark_url(), **options)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="only read"):
        qidsql.protect(spark_url(), people, k=2, into="other", by="cells", against="released-rows")
    with pytest.raises(UsageError, match="writes no files; it is only read; export the rows to parquet"):
        qidsql.protect(spark_url(), people, k=2, into="other.parquet", by="levels")


def test_types_without_equality(server: SparkSession) -> None:
    """A column of maps is never left out in silence; lists and structs are compared, of what is not cast first."""
    made = str(uuid.uuid4())
    with_session = f"{spark_url()}/;session_id={made}"
    owner = SparkSession(address(with_session), 60)
    owner.execute(
        "CREATE TEMPORARY VIEW v AS SELECT a, MAP('x', a) AS m, ARRAY(a, NULL) AS l, ARRAY(a + 0.5D) AS f "
        "FROM VALUES (1), (1) AS t(a)"
    )
    result = qidsql.audit(with_session, "v", k=2)
    assert result.verdict == "inconclusive"
    assert "m, f could not be read" in result.reason
    for one in ("MAP", "DOUBLE inside an array or struct"):
        assert any(f"type {one} cannot be compared" in column.reason for column in result.columns)
    assert "cannot be compared; audit a view that makes them texts, or declare" in result.reason
    assert qidsql.audit(with_session, "v", k=2, columns=["a", "l"]).verdict == "pass"
    with pytest.raises(UsageError, match="column m of v cannot be audited: values of type MAP"):
        qidsql.audit(with_session, "v", k=2, columns=["m"])
    owner.borrowed = False
    owner.close()


def test_texts_of_a_collation_inside_a_list() -> None:
    """Which Spark takes for equal there: classes would be too large. (Sail knows no collation.)"""
    text = {"string": {"collation": "UTF8_LCASE"}}
    kinds = (text, {"array": {"element_type": text}}, {"struct": {"fields": [{"name": "a", "data_type": text}]}})
    found = [column(message_class("Field")(name="a", data_type=kind)) for kind in kinds]
    assert [(each.readable, each.comparison) for each in found[:1]] == [(True, Comparison.BYTES)]
    assert ["STRING COLLATE UTF8_LCASE inside" in each.obstacle for each in found] == [False, True, True]


def test_doctor(spark_store: SparkStore) -> None:
    spark_store.table("t", {"a": "INTEGER"}, [(1,)])
    found = qidsql.doctor(spark_store.url)
    assert [table.table for table in found.tables] == ["t"] and found.verdict == "pass"
    said = " ".join(check.text for check in found.session)
    for part in ("ran in our tests", "connected as", "an empty statement takes", "no snapshot", "accepted a SELECT"):
        assert part in said


def test_doctor_of_another_server() -> None:
    there = replace(address("sc://spark.example.org"), encrypted=False)
    found = list(checks(there, Introduction("Spark 3.5.1", "c", "s", "u"), 2.5, ["BIT_COUNT"]))
    assert [check.text[:20] for check in found if check.state == "warning"] == ["the connection is no"]
    assert SPARK.ran_on("Spark 4.3.0") and not SPARK.ran_on("Spark 3.5.1")
    assert any("--workers" in check.remedy for check in found)
    assert [check.text for check in found if check.state == "problem"] == ["the server lacks BIT_COUNT"]


def test_doctor_finds_what_is_missing(server: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """What statements need is there; a function that is not is named."""
    with connect(spark_url()) as engine:
        assert not [check for check in engine.examine().session if check.state == "problem"]
        monkeypatch.setitem(NEEDED, "flight", "SELECT FLY(1)")
        assert [c.text for c in engine.examine().session if c.state == "problem"] == ["the server lacks flight"]


def test_a_policy_names_files(tmp_path: Path) -> None:
    """By a path that may look like a pattern of tables; a pattern that nothing fits is still an error."""
    parquet(tmp_path / "a.parquet", ["a"], [(1,), (1,)])
    policy = tmp_path / "qidsql.toml"
    text = 'format = 1\n[sources.lake]\nurl = "{}"\n[[tables]]\ntable = "{}"\nk = 2\n'
    for table, verdict in ((f"{tmp_path}/*.parquet", "pass"), ("none.*", "error"), (f"{tmp_path}/x*.parquet", "error")):
        policy.write_text(text.format(spark_url(), table))
        outcome = inside("run", str(policy), "--no-history", "--format", "json")
        assert [each["verdict"] for each in json.loads(outcome.out)["tables"]] == [verdict], outcome


# What goes wrong


def test_a_server_that_is_not_there() -> None:
    with create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    outcome = inside("audit", f"sc://127.0.0.1:{port}", "t")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.count("\n") == 1 and "no Spark Connect server answers" in outcome.err


def test_tls_to_a_server_without_it_is_said_in_one_line() -> None:
    """In a process of its own: gRPC wrote lines of its own to stderr."""
    outcome = qidsql_process("audit", f"{spark_url()}/;use_ssl=true", "t")
    assert outcome.code == 2 and outcome.err.count("\n") == 1 and "does not speak TLS" in outcome.err


def test_a_server_that_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "CONNECTING", 0.5)
    with create_server(("127.0.0.1", 0)) as silent, pytest.raises(SourceError, match=r"did not answer in time|answers"):
        connect(f"sc://127.0.0.1:{silent.getsockname()[1]}")


def test_an_error_shows_no_value_and_no_statement(spark_store: SparkStore, capfd: pytest.CaptureFixture[str]) -> None:
    spark_store.table("t", {"a": "VARCHAR"}, [(SECRET,), ("1",)])
    url = spark_store.url
    spark_store._session.execute("CREATE TEMPORARY VIEW broken AS SELECT CAST(a AS INT) AS a FROM t")
    with pytest.raises(StatementError) as error:
        qidsql.audit(url, "broken")
    assert SECRET not in str(error.value) and "SELECT" not in str(error.value)
    assert capfd.readouterr() == ("", "")


def came(folder: Path) -> None:
    parquet(folder / "c.parquet", ["a"], [(3,)])


def went(folder: Path) -> None:
    (folder / "b.parquet").unlink()


def grew(folder: Path) -> None:
    parquet(folder / "b.parquet", ["a"], [(each,) for each in range(500)])


@pytest.mark.parametrize("change", [came, went, grew])
def test_files_that_change_meanwhile_end_the_answer(change: Callable[[Path], None], tmp_path: Path) -> None:
    for name in "ab":
        parquet(tmp_path / f"{name}.parquet", ["a"], [(1,), (2,)])
    with connect(spark_url()) as engine:
        table = engine.describe(f"{tmp_path}/*.parquet")
        assert "the same files" in engine.snapshot
        rows = relation(engine.dialect, table, table.columns)
        profiler = profiler_for(engine, rows, ["a"], 2)
        assert profiler.counts() == (4, (0,))
        change(tmp_path)
        with pytest.raises(SnapshotLost, match="added, removed or replaced"):
            profiler.profiles([1])


@pytest.fixture
def versions(tmp_path: Path) -> Iterator[tuple[str, SparkSession]]:
    """A server where the Delta table `d` has two rows in version 1 and one more in each later one."""
    url = f"{sail()}/;session_id={uuid.uuid4()}"
    owner = SparkSession(address(url), 60)
    owner.execute(f"CREATE TABLE d (a INT, b STRING) USING delta LOCATION '{tmp_path / 'd'}'")
    owner.execute("INSERT INTO d VALUES (1, 'x'), (2, 'y')")
    yield url, owner
    owner.borrowed = False
    owner.close()


def test_a_delta_table_is_read_in_the_version_seen_first(versions: tuple[str, SparkSession], tmp_path: Path) -> None:
    """A renewed engine sees the next one. (Sail 0.7.2 cannot count the classes of a Delta table of four files.)"""
    url, owner = versions
    with connect(url) as engine:
        for place, name in enumerate(("d", f"delta.`{tmp_path / 'd'}`", "d")):
            assert engine.describe(name).version == place + 1
            assert engine.snapshot == "every statement reads the same version of the table"
            owner.execute("INSERT INTO d VALUES (3, 'z')")
            for where in (None, "a > 0"):
                assert measured_set(engine, name, columns=["a"], where=where).account.rows == place + 2
            assert engine.renew()


def test_compared_columns_are_read_in_one_version_too(versions: tuple[str, SparkSession], tmp_path: Path) -> None:
    """By `link`, and by `graph`, which compares all tables of the catalog."""
    url, owner = versions
    owner.execute(f"CREATE TABLE e (a INT, b STRING) USING delta LOCATION '{tmp_path / 'e'}'")
    owner.execute("INSERT INTO e VALUES (1, 'x'), (2, 'y'), (3, 'z')")
    with connect(url) as engine:
        asked: list[str] = []
        engine.watchers.append(lambda each: asked.append(each.sql))
        qidsql.link(engine, "default.d", "default.e", on="a=a")
        qidsql.link(engine, "default.d", "default.e")
        same_attributes(engine, engine.catalog())
        reads = [tail for sql in asked for tail in re.split(r"`default`\.`[de]`", sql)[1:]]
    assert len(reads) >= 6 and all(tail.startswith(" VERSION AS OF ") for tail in reads), asked


def test_an_iceberg_table_is_read_as_of_the_time_it_was_described(
    versions: tuple[str, SparkSession], tmp_path: Path
) -> None:
    """By name and by path; a renewed engine sees what came meanwhile."""
    url, owner = versions
    owner.execute(f"CREATE TABLE i (a INT, b STRING) USING iceberg LOCATION '{tmp_path / 'i'}'")
    owner.execute("INSERT INTO i VALUES (1, 'x'), (2, 'y')")
    with connect(url) as engine:
        for place, name in enumerate(("i", f"iceberg.`{tmp_path / 'i'}`", "i")):
            time.sleep(0.01)  # its times are in thousandths of a second
            assert isinstance(engine.describe(name).version, datetime)
            assert "as of the time it was described" in engine.snapshot
            owner.execute("INSERT INTO i VALUES (3, 'z')")
            for where in (None, "a > 0"):
                assert measured_set(engine, name, columns=["a"], where=where).account.rows == place + 2
            assert engine.renew()


def test_other_tables_of_a_catalog_are_in_no_version(versions: tuple[str, SparkSession], tmp_path: Path) -> None:
    url, owner = versions
    owner.execute(f"CREATE TABLE i (a INT) USING iceberg LOCATION '{tmp_path / 'i'}'")  # it has no row yet
    owner.execute("CREATE VIEW v AS SELECT * FROM d")
    with connect(url) as engine:
        for name in ("i", "v"):
            assert engine.describe(name).version is None
            assert "each statement sees the data at its own moment" in engine.snapshot


def test_a_view_without_files_says_so(spark_store: SparkStore) -> None:
    spark_store.url  # noqa: B018 - makes the session
    spark_store._session.execute("CREATE TEMPORARY VIEW v AS SELECT 1 AS a")
    with spark_store.connect() as engine:
        engine.describe("v")
        assert engine.snapshot == "each statement sees the data at its own moment"


@pytest.mark.parametrize(
    ("how", "seconds"),
    [
        ("kill the server", 15),
        ("terminate", 5),
        pytest.param("interrupt", 5, marks=pytest.mark.exhaustive),
        pytest.param("freeze the server", 15, marks=pytest.mark.exhaustive),
        pytest.param("freeze the server, then terminate", 5, marks=pytest.mark.exhaustive),
    ],
)
def test_a_statement_that_never_ends_is_ended(how: str, seconds: int, tmp_path: Path) -> None:
    """Within so many seconds, and two for a busy machine; the report says why, and nothing comes from a library."""
    with SailProcess() as server, (tmp_path / "err").open("w") as log:
        url = f"{server.url}/;session_id={uuid.uuid4()}"
        SparkSession(address(url), 60).execute(f"CREATE TEMPORARY VIEW endless AS {ENDLESS}")
        command = [sys.executable, "-m", "qidsql", "audit", url, "endless", "--show-sql", "--format", "json"]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment({"QIDSQL_LOG": "info"})
        )
        while "profiling" not in (tmp_path / "err").read_text():  # connected, and the catalog read
            assert process.poll() is None
            time.sleep(0.1)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(1)  # the statement runs by then
        if "server" in how:
            server.send(signal.SIGKILL if how.startswith("kill") else signal.SIGSTOP)
        if how in ("interrupt", "terminate") or "then" in how:
            process.send_signal(signal.SIGINT if how == "interrupt" else signal.SIGTERM)
        process.wait(seconds + 2)
        out, _ = finished(process)
    err = (tmp_path / "err").read_text()
    assert process.returncode == 3
    assert json.loads(out)["verdict"] == "inconclusive"
    assert "Traceback" not in err and "grpc" not in err.lower()
    why = (
        "was lost|no longer answers" if process.returncode and "server" in how and "then" not in how else "interrupted"
    )
    assert re.search(why, out)


@pytest.mark.exhaustive
def test_a_session_that_idles_beside_a_long_statement_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server ends sessions of which it hears nothing for 4 seconds."""
    monkeypatch.setattr(session, "PULSE", 0.5)
    monkeypatch.setattr(session, "IDLE", 0.5)
    with SailProcess(SAIL_SPARK__SESSION_TIMEOUT_SECS="4") as server:
        sessions: list[SparkSession] = []
        for _ in range(2):
            sessions.append(SparkSession(address(server.url), 600, beside=sessions))
        one, other = sessions
        other.execute("CREATE TEMPORARY VIEW its_own AS SELECT 7 AS n")
        until = time.monotonic() + 8
        while time.monotonic() < until:
            one.execute("SELECT COUNT(*) FROM (SELECT 1 FROM RANGE(20000000) GROUP BY id % 1000003) AS c")
        assert other.execute("SELECT n FROM its_own") == [(7,)]
        other.check_settings()
        for each in sessions:
            each.close()


def test_an_idle_session_is_asked_and_a_busy_one_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    pulses: list[SparkSession] = []
    one = SparkSession(address(spark_url()), 60)
    monkeypatch.setattr(SparkSession, "pulse", lambda asked: pulses.append(asked))
    one.keep_alive()
    assert not pulses
    one._asked -= session.IDLE + 1
    one.keep_alive()
    assert pulses == [one]
    one.close()
    one.keep_alive()
    assert pulses == [one]
