"""What every command writes with --format json is what its published schema says, key by key, on both engines."""

import json
import re
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from lxml import html as lxml_html
from markdown_it import MarkdownIt

from qidsql.cli.app import COMMANDS as COMMANDS_OF_QIDSQL
from qidsql.cli.report import classes_of, schema, schema_names
from qidsql.commands.judgement import class_of
from qidsql.declarations.results import loaded, plain
from qidsql.formats.command_reports import CommandReport, report_as
from qidsql.formats.texts import without_options
from qidsql.operations.history.opening import open_history
from tests import rendering
from tests.commandline import inside
from tests.exhaustive import always, first
from tests.formats.test_json_schema import closed
from tests.policies import entries, policy_file
from tests.stores import ONE_ENGINE, PostgresStore, Store

pytestmark = ONE_ENGINE

PEOPLE = [(n, f"z{n % 7}", "fm"[n % 2], None if n % 11 == 0 else f"o{n % 5}", n % 3) for n in range(60)]
COPY = [(n, zip_code, sex, None if n % 13 == 0 else work, pay) for n, zip_code, sex, work, pay in PEOPLE]
COLUMNS = {"id": "INTEGER", "zip": "TEXT", "sex": "TEXT", "work": "TEXT", "pay": "INTEGER"}
SOME = ("-c", "zip", "-c", "sex", "-c", "work")
RUNS: Sequence[tuple[str, ...]] = (
    ("audit", "people", "--only", "zip", "--only", "sex"),
    ("audit", "people", "--only", "zip", "--entity", "id"),
    ("audit", "people", "--only", "zip", "--only", "sex", "--nulls", "wildcard"),
    ("risk", "people", "-c", "zip", "-c", "work", "--sampling-fraction", "0.1", "--weight", "id", "--where", "id > 0"),
    ("risk", "people", "-c", "zip", "--entity", "id", "--population-size", "60"),
    ("risk", "people", "-c", "id", "-c", "sex", "--sampling-fraction", "0.5", "--max-statements", "3"),
    ("keys", "people", "--all"),
    ("keys", "people", "--epsilon", "0.2"),
    ("keys", "people", *SOME, "--violates", "3", "--max-statements", "3"),
    ("protect", "--by", "columns", "people", *SOME, "--violates", "3", "--exact"),
    ("protect", "--by", "columns", "people", "--distinct", "0.9", "--epsilon", "0.5"),
    ("uniques", "people", *SOME, "--k", "4", "--max-size", "2"),
    ("uniques", "people", "--scores", "suda"),
    ("uniques", "people", *SOME, "--scores", "dis", "--sampling-fraction", "0.1"),
    ("protect", "--by", "turns", "people", *SOME, "--k", "3", "--turn", "zip=prefix:2", "--turn", "drop=sex"),
    ("protect", "people", *SOME, "--k", "3", "--by", "levels", "--suppress", "5%"),
    ("protect", "--by", "cells", "--against", "released-rows", "people", *SOME, "--k", "3", "--weights", "zip=2"),
    ("protect", "--by", "cells", "--against", "released-rows", "people", *SOME, "--k", "3", "--sql", "view"),
    ("protect", "--by", "cells", "people", *SOME, "--k", "3"),
    ("impact", "people", "--protected", "copied"),
    ("impact", "people", "--protected", "copied", "--outcome", "pay", "--covariate", "work", "--show-values"),
    ("graph", "--identifier", "people.id", "--sensitive", "copied.pay", "--protect", "people"),
    ("graph", "--identifier", "people.id", "--sensitive", "people.pay"),
    ("link", "people", "copied"),
    ("link", "people", "copied", "--on", "zip=zip", "--max-statements", "1"),
    ("risk", "people", "--population", "copied", "--on", "zip=zip"),
    ("risk", "people", "--population", "copied", "--max-statements", "1"),
    ("verify", "found.json"),
    ("release", "people", "--policy", "qidsql.toml", "--of", "people", "--checklist", "safe-harbor"),
    ("init", "--output", "proposed.toml"),
    ("doctor",),
    ("tables",),
    ("history",),
    ("history", "--table", "people"),
    ("history", "--history", "empty.duckdb"),
    ("diff",),
    ("alerts",),
    ("alerts", "bare.toml"),
)
HISTORY = {
    "history": ("history",),
    "diff": ("history", "diff"),
    "alerts": ("history", "alerts"),
}  # in a room of its own
COMMANDS_WITH_REPORT = frozenset(each[0] for each in RUNS) - {*HISTORY}
NARROW = "not shown on a narrow screen; --format json has all"
TAGS = (
    "html head meta link title style body a header main footer p div h1 h2 strong bdi wbr dl dt dd table thead tbody "
    "tr th td svg rect pre section ul li span small details summary"
)
BARS = set("█▏▎▍▌▋▊▉")
ALERTED = """
[alerts.deaf]
kind = "command"
command = ["false"]
attempts = 1
owners = ["ward"]
[[alerts.deaf.snooze]]
table = "copied"
until = 9999-01-01
"""


@cache
def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(closed(schema(name)))


