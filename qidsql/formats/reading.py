"""Reads run documents from files written with `--format json`, of a run or a single audit."""

import json
from pathlib import Path

from qidsql.commands.audit.result import AuditResult
from qidsql.declarations.results import loaded
from qidsql.errors import QidsqlError, UsageError
from qidsql.operations.document import FORMAT, RunResult, as_document

EXPECTED = "expected a file written by qidsql run or qidsql audit with --format json"


def read_document(path: Path) -> RunResult:
    """The run document in a file; for a single audit, that of a run over its table. Raises UsageError."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}); {EXPECTED}") from None
    except ValueError:
        raise UsageError(f"{path} is not JSON; {EXPECTED}") from None
    if not isinstance(document, dict) or "qidsql" not in document:
        raise UsageError(f"{path} is not a report of qidsql; {EXPECTED}")
    if document.get("format") != FORMAT:
        raise UsageError(f"{path} has format {document.get('format')}; this version reads format {FORMAT}; {EXPECTED}")
    try:
        if document.get("kind") == "run":
            result: RunResult = loaded(RunResult, document)
            return result
        return as_document(loaded(AuditResult, document))
    except (IndexError, KeyError, TypeError, ValueError, AttributeError, QidsqlError):
        raise UsageError(f"{path} is not the report of a run or an audit; {EXPECTED}") from None
