"""qidsql schema"""

from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from typing import Annotated, Any, cast, get_type_hints

from qidsql.cli.options import Output
from qidsql.cli.streams import check_output, write
from qidsql.declarations.commands import Command
from qidsql.declarations.options import Option


class Schema(StrEnum):
    """What has a published schema: the JSON of these commands, and the policy file."""

    audit = "audit"
    run = "run"
    policy = "policy"
    profile = "profile"
    keys = "keys"
    mask = "mask"
    uniques = "uniques"
    suppress = "suppress"
    anonymize = "anonymize"
    impact = "impact"
    graph = "graph"
    link = "link"
    init = "init"
    history = "history"
    alerts = "alerts"
    diff = "diff"
    doctor = "doctor"


DOCUMENTS = {
    "run": ("qidsql.operations.document", "RunResult"),
    "history": ("qidsql.operations.history.records", "RecordedRuns"),
    "alerts": ("qidsql.operations.alerts.overview", "AlertsOverview"),
    "diff": ("qidsql.operations.diff", "Diff"),
}  # results of commands that are not in a folder of their own


@dataclass(frozen=True, kw_only=True)
class SchemaRequest:
    """Prints the JSON Schema of what a command writes with --format json, or of the policy file qidsql.toml."""

    of: Annotated[Schema, Option(f"whose schema: {', '.join(Schema)}", "NAME", argument=True)]
    output: Output = None


COMMAND = Command(
    SchemaRequest,
    examples=("qidsql schema audit", "qidsql schema keys", "qidsql schema policy --output qidsql.schema.json"),
    exit_codes="0 written, 2 error",
)


def run(request: SchemaRequest) -> None:
    """Writes the schema. Raises UsageError."""
    import json

    check_output(request.output)
    write(json.dumps(schema(str(request.of)), indent=2) + "\n", request.output)


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema of what that command writes, or of the policy file."""
    from qidsql.declarations.results import schema_of
    from qidsql.operations.policy_schema import POLICY_SCHEMA

    if name == "policy":
        return POLICY_SCHEMA
    return schema_of(result_class(name), name)


def result_class(name: str) -> type:
    """The class of what a command finds out: what its work returns."""
    if name in DOCUMENTS:
        module, kind = DOCUMENTS[name]
        return cast(type, getattr(import_module(module), kind))
    work = getattr(import_module(f"qidsql.commands.{name}.{name}"), name)
    return cast(type, get_type_hints(work)["return"])
