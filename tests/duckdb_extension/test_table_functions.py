"""`LOAD qidsql` in the real DuckDB shell and in two versions of the Python module: what it answers there."""

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import duckdb
import pytest

import qidsql
from qidsql.duckdb_extension.functions import FUNCTIONS, MEASURES, OWN, in_sql
from tests.duckdb_hosts import Answer, Host, Module, Refused, Shell
from tests.exhaustive import always
from tests.ways import work

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
    (PEOPLE.replace("AS id", "AS n"), None),
    ("SELECT columns FROM qidsql.keys('people', columns := ['n', 'a'], all_ := true)", [[["n"]]]),
    ("FROM qidsql.keys('people', columns := ['b', 'c'], violates := 2)", []),
    ("SELECT columns, rows, classes FROM qidsql.keys('people', columns := ['c', 'n'])", [[["n"], 300, 300]]),
    ("SELECT published FROM qidsql.protect_columns('people', distinct_ := 0.5, exact := true)", [[["a", "c"]]]),
    ('CREATE SCHEMA "my schema"', None),
    ('CREATE TABLE "my schema"."a ""table""" ("x y" INTEGER, "all" VARCHAR)', None),
    ("INSERT INTO \"my schema\".\"a \"\"table\"\"\" VALUES (1, 'é'), (2, NULL), (2, NULL)", None),
    ("SELECT columns, rows FROM qidsql.keys('\"my schema\".\"a \"\"table\"\"\"', distinct_ := '2/3')", [[["x y"], 3]]),
    ("SELECT rows, classes FROM qidsql.profile('\"my schema\".\"a \"\"table\"\"\"', ['x y'])", [[3, 2]]),
    ("SELECT count(*) FROM qidsql.columns('\"my schema\".\"a \"\"table\"\"\"')", [[2]]),
    ("SELECT class_size FROM qidsql.violations('my schema.\"a \"\"table\"\"\"')", [[1], [2]]),
    ("SELECT columns FROM qidsql.keys('\"my schema\".\"a \"\"table\"\"\"', distinct_ := '66%', columns := ['all'])",
     [[["all"]]]),
    ("ATTACH ':memory:' AS other", None),
    ("CREATE TABLE other.people AS FROM people LIMIT 7", None),
    ("SELECT rows FROM qidsql.keys('people')", [[300]]),
    ("SELECT rows FROM qidsql.keys('other.people')", [[7]]),
    ("SELECT rows FROM qidsql.keys('other.main.people')", [[7]]),
    ("USE other", None),
    ("SELECT rows FROM qidsql.keys('people')", [[7]]),
    ("USE memory", None),
    # rows that go on into SQL
    ("CREATE TABLE found AS FROM qidsql.keys('people', columns := ['n', 'a'], all_ := true)", None),
    ("SELECT typeof(columns), typeof(rows), typeof(distinct_ratio), typeof(complete) FROM found",
     [["VARCHAR[]", "BIGINT", "DOUBLE", "BOOLEAN"]]),
    ("INSERT INTO people SELECT 1000 + len(columns), 1, 'x', 1, 1 FROM qidsql.keys('people')", None),
    ("SELECT max(n) FROM people", [[1001]]),
    ("SELECT count(*) FROM (" + " UNION ALL ".join(["FROM qidsql.keys('people')"] * 20) + ")", [[20]]),
    ("SELECT count(*) FROM qidsql.audit('people') WHERE finding = 'column'", [[5]]),
    ("SELECT note FROM qidsql.audit('people', identifiers := ['n']) WHERE note LIKE '%entity%' OR finding = 'note' ",
     [["each row is another person; if a person can have several, name the column of persons (entity)"],
      ["each statement sees what is committed when it starts, and nothing of an open transaction"]]),
    ("SELECT step, statement IS NULL FROM qidsql.keys('people', columns := ['a'], trace := true)",
     [[1, False], [2, True]]),  # a set, and no statement
    ("SELECT verdict FROM qidsql.audit('people', max_bytes := '1B') WHERE finding = 'table'", [["inconclusive"]]),
    ("SELECT rows FROM qidsql.audit('people', max_bytes := '1GB') WHERE finding = 'table'", [[301]]),
    ("FROM qidsql.keys('people', max_bytes := 'much')", "max_bytes must be a size such as 10GB, got much"),
    # plans
    ("CREATE VIEW never AS SELECT error('it ran') AS a, 1 AS b", None),
    ("EXPLAIN FROM qidsql.keys('never')", ...),
    ("FROM qidsql.keys('never')", "could not compute a value"),  # never with the text of the view's own error
    ("FROM qidsql.keys('never', columns := ['b'])", "could not compute a value"),
    ("FROM qidsql.verdict('people', where_ := 'CAST(''secret'' || a AS INTEGER) = 1')", "could not compute"),
    ("PREPARE found AS SELECT columns FROM qidsql.keys('people', max_size := $most, all_ := $every)", None),
    ("EXECUTE found(most := 1, every := true)", [[["n"]]]),
    ("SET threads = 1", None),
    ("SELECT columns FROM qidsql.keys('people', columns := ['n', 'a'], all_ := true)", [[["n"]]]),
    # transactions: what is not committed is seen by the single statements, and audits refuse it
    ("BEGIN", None),
    ("CREATE TEMP TABLE mine AS FROM people LIMIT 50", None),
    ("DELETE FROM people WHERE n > 9", None),
    ("SELECT rows FROM qidsql.profile('people', ['n'])", [[10]]),
    ("SELECT rows, classes, smallest FROM qidsql.profile('mine', ['a'], k := 2)", [[50, 7, 7]]),
    ("SELECT count(*) FROM qidsql.columns('mine')", [[5]]),
    ("SELECT class_size, a, b FROM qidsql.violations('mine', ['a', 'b'], k := 2) ORDER BY ALL LIMIT 1", [[1, 0, "0"]]),
    ("SELECT rows FROM qidsql.keys('people', columns := ['n'])", "this session sees other rows than the audit"),
    ("ROLLBACK", None),
    ("SELECT rows FROM qidsql.keys('people', columns := ['n'])", [[301]]),
    # conditions
    ("CREATE TABLE homes AS SELECT {'city': 'Oslo'} AS home, 'Bergen' AS city, i AS age FROM range(3) AS r(i)", None),
    ("SELECT rows FROM qidsql.audit('homes', where_ := 'home.city = ''Oslo''') WHERE finding = 'table'", [[3]]),
    ("SELECT rows FROM qidsql.audit('homes', where_ := 'city <> ''Oslo''') WHERE finding = 'table'", [[3]]),
    ("SELECT note FROM qidsql.audit('homes', where_ := 'now() > ''2020-01-01''') WHERE note LIKE '%the current time%'",
     [["the rows depend on the time of the audit: the where condition uses the current time"]]),
    # sensitive columns: every city of a home is its own
    ("SELECT columns FROM qidsql.keys('homes', reveals := 'city', columns := ['home'])", [[["home"]]]),
    ("FROM qidsql.keys('homes', reveals := 'city', columns := ['home'], t_ordered := '0.1')",
     "t_ordered needs the order"),
    ("SELECT columns FROM qidsql.keys('homes', reveals := 'city', columns := ['home'], t_ordered := '0.1', "
     "order_ := 'Bergen,Oslo')", []),
    ("FROM qidsql.keys('homes', reveals := 'city', columns := ['home'], t_ordered := '0', order_ := 'Oslo,x')",
     "order_ lacks 1 value of city: name each in its place"),
    ("SELECT criterion FROM qidsql.audit('homes', sensitive := ['city'], l := 2) WHERE finding = 'search' AND "
     "criterion LIKE '%city%'", [["column set that reveals somebody's city"]]),
    ("SELECT columns, note LIKE '%has the same value in every row%' FROM qidsql.audit('homes', sensitive := ['city']) "
     "WHERE finding = 'disclosed'", [[["home", "age"], True]]),
    # the single statements elsewhere
    ("SELECT rows FROM qidsql.profile('other.people')", [[7]]),
    ("SELECT rows FROM qidsql.profile('\"my schema\".no')", "no"),
    ("PREPARE measured AS SELECT k FROM qidsql.profile('people', ['a'], k := ?)", None),
    ("EXECUTE measured(3)", [[3]]),
    ("SELECT columns FROM qidsql.keys('qidsql.mine')", "qidsql.mine"),
    ("CREATE TABLE qidsql.mine AS FROM people LIMIT 3", None),
    ("SELECT columns FROM qidsql.keys('qidsql.mine', columns := ['n'])", [[["n"]]]),
]  # fmt: skip


