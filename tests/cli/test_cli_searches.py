"""`qidsql keys` and `qidsql mask` as a user meets them: files, plans, interruptions, entities."""

import json
import os
import re
import shlex
import signal
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

import qidsql as house
from qidsql.commands.keys.algorithms import ALGORITHMS
from qidsql.commands.keys.command import FoundSet, KeysRequest
from qidsql.commands.keys.keys import keys
from qidsql.commands.protect.columns.columns import columns as masking
from qidsql.commands.protect.columns.command import ColumnsRequest
from qidsql.core.options import Wanted
from qidsql.core.policy import column_weights
from qidsql.core.results import Verdict
from qidsql.engines.connect import connect
from qidsql.errors import StatementError, UsageError
from tests import rendering
from tests.commandline import command, environment, finished, inside, refused, several
from tests.commands.keys.test_keys import ROWS, TYPES
from tests.exhaustive import first
from tests.postgres_server import wait_until
from tests.search.small_tables import minimal_sets
from tests.stores import DuckDBStore, PostgresStore, Store

ALL = [name for name, algorithm in ALGORITHMS.items() if algorithm.wanted is Wanted.ALL]


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two minimal keys, of one and of two columns."""
    path = tmp_path_factory.mktemp("people") / "people.csv"
    path.write_text("a,b,c,x0\n" + "".join(f"{i % 5},{i // 5},{i % 2},{i}\n" for i in range(20)))
    return path


@pytest.fixture(scope="module")
def endless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table whose first key is found at once, and whose last ones a user would not wait for."""
    path = tmp_path_factory.mktemp("endless") / "endless.duckdb"
    with duckdb.connect(str(path)) as connection:
        columns = ", ".join(f"CAST(hash(i * 32 + {j}) % 7 AS INTEGER) AS c{j}" for j in range(22))
        connection.execute(f"CREATE TABLE endless AS SELECT i AS x0, {columns} FROM range(200000) AS r(i)")
    return path


# Sets into files, as they are found


def test_lines_hold_every_set_and_the_last_one_the_result(people: Path, tmp_path: Path) -> None:
    whole = json.loads(inside("keys", people, "--all", "--format", "json").out)
    outcome = inside("keys", people, "--all", "--format", "jsonl")
    assert (outcome.code, outcome.err) == (0, "")
    *sets, last = map(json.loads, outcome.out.splitlines())
    assert sets == whole["column_sets"]
    assert [found["columns"] for found in sets] == [["x0"], ["a", "b"]]
    assert set(whole) - set(last) == {"column_sets"}
    assert (last["verdict"], last["by_size"]) == ("finished", {"1": 1, "2": 1})
    file = tmp_path / "keys.jsonl"
    outcome = inside("keys", people, "--all", "--limit", 1, "--output", file)
    assert [json.loads(line).get("columns") for line in file.read_text().splitlines()[:2]] == [["x0"], ["a", "b"]]
    assert outcome.out.startswith("FINISHED")  # the report on the screen, the sets in the file
    assert "By size: 1 set of 1 column, 1 of 2" in outcome.out
    assert "... and 1 more set " in outcome.out


@pytest.mark.exhaustive
def test_the_name_of_the_file_says_the_format(people: Path, tmp_path: Path) -> None:
    inside("keys", people, "--output", tmp_path / "keys.json")
    assert json.loads((tmp_path / "keys.json").read_text())["verdict"] == "finished"
    inside("protect", "--by", "columns", people, "--violates", 5, "--output", tmp_path / "mask.JSON")
    assert json.loads((tmp_path / "mask.JSON").read_text())["verdict"] == "finished"
    inside("audit", people, "--output", tmp_path / "audit.log", "--format", "terminal")
    assert (tmp_path / "audit.log").read_text().startswith("VIOLATION")
    line = refused("audit", people, "--output", tmp_path / "audit.json", "--format", "html")
    assert line.endswith("audit.json has the ending of json, but --format is html")
    inside("audit", people, "--output", tmp_path / "sarif.json", "--format", "sarif")
    assert json.loads((tmp_path / "sarif.json").read_text())["version"] == "2.1.0"
    line = refused("keys", people, "--all", "--format", "jsonl", "--output", "/dev/full")
    assert "--output /dev/full cannot be written" in line


@pytest.mark.parametrize("name", first(ALL))
def test_each_set_is_told_once_as_it_is_found(store: Store, name: str) -> None:
    store.table("t", TYPES, ROWS)
    told: list[FoundSet] = []
    with store.connect() as engine:
        result = keys(engine, KeysRequest("t", k=2, algorithm=name, on_found=told.append))
    assert sorted(told, key=lambda found: found.columns) == sorted(result.column_sets, key=lambda found: found.columns)
    assert len(told) == len(set(minimal_sets(ROWS, lambda rows, m: len({_part(row, m) for row in rows}) == len(rows))))


