"""JSON files that an earlier command wrote."""

import json
from pathlib import Path
from typing import Any

from qidsql.errors import UsageError


def read_json(path: Path, expected: str) -> Any:
    """The document in a file. `expected` ends the message of the error: what the file should be. Raises UsageError."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}); {expected}") from None
    except (ValueError, RecursionError):  # too many brackets within each other
        raise UsageError(f"{path} is not JSON; {expected}") from None
