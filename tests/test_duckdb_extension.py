"""`LOAD qidsql` in the real DuckDB shell and in two versions of the Python module: what it answers there."""

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest

import qidsql
from qidsql.duckdb_extension.functions import MEASURES
from tests.duckdb_hosts import Answer, Host, Module, Refused, Shell

PEOPLE = """CREATE TABLE people AS SELECT i AS id, i % 7 AS a, CAST(i % 13 AS VARCHAR) AS b,
CASE WHEN i % 5 = 0 THEN NULL ELSE i % 3 END AS c, hash(i // 4) % 10 AS d FROM range(300) AS r(i)"""
VALUES = ["a", "b", "c", "d"]


def rows(answer: Answer) -> list[dict[str, Any]]:
    assert not isinstance(answer, Refused), answer
    return answer


def lists(answer: Answer) -> list[list[Any]]:
    """The cells of the rows, without names."""
    return [list(row.values()) for row in rows(answer)]


TRANSCRIPT: list[tuple[str, object]] = [
    # orchestrated audits: NULLs, quoted names, schemas, other databases
    (PEOPLE, None),
    ("SELECT columns FROM qid_keys('people', \"all\" := true)", [[["id"]]]),
    ("FROM qid_keys('people', columns := ['b', 'c'], violates := 2)", []),
    ("SELECT columns, rows, classes FROM qid_keys('people', columns := ['c', 'id'])", [[["id"], 300, 300]]),
    ("SELECT published FROM qid_mask('people', \"distinct\" := 0.5, exact := true)", [[["a", "c"]]]),
    ('CREATE SCHEMA "my schema"', None),
    ('CREATE TABLE "my schema"."a ""table""" ("x y" INTEGER, "all" VARCHAR)', None),
    ("INSERT INTO \"my schema\".\"a \"\"table\"\"\" VALUES (1, 'é'), (2, NULL), (2, NULL)", None),
    ("SELECT columns, rows FROM qid_keys('\"my schema\".\"a \"\"table\"\"\"', \"distinct\" := '2/3')", [[["x y"], 3]]),
    ("SELECT rows, classes FROM qidsql.profile('\"my schema\".\"a \"\"table\"\"\"', ['x y'])", [[3, 2]]),
    ("SELECT count(*) FROM qidsql.columns('\"my schema\".\"a \"\"table\"\"\"')", [[2]]),
    ("SELECT class_size FROM qidsql.violations('my schema.\"a \"\"table\"\"\"')", [[1], [2]]),
    ("SELECT columns FROM qid_keys('a \"table\"', \"distinct\" := '66%', columns := ['all'])", [[["all"]]]),
    ("ATTACH ':memory:' AS other", None),
    ("CREATE TABLE other.people AS FROM people LIMIT 7", None),
    ("SELECT rows FROM qid_keys('people')", [[300]]),
    ("SELECT rows FROM qid_keys('other.people')", [[7]]),
    ("SELECT rows FROM qid_keys('other.main.people')", [[7]]),
    ("USE other", None),
    ("SELECT rows FROM qid_keys('people')", [[7]]),
    ("USE memory", None),
    # rows that go on into SQL
    ("CREATE TABLE found AS FROM qid_keys('people', \"all\" := true)", None),
    ("SELECT typeof(columns), typeof(rows), typeof(distinct_ratio), typeof(complete) FROM found",
     [["VARCHAR[]", "BIGINT", "DOUBLE", "BOOLEAN"]]),
    ("INSERT INTO people SELECT 1000 + len(columns), 1, 'x', 1, 1 FROM qid_keys('people')", None),
    ("SELECT max(id) FROM people", [[1001]]),
    ("SELECT count(*) FROM (" + " UNION ALL ".join(["FROM qid_keys('people')"] * 20) + ")", [[20]]),
    ("SELECT count(*) FROM qid_audit('people') WHERE finding = 'column'", [[5]]),
    ("SELECT note FROM qid_audit('people', exclude := ['a']) WHERE note LIKE '%entity%' OR finding = 'note' "
     "OR role = 'excluded'",
     [["left out on request (exclude)"],
      ["each row is another person; where a person can have several rows, give entity COLUMN"],
      ["each statement sees what is committed by then: nothing of a transaction under way"]]),
    ("SELECT step, statement IS NULL FROM qid_keys('people', columns := ['a'], trace := true)",
     [[1, False], [2, True]]),
    # plans
    ("CREATE VIEW never AS SELECT error('it ran') AS a, 1 AS b", None),
    ("EXPLAIN FROM qid_keys('never')", ...),
    ("FROM qid_keys('never')", "qidsql: DuckDB could not compute a value (class profile of a + b)"),
    ("PREPARE found AS SELECT columns FROM qid_keys('people', max_size := $most, \"all\" := $every)", None),
    ("EXECUTE found(most := 1, every := true)", [[["id"]]]),
    ("SET threads = 1", None),
    ("SELECT columns FROM qid_keys('people', \"all\" := true)", [[["id"]]]),
    # transactions: what is not committed is seen by the single statements alone
    ("BEGIN", None),
    ("CREATE TEMP TABLE mine AS FROM people LIMIT 50", None),
    ("DELETE FROM people WHERE id > 9", None),
    ("SELECT rows FROM qid_keys('people', columns := ['id'])", [[301]]),
    ("SELECT rows FROM qidsql.profile('people', ['id'])", [[10]]),
    ("SELECT rows, classes, smallest FROM qidsql.profile('mine', ['a'], k := 2)", [[50, 7, 7]]),
    ("SELECT count(*) FROM qidsql.columns('mine')", [[5]]),
    ("SELECT class_size, a, b FROM qidsql.violations('mine', ['a', 'b'], k := 2) ORDER BY ALL LIMIT 1", [[1, 0, "0"]]),
    ("ROLLBACK", None),
    ("SELECT rows FROM qid_keys('people', columns := ['id'])", [[301]]),
    # the single statements elsewhere
    ("SELECT rows FROM qidsql.profile('other.people')", [[7]]),
    ("SELECT rows FROM qidsql.profile('\"my schema\".no')", "no"),
    ("PREPARE measured AS SELECT k FROM qidsql.profile('people', ['a'], k := ?)", None),
    ("EXECUTE measured(3)", [[3]]),
    ("SELECT columns FROM qid_keys('qidsql.mine')", "qidsql.mine"),
    ("CREATE TABLE qidsql.mine AS FROM people LIMIT 3", None),
    ("SELECT columns FROM qid_keys('qidsql.mine', columns := ['id'])", [[["id"]]]),
]  # fmt: skip


