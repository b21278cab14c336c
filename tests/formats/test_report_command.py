"""qidsql report, and what the command line makes of formats, endings and --min-count."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from lxml import html as lxml_html

from qidsql.commands.audit.command import AuditResult
from qidsql.declarations.results import loaded, plain
from qidsql.operations.document import RunResult
from tests.commandline import inside, refused, several
from tests.formats.documents import filled


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    columns = {"name": "'cnry' || i", "zip": "'cnry' || i % 60", "sex": "i % 2"}
    return Path(filled(tmp_path_factory.mktemp("report") / "people.duckdb", columns, 200))


def test_an_audit_is_loaded_from_its_plain_form(documents: Mapping[str, RunResult]) -> None:
    for name, document in documents.items():
        for table in document.tables:
            if table.audit:
                assert loaded(AuditResult, json.loads(json.dumps(plain(table.audit)))) == table.audit, name


ENDINGS = {"html": "<!doctype html>", "md": "### ", "xml": "<?xml", "sarif": "{", "prom": "# HELP", "json": "{"}


@pytest.mark.exhaustive
def test_the_files_ending_chooses_the_format(source: Path, tmp_path: Path) -> None:
    runs = [["audit", str(source), "--quiet", "-o", str(tmp_path / f"report.{ending}")] for ending in ENDINGS]
    outcome = several(runs, tmp_path)
    assert outcome.out.count("exit code 1") == len(runs)
    for ending, beginning in ENDINGS.items():
        text = (tmp_path / f"report.{ending}").read_text()
        assert text.startswith(beginning)
        assert "cnry" not in text
    again = [["report", "report.json", "-o", f"again.{ending}"] for ending in ENDINGS if ending != "json"]
    assert several(again, tmp_path).out.count("exit code 0") == len(again)
    for ending in set(ENDINGS) - {"json"}:  # the same audit but for the time that it took
        first, second = ((tmp_path / f"{name}.{ending}").read_text() for name in ("report", "again"))
        assert len(first.splitlines()) == len(second.splitlines())


@pytest.mark.exhaustive
def test_no_value_in_a_report_of_any_format(source: Path, tmp_path: Path) -> None:
    formats = ["html", "markdown", "junit", "sarif", "github", "prometheus"]
    where = ["--where", "name <> 'cnry_typed'"]
    runs = [["audit", str(source), *where, "--format", format] for format in formats]
    runs += [["audit", str(source), "--format", format, "--min-count", "11"] for format in formats]
    outcome = several(runs, tmp_path)
    assert outcome.out.count("exit code 1") == len(runs)
    assert "cnry" not in outcome.out + outcome.err


def test_min_count_in_a_report_and_in_an_audit_are_one(source: Path, tmp_path: Path) -> None:
    assert inside("audit", source, "--quiet", "-o", "a.json", cwd=tmp_path).code == 1
    assert inside("report", "a.json", "--min-count", "11", "-o", "b.json", cwd=tmp_path).code == 0
    assert inside("audit", source, "--quiet", "--min-count", "11", "-o", "c.json", cwd=tmp_path).code == 1
    from_report, from_audit = (json.loads((tmp_path / name).read_text()) for name in ("b.json", "c.json"))
    assert from_report["min_count"] == 11
    assert from_report["tables"][0]["findings"] == from_audit["tables"][0]["findings"]
    assert inside("report", "b.json", "--format", "html", cwd=tmp_path).code == 0  # it can be rendered again


def test_what_cannot_be_reported_is_said(source: Path, tmp_path: Path) -> None:
    other = inside("audit", source, "--only", "sex", "--format", "json", cwd=tmp_path)
    (tmp_path / "other.json").write_text(other.out.replace('"audit"', '"risk"'))
    (tmp_path / "older.json").write_text(other.out.replace('"format": 2', '"format": 1'))
    (tmp_path / "newer.json").write_text('{"qidsql": "9", "kind": "run", "format": 4}')
    (tmp_path / "before.json").write_text('{"qidsql": "0", "format": 1}')
    (tmp_path / "none_such.json").write_text('{"qidsql": "9", "command": "../audit", "format": 3}')
    (tmp_path / "one.json").write_text(other.out)
    (tmp_path / "text.json").write_text("verdict: pass")
    assert "not the result of qidsql risk" in refused("report", "other.json", cwd=tmp_path)
    assert "was written by an older qidsql; write it again" in refused("report", "before.json", cwd=tmp_path)
    assert "does not name a command" in refused("report", "none_such.json", cwd=tmp_path)
    assert "are html or markdown, not csv" in refused("report", "one.json", "one.json", "-o", "x.csv", cwd=tmp_path)
    assert "of other results leave it out" in refused(
        "report", "one.json", "--min-count", "11", "-o", "x.html", cwd=tmp_path
    )
    assert "has format 1" in refused("report", "older.json", cwd=tmp_path)
    assert "has format 4" in refused("report", "newer.json", cwd=tmp_path)
    assert "is not JSON" in refused("report", "text.json", cwd=tmp_path)
    assert "cannot be read" in refused("report", "none.json", cwd=tmp_path)
    assert "--min-count needs a format that can hide counts" in refused(
        "audit", source, "--min-count", "11", cwd=tmp_path
    )
    assert "at least 2" in refused("audit", source, "--min-count", "1", "--format", "html", cwd=tmp_path)


@pytest.mark.exhaustive
def test_a_recorded_run_is_reported_again(source: Path, tmp_path: Path) -> None:
    (tmp_path / "qidsql.toml").write_text(
        f'format = 1\n[sources.people]\nurl = "{source}"\n[[tables]]\nsource = "people"\ntable = "main.t"\n'
    )
    for ending in ("html", "json"):
        assert inside("run", "--quiet", "-o", f"run.{ending}", cwd=tmp_path).code == 1
    for ending in ("html", "json", "md"):
        assert inside("report", "last", "-o", f"again.{ending}", cwd=tmp_path).code == 0
    recorded, written = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("again", "run"))
    assert recorded == written
    page = (tmp_path / "again.html").read_text()
    assert "Trend" in page
    assert "cnry" not in page
    assert inside("report", "last~1", cwd=tmp_path).out.startswith("VIOLATION")
    assert "run" in refused("report", "nosuchrun", cwd=tmp_path)
    assert "without" in refused_record(tmp_path)


def refused_record(folder: Path) -> str:
    """A document whose small counts are hidden has no place in the history."""
    assert inside("report", "last", "--min-count", "11", "-o", "hidden.json", cwd=folder).code == 0
    return refused("history", "--record", "hidden.json", cwd=folder)


def test_a_dossier_has_each_result_once_and_one_glossary(source: Path, tmp_path: Path) -> None:
    """From the finding to the remedy, in the order given, with a place to sign."""
    assert inside("audit", source, "--quiet", "-o", "audit.json", cwd=tmp_path).code == 1
    assert (
        inside("protect", "--by", "columns", source, "--violates", "5", "--quiet", "-o", "mask.json", cwd=tmp_path).code
        == 0
    )
    assert inside("report", "audit.json", "mask.json", "-o", "dossier.html", cwd=tmp_path).code == 0
    page = lxml_html.document_fromstring((tmp_path / "dossier.html").read_bytes())
    targets = [link.get("href")[1:] for link in page.xpath("//ol[@class='contents']//a")]
    assert [page.get_element_by_id(each).text_content()[:2] for each in targets] == ["1.", "2."]
    assert len(page.xpath("//*[@id='glossary']")) == len(page.xpath("//*[@id='sign']")) == 1
    reasons = [json.loads((tmp_path / f"{name}.json").read_text())["reason"] for name in ("audit", "mask")]
    for text in (page.text_content(), inside("report", "audit.json", "mask.json", cwd=tmp_path).out):
        said = " ".join(text.replace("\xa0", " ").replace("\\", "").split())
        assert all(reason in said for reason in reasons)
    assert "Privacy dossier" in page.text_content()


@pytest.mark.exhaustive
def test_an_audit_and_a_run_in_a_dossier_are_their_own_pages(source: Path, tmp_path: Path) -> None:
    """With all figures, charts and tables, under ids of their own; the contents tell results of one table apart."""
    (tmp_path / "qidsql.toml").write_text(
        f'format = 1\n[sources.people]\nurl = "{source}"\n[[tables]]\nsource = "people"\ntable = "main.t"\n'
    )
    for k in ("2", "5"):
        assert inside("audit", source, "--k", k, "--quiet", "-o", f"{k}.json", cwd=tmp_path).code == 1
    assert inside("run", "--quiet", "-o", "run.json", cwd=tmp_path).code == 1
    parts = ["2.json", "5.json", "run.json", "run.json"]
    assert inside("report", *parts, "-o", "dossier.html", cwd=tmp_path).code == 0
    dossier = lxml_html.document_fromstring((tmp_path / "dossier.html").read_bytes())
    ids = dossier.xpath("//@id")
    assert len(ids) == len(set(ids))
    linked = [each.removeprefix("#") for each in dossier.xpath("//a/@href")]
    assert set(linked) <= set(ids)
    assert {"part-1-table-1", "part-3-table-1", "part-4-table-1"} <= set(ids)
    contents = [each.text_content() for each in dossier.xpath("//ol[@class='contents']/li")]
    assert ["k = 2" in each.replace("\xa0", " ") for each in contents] == [True, False, False, False]
    assert all(re.search(r"\d{4}-\d\d-\d\d", each) for each in contents)
    assert re.search(r"Privacy dossier · \d{4}-\d\d-\d\d", dossier.text_content())
    for number, name in enumerate(("2", "5", "run"), 1):
        assert inside("report", f"{name}.json", "-o", "own.html", cwd=tmp_path).code == 0
        own = lxml_html.document_fromstring((tmp_path / "own.html").read_bytes())
        [section] = dossier.xpath(f"//section[@aria-labelledby='part-{number}']")
        for wanted in ("//h3", "//table//th", "//table//td", "//svg", "//dl[@class='figures']/div"):
            was = [each.text_content() for each in own.xpath(f"//main{wanted}")]
            assert was
            assert [each.text_content() for each in section.xpath(f".{wanted}")] == was


@pytest.mark.exhaustive
def test_listings_of_runs_are_parts_of_a_dossier(source: Path, tmp_path: Path) -> None:
    (tmp_path / "qidsql.toml").write_text(
        f'format = 1\n[sources.people]\nurl = "{source}"\n[[tables]]\nsource = "people"\ntable = "main.t"\n'
    )
    for _ in range(2):
        assert inside("run", "--quiet", cwd=tmp_path).code == 1
    for command in (["history"], ["history", "--table", "main.t"], ["history", "diff"], ["history", "alerts"]):
        assert inside(*command, "-o", "one.json", cwd=tmp_path).code == 0
        assert inside(*command, "-o", "direct.md", cwd=tmp_path).code == 0
        assert inside("report", "one.json", "-o", "read.md", cwd=tmp_path).code == 0
        said, direct = (set((tmp_path / name).read_text().splitlines()) for name in ("read.md", "direct.md"))
        assert direct <= said
    assert "expected one of qidsql run or qidsql audit" in refused("history", "--record", "one.json", cwd=tmp_path)