UNSEEN = "this session sees other rows than the audit"
RELATIONS: list[tuple[str, object]] = [
    # a query or a file is audited by a view that stands for it, and what the caller's statement makes of it decides
    ("CREATE TABLE p AS SELECT i % 2 AS s, i % 3 AS c, i AS n FROM range(60) AS r(i)", None),
    ("CREATE SCHEMA z", None),
    ("CREATE TABLE z.p AS SELECT i AS s, 1 AS c, i AS n FROM range(4) AS r(i)", None),
    ("SELECT verdict, smallest FROM qidsql.verdict('SELECT s, c FROM p WHERE n > 11;', k := 3)", [["pass", 8]]),
    ("SELECT verdict FROM qidsql.verdict('FROM p -- all', k := 3, roles := 'none', keep_identifiers := true)",
     [["violation"]]),
    ("SELECT smallest FROM qidsql.profile('SELECT s, c FROM p WHERE n > 11', k := 3)", [[8]]),
    ("USE z", None),
    ("SELECT smallest, rows FROM qidsql.verdict('SELECT s, c FROM p', k := 3)", [[1, 4]]),
    ("SELECT rows FROM qidsql.verdict('WITH p AS (FROM memory.main.p) SELECT s FROM p', k := 3)", [[60]]),
    ("SELECT rows FROM qidsql.verdict('SELECT s FROM main.p', k := 3)", [[60]]),
    ("WITH p AS (FROM memory.main.p) SELECT rows FROM qidsql.verdict('SELECT s, c FROM p', k := 3)", UNSEEN),
    ("USE memory.main", None),
    ("CREATE TEMP TABLE t AS FROM p", None),
    ("SELECT rows FROM qidsql.verdict('SELECT s FROM t')", "the rows of this query cannot be read"),
    ("SELECT rows FROM qidsql.verdict('t')", "CREATE TABLE qidsql.copy AS FROM t; then audit 'qidsql.copy'"),
    ("CREATE TABLE qidsql.copy AS FROM t", None),
    ("SELECT rows FROM qidsql.verdict('qidsql.copy')", [[60]]),
    ("SELECT rows FROM qidsql.profile('SELECT s FROM t')", [[60]]),
    ("SELECT columns FROM qidsql.keys('SELECT n FROM p')", [[["n"]]]),
    ("SELECT rows FROM qidsql.link('SELECT s FROM p', 'SELECT s FROM z.p', on_ := ['s=s']) LIMIT 1", [[60]]),
    ("FROM qidsql.verdict('SELECT 1 AS a; DROP TABLE p')", "the text cannot be read as one query"),
    ("FROM qidsql.verdict('SELECT random() AS a FROM p')", "random"),
    ("FROM qidsql.verdict('SELECT secret FROM p')", "the rows of this query cannot be read"),
    ("FROM qidsql.protect_cells('SELECT s FROM p', against := 'released-rows', sql := 'view')", "create a view of it"),
    ("FROM qidsql.protected('SELECT s FROM p')", "create a view of it"),
    ("FROM qidsql.verdict('nowhere.parquet')", "CREATE TABLE qidsql.copy AS FROM 'nowhere.parquet'"),
    ("PREPARE asked AS SELECT verdict FROM qidsql.verdict('SELECT s FROM p', k := $k)", None),
    ("EXECUTE asked(k := 5)", [["pass"]]),
    ("EXECUTE asked(k := 50)", [["violation"]]),
    ("DEALLOCATE asked", None),
    ("SELECT verdict FROM qidsql.verdict('p', k := 2)", ...),
    ("SELECT count(*) FROM duckdb_views() WHERE database_name = 'qidsql' AND NOT internal", [[0]]),
]  # fmt: skip


