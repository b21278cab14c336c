"""Column sets for programs, a line each as they are found; the last line says what the search came to."""

import json

from qidsql.commands.keys.result import FoundSet, KeysResult


def line(found: FoundSet) -> str:
    """One column set with its measures, as a line of JSON."""
    return json.dumps(found.to_dict(), ensure_ascii=False) + "\n"


def last(result: KeysResult) -> str:
    """The whole result but for the sets, as a line of JSON. It alone has a `verdict`: without it a file is cut off."""
    return json.dumps({k: v for k, v in result.to_dict().items() if k != "column_sets"}, ensure_ascii=False) + "\n"