def test_transcript(host: Host) -> None:
    """Every step in one session: the rows without names; None: it works; a text: refused in one line that holds it."""
    answers = host.run([host.load, *(statement for statement, _ in TRANSCRIPT)])[1:]
    wrong = []
    for (statement, expected), answer in zip(TRANSCRIPT, answers, strict=True):
        if isinstance(expected, str):
            good = isinstance(answer, Refused) and expected in answer
        else:
            good = not isinstance(answer, Refused) and (expected in (None, ...) or lists(answer) == expected)
        if not good:
            wrong.append((statement, answer, expected))
    assert wrong == []


WRONG = {
    "FROM qid_keys('peopel')": "no table peopel (did you mean main.people?) in this database; an audit runs on a "
    "connection of its own, which sees no temporary table and nothing uncommitted: CREATE TABLE qidsql.copy "
    "AS FROM peopel; then audit 'qidsql.copy'",
    "FROM qid_audit('people', columns := ['aa', 'id'])": "no column aa (did you mean a?) in main.people",
    "FROM qid_audit('people', k := 0)": "k must be at least 2, got 0: every table is 1-anonymous",
    "FROM qid_audit('people', k := NULL)": "k must not be NULL; leave it out",
    "FROM qid_audit(NULL)": "the table's name must not be NULL",
    "FROM qid_keys('people', columns := ['a', NULL])": "columns must not be NULL; leave it out",
    "FROM qid_keys('people', columns := NULL)": "columns must not be NULL; leave it out",
    "FROM qid_keys('people', \"distinct\" := 'many')": "distinct must be a ratio such as 0.9, 9/10 or 90%, got many",
    "FROM qid_keys('people', \"all\" := true, minimal := true)": "choose one of all and minimal",
    "FROM qid_mask('people')": "say what may not be published: distinct 0.5, separation 0.8, violates 5 or rows_at_",
    "FROM qid_keys('people', \"where\" := 'a = 1; DROP TABLE people')": "where must be one condition on the table's",
    "FROM qid_suppress('people', \"sql\" := 'poem')": "sql must be view, table, update; got poem",
}  # fmt: skip