def _part(row: object, mask: int) -> tuple[object, ...]:
    return tuple(value for place, value in enumerate(row) if mask >> place & 1)  # type: ignore[arg-type]


def wait_for_lines(file: Path, process: "subprocess.Popen[str]") -> None:
    def found() -> bool:
        assert process.poll() is None, process.communicate()
        return file.exists() and "\n" in file.read_text()

    wait_until(found)


@pytest.mark.exhaustive
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL], ids=["ctrl-c", "crash"])
def test_what_was_found_is_in_the_file_when_the_search_ends_early(
    endless: Path, tmp_path: Path, how: signal.Signals
) -> None:
    file = tmp_path / "sets.jsonl"
    process = subprocess.Popen(
        command("keys", endless, "--algorithm", "levelwise", "--output", file),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        text=True,
    )
    wait_for_lines(file, process)
    process.send_signal(how)
    out, err = finished(process)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert lines[0]["columns"] == ["x0"]
    if how is signal.SIGKILL:
        assert "verdict" not in lines[-1]
        return
    assert process.returncode == 3, err
    assert lines[-1]["verdict"] == "inconclusive"
    assert out.startswith("INCONCLUSIVE  1 minimal set (key); the list is complete up to ")
    assert "Unfinished" in out
    assert "interrupted" in out
    assert "Traceback" not in err


# Searches that end early keep what they know


def interrupt(_: object) -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_between_two_statements_keeps_what_was_found(store: Store) -> None:
    store.table("t", {"x0": "INTEGER", **TYPES}, [(number, *row) for number, row in enumerate(ROWS)])
    with store.connect() as engine:
        request = KeysRequest("t", k=2, algorithm="levelwise")
        result = keys(engine, replace(request, on_found=interrupt))
        assert (result.verdict, result.account.unfinished) == (Verdict.INCONCLUSIVE, ("interrupted",))
        assert [found.columns for found in result.column_sets] == [("x0",)]
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with store.connect() as engine:
        before = keys(engine, request, on_stage=lambda stage: interrupt(stage) if "searching" in stage else None)
    assert (before.verdict, before.column_sets, before.account.rows) == (Verdict.INCONCLUSIVE, (), len(ROWS))


def after(statements: int, act: Callable[[], object]) -> Callable[[object], None]:
    """A watcher that acts when so many statements were answered."""
    answered = []

    def watch(asked: object) -> None:
        answered.append(asked)
        if len(answered) == statements:
            act()

    return watch


def test_a_statement_that_fails_in_the_middle_leaves_what_was_found(tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"

    def write() -> None:
        duckdb.execute(
            f"COPY (SELECT i AS x0, i % 7 AS a, i % 11 AS b, i % 13 AS c FROM range(500) AS r(i)) TO '{path}'"
        )

    write()
    with connect(str(path)) as engine:  # a parquet file is read in place, by every statement anew
        result = keys(engine, KeysRequest(algorithm="levelwise", on_found=lambda _: path.unlink()))
    assert result.verdict is Verdict.INCONCLUSIVE
    assert [found.columns for found in result.column_sets] == [("x0",)]
    assert result.profile is not None
    assert "parquet" in result.account.unfinished[0] or "DuckDB" in result.account.unfinished[0]
    write()
    with connect(str(path)) as engine:
        engine.watchers.append(after(2, path.unlink))  # the first tells whether the ids repeat
        plan = masking(engine, ColumnsRequest(violates=5))
    assert plan.verdict is Verdict.INCONCLUSIVE
    assert plan.account.unfinished
    assert plan.safe
    write()
    with connect(str(path)) as engine:
        engine.describe(None)
        path.unlink()
        with pytest.raises(StatementError):  # nothing was answered before
            keys(engine, KeysRequest())


def test_a_lost_connection_leaves_what_was_found(postgres_store: PostgresStore) -> None:
    rows = [(number, *row) for number, row in enumerate(ROWS)]
    postgres_store.table("t", {"x0": "INTEGER", **TYPES}, rows)
    others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'qidsql%'"
    with postgres_store.connect() as engine:
        request = KeysRequest("t", k=2, algorithm="levelwise", on_found=lambda _: postgres_store.execute(others))
        result = keys(engine, request)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "connection to Postgres was lost" in result.account.unfinished[0]
    assert [found.columns for found in result.column_sets] == [("x0",)]


def test_a_spent_budget_is_said_with_what_was_found(people: Path) -> None:
    outcome = inside("keys", people, "--algorithm", "levelwise", "--max-statements", 2)
    assert outcome.code == 3
    assert outcome.out.startswith("INCONCLUSIVE  1 minimal set (key)")
    assert "the budget of 2 statements (--max-statements) is used up" in outcome.out
    assert "Next:" not in outcome.out


# Weights


def test_weights_from_a_file(people: Path, tmp_path: Path) -> None:
    file = tmp_path / "qidsql.toml"
    file.write_text('[policy]\nk = 3\n[weights]\nx0 = 9\n"a,b" = 2\n')
    assert column_weights(str(file)) == column_weights(file) == {"x0": 9, "a,b": 2}
    file.write_text("[weights]\nx0 = 9\n")
    report = json.loads(inside("keys", people, "--weights", file, "--format", "json").out)
    assert (report["column_sets"][0]["columns"], report["cost"]) == (["a", "b"], 2)
    assert report["weights"] == {"x0": 9}
    assert house.keys(str(people), weights=file).cost == 2
    plan = json.loads(
        inside("protect", "--by", "columns", people, "--violates", 5, "--weights", file, "--format", "json").out
    )
    assert plan["weights"] == {"x0": 9}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "; --weights takes age=3,zip=2, or a .toml file"),
        ("[weight]\nage = 3\n", ": no table [weights]; expected one with a line such as age = 3"),
        ("weights = 3\n", ": no table [weights]"),
        ("[weights]\nage = 0\n", ":2: weights.age: expected a positive whole number, such as 3"),
        ("[weights]\nage = 1.5\n", ":2: weights.age: expected a positive whole number"),
        ("[weights]\nage = true\n", ":2: weights.age: expected a positive whole number"),
        ('[weights]\nage = "hunter2"\n', ":2: weights.age: expected a positive whole number"),
        ("[weights]\nage = = 'hunter2'\n", ":2:7: not valid TOML"),
        (b"[weights]\n\xff = 1\n", ":2: not UTF-8"),
    ],
)
def test_a_file_of_weights_that_cannot_be_right(tmp_path: Path, content: str | bytes | None, words: str) -> None:
    file = tmp_path / "weights.toml"
    if content is not None:
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(UsageError) as caught:
        column_weights(str(file))
    assert words in str(caught.value)
    assert str(file) in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_a_column_has_one_weight() -> None:
    with pytest.raises(UsageError, match="gives column age two weights"):
        column_weights("age=3,zip=1,age=2")


