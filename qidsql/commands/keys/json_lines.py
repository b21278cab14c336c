"""Column sets as JSON Lines, written as they are found; the last line has the result of the search."""

import json
from collections.abc import Callable
from dataclasses import replace

from qidsql.commands.keys.command import FoundSet, KeysRequest, KeysResult
from qidsql.declarations.results import plain


def streamed(request: KeysRequest, put_line: Callable[[str], None]) -> KeysRequest:
    """The request with each set written as it is found."""
    return replace(request, on_found=lambda found: put_line(line(found)))


def line(found: FoundSet) -> str:
    """One column set with its measures, as a line of JSON."""
    return json.dumps(plain(found), ensure_ascii=False) + "\n"


def last(result: KeysResult) -> str:
    """The whole result without the sets, as a line of JSON. Only it has a `verdict`: a file without it is truncated."""
    return json.dumps({k: v for k, v in result.to_dict().items() if k != "column_sets"}, ensure_ascii=False) + "\n"