def test_what_cannot_be_right_is_refused_before_it_runs_in_one_line(host: Host) -> None:
    statements = [
        host.load,
        PEOPLE,
        *(f"EXPLAIN {statement}" for statement in WRONG),
        "SELECT count(*) AS n FROM people",
    ]
    answers = host.run(statements)
    assert rows(answers[-1]) == [{"n": 300}]
    for answer, text in zip(answers[2:-1], WRONG.values(), strict=True):
        assert isinstance(answer, Refused), text
        assert answer.startswith("Binder Error: qidsql: ")
        assert text in answer


def test_a_wrong_call_of_a_single_statement_is_refused(host: Host) -> None:
    wrong = {
        "FROM qidsql.profile('nope')": "nope",
        "FROM qidsql.profile('people', ['a', 'zz'])": "zz",
        "FROM qidsql.profile('people', ['a'], k := 0)": "k must be at least 2",
        "FROM qidsql.violations('people', ['a'], k := NULL)": "k must be at least 2",
        "FROM qidsql.columns('people', k := 1)": "k must be at least 2",
        "FROM qidsql.profile(NULL)": "the table's name must not be NULL",
        "FROM qidsql.profile('people', [])": "COLUMNS expects",
        "EXECUTE measured(0)": "k must be at least 2",
    }
    prepared = "PREPARE measured AS FROM qidsql.profile('people', ['a'], k := ?)"
    for answer, text in zip(host.run([host.load, PEOPLE, prepared, *wrong])[3:], wrong.values(), strict=True):
        assert isinstance(answer, Refused), text
        assert text in answer


def measures(row: Mapping[str, Any]) -> dict[str, Any]:
    """Shells write a HUGEINT as a text."""
    return {
        name: int(row[name]) if name == "colliding_pairs" and row[name] is not None else row[name] for name in MEASURES
    }


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The same table as a file for the command line; the storage version is one that all hosts read."""
    path = tmp_path_factory.mktemp("source") / "people.parquet"
    with duckdb.connect() as connection:
        connection.execute(PEOPLE)
        connection.execute(f"COPY people TO '{path}'")
    return str(path)


def of_command_line(source: str, verb: str, table: str | None = None, **options: Any) -> dict[str, Any]:
    """What the command line's --format json holds."""
    found: dict[str, Any] = json.loads(json.dumps(getattr(qidsql, verb)(source, table, **options).to_dict()))
    return found


def test_audits_equal_the_command_lines(host: Host, source: str) -> None:
    compare(lambda statements: host.run([host.load, PEOPLE, *statements])[2:], "people", source)


