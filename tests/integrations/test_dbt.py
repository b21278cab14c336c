"""The generic tests of the dbt package, run by dbt on both engines: they fail where qidsql finds a violation."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest

import qidsql
from tests.environments import REPOSITORY, environment_with
from tests.stores import TWO_ENGINES, PostgresStore, Store
from tests.ways import measured_set

pytestmark = pytest.mark.exhaustive

DBT = ("dbt-core==1.12.0", "dbt-duckdb==1.11.1", "dbt-postgres==1.11.0")
PROJECT = 'name: shop\nversion: "1.0"\nprofile: shop\nmodel-paths: [models]\n'
PACKAGES = f"packages:\n  - local: {REPOSITORY / 'qidsql' / 'dbt'}\n"
COLUMNS = ("a", "b")
TABLES = 12
RUN = """
import json, sys
from dbt.cli.main import dbtRunner
for command in (["deps"], ["test", "--target", sys.argv[1]]):
    done = dbtRunner().invoke([*command, "--profiles-dir", ".", "--quiet"])
    if done.exception:
        raise done.exception
print(json.dumps({each.node.name: str(each.status) for each in done.result}))
"""


def rows(seed: int) -> list[tuple[Any, ...]]:
    """A table by chance: NULLs in each column, letters in two cases, few persons. The first one is empty."""
    draw = Random(seed)
    if seed == 0:
        return []
    return [
        (draw.choice(["x", "X", "y", None][: 2 + seed % 3]), draw.choice([1, 2, None][: 1 + seed % 2]), *more)
        for _ in range(draw.choice([6, 30, 60]))
        for more in [(draw.choice([*"pqrst", None][: 2 + seed % 5]), draw.choice([*range(8), None]))]
    ]


def asked() -> dict[str, tuple[int, str, Mapping[str, Any]]]:
    """Each test by its name: the table, the generic test and its options."""
    tests: dict[str, tuple[int, str, Mapping[str, Any]]] = {}
    for table in range(TABLES):
        tests[f"k_{table}"] = (table, "k_anonymous", {"k": 3})
        tests[f"l_{table}"] = (table, "l_diverse", {"sensitive": "s", "l": 2})
        tests[f"p_{table}"] = (table, "entity_k", {"entity": "who", "k": 3})
    return tests


def passes(source: str, table: str, options: Mapping[str, Any]) -> bool:
    """What qidsql says of the groups of rows that are alike."""
    asked = {"columns": COLUMNS, "k": options.get("k", 2), "no_policy": True}
    if "sensitive" in options:
        limits = {"sensitive": ["s"], "l_diversity": options["l"], "roles": "none"}
        found = qidsql.audit(source, table, **asked, **limits)
        return bool(found.account.rows) and not any("reveals" in each.criterion for each in found.column_sets)
    profile = measured_set(source, table, **asked, entity=options.get("entity")).profile
    return bool(profile and profile.rows > 0 and profile.smallest >= options["k"])


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return environment_with(tmp_path_factory.mktemp("dbt") / "environment", *DBT)


def project(folder: Path, output: Mapping[str, Any], schema: str) -> None:
    """A dbt project whose only content are tests on tables of a source."""
    (folder / "models").mkdir(parents=True)
    (folder / "dbt_project.yml").write_text(PROJECT)
    (folder / "packages.yml").write_text(PACKAGES)
    outputs = {"shop": {"target": "it", "outputs": {"it": dict(output)}}}
    (folder / "profiles.yml").write_text(json.dumps(outputs))
    listed = [{"name": f"t{table}", "data_tests": []} for table in range(TABLES)]
    for name, (table, test, options) in asked().items():
        arguments = {"columns": list(COLUMNS), **options}
        listed[table]["data_tests"].append({f"qidsql.{test}": {"name": name, "arguments": arguments}})  # type: ignore[attr-defined]
    sources = {"sources": [{"name": "raw", "schema": schema, "tables": listed}]}
    (folder / "models" / "sources.yml").write_text(json.dumps(sources))


def told(python: Path, folder: Path) -> dict[str, str]:
    done = subprocess.run(
        [python, "-c", RUN, "it"], cwd=folder, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    states = json.loads(done.stdout.strip().splitlines()[-1])
    return dict(states)


def output_of(store: Store) -> dict[str, Any]:
    """The target of a profile of dbt."""
    if isinstance(store, PostgresStore):
        info = store.admin.info
        server = {"type": "postgres", "host": info.host, "port": info.port, "user": info.user, "dbname": info.dbname}
        return {**server, "password": info.password or "none", "schema": store.schema, "threads": 1}
    return {"type": "duckdb", "path": store.url, "schema": "main", "threads": 1}


@TWO_ENGINES
def test_tests_of_dbt_say_what_qidsql_says(python: Path, tmp_path: Path, store: Store) -> None:
    for table in range(TABLES):
        store.execute(f"CREATE TABLE t{table} (a VARCHAR, b INTEGER, s VARCHAR, who INTEGER)")
        for row in rows(table):
            store.execute(f"INSERT INTO t{table} VALUES ({', '.join('NULL' if x is None else repr(x) for x in row)})")
    output = output_of(store)
    project(tmp_path / "shop", output, output["schema"])
    states = told(python, tmp_path / "shop")
    mine = {name: passes(store.url, f"t{table}", options) for name, (table, _, options) in asked().items()}
    assert {name: state == "pass" for name, state in states.items()} == mine
    assert {*states.values()} == {"pass", "fail"}


def test_a_test_without_columns_is_an_error(python: Path, tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    project(folder, {"type": "duckdb", "path": str(tmp_path / "shop.duckdb"), "threads": 1}, "main")
    text = (folder / "models" / "sources.yml").read_text()
    (folder / "models" / "sources.yml").write_text(text.replace('["a", "b"]', '"a"'))
    done = subprocess.run([python, "-c", RUN, "it"], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "columns must be a list of the columns that others may know" in done.stderr
