"""What is written as JSON is what the published schema says, key by key."""

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from qidsql.formats import json_schema
from qidsql.formats.min_count import without_small_counts
from qidsql.formats.reading import read
from qidsql.formats.render import render
from qidsql.operations.packed_tables import packed, unpacked
from qidsql.operations.policy_schema import POLICY_SCHEMA
from tests.commandline import qidsql
from tests.report.documents import Document


def closed(schema: Any) -> Any:
    """The schema without room for keys that it does not name: a new key has to be said in it."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {key: closed(value) for key, value in schema.items()}
    return inner if "properties" not in schema else {**inner, "additionalProperties": False}


def of_format_1(document: Mapping[str, Any]) -> dict[str, Any]:
    """A run document as the first format had it: the column sets in the searches and the findings as well."""
    old = copy.deepcopy({**document, "format": 1})
    for table in old["tables"]:
        if (audit := table["audit"]) is not None:
            audit["format"] = 1
            for search in audit["searches"]:
                search["column_sets"] = [
                    {key: told for key, told in each.items() if key != "criterion"}
                    for each in audit["column_sets"]
                    if each["criterion"] == search["criterion"]
                ]
    return old


RUN, AUDIT = (Draft202012Validator(closed(schema)) for schema in (json_schema.run(), json_schema.audit()))


def faults(validator: Draft202012Validator, document: Any) -> list[str]:
    return [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(document)]


def test_the_schemas_are_schemas() -> None:
    for schema in (json_schema.run(), json_schema.audit()):
        Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("least", [None, 2, 11, 1000])
def test_a_run_document_is_as_published(document: Document, least: int | None) -> None:
    told = document if least is None else without_small_counts(document, least)
    assert faults(RUN, json.loads(render(told, "json"))) == []


@pytest.mark.parametrize("least", [None, 11])
def test_a_run_is_written_and_read_again_as_it_was(document: Document, least: int | None, tmp_path: Path) -> None:
    told = json.loads(json.dumps(document if least is None else without_small_counts(document, least)))
    (tmp_path / "run.json").write_text(render(told, "json"))
    assert read(tmp_path / "run.json") == told
    (tmp_path / "old.json").write_text(json.dumps(of_format_1(told)))
    assert read(tmp_path / "old.json") == told
    assert [unpacked(packed(table)) for table in told["tables"]] == told["tables"]


def test_no_column_set_is_written_twice(documents: Mapping[str, Document]) -> None:
    [table] = json.loads(render(documents["violation"], "json"))["tables"]
    sets = table["audit"]["column_sets"]
    placed = [finding for finding in table["findings"] if "column_set" in finding]
    assert [finding["columns"] for finding in placed] == [sets[each["column_set"]]["columns"] for each in placed]
    assert {tuple(each["columns"]) for each in placed} == {tuple(each["columns"]) for each in sets} != set()
    assert not any("measures" in finding for finding in placed)


def test_what_a_finding_was_is_told_where_it_is_other_than_now(documents: Mapping[str, Document]) -> None:
    document = copy.deepcopy(documents["violation"])
    findings = document["tables"][0]["findings"]
    same, other, less = [each for each in findings if each["kind"] in ("below-k", "rows-at-risk", "distinct")][:3]
    same["was"], other["was"] = dict(same["measures"]), {**other["measures"], "k": 99, "rows_at_risk": 7}
    less["was"] = {"k": 2}
    written = {each["id"]: each for each in json.loads(render(document, "json"))["tables"][0]["findings"]}
    assert written[same["id"]]["was"] == {}
    assert written[other["id"]]["was"] == {"k": 99, "rows_at_risk": 7}
    assert (written[less["id"]]["was"], written[less["id"]]["measures"]) == ({"k": 2}, less["measures"])
    assert unpacked(packed(document["tables"][0]))["findings"] == findings


def test_an_audit_is_as_published(documents: Mapping[str, Document]) -> None:
    for document in documents.values():
        for table in document["tables"]:
            if table["audit"]:
                assert faults(AUDIT, json.loads(json.dumps(table["audit"]))) == []


def test_the_schema_refuses_what_is_not_a_report(documents: Mapping[str, Document]) -> None:
    for spoil in (
        {"verdict": "ok"},
        {"format": 1},
        {"tables": [{}]},
        {"statements": -1},
        {"statements": 1.5},
        {"another": "key"},
    ):
        assert faults(RUN, {**copy.deepcopy(documents["violation"]), **spoil})


SCHEMAS = {"audit": json_schema.audit(), "run": json_schema.run(), "policy": POLICY_SCHEMA}


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_command_prints_the_schema(name: str) -> None:
    assert json.loads(qidsql("schema", name).out) == json.loads(json.dumps(SCHEMAS[name]))