def compare(run: Callable[[list[str]], list[Answer]], name: str, source: str, table: str | None = None) -> None:
    """The functions' answers on a table of that name against the library's on the source, field by field."""
    answers = run(
        [
            f"FROM qid_audit('{name}', k := 3, separation := 0.8, sensitive := ['d'])",
            f"FROM qid_keys('{name}', columns := ['a', 'b', 'c', 'd'], \"all\" := true, rows_at_risk := 0.2, k := 2)",
            f"FROM qid_keys('{name}', columns := ['a', 'b', 'c', 'd'], separation := 0.9)",
            f"FROM qid_mask('{name}', violates := 3, exact := true)",
            f"FROM qid_uniques('{name}', columns := ['a', 'b', 'c', 'd'], k := 3, \"limit\" := 1000)",
            f"FROM qid_suppress('{name}', columns := ['a', 'b', 'c', 'd'], k := 3)",
        ]
    )
    audit, every, smallest, mask, uniques, suppress = (rows(answer) for answer in answers)

    expected = of_command_line(source, "audit", table, k=3, separation=0.8, sensitive="d")
    by_finding: dict[str, list[dict[str, Any]]] = {}
    for row in audit:
        by_finding.setdefault(row["finding"], []).append(row)
    [whole] = by_finding["table"]
    assert whole["verdict"] == expected["verdict"] == "violation"
    assert whole["complete"] is expected["complete"]
    assert measures(whole) == measures(expected["profile"])
    columns = by_finding["column"]
    assert [(c["columns"], c["role"], c["nulls"], c["type"]) for c in columns] == [
        ([c["name"]], c["role"], c["nulls"], c["type"]) for c in expected["columns"]
    ]
    assert [measures(c) for c in columns if c["rows"]] == [
        measures(c["profile"]) for c in expected["columns"] if c["profile"]
    ]
    sets = [(row["criterion"], row["columns"], measures(row)) for row in by_finding["column set"]]
    assert len(sets) > 2
    assert sets == [(found["criterion"], found["columns"], measures(found)) for found in expected["column_sets"]]
    assert [(w["columns"], w["verdict"] == "pass", measures(w)) for w in by_finding["withheld"]] == [
        (w["columns"], w["passes"], measures(w)) for w in expected["withheld"]
    ]

    for found, options in (
        (every, {"wanted": "all", "rows_at_risk": 0.2, "k": 2}),
        (smallest, {"separation": 0.9}),
    ):
        expected = of_command_line(source, "keys", table, columns=VALUES, **options)
        assert found
        assert [(row["columns"], row["weight"], row["meets"], measures(row)) for row in found] == [
            (each["columns"], each["weight"], each["meets"], measures(each)) for each in expected["column_sets"]
        ]
        for row in found:
            assert (row["criterion"], row["outcome"]) == (expected["criterion"], expected["verdict"])
            assert (row["complete"], row["optimal"]) == (expected["complete"], expected["optimal"])
            assert row["reason"] == expected["reason"]

    expected = of_command_line(source, "mask", table, violates=3, exact=True)
    [plan] = mask
    for name in ("published", "withheld", "weight", "bound", "optimal", "safe", "criterion", "algorithm", "reason"):
        assert plan[name] == expected[name], name
    assert measures(plan) == measures(expected["profile"])

    expected = of_command_line(source, "uniques", table, columns=VALUES, k=3, limit=1000)
    assert (uniques[0]["combinations"], uniques[0]["rows"]) == (expected["combinations"], expected["rows_at_risk"])
    assert uniques[0]["complete"] is True
    sizes = {str(row["size"]): row["combinations"] for row in uniques if row["finding"] == "size"}
    assert sizes == expected["by_size"]
    assert [(r["columns"], r["combinations"]) for r in uniques if r["finding"] == "column set"] == [
        (found["columns"], found["combinations"]) for found in expected["column_sets"]
    ]

    expected = of_command_line(source, "suppress", table, columns=VALUES, k=3)
    assert (suppress[0]["cells"], suppress[0]["rows"], suppress[0]["cost"], suppress[0]["optimal"]) == (
        expected["cells"], expected["records"], expected["cost"], expected["optimal"]
    )  # fmt: skip
    assert {str(r["cells"]): r["rows"] for r in suppress if r["finding"] == "rows by cells"} == expected["by_cells"]
    assert [(r["columns"][0], r["cells"]) for r in suppress if r["finding"] == "column"] == [
        (loss["name"], loss["cells"]) for loss in expected["losses"]
    ]


def test_single_statements_equal_the_command_lines(host: Host, source: str) -> None:
    profile, whole, columns = (
        rows(answer)
        for answer in host.run(
            [
                host.load,
                PEOPLE,
                "FROM qidsql.profile('people', ['a', 'c'], k := 20)",
                "FROM qidsql.profile('people')",
                "FROM qidsql.columns('people', k := 20)",
            ]
        )[2:]
    )
    [expected] = of_command_line(source, "profile", columns=["a", "c"], k=20)["column_sets"]
    assert expected["rows_at_risk"] > 0
    assert [measures(row) for row in profile] == [measures(expected)]
    [expected] = of_command_line(source, "profile")["column_sets"]
    assert [measures(row) for row in whole] == [measures(expected)]
    by_name = {found["name"]: found for found in of_command_line(source, "audit", k=20)["columns"]}
    assert {row["name"]: measures(row) for row in columns} == {
        name: measures(found["profile"]) for name, found in by_name.items()
    }
    assert {row["name"]: row["nulls"] for row in columns} == {name: found["nulls"] for name, found in by_name.items()}