@pytest.mark.exhaustive
def test_files(host: Host, tmp_path: Path) -> None:
    """By the names that FROM takes, each as its table."""
    names = [str(tmp_path / name) for name in ("p.parquet", "dir.v1/p.csv", "it's.parquet")]
    (tmp_path / "dir.v1").mkdir()
    statements = [PEOPLE]
    for name in ("people", *(name.replace("'", "''") for name in names)):
        if name != "people":
            statements.append(f"COPY people TO '{name}'")
        statements.append(f"SELECT rows, smallest, verdict FROM qidsql.verdict('{name}', identifiers := ['id'])")
    answers = host.run([host.load, *statements])
    found = [lists(answer) for answer in answers[2::2]]
    assert found == [found[0]] * 4
    assert found[0][0][0] == 300


@pytest.mark.parametrize("transcript", always("SESSION", longer=["TRANSCRIPT", "RELATIONS"]))
def test_transcript(host: Host, transcript: str) -> None:
    """Every step in one session: the rows without names; None: it works; a text: refused in one line that holds it."""
    steps: list[tuple[str, object]] = globals()[transcript]
    answers = host.run([host.load, *(statement for statement, _ in steps)])[1:]
    wrong = []
    for (statement, expected), answer in zip(steps, answers, strict=True):
        if isinstance(expected, str):
            good = isinstance(answer, Refused) and expected in answer
        else:
            good = not isinstance(answer, Refused) and (expected in (None, ...) or lists(answer) == expected)
        if not good:
            wrong.append((statement, answer, expected))
    assert wrong == [], wrong


