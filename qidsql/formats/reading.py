"""Reads results from files written with `--format json`, by any command."""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast, get_type_hints

from qidsql.commands.audit.result import AuditResult
from qidsql.core.json_file import read_json
from qidsql.core.results import Result
from qidsql.declarations.results import loaded
from qidsql.errors import QidsqlError, UsageError
from qidsql.operations.document import RunResult, as_document

EXPECTED = "expected a file written by a command of qidsql with --format json"
MISMATCH = (IndexError, KeyError, TypeError, ValueError, AttributeError, QidsqlError)


def read_document(path: Path) -> RunResult:
    """The run document in a file; for a single audit, that of a run over its table. Raises UsageError."""
    result = result_in(path)
    if isinstance(result, RunResult):
        return result
    if isinstance(result, AuditResult):
        return as_document(result)
    raise UsageError(f"{path} has a result of {result.command}; expected one of qidsql run or qidsql audit")


def result_in(path: Path) -> RunResult | Result:
    """The result in a file. Raises UsageError."""
    document = read_json(path, EXPECTED)
    if not isinstance(document, dict) or "qidsql" not in document:
        raise UsageError(f"{path} is not a report of qidsql; {EXPECTED}")
    is_run = document.get("kind") == "run"
    if not is_run and "command" not in document:
        raise UsageError(f"{path} was written by an older qidsql; write it again with this one")
    kind = RunResult if is_run else class_of_command(str(document.get("command")))
    if kind is None:
        raise UsageError(f"{path} does not name a command whose result can be reported; {EXPECTED}")
    read = next(each.default for each in kind.__dataclass_fields__.values() if each.name == "format")
    if document.get("format") != read:
        raise UsageError(f"{path} has format {document.get('format')}; this version reads format {read}; {EXPECTED}")
    try:
        return cast(RunResult | Result, loaded(kind, document))
    except MISMATCH:
        command = "run" if is_run else document["command"]
        raise UsageError(f"{path} is not the result of qidsql {command} that it says it is; {EXPECTED}") from None


def class_of_command(command: str) -> Any:
    """The class of a command's result: the return type of its work. None if there is no such command."""
    name = f"qidsql.commands.{command}"
    if not command.isidentifier() or find_spec(name) is None or find_spec(f"{name}.result") is None:
        return None
    return get_type_hints(getattr(import_module(f"{name}.{command}"), command))["return"]