# Plans


REQUESTS: list[KeysRequest | ColumnsRequest] = [
    KeysRequest("t"),
    KeysRequest("t", violates=5, all=True),
    KeysRequest("t", epsilon=0.1),
    ColumnsRequest("t", violates=5),
    ColumnsRequest("t", separation=0.5, exact=True),
    ColumnsRequest("t", separation=0.5, epsilon=0.1),
]


@pytest.mark.exhaustive
@pytest.mark.parametrize("search", REQUESTS, ids=lambda request: request.plan)
def test_a_rehearsal_gives_what_is_asked_first_and_asks_nothing(
    store: Store, search: KeysRequest | ColumnsRequest
) -> None:
    store.table("t", TYPES, ROWS)

    def work() -> object:
        return keys(engine, search) if isinstance(search, KeysRequest) else masking(engine, search)

    with store.connect() as engine:
        planned = [statement.sql for statement in engine.planned_statements(work)]
        assert engine.statements == 0
        asked: list[str] = []
        engine.watchers.append(lambda answered: asked.append(answered.sql))
        work()
    assert planned
    assert set(asked[: len(planned)]) == set(planned)  # several sessions may answer in another order


def test_a_dry_run_prints_the_plan(people: Path, tmp_path: Path) -> None:
    runs = [["keys", "--all"], ["protect", "--by", "columns", "--violates", "5"]]
    out = several([[run[0], str(people), *run[1:], "--dry-run", "--show-sql"] for run in runs], tmp_path)
    assert "-- Plan: all minimal sets (key) by hitting-sets\n" in out.out
    assert "-- Plan: columns to publish without a column set below k = 5, by greedy\n" in out.out
    assert out.out.count("Only the catalog was queried.") == 2
    assert out.out.count("exit code 0") == 2
    assert out.err == ""


# Entities, roles, comparisons


VISITS = [(1, "a", "x"), (1, "a", "x"), (2, "a", "y"), (3, "b", "x"), (3, "b", "z"), (4, "b", "y"), (4, "c", "x")] * 2
VISIT_TYPES = {"person": "INTEGER", "ward": "VARCHAR(9)", "shelf": "VARCHAR(9)"}