OWN_FUNCTIONS = [  # of a session, with the names of DuckDB's
    *(f'"{each}"(a, b) AS 9' for each in "+-*/%&|"),
    "bit_or(a) AS 9",
    "bit_and(a) AS 9",
    "array_extract(a, b) AS 9",
    "\"||\"(a, b) AS 'p'",
    "sum(a) AS 9",
    "count_star() AS 9",
    "min(a) AS 9",
    "query(a) AS TABLE SELECT 1",
    "hash(a) AS 9",
    "unnest(a) AS 9",
    "struct_pack(a) AS a",
    "typeof(a) AS 'x'",
    "list_value(a) AS 9",
    "concat(a, b) AS 'p'",
    "alias(a) AS 'x'",
    "encode(a) AS 9",
    "max(a) AS 9",
    "count(a) AS 9",
    '"row"(a) AS 9',
    "row_number() AS 9",
    "dense_rank() AS 9",
    "floor(a) AS 9",
    "round(a) AS 9",
    "greatest(a, b) AS 9",
    "replace(a, b, c) AS 'a'",
    "regexp_replace(a, b, c) AS 'x'",
    "list_concat(a, b) AS ['x']",
    "list_contains(a, b) AS false",
    "struct_extract(a) AS 9",
]
GRAPH = "FROM qidsql.graph(identifiers := ['e.t'], sensitive := ['names.n'])"
RARE = "(SELECT i, i % 2 AS s, CASE WHEN i % 50 = 0 THEN 'rare' ELSE 'x' END AS d FROM range(60) AS r(i))"
LISTED = "CAST('[s]' AS VARCHAR[])"  # the session's list_value makes no list
PAID, LEVELS, CELLS, BLANKED, LOOKED_UP, FEW, DIVERSE = (
    f"qidsql.protected('paid', k := 5, identifiers := ['i']{more})"
    for more in (
        "",
        ", by_ := 'levels'",
        ", by_ := 'cells'",
        ", by_ := 'cells', against := 'released-rows'",
        ", against := 'released-rows'",
        ", by_ := 'columns'",
        ", sensitive := ['d'], l := 3",
    )
)
UNSEEN_ROWS = "this session sees other rows of paid than what is committed"
SESSION: list[tuple[str, object]] = [
    # what the prompt shows decides: p of main has one class of nine rows, each other p nine of one
    ("CREATE TABLE p AS SELECT 1 AS a FROM range(9)", None),
    ("SELECT verdict FROM qidsql.verdict('p')", [["pass"]]),
    ("CREATE SCHEMA s", None),
    ("CREATE TABLE s.p AS SELECT i AS a FROM range(9) AS r(i)", None),
    ("USE s", None),
    ("SELECT verdict FROM qidsql.verdict('p')", [["violation"]]),
    ("USE memory.main", None),
    ("CREATE TEMP TABLE p AS FROM s.p", None),
    ("SELECT verdict FROM qidsql.verdict('p')", UNSEEN),
    ("SELECT count(*) FROM qidsql.keys('p', distinct_ := 1) WHERE complete", UNSEEN),
    ("DROP TABLE temp.main.p", None),
    ("WITH p AS (FROM s.p) SELECT verdict FROM qidsql.verdict('p')", UNSEEN),
    ("SELECT verdict FROM qidsql.verdict('p') WHERE verdict = 'pass'", [["pass"]]),
    ("FROM qid_verdict('p')", "write FROM qidsql.verdict('table')"),
    # a check that fails, whatever is asked of its rows
    ("CALL qidsql.check('p', k := 9)", ...),
    ("CALL qidsql.check('s.p')", "qidsql: violation: s.p is 1-anonymous"),
    ("SELECT count(*) FROM qidsql.check('p', k := 10)", "qidsql: violation: main.p is 9-anonymous"),
    ("SELECT 1 FROM qidsql.check('s.p') WHERE verdict = 'pass' LIMIT 1", "qidsql: violation"),
    ("WITH p AS (FROM s.p) FROM qidsql.check('p')", UNSEEN),
    ("SELECT count(*) FROM qidsql.help() WHERE name <> ''", [[len(FUNCTIONS) + len(OWN) + 1]]),
    ("SELECT max(length(name)) + max(length(description)) <= 93 FROM qidsql.help()", [[True]]),  # and a frame of 7
    ("SELECT description FROM qidsql.help('check') WHERE name = 'k'",
     [["BIGINT, by default 5: the least class size that is required"]]),
    ("SELECT description FROM qidsql.help('columns')", [["FROM qidsql.columns('table', k := 5)"]]),
    ("SET default_collation = 'NOCASE'", None),
    ("CREATE TABLE names AS SELECT unnest(['anna', 'Anna', 'ANNA', 'aNNA', 'annA']) AS n", None),
    ("SELECT smallest FROM qidsql.verdict('names')", [[1]]),
    ("SELECT finding FROM qidsql.audit('names', where_ := 'n = ''anna''') LIMIT 1", UNSEEN),
    ("RESET default_collation", None),
    ("CREATE TABLE e AS SELECT TIMESTAMPTZ '2024-06-01 00:00:00+00' + INTERVAL (i * 4) HOUR AS t FROM range(6) r(i)",
     None),
    ("CREATE VIEW d AS SELECT CAST(t AS DATE) AS a FROM e", None),
    ("SET TimeZone = 'America/New_York'", None),
    ("SELECT smallest FROM qidsql.verdict('d', k := 3)", [[1]]),
    ("SELECT smallest FROM qidsql.verdict('e', k := 3)", [[1]]),
    ("RESET TimeZone", None),
    # a prompt's own: roles, numbers first, names with their database, and what DuckDB lists
    ("CREATE TABLE mixed AS SELECT i AS id, 'a' || i || '@x.org' AS \"e mail\", i % 2 AS s FROM range(40) r(i)", None),
    ("SELECT column_name, role, proposed, classes, smallest FROM qidsql.roles('mixed')",
     [["id", "direct identifier", True, 40, 1], ["e mail", "direct identifier", True, 40, 1],
      ["s", "quasi-identifier", False, 2, 20]]),
    ("SELECT table_name FROM qidsql.verdict('mixed')", [["memory.main.mixed"]]),
    ("SELECT regexp_extract(reason, 'Declare what is not published: (.*)', 1) FROM qidsql.verdict('mixed')",
     [["identifiers := ['id', 'e mail']"]]),
    ("SELECT verdict, reason LIKE '%Declare%' FROM qidsql.verdict('mixed', identifiers := ['id', 'e mail'])",
     [["pass", False]]),
    ("SELECT count(*) FROM duckdb_functions() WHERE database_name = 'qidsql' AND comment LIKE '% qidsql.' || "
     "function_name || '(%'", [[len(FUNCTIONS) + len(OWN) + 2]]),
    # protected rows in one step, or none
    (f"CREATE TABLE paid AS FROM {RARE}", None),
    (f"SELECT count(*), count(d), min(s) FROM {PAID}", [[60, 60, 0]]),  # a * is no NULL
    (f"SELECT min(n), sum(n)::INT FROM (SELECT s, d, count(*) AS n FROM {PAID} GROUP BY ALL)", [[30, 60]]),
    (f"SELECT count(*), count(d) FROM {LEVELS}", [[60, 60]]),
    (f"SELECT count(*), count(d) FROM {BLANKED}", [[60, 58]]),
    (f"FROM {CELLS}", "no query holds the blank cells by which nobody is found"),
    (f"FROM {FEW}", "qidsql.protect_columns says what to publish"),
    (f"FROM {LOOKED_UP}", "against is for by_ cells"),
    (f"FROM {DIVERSE}", "no coarser values help: all rows together miss"),
    ("ATTACH ':memory:' AS other", None),
    ("CREATE TABLE other.paid AS SELECT i % 2 AS z FROM range(8) AS r(i)", None),
    ("SELECT count(z) FROM qidsql.protected('other.paid', k := 2)", [[8]]),
    ("SELECT count(*) FROM qidsql.protect_cells('paid', entity := 's') WHERE reason LIKE '%counts persons%'",
     [[1]]),
    ("SELECT published FROM qidsql.protect_columns('paid', k := 2, entity := 'i', columns := ['s'], known_rows := '2')",
     [[["s"]]]),
    ("FROM qidsql.protected('paid', k := 61)", "no rows of paid are given out: no coarser values help"),
    ("FROM qidsql.protected('paid', columns := ['x'])", "no column x in main.paid"),
    (f"WITH paid AS (FROM names) FROM {PAID}", UNSEEN_ROWS),
    ("BEGIN", None),
    ("DELETE FROM paid WHERE i > 9", None),
    (f"FROM {PAID}", UNSEEN_ROWS),
    ("ROLLBACK", None),
    ("SET default_collation = 'NOCASE'", None),
    (f"FROM {PAID}", "a default_collation would merge values"),
    ("RESET default_collation", None),
    # declared keys, which DuckDB lists
    ('CREATE TABLE wards (w INTEGER PRIMARY KEY, "n,[a]" INTEGER, UNIQUE ("n,[a]", w))', None),
    ("CREATE TABLE stays AS SELECT i % 2 AS w, i % 3 AS s FROM range(60) AS r(i)", None),
    ("CREATE TABLE told (w INTEGER REFERENCES wards (w))", None),
    ("SELECT verdict FROM qidsql.verdict('stays')", [["pass"]]),
    # a table of checks, and all tables of a schema
    ("CREATE TABLE checks AS FROM (VALUES ('stays', 3, ['s'], 's < 2'), ('wards', 3, NULL, NULL), "
     "('SELECT w FROM stays', NULL, NULL, NULL)) AS c (table_name, k, columns, where_)", None),
    ("INSERT INTO wards VALUES (1, 1), (2, 1)", None),
    ("SELECT table_name, verdict, smallest, k FROM qidsql.checks('checks', k := 5)",
     [["memory.main.stays", "pass", 20, 3], ["memory.main.wards", "violation", 2, 3],
      ["SELECT w FROM stays", "pass", 30, 5]]),
    ("SELECT rows FROM qidsql.checks('SELECT * FROM checks WHERE where_ = ''s < 2''')", [[40]]),
    ("SELECT table_name, smallest FROM qidsql.checks('s.*')", [["memory.s.p", 1]]),
    ("FROM qidsql.checks('SELECT ''p'' AS table_name, ''many'' AS k')", "check 1 has a text where a number is"),
    ("FROM qidsql.checks('SELECT ''p'' AS table_name, 2 AS kk')", "kk in the checks is no parameter"),
    ("FROM qidsql.checks('SELECT 2 AS k')", "check 1 names no table"),
    ("FROM qidsql.checks('SELECT ''p'' AS table_name, 1 AS k')", "k must be at least 2, got 1"),
    ("FROM qidsql.checks('none.*')", "there is no table in a schema none"),
    ("CREATE TEMP TABLE stays AS SELECT 1 AS s, 1 AS w FROM range(8)", None),
    ("FROM qidsql.checks('checks')", UNSEEN),
    ("DROP TABLE temp.main.stays", None),
    ("BEGIN", None),
    ("INSERT INTO checks VALUES ('s.p', 2, NULL, NULL)", None),
    ("FROM qidsql.checks('checks')", UNSEEN),
    ("ROLLBACK", None),
    ("BEGIN", None),
    ("CREATE TABLE s.unseen AS FROM p", None),
    ("FROM qidsql.checks('s.*')", UNSEEN),
    ("ROLLBACK", None),
    # a graph has no table of its own: all of them, by the names that the prompt knows
    (f"SELECT finding {GRAPH} LIMIT 1", [["separating set"]]),
    ("CREATE TEMP TABLE e AS SELECT 1 AS t", None),
    (GRAPH, UNSEEN),
    ("DROP TABLE temp.main.e", None),
    ("BEGIN", None),
    ("CREATE TABLE uncommitted AS FROM names", None),
    (GRAPH, UNSEEN),
    ("ROLLBACK", None),
    *((f"CREATE TEMP MACRO {each}", None) for each in OWN_FUNCTIONS),
    ("SELECT rows_below_k, smallest FROM qidsql.profile('s.p')", [[9, 1]]),
    ("SELECT name, smallest FROM qidsql.columns('s.p')", [["a", 1]]),
    ("SELECT class_size FROM qidsql.violations('s.p')", [[1]] * 9),
    (f"SELECT verdict, smallest, below_k, counted FROM qidsql.anonymity('paid', {LISTED}, entity := 'd')",
     [["violation", 1, 2, 2]]),
    (f"SELECT verdict, smallest, counted FROM qidsql.anonymity('paid', {LISTED})", [["pass", 30, 60]]),
    (f"SELECT verdict, fewest_values, counted FROM qidsql.diversity('paid', {LISTED}, 'd')", [["violation", 1, 60]]),
    (f"SELECT verdict, furthest, classes FROM qidsql.closeness('paid', {LISTED}, 'd')", [["pass", 0.033333, 2]]),
    ('SELECT "rows", classes, highest FROM qidsql.risks(\'s.p\', CAST(\'[a]\' AS VARCHAR[]))', [[9, 9, 1]]),
    (f"SELECT verdict, smallest, counted FROM qidsql.matches('s.p', 'p', {LISTED.replace('s', 'a')})",
     [["inconclusive", 0, 9]]),
    ("SELECT class_size, classes, share FROM qidsql.sizes('s.p')", [[1, 9, 1]]),
    ("SELECT verdict FROM qidsql.verdict('s.p')", [["violation"]]),
    ("SELECT DISTINCT s, d FROM qidsql.protected('paid', k := 5) WHERE d = '*'", [[0, "*"]]),  # without i
    ("SELECT s, d FROM qidsql.protected('paid', k := 5, by_ := 'cells', against := 'released-rows') WHERE d IS NULL",
     [[0, None]] * 2),
    ("BEGIN", None),
    ("CREATE OR REPLACE TABLE p AS FROM s.p", None),
    ("SELECT verdict FROM qidsql.verdict('p')", UNSEEN),
    ("ROLLBACK", None),
]  # fmt: skip


