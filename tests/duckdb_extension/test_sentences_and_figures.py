"""The table functions for people, and those for anonymize, risk and link: as on the command line."""

from pathlib import Path
from typing import Any

import duckdb
import pytest

import qidsql
from qidsql.duckdb_extension.functions import FUNCTIONS, in_sql
from tests.duckdb_hosts import Answer, Host, Refused

SETUP = [
    "CREATE TABLE people AS SELECT i AS id, i % 7 AS age, i % 3 AS town, i * 11 AS income FROM range(90) AS r(i)",
    "CREATE TABLE copied AS SELECT id, CASE WHEN id > 3 THEN age END AS age, town, income FROM people",
    "CREATE TABLE voters AS SELECT i % 7 AS age, i % 3 AS town, 'x' || i AS voter FROM range(180) AS r(i)",
]
POLICY = """\
[sources.people]
url = "people.duckdb"
[[tables]]
table = "main.people"
k = 6
[tables.roles]
id = "direct identifier"
income = "sensitive"
"""
ON = "on_ := ['age=age', 'town=town']"
ROLES = "identifiers := ['id'], sensitive := ['income']"
QUERIES = [
    f"FROM qidsql.report('people', {ROLES})",
    f"FROM qidsql.verdict('people', {ROLES})",
    "FROM qidsql.verdict('people')",
    f"FROM qidsql.protect_cells('people', {ROLES}, k := 5)",
    f"FROM qidsql.protect_turns('people', {ROLES}, k := 5, turns := ['drop=town', 'age=width:4'])",
    f"FROM qidsql.risk('people', {ROLES}, sampling_fraction := '0.5')",
    f"FROM qidsql.link('people', 'voters', {ON})",
    f"FROM qidsql.risk_population('people', 'voters', {ON})",
    "FROM qidsql.impact('people', 'copied', k := 2)",
    f"FROM qidsql.protect_cells('people', against := 'released-rows', {ROLES}, k := 5)",
    "FROM qidsql.graph(identifiers := ['voters.voter'], sensitive := ['people.income'], accept_names := true)",
]


def rows(answer: Answer) -> list[dict[str, Any]]:
    assert not isinstance(answer, Refused), answer
    return answer


def test_no_column_needs_quotes() -> None:
    with duckdb.connect() as connection:
        words = connection.execute("SELECT keyword_name, keyword_category FROM duckdb_keywords()").fetchall()
    quoted = {name for name, _ in words} - {name for name, kind in words if kind in ("unreserved", "column_name")}
    assert "table" in quoted
    assert {
        function.name: quoted & set(function.columns) for function in FUNCTIONS if quoted & set(function.columns)
    } == {}


@pytest.mark.exhaustive
def test_they_equal_the_command_lines(host: Host, tmp_path: Path) -> None:
    path, policy = tmp_path / "people.duckdb", tmp_path / "qidsql.toml"
    with duckdb.connect(str(path)) as connection:
        for statement in SETUP:
            connection.execute(statement)
    policy.write_text(POLICY)
    without_towns = tmp_path / "towns.toml"
    without_towns.write_text(f'{POLICY}town = "other"\n')
    named = f"FROM qidsql.verdict('people', policy_file := '{policy}')"
    given_out = f"SELECT column_name FROM (DESCRIBE FROM qidsql.protected('people', policy_file := '{without_towns}'))"
    missing = "FROM qidsql.link('people')"
    answers = host.run([host.load, *SETUP, *QUERIES, named, given_out, missing])[1 + len(SETUP) :]
    lines, verdict, proposed, anonymized, turned, risk, link, held, impact, suppressed, graph, by_policy, shown = map(
        rows, answers[:-1]
    )
    assert isinstance(answers[-1], Refused)
    roles: dict[str, Any] = {"identifiers": ["id"], "sensitive": ["income"]}
    with qidsql.connect(str(path)) as engine:
        audit = qidsql.audit(engine, "people", **roles)
        assert next(line["line"] for line in lines).startswith(
            "VIOLATION    90 rows, each taken for another person: main.people is"
        )
        assert max(len(line["line"]) for line in lines) <= 76
        [only] = verdict
        assert (only["verdict"], only["smallest"], only["rows"], only["k"]) == ("violation", 4, 90, 5)
        assert (only["reason"], only["columns"], only["left_out"]) == (audit.reason, ["age", "town"], ["id", "income"])
        assert proposed[0]["proposed"] == ["income"]
        assert (by_policy[0]["k"], by_policy[0]["proposed"], by_policy[0]["columns"]) == (6, [], ["age", "town"])
        assert [row["column_name"] for row in shown] == ["age", "income"]
        expected = qidsql.protect(engine, "people", k=5, **roles, by="cells")
        assert [anonymized[0][name] for name in ("cells", "cost", "verdict")] == [
            expected.cells,
            expected.cost,
            "finished",
        ]
        turns = qidsql.protect(engine, "people", k=5, turns=["drop=town", "age=width:4"], **roles, by="turns")
        assert [row["turn"] for row in turned] == [None, 0, 1, 2]
        assert (turned[0]["verdict"], turned[0]["reason"]) == (turns.verdict, turns.reason)
        assert [row["rows_below_k"] for row in turned[1:]] == [each.rows_below_k for each in turns.turns]
        assert [row["cells"] for row in turned[1:]] == [each.cells for each in turns.turns]
        assert "qidsql.turns" not in turned[0]["script"][0] and "people_recoded" in turned[0]["script"][0]
        found = qidsql.risk(engine, "people", sampling_fraction="0.5", **roles)
        assert found.prosecutor is not None
        assert risk[0]["highest"] == float(found.prosecutor.highest)
        assert [row["finding"] for row in risk[:2]] == ["table", "population"]
        assert isinstance(risk[0]["rows"], int)
        assert found.population is not None
        assert [row["estimate"] for row in risk[2:]] == [each.uniques for each in found.population.estimates]
        joined = qidsql.link(engine, "people", "voters", on=["age=age", "town=town"])
        assert joined.link is not None
        assert (link[0]["verdict"], link[0]["rows"]) == (joined.verdict, joined.link.left.rows)
        mapped = qidsql.risk(engine, "people", population="voters", on=["age=age", "town=town"])
        assert mapped.figures is not None
        compared = qidsql.impact(engine, "people", protected="copied")
        assert [(row["column_name"], row["suppressed"]) for row in impact] == [
            (None, compared.suppressed),
            *((each.name, each.suppressed) for each in compared.variables),
        ]
        assert compared.suppressed == 4
        assert impact[0]["reason"].startswith(f"{in_sql(compared.reason)}; not counted: ")
        assert not any("qidsql audit" in row["line"] for row in lines)
        assert {row["finding"] for row in suppressed} >= {"table", "withstands"}
        assert all(row["reason"] for row in suppressed if row["finding"] in ("withstands", "open"))
        cut = qidsql.graph(engine, identifiers="voters.voter", sensitive="people.income", accept_names=True)
        assert cut.cut
        assert (graph[0]["finding"], sorted(graph[0]["columns"])) == ("separating set", sorted(cut.cut))
        assert graph[0]["verdict"] == cut.verdict
        assert sum(row["finding"] == "path" for row in graph) == len(cut.paths) > 0
        assert [(row["k_map"], row["verdict"]) for row in held] == [(mapped.figures.k_map, mapped.verdict)]
