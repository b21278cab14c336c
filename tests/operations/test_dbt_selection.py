"""Selections in dbt's words: what they mean in a manifest, as dbt itself says, and what a run makes of them."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from qidsql.errors import UsageError
from qidsql.operations.dbt_selection import selected_tables
from tests.commandline import inside, refused
from tests.environments import environment_with
from tests.policies import RISKY, SAFE, entries, fill, policy_file
from tests.stores import DuckDBStore

MODELS: Mapping[str, tuple[str, str]] = {  # by file, tags and SQL
    "staging/people.sql": ("pii", "SELECT * FROM {{ source('raw', 'people') }}"),
    "staging/visits.sql": ("", "SELECT * FROM {{ source('raw', 'visits') }}"),
    "marts/one.sql": ("nightly", "SELECT 1 AS a FROM {{ ref('people') }}"),
    "marts/core/two.sql": ("pii", "SELECT 1 AS a FROM {{ ref('one') }}, {{ ref('visits') }}"),
    "marts_old/three.sql": ("", "SELECT 1 AS a FROM {{ ref('visits') }}"),
    "four.sql": ("", "SELECT 1 AS a FROM {{ ref('two') }}"),
}
SELECTIONS = {
    "tag:pii": ["main.people", "main.two"],
    "tag:p*": ["main.people", "main.two"],
    "path:models/marts": ["main.one", "main.two"],
    "path:models/marts+": ["main.four", "main.one", "main.two"],
    "tag:pii,path:models/marts+": ["main.two"],
    "path:models/marts/one.sql": ["main.one"],
    "one+1": ["main.one", "main.two"],
    "1+two": ["main.one", "main.two", "main.visits"],
    "+one": ["main.one", "main.people", "raw.people"],
    "source:raw": ["raw.people", "raw.visits"],
    "source:raw.visits+": ["main.four", "main.three", "main.two", "main.visits", "raw.visits"],
    "shop.marts": ["main.one", "main.two"],
    "marts": ["main.one", "main.two"],
    "marts.core": ["main.two"],
    "one three": ["main.one", "main.three"],
    "f*": ["main.four"],
    "shop.m*": ["main.one", "main.three", "main.two"],
}


def manifest() -> dict[str, Any]:
    """What of these models a manifest says that a selection asks."""
    nodes: dict[str, Any] = {}
    parents: dict[str, list[str]] = {}
    for file, (tag, sql) in MODELS.items():
        *folders, name = file.removesuffix(".sql").split("/")
        nodes[f"model.shop.{name}"] = {
            "resource_type": "model",
            "name": name,
            "alias": name,
            "schema": "main",
            "tags": [tag] if tag else [],
            "original_file_path": f"models/{file}",
            "fqn": ["shop", *folders, name],
            "package_name": "shop",
        }
        refs = [f"model.shop.{other}" for other in ("people", "visits", "one", "two") if f"ref('{other}')" in sql]
        parents[f"model.shop.{name}"] = refs + [
            f"source.shop.raw.{other}" for other in ("people", "visits") if f"source('raw', '{other}')" in sql
        ]
    sources = {
        f"source.shop.raw.{name}": {
            "resource_type": "source",
            "name": name,
            "identifier": name,
            "schema": "raw",
            "source_name": "raw",
            "original_file_path": "models/sources.yml",
            "package_name": "shop",
            "tags": [],
        }
        for name in ("people", "visits")
    }
    children: dict[str, list[str]] = {each: [] for each in (*nodes, *sources)}
    for node, above in parents.items():
        for each in above:
            children[each].append(node)
    return {"nodes": nodes, "sources": sources, "parent_map": parents, "child_map": children}


def meant(path: Path, selection: str) -> list[str]:
    return [str(each) for each in selected_tables(path, [selection])]


def test_selections_mean_what_dbt_means(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(manifest()))
    assert {selection: meant(path, selection) for selection in SELECTIONS} == SELECTIONS


@pytest.mark.parametrize("selection", ["state:modified", "@one", "tag:", "tag:nothing", "config.materialized:table"])
def test_what_is_not_understood_is_refused(selection: str, tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(manifest()))
    with pytest.raises(UsageError, match=r"no selection of dbt|is not known here|selects no table"):
        meant(path, selection)


def test_a_run_audits_the_selected_tables_and_refuses_one_that_no_entry_knows(
    tmp_path: Path, duckdb_store: DuckDBStore
) -> None:
    fill(duckdb_store, people=RISKY, two=SAFE, one=SAFE)
    policy_file(tmp_path, duckdb_store.url, entries("people", "two") + '[[tables]]\ntable = "one"\naudit = false\n')
    (tmp_path / "target").mkdir()
    (tmp_path / "target" / "manifest.json").write_text(json.dumps(manifest()))
    run = ("run", "-q", "--no-history", "--format", "json", "--select")
    done = inside(*run, "path:models/marts", cwd=tmp_path)
    assert (done.code, [each["table"] for each in json.loads(done.out)["tables"]]) == (0, ["main.two"])
    assert "--select means main.four, which the policy file does not list" in refused(*run, "two+", cwd=tmp_path)


RUN = """
import json, sys
from dbt.cli.main import dbtRunner
runner = dbtRunner()
told = {}
for selection in json.loads(sys.argv[1]):
    done = runner.invoke(
        ["ls", "--profiles-dir", ".", "--quiet", "--output", "json", "--output-keys", "unique_id"]
        + ["--select", selection]
    )
    assert not done.exception, done.exception
    told[selection] = sorted(json.loads(line)["unique_id"] for line in done.result)
print(json.dumps(told))
"""


@pytest.mark.exhaustive
def test_dbt_itself_selects_the_same(tmp_path: Path) -> None:
    python = environment_with(tmp_path / "environment", "dbt-core==1.12.0", "dbt-duckdb==1.11.1")
    shop = tmp_path / "shop"
    for file, (tag, sql) in MODELS.items():
        path = shop / "models" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{{{{ config(tags={[tag] if tag else []}) }}}}\n{sql}\n")
    (shop / "dbt_project.yml").write_text('name: shop\nversion: "1.0"\nprofile: shop\n')
    profile = {"target": "it", "outputs": {"it": {"type": "duckdb", "path": "shop.duckdb", "schema": "main"}}}
    (shop / "profiles.yml").write_text(json.dumps({"shop": profile}))
    tables = [{"name": "people"}, {"name": "visits"}]
    (shop / "models" / "sources.yml").write_text(json.dumps({"sources": [{"name": "raw", "tables": tables}]}))
    done = subprocess.run(
        [python, "-c", RUN, json.dumps([*SELECTIONS])], cwd=shop, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    told = {
        selection: sorted(f"{'raw' if each.startswith('source') else 'main'}.{each.rpartition('.')[2]}" for each in ids)
        for selection, ids in json.loads(done.stdout.strip().splitlines()[-1]).items()
    }
    assert told == SELECTIONS
    assert {selection: meant(shop / "target" / "manifest.json", selection) for selection in SELECTIONS} == SELECTIONS