def test_entities_are_told_apart_not_rows(store: Store) -> None:
    """No ward or shelf alone belongs to one person, all pairs of them do: a key of persons, though rows repeat."""
    store.table("t", VISIT_TYPES, VISITS)
    pairs = {(ward, shelf): {p for p, w, d in VISITS if (w, d) == (ward, shelf)} for _, ward, shelf in VISITS}
    assert all(len(persons) == 1 for persons in pairs.values())
    with store.connect() as engine:
        wanted: dict[str, Any]
        for wanted in ({}, {"minimal": True}, {"all": True}):
            result = keys(engine, KeysRequest("t", entity="person", **wanted))
            assert [found.columns for found in result.column_sets] == [("ward", "shelf")], wanted
            assert (result.account.rows, result.account.entities) == (None, 4)
        assert keys(engine, KeysRequest("t")).column_sets == ()  # rows repeat
        below = keys(engine, KeysRequest("t", entity="person", violates=2, all=True))
        plan = masking(engine, ColumnsRequest("t", entity="person", violates=2))
    assert [found.columns for found in below.column_sets] == [("ward",), ("shelf",)]  # ward c, shelf z: one person
    assert (plan.published, plan.safe) == ((), True)
    text = rendering.render(below, 200)
    assert "4 entities (person)" in text
    assert "Separation" not in text


@pytest.mark.parametrize("options", [["--epsilon", "0.1"], ["--algorithm", "hitting-sets"]])
def test_what_compares_rows_is_refused_with_an_entity(people: Path, options: list[str]) -> None:
    assert "entities" in refused("keys", people, "--entity", "a", *options)


def test_one_set_of_options_for_every_command(people: Path) -> None:
    roles = ["--identifier", "x0", "--sensitive", "c", "--exclude", "b", "--nulls", "equal"]
    for verb in (["keys"], ["protect", "--by", "columns", "--violates", "5"]):
        report = json.loads(inside(verb[0], people, *verb[1:], *roles, "--format", "json").out)
        assert report["columns"] == ["a"]
        assert {each["name"]: each["reason"] for each in report["left_out"]} == {
            "x0": "declared a direct identifier",
            "c": "declared sensitive",
            "b": "left out on request",
        }
    assert "--nulls must be equal" in refused("keys", people, "--nulls", "never")


def test_how_columns_are_compared_is_said(duckdb_store: DuckDBStore) -> None:
    duckdb_store.execute("CREATE TABLE t AS SELECT INTERVAL 1 MONTH AS a, 1 AS b UNION ALL SELECT INTERVAL 30 DAYS, 2")
    with duckdb_store.connect() as engine:
        found = keys(engine, KeysRequest("t"))
        plan = masking(engine, ColumnsRequest("t", violates=5))
    for result in (found, plan):
        assert any(note.startswith("a: compared by their text") for note in result.account.notes)
        assert "compared by their text" in rendering.render(result, 100)


def test_near_misses_are_suggested(people: Path, tmp_path: Path) -> None:
    file = str(people)
    err = several(
        [
            ["keys", file, "--algorithm", "hiting-sets"],
            ["keys", file, "-c", "b_"],
            ["protect", "--by", "columns", file, "--violates", "5", "--weights", "x00=2"],
            ["keys", file, "--distinkt", "0.9"],
            ["key", file],
        ],
        tmp_path,
    ).err.splitlines()
    wanted = ["hitting-sets", "b_ (did you mean b?)", "x00 (did you mean x0?)", "--distinct", "Did you mean 'keys'?"]
    assert len(err) == len(wanted)
    assert all(words in line for words, line in zip(wanted, err, strict=True)), err


# What to do next


@pytest.mark.exhaustive
def test_the_commands_that_reports_suggest_run(people: Path, tmp_path: Path) -> None:
    twice = tmp_path / "twice.csv"
    twice.write_text("a,b\n" + "1,2\n" * 3 + "".join(f"{i},{i % 3}\n" for i in range(50)))
    reports = several(
        [
            ["keys", str(people)],
            ["keys", str(twice)],
            ["keys", str(people), "--all", "--separation", "0.5"],
            ["protect", "--by", "columns", str(people), "--separation", "0.8"],
            ["protect", "--by", "columns", str(people), "--violates", "5", "--identifier", "x0"],
        ],
        tmp_path,
    )
    steps = re.findall(r"^(?:Next: |      )qidsql (.*?)(?:  .*)?$", reports.out, flags=re.MULTILINE)
    runs = [shlex.split(step) for step in steps]
    assert {run[0] for run in runs} == {"keys", "protect", "audit"}
    codes = re.findall(r"^exit code (.*)$", several(runs, tmp_path).out, flags=re.MULTILINE)
    assert len(codes) == len(runs)
    assert set(codes) <= {"0", "1"}


def test_statements_rounds_and_scans_are_counted(people: Path) -> None:
    report = json.loads(inside("keys", people, "--all", "--separation", "0.9", "--format", "json").out)
    assert report["scans"] >= report["statements"] >= report["rounds"] > 0
    out = inside("keys", people, "--minimal").out
    assert re.search(r"^5 statements in 5 rounds, at most 5 scans, .* 5 column sets profiled;", out, flags=re.MULTILINE)