WRONG = {
    "FROM qidsql.keys('peopel')": "no table peopel (did you mean main.people?) in this database; an audit runs on a "
    "connection of its own, which sees no temporary table and nothing uncommitted: CREATE TABLE qidsql.copy "
    "AS FROM peopel; then audit 'qidsql.copy'",
    "FROM qidsql.audit('people', columns := ['aa', 'id'])": "no column aa (did you mean a?) in main.people",
    "FROM qidsql.audit('people', k := 0)": "k must be at least 2, got 0: every table is 1-anonymous",
    "FROM qidsql.audit('people', k := NULL)": "k must not be NULL; leave it out",
    "FROM qidsql.audit(NULL)": "the table's name must not be NULL",
    "FROM qidsql.keys('people', columns := ['a', NULL])": "columns must not be NULL; leave it out",
    "FROM qidsql.keys('people', columns := NULL)": "columns must not be NULL; leave it out",
    "FROM qidsql.keys('people', distinct_ := 'many')": "distinct_ must be a ratio such as 0.9, 9/10 or 90%, got many",
    "FROM qidsql.keys('people', all_ := true, minimal := true)": "choose one of all_ and minimal",
    "FROM qidsql.keys('people', where_ := 'a = 1; DROP TABLE people')": "the where condition cannot be read as one",
    "FROM qidsql.keys('people', where_ := 'a > DATE ''2024-01-01''')": "the where condition has an operation that",
    "FROM qidsql.audit('people', where_ := 'random() > 0.5')": "the where condition calls random, which may return",
    "FROM qidsql.audit('people', where_ := 'aa = 1')": "no column aa (did you mean a?) in main.people",
    "FROM qidsql.protect_cells('people', where_ := 'year(b) > 3')": "the where condition has an operation that",
    "FROM qidsql.protect_cells('people', \"sql\" := 'poem')": "sql must be view, table, update; got poem",
}  # fmt: skip


