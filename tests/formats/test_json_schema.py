"""What is written as JSON is what the published schema says, key by key."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from qidsql.cli.report import schema
from qidsql.declarations.results import loaded, plain
from qidsql.formats.min_count import without_small_counts
from qidsql.formats.reading import read_document
from qidsql.formats.registry import rendered
from qidsql.operations.document import RunResult, pack, unpack
from tests.commandline import inside
from tests.exhaustive import always, first
from tests.formats.documents import with_tables


def closed(schema: Any) -> Any:
    """The schema without room for keys that it does not name: a new key has to be said in it."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {key: closed(value) for key, value in schema.items()}
    return inner if "properties" not in schema else {**inner, "additionalProperties": False}


RUN, AUDIT = (Draft202012Validator(closed(schema(name))) for name in ("run", "audit"))


def faults(validator: Draft202012Validator, document: Any) -> list[str]:
    return [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(document)]


@pytest.mark.exhaustive
def test_the_schemas_are_schemas() -> None:
    for name in ("run", "audit"):
        Draft202012Validator.check_schema(schema(name))


@pytest.mark.exhaustive
@pytest.mark.parametrize("least", always(None, 11, longer=[2, 1000]))
def test_a_run_document_is_as_published(document: RunResult, least: int | None) -> None:
    told = document if least is None else without_small_counts(document, least)
    assert faults(RUN, json.loads(rendered(told, "json"))) == []


@pytest.mark.parametrize("least", first([None, 11]))
def test_a_run_is_written_and_read_again_as_it_was(document: RunResult, least: int | None, tmp_path: Path) -> None:
    told = document if least is None else without_small_counts(document, least)
    (tmp_path / "run.json").write_text(rendered(told, "json"))
    assert read_document(tmp_path / "run.json") == told
    assert loaded(RunResult, json.loads(json.dumps(plain(told)))) == told
    assert [unpack(pack(table)) for table in told.tables] == list(told.tables)


def test_no_column_set_is_written_twice(documents: Mapping[str, RunResult]) -> None:
    [table] = json.loads(rendered(documents["violation"], "json"))["tables"]
    sets = table["audit"]["column_sets"]
    placed = [finding for finding in table["findings"] if "column_set" in finding]
    assert [finding["columns"] for finding in placed] == [sets[each["column_set"]]["columns"] for each in placed]
    assert {tuple(each["columns"]) for each in placed} == {tuple(each["columns"]) for each in sets} != set()
    assert not any("measures" in finding for finding in placed)


def test_what_a_finding_was_is_written_where_it_differs_from_now(documents: Mapping[str, RunResult]) -> None:
    [table] = documents["violation"].tables
    found = [each for each in table.findings if each.kind in ("below-k", "rows-below-k", "distinct")]
    same = replace(found[0], was=found[0].measures)
    other = replace(found[1], was=replace(found[1].measures, smallest=99, rows_below_k=7))
    kept = [each for each in table.findings if each not in found[:2]]
    document = with_tables(documents["violation"], replace(table, findings=(same, other, *kept)))
    written = {each["id"]: each for each in json.loads(rendered(document, "json"))["tables"][0]["findings"]}
    assert written[same.id]["was"] == {}
    assert written[other.id]["was"] == {"smallest": 99, "rows_below_k": 7}
    assert document.tables[0].findings == (same, other, *kept)


def test_an_audit_is_as_published(documents: Mapping[str, RunResult]) -> None:
    for document in documents.values():
        for table in document.tables:
            if table.audit:
                assert faults(AUDIT, json.loads(json.dumps(plain(table.audit)))) == []


def test_the_schema_refuses_what_is_not_a_report(documents: Mapping[str, RunResult]) -> None:
    for spoil in (
        {"verdict": "ok"},
        {"format": 1},
        {"tables": [{}]},
        {"statements": -1},
        {"statements": 1.5},
        {"another": "key"},
    ):
        assert faults(RUN, {**json.loads(rendered(documents["violation"], "json")), **spoil})


@pytest.mark.parametrize("name", ["audit", "run", "policy"])
def test_the_command_prints_the_schema(name: str) -> None:
    assert json.loads(inside("report", "--schema", name).out) == json.loads(json.dumps(schema(name)))
