"""JSON files that an earlier command wrote."""

import json
import stat
from pathlib import Path
from typing import Any

from qidsql.errors import UsageError


def read_json(path: Path, expected: str) -> Any:
    """The document in a file. `expected` ends the message of the error: what the file should be. Raises UsageError."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # reading a pipe could wait forever
            raise UsageError(f"{path} is not a regular file; {expected}")
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}); {expected}") from None
    except (ValueError, RecursionError):  # too many brackets within each other
        raise UsageError(f"{path} is not JSON; {expected}") from None
