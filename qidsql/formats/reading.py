"""Run documents out of files: what `--format json` wrote, of a run or of one audit."""

import json
from pathlib import Path
from typing import Any

from qidsql.commands.audit.result import AuditResult
from qidsql.errors import QidsqlError, UsageError
from qidsql.operations.document import as_document
from qidsql.operations.references import FORMAT, resolved

WANTED = "expected what qidsql run or qidsql audit wrote with --format json"
KEYS = {"run", "started", "seconds", "config", "verdict", "reason", "baseline", "statements", "notes", "tables"}


def read(path: Path) -> dict[str, Any]:
    """The run document in a file; of one audit, the document of a run over its table. Raises UsageError."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}); {WANTED}") from None
    except ValueError:
        raise UsageError(f"{path} is not JSON; {WANTED}") from None
    if not isinstance(document, dict) or "qidsql" not in document:
        raise UsageError(f"{path} is no report of qidsql; {WANTED}")
    if document.get("format") not in range(1, FORMAT + 1):
        raise UsageError(
            f"{path} has format {document.get('format')}, and this qidsql reads formats up to {FORMAT}; {WANTED}"
        )
    try:
        if document.get("kind") == "run" and set(document) >= KEYS:
            return {
                "only": [],
                "coverage": None,
                **document,
                "format": FORMAT,
                "tables": [*map(resolved, document["tables"])],
            }
        return as_document(AuditResult.from_dict(document))
    except (IndexError, KeyError, TypeError, ValueError, AttributeError, QidsqlError):
        raise UsageError(f"{path} is no report of a run or an audit; {WANTED}") from None
