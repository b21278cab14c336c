"""A baseline kept in a repository: a small file that runs without a history are compared with."""

import json
from pathlib import Path

import pytest

from tests.commandline import inside, refused
from tests.policies import RISKY, entries, fill, policy_file
from tests.stores import DuckDBStore

COMPARE = ("run", "-q", "--no-history", "--baseline", "qidsql.baseline", "--format", "json")


@pytest.fixture
def folder(tmp_path: Path, duckdb_store: DuckDBStore) -> Path:
    fill(duckdb_store, one=RISKY)
    policy_file(tmp_path, duckdb_store.url, entries("one"))
    outputs = ("--output", "qidsql.baseline", "--output", "run.json")
    assert inside("run", "-q", "--no-history", *outputs, cwd=tmp_path).code == 1
    return tmp_path


@pytest.mark.exhaustive
def test_known_findings_pass_and_new_ones_do_not(folder: Path, duckdb_store: DuckDBStore) -> None:
    again = inside(*COMPARE, "--fail-on", "new", cwd=folder)
    assert again.code == 0
    document = json.loads(again.out)
    [table] = document["tables"]
    assert (table["verdict"], {each["state"] for each in table["findings"]}) == ("violation", {"unchanged"})
    assert document["baseline"]["run"] == json.loads((folder / "run.json").read_text())["run"]
    assert "unchanged" not in table and document["spared"] == 0, "no verdict stands by a file"
    duckdb_store.execute("INSERT INTO one VALUES ('f', 'c')")
    worse = inside(*COMPARE, "--fail-on", "new", cwd=folder)
    assert worse.code == 1
    assert "new" in {each["state"] for each in json.loads(worse.out)["tables"][0]["findings"]}
    assert not list(folder.glob("qidsql-history*"))


@pytest.mark.exhaustive
def test_another_policy_is_not_compared(folder: Path, duckdb_store: DuckDBStore) -> None:
    policy_file(folder, duckdb_store.url, entries("one", more="k = 2"))
    done = inside(*COMPARE, "--fail-on", "new", cwd=folder)
    assert done.code == 1
    assert {each["state"] for each in json.loads(done.out)["tables"][0]["findings"]} == {"policy changed"}


@pytest.mark.exhaustive
def test_a_baseline_is_small_and_has_what_a_comparison_needs(folder: Path) -> None:
    small, whole = (folder / "qidsql.baseline").read_text(), (folder / "run.json").read_text()
    assert len(small) < len(whole)
    [table], [other] = json.loads(small)["tables"], json.loads(whole)["tables"]
    assert {each["id"] for each in table["findings"]} == {each["id"] for each in other["findings"]}
    assert (table["audit"]["column_sets"], table["audit"]["columns"], "fingerprint" in table) == ([], [], False)
    same = inside("run", "-q", "--no-history", "--baseline", "run.json", "--fail-on", "new", cwd=folder)
    assert same.code == 0, "the whole document serves as well"


def test_what_is_no_baseline_is_refused(folder: Path) -> None:
    (folder / "qidsql.baseline").write_text('{"kind": "run", "format": 3}')
    assert "is not as qidsql writes it" in refused(*COMPARE, cwd=folder)
    (folder / "qidsql.baseline").write_text("[]")
    assert "has no run of this version" in refused(*COMPARE, cwd=folder)
