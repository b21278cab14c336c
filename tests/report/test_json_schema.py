"""What is written as JSON is what the published schema says, key by key."""

import copy
import json
from collections.abc import Mapping
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from qidsql.policy_schema import POLICY_SCHEMA
from qidsql.report import json_schema
from qidsql.report.documents.min_count import without_small_counts
from qidsql.report.documents.rendering import render
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


def test_an_audit_is_as_published(documents: Mapping[str, Document]) -> None:
    for document in documents.values():
        for table in document["tables"]:
            if table["audit"]:
                assert faults(AUDIT, json.loads(json.dumps(table["audit"]))) == []


def test_the_schema_refuses_what_is_not_a_report(documents: Mapping[str, Document]) -> None:
    for spoil in (
        {"verdict": "ok"},
        {"format": 2},
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