def test_values_that_equality_merges_are_told_apart(host: Host) -> None:
    """As everywhere in qidsql: 1 month is not 30 days, and a collation that ignores case overstates anonymity."""
    answers = host.run(
        [
            host.load,
            "CREATE TEMP TABLE t (i INTERVAL, c VARCHAR COLLATE NOCASE, class_size INTEGER)",
            "INSERT INTO t VALUES ('1 month', 'a', 1), ('30 days', 'A', 1), (NULL, NULL, 1), (NULL, NULL, 1)",
            "SELECT classes FROM qidsql.profile('t', ['i'])",
            "SELECT classes FROM qidsql.profile('t', ['c'])",
            "SELECT classes FROM qidsql.profile('t', ['class_size'])",
            "SELECT classes, nulls FROM qidsql.columns('t') ORDER BY name",
            "SELECT class_size, c FROM qidsql.violations('t', ['c'], k := 2) ORDER BY c",
            "SELECT class_size, class_size_1 FROM qidsql.violations('t', ['class_size'])",
            "CREATE TABLE kept AS FROM t",
            "SELECT classes FROM qid_keys('kept', columns := ['i', 'c'], minimal := true, \"distinct\" := 0.75)",
        ]
    )[3:]
    del answers[6]
    assert [lists(answer) for answer in answers] == [
        [[3]],
        [[3]],
        [[1]],
        [[3, 2], [1, 0], [3, 2]],
        [[1, "A"], [1, "a"]],
        [[4, 1]],
        [[3]],
    ]


def test_a_read_only_database_is_audited_and_nothing_is_written(host: Host, tmp_path: Path) -> None:
    path = tmp_path / "file.duckdb"
    host.run([PEOPLE], database=str(path))
    before = path.read_bytes()
    answer = host.ask("SELECT columns FROM qid_keys('people')", database=str(path), read_only=True)
    assert lists(answer) == [[["id"]]]
    assert path.read_bytes() == before
    assert lists(host.ask("SELECT classes FROM qidsql.profile('people', ['id'])", database=str(path))) == [[300]]


SIX_THREADS = """
import sys, threading, duckdb
connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
connection.load_extension(sys.argv[1])
connection.execute(sys.argv[2])
found = []
def audit():
    found.append(connection.cursor().execute("SELECT columns FROM qid_keys('people', \\"all\\" := true)").fetchall())
threads = [threading.Thread(target=audit) for _ in range(6)]
[each.start() for each in threads]
[each.join() for each in threads]
assert found == [[(["id"],)]] * 6, found
"""


def test_six_threads_at_once(host: Host) -> None:
    if not isinstance(host, Module):
        pytest.skip("the shell has one thread of its user's")
    subprocess.run(
        [sys.executable, "-c", SIX_THREADS, str(host.extension), PEOPLE],
        env=host.environment(),
        check=True,
        timeout=120,
    )


def test_the_macros_alone_answer_the_same(host: Host) -> None:
    """The script of `qidsql duckdb macros`, without the extension."""
    from qidsql.sql.scripts import duckdb_macros

    if isinstance(host, Shell):
        answers = host.run([PEOPLE, duckdb_macros().rstrip().rstrip(";"), *SAME])[2:]
    else:
        answers = host.run([PEOPLE, duckdb_macros(), *SAME])[2:]
    loaded = host.run([PEOPLE, host.load, *SAME])[2:]
    assert list(map(lists, answers)) == list(map(lists, loaded))


SAME = (
    "FROM qidsql.profile('people', ['a', 'b'], k := 4)",
    "FROM qidsql.columns('people')",
    "FROM qidsql.violations('people', ['a', 'b'], k := 4) ORDER BY ALL",
)
