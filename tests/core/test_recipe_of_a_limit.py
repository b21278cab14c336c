"""The architecture page's steps for a new limit on disclosure, done in a copy of the code: all doors have it then."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from tests.commandline import HOUSE, environment

CLASS = '''

@dataclass(frozen=True, slots=True)
class Dominated(Frequent):
    """The commonest value of some class has more than a share of its rows."""

    finding = "dominance"
'''
FIELD = """    dominance: Annotated[
        Ratio,
        Limit(
            "column sets with a class that one value dominates",
            "SHARE",
            kind=Dominated,
            template="dominated",
            requires="no value that dominates it",
        ),
    ] = None
"""
IN_SQL = """
import sys
from qidsql.duckdb_extension.functions import FUNCTIONS
from qidsql.engines.connect import connect
with connect(sys.argv[1]) as engine:
    assert "dominance" in FUNCTIONS[0].parameters
    rows = FUNCTIONS[0].run(engine, ["people"], {"dominance": "0.9", "sensitive": ["disease"]})
print(rows[0])
"""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The code with one limit more, and a table that exceeds it: k is met, but all women of ward a have the same."""
    folder = tmp_path_factory.mktemp("house")
    for name in ("qidsql", "sql_templates"):
        shutil.copytree(HOUSE / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    limits = folder / "qidsql" / "measures" / "disclosure_limits.py"
    limits.write_text(limits.read_text(encoding="utf-8") + CLASS, encoding="utf-8")
    registry = folder / "qidsql" / "core" / "requirements.py"
    text = registry.read_text(encoding="utf-8").replace("    Distant,\n", "    Distant,\n    Dominated,\n", 1)
    registry.write_text(text.replace("    sensitive: Sensitive = ()\n", f"{FIELD}    sensitive: Sensitive = ()\n", 1))
    templates = folder / "sql_templates" / "disclosure"
    shutil.copy(templates / "frequent.sql", templates / "dominated.sql")
    with duckdb.connect(folder / "clinic.duckdb") as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT CASE WHEN i < 60 THEN 'f' ELSE 'm' END AS sex, CASE WHEN i % 2 = 0 THEN 'a' "
            "ELSE 'b' END AS ward, CASE WHEN i < 60 AND i % 2 = 0 THEN 'flu' ELSE 'd' || i % 6 END AS disease "
            "FROM range(120) AS r(i)"
        )
    (folder / "qidsql.toml").write_text(
        'format = 1\n[sources.main]\nurl = "clinic.duckdb"\n[[tables]]\ntable = "people"\ndominance = "0.9"\n'
        'roles = { disease = "sensitive" }\n'
    )
    return folder


def called(house: Path, *arguments: str, code: int = 1) -> str:
    """What it prints; 1 is the code of a violation."""
    given = environment({"PYTHONPATH": str(house)})
    done = subprocess.run([sys.executable, *arguments], cwd=house, env=given, capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    return done.stdout


@pytest.mark.exhaustive
def test_a_limit_added_by_the_recipe_is_in_every_report(house: Path) -> None:
    audit = ("-m", "qidsql", "audit", "clinic.duckdb", "people", "--require", "dominance=90%", "--sensitive", "disease")
    said = called(house, *audit)
    assert "share a value of disease" in said
    assert "share a value of disease" in called(house, *audit, "--format", "html")
    [run] = json.loads(called(house, *audit, "--format", "sarif"))["runs"]
    [rule] = [rule for rule in run["tool"]["driver"]["rules"] if rule["id"] == "dominance"]
    assert "each class must have no value that dominates it" in json.dumps(rule)
    assert "dominance" in [result["ruleId"] for result in run["results"]]


@pytest.mark.exhaustive
def test_a_limit_added_by_the_recipe_is_kept_in_the_history(house: Path) -> None:
    first = json.loads(called(house, "-m", "qidsql", "run", "--format", "json"))
    again = json.loads(called(house, "-m", "qidsql", "run", "--format", "json"))
    for document, state in ((first, "new"), (again, "unchanged")):
        [table] = document["tables"]
        assert [each["state"] for each in table["findings"] if each["kind"] == "dominance"] == [state]
    assert "share a value of disease" in called(house, "-m", "qidsql", "report", "--format", "html", code=0)


@pytest.mark.exhaustive
def test_a_limit_added_by_the_recipe_is_a_parameter_in_sql(house: Path) -> None:
    assert "share a value of disease" in called(house, "-c", IN_SQL, "clinic.duckdb", code=0)