def read(document: Any, name: str = "") -> Any:
    """The result that was written; `name` is that of a document that no command of a folder writes."""
    return loaded(class_of(document) or classes_of(name)[0], document)


def faults(name: str, document: Any) -> list[str]:
    return [f"{error.json_path}: {error.message[:200]}" for error in validator(name).iter_errors(document)]


@pytest.fixture(scope="module")
def clinic(module_store: Store, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, tuple[str, ...]]:
    """A folder with two recorded runs, the source, and the option that names its schema."""
    module_store.table("people", COLUMNS, PEOPLE)
    module_store.table("copied", COLUMNS, COPY)
    folder = tmp_path_factory.mktemp("clinic")
    policy_file(folder, module_store.url, entries("people"))
    assert inside("run", "-q", cwd=folder).code == 1
    (folder / "bare.toml").write_bytes((folder / "qidsql.toml").read_bytes())
    policy_file(
        folder,
        module_store.url,
        entries("people", "copied", more="owner = 'ward'\n[tables.roles]\nzip = 'other'\n"),
        ALERTED,
    )
    assert inside("run", "-q", cwd=folder).code == 1
    open_history(str(folder / "empty.duckdb")).prepare()
    inside("keys", module_store.url, "people", *SOME, "--all", "--violates", "3", "--output", "found.json", cwd=folder)
    schema = ("--schema", module_store.schema) if isinstance(module_store, PostgresStore) else ()
    return folder, module_store.url, schema


@cache
def written(folder: Path, url: str, schema: tuple[str, ...], arguments: tuple[str, ...]) -> dict[str, Any]:
    name, *more = arguments
    if name not in HISTORY:
        schemas = schema if name in ("graph", "init", "doctor", "tables") else ()
        more = [*more, url] if name == "verify" else [url, *more, *schemas]
    outcome = inside(*HISTORY.get(name, (name,)), *more, "--format", "json", cwd=folder)
    assert outcome.out, outcome.err
    document: dict[str, Any] = json.loads(outcome.out)
    return document


@pytest.mark.exhaustive
@pytest.mark.parametrize("arguments", RUNS, ids=" ".join)
def test_what_a_command_writes_is_as_published(
    clinic: tuple[Path, str, tuple[str, ...]], arguments: tuple[str, ...]
) -> None:
    name = arguments[0]
    if clinic[2] and arguments != next(each for each in RUNS if each[0] == name):
        pytest.skip("the same on both engines: on the second one form of each command is enough")
    document = written(*clinic, arguments)
    assert faults(name, document) == []
    result = read(document, name)
    again = json.loads(json.dumps(plain(result)))
    assert again.keys() == document.keys()
    assert read(again, name) == result  # what is computed of rounded figures may differ in the text
    if arguments == ("alerts",):
        [alert] = document["alerts"]
        assert alert["snoozed"] and alert["told"] and alert["kept"], "each part was held against the schema"


@pytest.mark.exhaustive
@pytest.mark.parametrize("arguments", [each for each in RUNS if each[0] in COMMANDS_WITH_REPORT], ids=" ".join)
def test_no_word_and_no_figure_is_broken_at_any_width(
    clinic: tuple[Path, str, tuple[str, ...]], arguments: tuple[str, ...]
) -> None:
    if clinic[2]:
        pytest.skip("reports do not depend on the engine")
    short = json.dumps(written(*clinic, arguments)).replace(clinic[1], "clinic.duckdb")  # a long path has to be broken
    result = read(json.loads(short))
    whole = {*rendering.render(result, 1000).split(), *NARROW.split(), "#"}
    for width in (60, 80, 100, 120):
        lines = rendering.render(result, width).splitlines()
        words = {word.strip("(),") for line in lines for word in line.split() if not set(word) & BARS}
        assert words <= whole | {word.strip("(),") for word in whole}
        typed = ("qidsql ", "CREATE ", "UPDATE ", "SET ")  # to be copied
        assert all(len(line) <= width or any(word in line for word in typed) for line in lines)


REPORTED = [each for each in RUNS if each[0] in COMMANDS_WITH_REPORT]
ONCE = [*{each[:3] if each[1:2] == ("--by",) else each[0]: each for each in reversed(REPORTED)}.values()]


@pytest.mark.parametrize("arguments", always(*ONCE, longer=[each for each in REPORTED if each not in ONCE]))
def test_a_page_and_markdown_say_what_the_terminal_says(
    clinic: tuple[Path, str, tuple[str, ...]], arguments: tuple[str, ...]
) -> None:
    """Each word and figure in its order, but for suggested commands, words about options, and the verdict's sign."""
    if clinic[2]:
        pytest.skip("reports do not depend on the engine")
    result = read(written(*clinic, arguments))
    shown = rendering.render(result, 100_000)
    shown = shown[max(0, shown.find(result.reason)) :]  # a sign of the verdict is before the reason
    shown = re.sub(r"(?m)^(Next: |      qidsql |Algorithm  |Found  ).*$", "", shown)
    shown = "\n".join(map(without_options, shown.splitlines()))
    report = CommandReport.of(result)
    page = lxml_html.document_fromstring(report_as(report, "html"))
    assert {element.tag for element in page.iter() if isinstance(element.tag, str)} <= set(TAGS.split())
    for part in (*page.iter("style"), *page.iter("footer")):
        part.drop_tree()
    text = MarkdownIt("commonmark").enable("table").render(report_as(report, "markdown"))
    for said in (page, lxml_html.document_fromstring(text)):
        for cell in said.iter("dt", "dd", "td", "th", "li", "p", "strong"):
            cell.tail = f" {cell.tail or ''}"
        found = iter(words(said.text_content()))
        missing = [word for word in words(shown) if word not in found]
        assert missing == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("arguments", always(*ONCE, longer=[each for each in REPORTED if each not in ONCE]))
