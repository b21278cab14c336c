"""A release as SARIF 2.1.0: one rule and one result for each line that is not met, not examined, or for a person."""

import hashlib
import json
from collections.abc import Callable
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from qidsql.commands.release.command import Line, LineState, ReleaseRequest, ReleaseResult
from qidsql.version import __version__

VERSION = "2.1.0"
SARIF_LEVELS = {LineState.NOT_MET: "error", LineState.NOT_EXAMINED: "warning", LineState.PERSON: "note"}


def sarif(result: ReleaseResult) -> str:
    """The lines as results at the entry of the policy; those that an exception accepts are suppressed."""
    open_ = [each for each in result.predicate.lines if each.state in SARIF_LEVELS]
    origin = result.account.policy.origin
    place = {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(PurePath(origin.file if origin else "qidsql.toml").as_posix(), safe="/")},
            "region": {"startLine": (origin.line if origin else None) or 1},
        },
        "logicalLocations": [{"fullyQualifiedName": result.title}],
    }
    driver = {"name": "qidsql", "version": __version__, "rules": [_rule(each) for each in open_]}
    results = [_result(result, number, each, place) for number, each in enumerate(open_)]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return json.dumps({"version": VERSION, "runs": [run]}, indent=2, ensure_ascii=False) + "\n"


def _rule(line: Line) -> dict[str, Any]:
    return {
        "id": _id(line),
        "shortDescription": {"text": line.asks},
        "fullDescription": {"text": f"{line.asks} ({line.text})"},
        "defaultConfiguration": {"level": SARIF_LEVELS[line.state]},
    }


def _result(result: ReleaseResult, number: int, line: Line, place: dict[str, Any]) -> dict[str, Any]:
    same = json.dumps([result.predicate.of, _id(line)])
    found: dict[str, Any] = {
        "ruleId": _id(line),
        "ruleIndex": number,
        "level": SARIF_LEVELS[line.state],
        "message": {"text": f"{result.title}: {line.state}: {line.measured or line.asks}"},
        "locations": [place],
        "partialFingerprints": {"line/v1": hashlib.sha256(same.encode()).hexdigest()},
    }
    return found | ({"suppressions": [{"kind": "external", "justification": line.exception}]} if line.exception else {})


def _id(line: Line) -> str:
    return line.name.replace(" ", "-")


FORMATS: dict[str, Callable[[ReleaseResult], str]] = {"sarif": sarif}


def renderer(request: ReleaseRequest, format: str) -> Callable[[ReleaseResult], str]:
    """The function that writes the result."""
    return FORMATS[format]
