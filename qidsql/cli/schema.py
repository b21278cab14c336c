"""qidsql schema"""

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Annotated, Any, cast

from qidsql import commands
from qidsql.cli.options import Output
from qidsql.cli.streams import check_output, write_output
from qidsql.declarations.commands import Command
from qidsql.declarations.options import Option
from qidsql.errors import UnknownName

POLICY = "policy"
DOCUMENTS = {
    "run": ("qidsql.operations.document", "RunResult"),
    "history": ("qidsql.operations.history.records", "RecordedRuns"),
    "alerts": ("qidsql.operations.alerts.delivery", "AlertsOverview"),
    "diff": ("qidsql.operations.changes", "Diff"),
}  # results of commands without a folder of their own


def schema_names() -> list[str]:
    """The names with a published schema: commands with JSON reports, and the policy file."""
    folders = [each.name for each in iter_modules(commands.__path__) if each.ispkg]
    own = [name for name in folders if find_spec(f"qidsql.commands.{name}.report")]
    return sorted([*own, *DOCUMENTS, POLICY])


@dataclass(frozen=True, kw_only=True)
class SchemaRequest:
    """Print the JSON Schema of a command's JSON report, or of the policy file qidsql.toml."""

    of: Annotated[
        str,
        Option(
            f"the command, or policy: {', '.join(schema_names())}", "NAME", argument=True, values=(*schema_names(),)
        ),
    ]
    output: Output = None

    def __post_init__(self) -> None:
        if self.of not in schema_names():
            raise UnknownName("schema", [self.of], "qidsql", schema_names())


COMMAND = Command(
    SchemaRequest,
    examples=("qidsql schema audit", "qidsql schema keys", "qidsql schema policy --output qidsql.schema.json"),
    exit_codes="0 written, 2 error",
)


def run(request: SchemaRequest) -> None:
    """Writes the schema. Raises UsageError."""
    import json

    check_output(request.output)
    write_output(json.dumps(schema(request.of), indent=2) + "\n", request.output)


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema of a command's JSON report, or of the policy file."""
    from qidsql.declarations.results import schema_of
    from qidsql.operations.policy_schema import POLICY_SCHEMA

    if name == POLICY:
        return POLICY_SCHEMA
    return schema_of(result_class(name), name)


def result_class(name: str) -> type:
    """The class of a command's result."""
    if name in DOCUMENTS:
        module, kind = DOCUMENTS[name]
        return cast(type, getattr(import_module(module), kind))
    from qidsql.formats import reading

    return cast(type, reading.class_of_command(name))
