"""Files that somebody changed: a report states no verdict that their figures contradict, and never fails inside."""

import json
import os
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import pytest

import qidsql as house
from qidsql.cli.report import ReportRequest, run
from qidsql.commands.verify.verify import read_result
from qidsql.declarations.results import plain
from qidsql.errors import QidsqlError, UsageError
from qidsql.operations.document import as_document
from tests.commandline import refused
from tests.exhaustive import always
from tests.formats.documents import filled
from tests.ways import measured_set

ODD: tuple[Any, ...] = (
    *(None, True, -1, 0, 1, 10**20, 10**400, 0.5, float("nan"), float("inf"), "", "x", "\ud800", "1e999999999", "1/0"),
    *("2020-13-01", "pass", "violation", [], {}, [None], {"a": 1}),
)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Results of several commands in plain form, and the document of a run."""
    columns = {"a": "i % 7", "b": "i % 3", "c": "i % 4"}
    source = filled(tmp_path_factory.mktemp("changed") / "people.duckdb", columns, 80)
    audit = house.audit(source, k=5)
    found = {
        "audit": audit,
        "audit that passes": house.audit(source, k=2, columns="b"),
        "keys": house.keys(source),
        "columns": house.protect(source, violates=5, by="columns"),
        "matching": house.protect(source, k=2, by="cells", against="released-rows"),
        "turns": house.protect(source, k=5, turns="drop=a", by="turns"),
        "risk": house.risk(source),
        "profile": measured_set(source, columns="a"),
    }
    return {name: plain(result) for name, result in {**found, "run": as_document(audit)}.items()}


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["audit", "run", "keys", "matching"])
def test_a_verdict_that_the_figures_contradict_is_refused(name: str, results: dict[str, Any], tmp_path: Path) -> None:
    document = results[name]
    other = "inconclusive" if document["verdict"] == "finished" else "pass"
    changed = {"verdict": other, "tables": [{**each, "verdict": other} for each in document.get("tables", ())]}
    for wrong in (changed, {**changed, "reason": "no row is below k"}):
        (tmp_path / "a.json").write_text(json.dumps({**document, **wrong}))
        assert "states a verdict that its own figures contradict" in refused("report", "a.json", cwd=tmp_path)


def test_a_reason_is_derived_again_or_called_recorded(results: dict[str, Any], tmp_path: Path) -> None:
    for name, stands in (
        ("keys", "a smallest"),
        ("audit that passes", "-anonymous on the one"),
        ("turns", "recorded: l"),
    ):
        (tmp_path / "a.json").write_text(json.dumps({**results[name], "reason": "lies"}))
        run(ReportRequest(of=(str(tmp_path / "a.json"),), output=tmp_path / "a.md"))
        text = (tmp_path / "a.md").read_text()
        assert stands in text
        assert ("lies" in text) == (name == "turns")


def test_a_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    assert "is not a regular file" in refused("report", "pipe.json", cwd=tmp_path)
    with pytest.raises(UsageError, match="is not a regular file"):
        read_result(str(tmp_path / "pipe.json"))


@pytest.mark.exhaustive
@pytest.mark.parametrize("number", always(60, longer=[1_500]))
def test_whatever_is_changed_is_an_error_of_one_line(number: int, results: dict[str, Any], tmp_path: Path) -> None:
    random, path = Random(number), tmp_path / "a.json"
    for _ in range(number):
        document = _changed(results[random.choice(list(results))], random)
        path.write_text(json.dumps(document))
        try:
            run(ReportRequest(of=(str(path),), output=tmp_path / random.choice(("a.html", "a.md"))))
        except QidsqlError as error:
            assert len(str(error).splitlines()) == 1


def _changed(document: Any, random: Random) -> Any:
    """A copy in which up to three places were replaced or removed."""
    found = deepcopy(document)
    for _ in range(random.choice((1, 1, 2, 3))):
        inside = found
        while True:
            key = random.choice(list(inside) if isinstance(inside, dict) else range(len(inside)))
            deeper = inside[key]
            if not isinstance(deeper, dict | list) or not deeper or random.random() < 0.1:
                break
            inside = deeper
        if random.random() < 0.15:
            del inside[key]
        else:
            inside[key] = deepcopy(random.choice(ODD))
    return found