@pytest.mark.exhaustive
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


NAMELESS = {  # what is typed in place of a table's name, and what it is called
    "SELECT b FROM people": "the query is ",
    "{file}": "people.parquet is ",
    "SELECT random() AS b FROM people": "the query uses random, ",
    "SELECT now() AS b FROM people": "the audit, which saw the query as it is committed",
}


@pytest.mark.exhaustive
def test_a_query_or_file_is_called_as_it_was_typed(host: Host, tmp_path: Path) -> None:
    file = tmp_path / "people.parquet"
    asked = [f"CALL qidsql.check('{typed.format(file=file)}', k := 90, columns := ['b'])" for typed in NAMELESS]
    asked.append("FROM qidsql.report('SELECT b FROM people', columns := ['b'])")
    _, _, _, *answers, report = host.run([host.load, PEOPLE, f"COPY people TO '{file}'", *asked])
    for told, called in zip(answers, NAMELESS.values(), strict=True):
        assert isinstance(told, Refused)
        assert called in told and "main." not in told
    assert not any("main" in str(row["line"]) for row in rows(report))


@pytest.mark.exhaustive
def test_a_query_by_the_environment_is_refused(shell: Shell) -> None:
    """Another process would show other rows; only the shell has this function."""
    answer = shell.ask(PEOPLE, "FROM qidsql.verdict('SELECT getenv(''HOME'') AS a FROM people')")
    assert "the query uses getenv, so it can show other rows to others" in str(answer)


TAKEN = """'SELECT a, b AS "qidsql person", c AS "qidsql value" FROM people'"""  # names that the macros give


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
        "FROM qidsql.anonymity('people', ['a'], k := NULL)": "k must be at least 2",
        "FROM qidsql.risks('people', ['a'], k := NULL)": "k must be at least 2",
        "FROM qidsql.matches('people', 'people', ['a'], k := NULL)": "k must be at least 2",
        "FROM qidsql.diversity('people', ['a'], 'b', l := NULL)": "l must be at least 2",
        "FROM qidsql.closeness('people', ['a'], 'b', t := NULL)": "t must be at least 0",
        "FROM qidsql.closeness('people', ['a'], 'b', t := 1)": "t must be at least 0",
        f"FROM qidsql.anonymity({TAKEN}, ['a'], entity := 'a')": "Ambiguous reference",
        f"FROM qidsql.diversity({TAKEN}, ['a'], 'a')": "Ambiguous reference",
        f"FROM qidsql.closeness({TAKEN}, ['a'], 'a')": "Ambiguous reference",
        f"FROM qidsql.matches('people', {TAKEN}, ['a'], entity := 'a')": "Ambiguous reference",
    }
    prepared = "PREPARE measured AS FROM qidsql.profile('people', ['a'], k := ?)"
    for answer, text in zip(host.run([host.load, PEOPLE, prepared, *wrong])[3:], wrong.values(), strict=True):
        assert isinstance(answer, Refused), text
        assert text in answer


def measures(row: Mapping[str, Any] | None) -> dict[str, Any]:
    """Shells write a HUGEINT as a text; with an entity the functions' rows are entities."""
    row = {"rows": row.get("entities"), **row} if row else dict.fromkeys(MEASURES)
    return {
        name: int(row[name]) if name == "colliding_pairs" and row[name] is not None else row[name] for name in MEASURES
    }


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The same table as a file for the command line."""
    path = tmp_path_factory.mktemp("source") / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(PEOPLE)
    return str(path)


def of_command_line(source: str, verb: str, table: str | None = None, **options: Any) -> dict[str, Any]:
    """What the command line's --format json holds."""
    return _of_command_line(source, verb, table, json.dumps(options))


@cache
def _of_command_line(source: str, verb: str, table: str | None, options: str) -> dict[str, Any]:
    """The same for every host, so asked once."""
    found: dict[str, Any] = json.loads(json.dumps(work(verb)(source, table, **json.loads(options)).to_dict()))
    return found


SOME = {"columns": VALUES}
Cases: TypeAlias = "list[tuple[str, dict[str, Any]]]"
CASES: Cases = [
    ("audit", {"k": 3, "separation": 0.8, "sensitive": ["d"]}),
    ("audit", {"k": 4, "entity": "d", "where": "a < 5", "exclude": ["id"], "max_size": 2}),
    ("audit", {"k": 6, "columns": ["b", "c"], "nulls": "wildcard", "separation": "1/10"}),
    ("audit", {"rows_below_k": 0.5, "keep_identifiers": True, "identifiers": ["b"]}),
    ("keys", {**SOME, "all": True, "rows_below_k": 0.2, "k": 2}),
    ("keys", {**SOME, "separation": 0.9}),
    ("keys", {**SOME, "distinct": "9%", "weights": "a=3,d=2", "where": "d > 2 AND a <> 4"}),
    ("keys", {**SOME, "minimal": True, "separation": "99%"}),
    ("keys", {**SOME, "epsilon": 0.4, "delta": 0.1, "seed": 7}),
    ("keys", {"exclude": ["id"], "all": True, "violates": 3, "nulls": "wildcard"}),
    ("keys", {"columns": ["id", "a", "b"], "entity": "d", "all": True, "violates": 2, "max_size": 2}),
    ("columns", {"violates": 3, "exact": True}),
    ("columns", {"distinct": 0.2, "weights": "a=5,id=9", "where": "a > 1", "view": "shown", "role": "staff"}),
    ("uniques", {**SOME, "k": 3, "limit": 1000}),
    ("uniques", {**SOME, "scores": "dis", "sampling_fraction": 0.1, "key": "id", "where": "a < 4", "max_size": 3}),
    ("matching", {**SOME, "against": "released-rows", "k": 3}),
    ("matching", {**SOME, "against": "released-rows", "k": 2, "nulls": "wildcard", "weights": "b=4", "where": "a < 4"}),
    ("matching", {**SOME, "against": "released-rows", "k": 2, "method": "shared"}),
]
A_FEW = [CASES[place] for place in (1, 4, 9, 12, 13, 16)]  # of each verb at least one


