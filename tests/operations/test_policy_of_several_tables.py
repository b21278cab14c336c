"""The policy of commands on two tables, and of a graph: which roles count, and for which table."""

from pathlib import Path

import duckdb
import pytest

import qidsql
from qidsql.errors import UsageError
from tests.ways import against

POLICY = """\
[sources.clinic]
url = "clinic.duckdb"
[[tables]]
table = "main.patients"
k = 3
where = "age < 90"
[tables.roles]
number = "direct identifier"{check}
age = "quasi-identifier"
illness = "sensitive"
note = "other"
[[tables]]
table = "main.voters"
[tables.roles]
number = "direct identifier"
"""


@pytest.fixture
def clinic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Patients, all of whom are also voters, a copy of the patients without cells, and a policy."""
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE patients AS SELECT 100 + i AS number, 20 + i % 4 AS age, 'ill' || i % 2 AS illness, i AS note"
            " FROM range(40) AS r(i) UNION ALL SELECT 500, 95, 'ill1', 7"
        )
        connection.execute("CREATE TABLE voters AS SELECT number, age FROM patients WHERE age < 90")
        connection.execute("CREATE TABLE copy AS SELECT number, age, illness FROM patients")
    (tmp_path / "qidsql.toml").write_text(POLICY.format(check=""))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.exhaustive
@pytest.mark.parametrize("command", ["link", "risk"])
def test_identifiers_of_the_published_table_are_not_compared(clinic: Path, command: str) -> None:
    run = against(command)
    found, without = (
        run("clinic.duckdb", "patients", "voters"),
        run("clinic.duckdb", "patients", "voters", no_policy=True),
    )
    assert found.verdict == "pass"
    assert without.verdict == "inconclusive"  # number is left out by proposal
    assert found.account.policy.k == 3
    assert found.account.rows == 40
    assert any("number is not compared: declared a direct identifier" in note for note in found.account.notes)
    assert any("roles of number" in note and "illness" not in note for note in found.account.notes)
    named = run("clinic.duckdb", "patients", "voters", on="number=number")
    assert named.verdict == "violation"
    backwards = run("clinic.duckdb", "voters", "patients", where="age < 90")
    assert not any("age < 90" in note for note in backwards.account.notes)


@pytest.mark.parametrize("command", ["link", "risk"])
def test_a_role_that_nobody_confirmed_hides_nothing(clinic: Path, command: str) -> None:
    (clinic / "qidsql.toml").write_text(POLICY.format(check="  # CHECK a number?"))
    found = against(command)("clinic.duckdb", "patients", "voters")
    assert found.verdict == "violation"
    assert any("marked CHECK" in note and "number" in note for note in found.account.notes)


@pytest.mark.exhaustive
def test_people_are_known_by_quasi_identifiers(clinic: Path) -> None:
    found = qidsql.impact("clinic.duckdb", "patients", protected="copy", k=2)
    without = qidsql.impact("clinic.duckdb", "patients", protected="copy", k=2, no_policy=True)
    assert found.known is not None
    assert without.known is not None
    assert (found.known.alone, without.known.alone) == (1, 1)  # number is proposed as an identifier
    assert {each.name for each in found.variables} == {"number", "age", "illness"}
    assert any("still has direct identifiers: number" in note for note in found.account.notes)
    uncounted = qidsql.impact("clinic.duckdb", "patients", protected="copy")
    assert uncounted.known is None


def test_a_graph_of_the_roles_of_all_tables(clinic: Path) -> None:
    (clinic / "qidsql.toml").write_text(POLICY.format(check="") + 'gone = "sensitive"\n')
    found = qidsql.graph("clinic.duckdb", protect="patients")
    assert (found.identifiers, found.sensitive) == (("number",), ("illness",))
    assert any("main.voters.number" in note and "main.patients.number" not in note for note in found.account.notes)
    with pytest.raises(UsageError, match="name the attributes to separate"):
        qidsql.graph("clinic.duckdb", protect="patients", no_policy=True)
    assert qidsql.graph("clinic.duckdb", identifiers="voters.age", sensitive="note").sensitive == ("note",)


def test_the_command_after_a_graph_has_the_k_of_the_table(clinic: Path) -> None:
    options = {
        "identifiers": "voters.number",
        "exclude": ["patients.number", "copy"],
        "protect": "patients",
        "accept_names": True,
    }
    found = qidsql.graph("clinic.duckdb", then="audit", **options)  # type: ignore[arg-type]
    assert found.then is not None
    assert found.then.result.account.policy.k == 3


def test_a_graph_without_any_column_of_the_policy(clinic: Path) -> None:
    text = POLICY.format(check="").replace('illness = "sensitive"', 'left = "sensitive"')
    (clinic / "qidsql.toml").write_text(text)
    with pytest.raises(UsageError, match="none of the columns that the policy lists"):
        qidsql.graph("clinic.duckdb")
