"""Run documents out of files: what `--format json` wrote, of a run or of one audit."""

import json
from pathlib import Path

from qidsql.commands.audit.result import AuditResult
from qidsql.declarations.results import loaded
from qidsql.errors import QidsqlError, UsageError
from qidsql.operations.document import FORMAT, RunResult, as_document

WANTED = "expected what qidsql run or qidsql audit wrote with --format json"


def read(path: Path) -> RunResult:
    """The run document in a file; of one audit, the document of a run over its table. Raises UsageError."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}); {WANTED}") from None
    except ValueError:
        raise UsageError(f"{path} is not JSON; {WANTED}") from None
    if not isinstance(document, dict) or "qidsql" not in document:
        raise UsageError(f"{path} is no report of qidsql; {WANTED}")
    if document.get("format") != FORMAT:
        raise UsageError(f"{path} has format {document.get('format')}, and this qidsql reads format {FORMAT}; {WANTED}")
    try:
        if document.get("kind") == "run":
            result: RunResult = loaded(RunResult, document)
            return result
        return as_document(loaded(AuditResult, document))
    except (IndexError, KeyError, TypeError, ValueError, AttributeError, QidsqlError):
        raise UsageError(f"{path} is no report of a run or an audit; {WANTED}") from None
