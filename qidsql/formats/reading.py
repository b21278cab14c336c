"""Reads results from files written with `--format json`, by any command."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias, cast

from qidsql.commands.audit.command import AuditResult
from qidsql.commands.judgement import class_of, judged_again
from qidsql.core.files import read_json
from qidsql.core.results import Result
from qidsql.declarations.results import MISMATCH, loaded
from qidsql.errors import QidsqlError, UsageError
from qidsql.operations.alerts.delivery import AlertsOverview
from qidsql.operations.changes import Diff, run_judged_again
from qidsql.operations.document import RunResult, as_document
from qidsql.operations.history.records import RecordedRuns

EXPECTED = "expected a file written by a command of qidsql with --format json"
LISTINGS: Mapping[str, Any] = {"history": RecordedRuns, "diff": Diff, "alerts": AlertsOverview}
KINDS: Mapping[str, Any] = {"run": RunResult, **LISTINGS}  # not the result of a command in `qidsql.commands`
Found: TypeAlias = RunResult | Result | RecordedRuns | Diff | AlertsOverview


def read_document(path: Path) -> RunResult:
    """The run document in a file; for a single audit, that of a run over its table. Raises UsageError."""
    result = result_in(path)
    if isinstance(result, RunResult):
        return result
    if isinstance(result, AuditResult):
        return as_document(result)
    command = result.command if isinstance(result, Result) else result.kind
    raise UsageError(f"{path} has a result of {command}; expected one of qidsql run or qidsql audit")


def result_in(path: Path) -> Found:
    """The result in a file, with the verdict that follows from its figures. Raises UsageError."""
    document = read_json(path, EXPECTED)
    known = isinstance(document, dict) and ("qidsql" in document or str(document.get("kind")) in LISTINGS)
    if not known:
        raise UsageError(f"{path} is not a report of qidsql; {EXPECTED}")
    command = document.get("kind") if str(document.get("kind")) in KINDS else document.get("command")
    if command is None:
        raise UsageError(f"{path} was written by an older qidsql; write it again with this one")
    kind = KINDS.get(str(command)) or class_of(document)
    if kind is None:
        raise UsageError(f"{path} does not name a command whose result can be reported; {EXPECTED}")
    read = next(each.default for each in kind.__dataclass_fields__.values() if each.name == "format")
    if document.get("format") != read:
        raise UsageError(f"{path} has format {document.get('format')}; this version reads format {read}; {EXPECTED}")
    try:
        found = _judged(cast(Found, loaded(kind, document)))
    except (*MISMATCH, QidsqlError):
        raise UsageError(f"{path} is not the result of qidsql {command} that it says it is; {EXPECTED}") from None
    if found is None:
        raise UsageError(f"{path} states a verdict that its own figures contradict; run qidsql {command} again")
    return found


def _judged(found: Found) -> Found | None:
    if isinstance(found, RunResult):
        return run_judged_again(found)
    return judged_again(found) if isinstance(found, Result) else found