def test_a_page_opens_with_a_sentence_and_explains_its_terms(
    clinic: tuple[Path, str, tuple[str, ...]], arguments: tuple[str, ...]
) -> None:
    """For readers who type no commands: no option and no algorithm is named."""
    if clinic[2]:
        pytest.skip("reports do not depend on the engine")
    result = read(written(*clinic, arguments))
    report = CommandReport.of(result)
    page = lxml_html.document_fromstring(report_as(report, "html"))
    [opening] = page.xpath("//div[@class='person']")
    assert opening.text_content().strip().endswith(".")
    assert page.xpath("//main")[0][0] is opening
    if result.verdict in ("inconclusive", "error"):
        assert "is no approval" in opening.text_content()
    for part in page.xpath("//style|//pre"):
        part.drop_tree()
    text = page.text_content()
    assert not re.search(r"(?<![\w-])--[a-z]|integer program|hitting set|by counts on", text)
    terms = [each.text for each in page.xpath("//dl[@class='glossary']//dt")]
    assert all(term in report_as(report, "markdown") for term in terms if not set("()-") & set(term))


def ones(value: Any) -> Any:
    """The document with 1 for each count."""
    if isinstance(value, dict):
        kept = ("format", "number", "k", "max_size", "complete_to_size")
        return {key: each if key in kept else ones(each) for key, each in value.items()}
    if isinstance(value, list):
        return [ones(each) for each in value]
    return 1 if isinstance(value, int) and not isinstance(value, bool) and value > 1 else value


@pytest.mark.parametrize("arguments", [each for each in RUNS if each[0] in COMMANDS_WITH_REPORT], ids=" ".join)
def test_one_of_a_thing_is_no_plural(clinic: tuple[Path, str, tuple[str, ...]], arguments: tuple[str, ...]) -> None:
    if clinic[2]:
        pytest.skip("reports do not depend on the engine")
    result = read(ones(written(*clinic, arguments)))
    shown = rendering.render(result, 100_000).replace(result.reason, "")
    opening = " ".join(each.striptags() for each in CommandReport.of(result).opening)
    for line in (*shown.splitlines(), opening):
        wrong = re.search(
            r"(?<![\w.,/=*-])(?<!to )(?<!of )1 (rows|cells|columns|tables|sets|classes|values|people|others|"
            r"entities|statements|rounds|scans|pairs|combinations|turns|row are|cell are|column are|row match )\b",
            line,
        )
        assert wrong is None, line


def words(text: str) -> list[str]:
    """Letters and figures; a page draws its bars."""
    return re.findall(r"[^\W_]+", text)


def test_a_listing_of_the_history_is_a_page_too(clinic: tuple[Path, str, tuple[str, ...]]) -> None:
    for name, words in (("history", "violation"), ("diff", "unchanged"), ("alerts", "deaf")):
        for format in ("html", "markdown"):
            outcome = inside(*HISTORY[name], "--format", format, cwd=clinic[0])
            assert outcome.code == 0
            assert words in outcome.out


def test_a_source_that_cannot_be_opened_has_the_doctors_schema(tmp_path: Path) -> None:
    assert faults("doctor", json.loads(inside("doctor", "none.duckdb", "--format", "json", cwd=tmp_path).out)) == []


PUBLISHED = tuple(each for each in schema_names() if each not in ("audit", "run", "policy"))


@pytest.mark.parametrize("name", first(PUBLISHED))
def test_the_schema_is_one_and_refuses_what_is_no_such_result(name: str) -> None:
    Draft202012Validator.check_schema(schema(name))
    assert faults(name, {})
    assert faults(name, {"format": 2})
    assert json.loads(inside("report", "--schema", name).out) == json.loads(json.dumps(schema(name)))


def writes_json(command: str) -> bool:
    place = f"commands.{command}.command" if find_spec(f"qidsql.commands.{command}") else f"cli.{command}"
    declared = getattr(import_module(f"qidsql.{place}"), "COMMAND", None)
    return declared is not None and "json" in declared.formats


def test_every_command_that_writes_json_has_a_schema() -> None:
    """Those of audit and run have tests of their own; report writes theirs."""
    takes = {each for each in COMMANDS_OF_QIDSQL if writes_json(each)}
    assert (takes | {*HISTORY}) - {"audit", "run", "report", "help"} == set(PUBLISHED)
    assert {arguments[0] for arguments in RUNS} - {"audit"} == set(PUBLISHED)