@pytest.mark.exhaustive
@pytest.mark.parametrize("cases", always(A_FEW, longer=[CASES]), ids=lambda cases: "few" if cases is A_FEW else "all")
def test_audits_equal_the_command_lines(host: Host, source: str, cases: Cases) -> None:
    compare(cases, lambda statements: host.run([host.load, PEOPLE, *statements])[2:], "people", source)


def call(verb: str, name: str, options: Mapping[str, Any]) -> str:
    """The call of a table function with these options of the library."""
    shown = [f", {NAMES.get(name, name)} := {json.dumps(each).translate(QUOTES)}" for name, each in options.items()]
    return f"FROM qidsql.{FUNCTIONS.get(verb, verb)}('{name}'{''.join(shown)})"


FUNCTIONS = {"columns": "protect_columns", "matching": "protect_cells"}
NAMES = {"l_diversity": "l", "t_closeness": "t", "all": "all_", "distinct": "distinct_", "limit": "limit_"}
NAMES |= {"by": "by_", "on": "on_", "order": "order_", "where": "where_"}
QUOTES = str.maketrans('"', "'")


def compare(
    cases: Cases, run: Callable[[list[str]], list[Answer]], name: str, source: str, table: str | None = None
) -> None:
    """The functions' answers on a table of that name against the library's on the source, field by field."""
    answers = run([call(verb, name, options) for verb, options in cases])
    for (verb, options), answer in zip(cases, answers, strict=True):
        expected = of_command_line(source, verb, table, **options)
        assert globals()[f"{verb}_differences"](rows(answer), expected) == [], (verb, options)


def differences(**pairs: tuple[object, object]) -> list[str]:
    return [f"{what}: {found}, expected {expected}" for what, (found, expected) in pairs.items() if found != expected]


def parts(found: list[dict[str, Any]], *names: str) -> dict[str, list[list[Any]]]:
    """These cells of the rows, by what the rows tell of."""
    by_finding: dict[str, list[list[Any]]] = {}
    for row in found:
        by_finding.setdefault(row["finding"], []).append([row[name] for name in names])
    return by_finding


def audit_differences(found: list[dict[str, Any]], expected: dict[str, Any]) -> list[str]:
    [whole] = (row for row in found if row["finding"] == "table")
    by_finding: dict[str, list[dict[str, Any]]] = {}
    for row in found:
        by_finding.setdefault(row["finding"], []).append(row)
    columns = expected["columns"]
    return differences(
        verdict=(whole["verdict"], expected["verdict"]),
        complete=(whole["complete"], expected["complete"]),
        reason=(whole["note"], in_sql(expected["reason"])),
        audited=(whole["columns"], [column["name"] for column in columns if column["audited"]]),
        whole=(measures(whole), measures(expected["profile"])),
        columns=(
            [(row["columns"], row["role"], row["nulls"], row["type"], measures(row)) for row in by_finding["column"]],
            [([c["name"]], c["role"], c["nulls"], c["type"], measures(c["profile"])) for c in columns],
        ),
        without=(
            [(row["columns"], measures(row)) for row in by_finding.get("without column", ())],
            [([c["name"]], measures(c["without"])) for c in columns if c["without"]],
        ),
        sets=(
            [(row["criterion"], row["columns"], measures(row)) for row in by_finding.get("column set", ())],
            [(each["criterion"], each["columns"], measures(each)) for each in expected["column_sets"]],
        ),
        withheld=(
            [(row["columns"], row["verdict"] == "pass", measures(row)) for row in by_finding.get("withheld", ())],
            [(each["columns"], each["passes"], measures(each)) for each in expected["withheld"]],
        ),
        coarser=(
            [(row["columns"], row["verdict"] == "pass", measures(row)) for row in by_finding.get("coarser", ())],
            [(each["columns"], each["passes"], measures(each)) for each in expected.get("coarser", ())],
        ),
        blanked=(
            [(row["columns"], row["verdict"] == "pass", measures(row)) for row in by_finding.get("blank", ())],
            [(each["columns"], each["passes"], measures(each)) for each in expected.get("blanked", ())],
        ),
        assumptions=(
            [row["note"] for row in by_finding.get("assumption", ())],
            [in_sql(each) for each in expected["assumptions"]],
        ),
    )


def keys_differences(found: list[dict[str, Any]], expected: dict[str, Any]) -> list[str]:
    ends = {tuple(row[name] for name in ("criterion", "verdict", "complete", "optimal", "reason")) for row in found}
    return differences(
        sets=(
            [(row["columns"], row["weight"], row["meets"], measures(row)) for row in found],
            [(each["columns"], each["weight"], each["meets"], measures(each)) for each in expected["column_sets"]],
        ),
        ends=(
            ends,
            {
                (
                    expected["criterion"],
                    expected["verdict"],
                    expected["complete"],
                    expected["optimal"],
                    in_sql(expected["reason"]),
                )
            },
        ),
    )


