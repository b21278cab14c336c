"""The published JSON Schemas: of the commands' JSON reports, and of the policy file."""

from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Any

from qidsql import commands
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


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema of a command's JSON report, or of the policy file. Raises UnknownName."""
    from qidsql.declarations.results import schema_of
    from qidsql.operations.policy_schema import POLICY_SCHEMA

    if name not in schema_names():
        raise UnknownName("schema", [name], "qidsql", schema_names())
    return POLICY_SCHEMA if name == POLICY else schema_of(classes_of(name), name)


def classes_of(name: str) -> tuple[type, ...]:
    """The classes of a command's results."""
    if name in DOCUMENTS:
        module, kind = DOCUMENTS[name]
        return (getattr(import_module(module), kind),)
    from qidsql.commands import judgement

    return judgement.result_classes(name)
