"""What a command may say that writes JSON, when something went wrong at a random moment of its work."""

import json
from typing import Any, Protocol

CODES = {"pass": 0, "finished": 0, "violation": 1, "error": 2, "inconclusive": 3}
WORK = ("statements", "rounds", "scans", "sets_profiled", "bytes_read")
PROOF = ("failing", "quasi_identifiers", "plan", "proof")  # other column sets, rows or prices can prove the same
TEXTS = ("source", "snapshot", "time_zone", "notes")  # of the server: a byte that changed on the way is not noticed
INCIDENTAL = (*WORK, *PROOF, *TEXTS, "started", "seconds", "policy")


class Ended(Protocol):
    """A command that has ended: its exit code, and what it wrote."""

    @property
    def code(self) -> int: ...

    @property
    def out(self) -> str: ...

    @property
    def err(self) -> str: ...


def wrong_end(ended: Ended, expected: dict[str, Any]) -> str | None:
    """What is wrong with the way a command has ended that writes JSON; `expected` is what it writes undisturbed."""
    if "Traceback" in ended.err:
        return ended.err[-500:]
    if ended.code not in CODES.values():
        return f"exit code {ended.code}: {ended.err[-200:]}"
    if not ended.out:  # an error, or a session that was lost before there was any
        said = ended.err.count("\n") == 1 and ended.code in (2, 3)
        return None if said else f"exit code {ended.code} without a report: {ended.err}"
    document = json.loads(ended.out)
    if CODES.get(document["verdict"]) != ended.code:
        return f"exit code {ended.code} with the verdict {document['verdict']}"
    if document["verdict"] not in (expected["verdict"], "inconclusive"):
        return f"the verdict {document['verdict']}, not {expected['verdict']}"
    if document["verdict"] == "inconclusive" or document["unfinished"]:
        return _wrong_figures(document, expected)
    every = dict.fromkeys((*expected, *document))  # what was not measured is missing
    wrong = [name for name in every if name not in INCIDENTAL and document.get(name) != expected.get(name)]
    return f"other figures: {', '.join(wrong)}" if wrong else None


def _wrong_figures(document: dict[str, Any], expected: dict[str, Any]) -> str | None:
    """What is not so in the document of a command that had to end early: what it does not know is null or missing."""
    columns = {column["name"]: column for column in expected.get("columns", ()) if isinstance(column, dict)}
    for column in document.get("columns", ()) if columns else ():
        for figure, value in column.items():
            if value is not None and value != columns[column["name"]][figure]:
                return f"{figure} of {column['name']}: {value}, not {columns[column['name']][figure]}"
    for figure in ("rows", "profile"):
        if document.get(figure) not in (None, expected.get(figure)):
            return f"{figure}: {document[figure]}, not {expected[figure]}"
    wrong = [each for each in document.get("column_sets", ()) if each not in expected["column_sets"]]
    return f"column sets that are none: {wrong}" if wrong else None