def columns_differences(found: list[dict[str, Any]], expected: dict[str, Any]) -> list[str]:
    [plan] = found
    same = ("published", "withheld", "weight", "bound", "optimal", "safe", "criterion", "algorithm", "reason")
    return differences(
        plan=([plan[name] for name in same], [expected[name] for name in same]),
        verdict=(plan["verdict"], expected["verdict"]),
        measures=(measures(plan), measures(expected["profile"])),
        statements=(len(plan["script"]), len(expected["script"])),
    )


def uniques_differences(found: list[dict[str, Any]], expected: dict[str, Any]) -> list[str]:
    [whole] = (row for row in found if row["finding"] == "table")
    rest = parts(found, "columns", "size", "combinations", "rows", "contribution", "record", "key", "score")
    scores = expected["scores"] or {"top": []}
    return differences(
        combinations=(whole["combinations"], expected["combinations"]),
        rows=(whole["rows"], expected["rows_unsafe"]),
        complete=(whole["complete"], expected["complete"]),
        verdict=(whole["verdict"], expected["verdict"]),
        reason=(whole["reason"], in_sql(expected["reason"])),
        sizes=({str(row[1]): row[2] for row in rest["size"]}, expected["by_size"]),
        columns=(
            [(row[0], row[2], round(row[4], 6)) for row in rest["column"]],
            [([each["name"]], each["combinations"], each["contribution"]) for each in expected["by_column"]],
        ),
        sets=(
            [(row[0], row[2]) for row in rest["column set"]],
            [(each["columns"], each["combinations"]) for each in expected["column_sets"]],
        ),
        records=(
            [(*row[1:3], *row[5:7], round(row[7], 6)) for row in rest.get("record", ())],
            [
                (each["smallest"], each["combinations"], each["record"], each["key"], each["score"])
                for each in scores["top"]
            ],
        ),
    )


def matching_differences(found: list[dict[str, Any]], expected: dict[str, Any]) -> list[str]:
    [whole] = (row for row in found if row["finding"] == "table")
    rest = parts(found, "columns", "cells", "rows", "values", "values_touched", "values_gone")
    return differences(
        cells=(whole["cells"], expected["cells"]),
        rows=(whole["rows"], expected["records"]),
        cost=(whole["cost"], expected["cost"]),
        optimal=(whole["optimal"], expected["optimal"]),
        verdict=(whole["verdict"], expected["verdict"]),
        reason=(whole["reason"], in_sql(expected["reason"])),
        by_cells=({str(row[1]): row[2] for row in rest["rows by cells"]}, expected["by_cells"]),
        losses=(
            [(row[0][0], row[1], *row[3:]) for row in rest["column"]],
            [
                (each["name"], each["cells"], each["values"], each["values_touched"], each["values_gone"])
                for each in expected["losses"]
            ],
        ),
    )


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
    expected = of_command_line(source, "audit", only=["a", "c"], k=20)["profile"]
    assert expected["rows_below_k"] > 0
    assert [measures(row) for row in profile] == [measures(expected)]
    expected = of_command_line(source, "audit", only=["id", *VALUES])["profile"]
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
            "SELECT class_size, c FROM qidsql.violations('t', ['c'], k := 2) ORDER BY encode(c)",
            "SELECT class_size, class_size_1 FROM qidsql.violations('t', ['class_size'])",
            "CREATE TABLE kept AS FROM t",
            "CREATE TABLE nested AS FROM (VALUES (union_value(n := 1)::UNION(n INTEGER, t VARCHAR), {'s': ['a, b']}), "
            "(union_value(t := '1')::UNION(n INTEGER, t VARCHAR), {'s': ['a', 'b']}), (NULL, NULL)) AS v (u, s)",
            "SELECT classes, nulls FROM qidsql.columns('nested') ORDER BY name",
            "SELECT classes FROM qidsql.keys('kept', columns := ['i', 'c'], minimal := true, distinct_ := 0.75)",
        ]
    )[3:]
    del answers[6:8]
    assert [lists(answer) for answer in answers] == [
        [[3]],
        [[3]],
        [[1]],
        [[3, 2], [1, 0], [3, 2]],
        [[1, "A"], [1, "a"]],
        [[4, 1]],
        [[3, 1], [3, 1]],
        [[3]],
    ]


@pytest.mark.exhaustive
def test_a_read_only_database_is_audited_and_nothing_is_written(host: Host, tmp_path: Path) -> None:
    path = tmp_path / "file.duckdb"
    host.run([PEOPLE], database=str(path))
    before = path.read_bytes()
    answer = host.ask(
        "SELECT columns FROM qidsql.keys('people', columns := ['id'])", database=str(path), read_only=True
    )
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
    keys = "SELECT columns FROM qidsql.keys('people', columns := ['id', 'a'], all_ := true)"
    found.append(connection.cursor().execute(keys).fetchall())
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
        timeout=300,
    )


def test_the_macros_alone_answer_the_same(host: Host) -> None:
    """The script of `qidsql shell macros`, without the extension."""
    from qidsql.engines.duckdb.host import duckdb_macros

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


def test_a_search_of_all_sets_begins_from_the_result_of_an_earlier_one(host: Host, tmp_path: Path) -> None:
    """That of Python, in a file; a file of something else is an error with the parameter's name."""
    made = "CREATE TABLE t AS SELECT r * 7 % 5 AS a, r * 3 % 11 AS b, r % 17 AS c FROM range(300) s(r)"
    path, file, other = tmp_path / "t.duckdb", tmp_path / "earlier.json", tmp_path / "other.json"
    with duckdb.connect(str(path)) as connection:
        connection.execute(made)
    file.write_text(json.dumps(qidsql.keys(str(path), "t", all=True, violates=3).to_dict()))
    other.write_text("{")
    asked = "SELECT columns FROM qidsql.keys('t', all_ := true, violates := 3{})"
    sinces = "", f", since := '{file}'", f", since := '{other}'"
    alone, since, refused = host.run([made, host.load, *map(asked.format, sinces)])[2:]
    assert lists(alone) == lists(since) != []
    assert isinstance(refused, Refused) and "is not JSON" in refused
