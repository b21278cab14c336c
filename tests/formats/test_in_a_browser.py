"""The page for those who sign, opened in a real browser: silent, self-contained, readable, accessible."""

import base64
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import qidsql
from qidsql.formats.min_count import without_small_counts
from qidsql.formats.registry import rendered
from qidsql.operations.document import RunResult
from tests.browser import Page, browser
from tests.commandline import inside
from tests.commands.release.test_release import PEOPLE, policy, table
from tests.exhaustive import pairs
from tests.formats.documents import filled
from tests.npm import npm_package

OPEN = "document.querySelectorAll('details').forEach(e => { e.open = true })"  # a folded table has no size
PAGES = ["run", "hostile", "violation", "pass", "empty", "hidden", "keys", "release", "four"]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(tmp_path_factory.mktemp("chromium")) as opened:
        yield opened


@pytest.fixture(scope="module")
def files(documents: Mapping[str, RunResult], tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    written = {}
    for name in PAGES[:-3]:
        document = without_small_counts(documents["violation"], 11) if name == "hidden" else documents[name]
        written[name] = folder / f"{name}.html"
        written[name].write_text(rendered(document, "html"), encoding="utf-8")
    source = filled(folder / "people.duckdb", {"birth_date": "i % 97", "postal_code": "i % 13", "sex": "i % 2"}, 400)
    written["keys"] = folder / "keys.html"
    written["keys"].write_text(qidsql.keys(source, all=True, violates=3).to_html(), encoding="utf-8")
    written["release"] = folder / "release.html"
    policy(folder, release='recipient = "a university"\nuntil = "2999-12-31"\nchecklists = ["safe-harbor"]')
    table(folder, PEOPLE[:44])
    inside("release", "out.parquet", "--of", "patients", "-o", "release.html", cwd=folder)
    written["four"] = folder / "four.html"  # lines of all states: many are not met, not examined, or for a person
    lists = [part for each in ("safe-harbor", "wp216", "ema-0070", "ipc-medium") for part in ("--checklist", each)]
    table(folder, [*PEOPLE[:44], (99, "n", "c")])
    inside("release", "out.parquet", "--of", "patients", *lists, "-o", "four.html", cwd=folder)
    return written


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_silent_and_asks_for_nothing(page: Page, files: Mapping[str, Path], name: str) -> None:
    page.open(files[name])
    asked = {event["request"]["url"] for event in page.heard("Network.requestWillBeSent")}
    assert {url for url in asked if not url.startswith("data:")} == {files[name].as_uri()}
    for kind in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
        assert page.heard(kind) == []
    assert page.ask("document.scripts.length") == 0


@pytest.mark.parametrize("name", ["run", "violation"])
def test_charts_have_a_size(page: Page, files: Mapping[str, Path], name: str) -> None:
    page.open(files[name])
    page.ask(OPEN)
    boxes = page.ask("[...document.querySelectorAll('svg:not(.bar)')].map(e => [e.clientWidth, e.clientHeight])")
    assert boxes
    assert all(width > 300 and height > 30 for width, height in boxes)
    marks = "[...e.querySelectorAll('rect, circle')].map(mark => mark.getBoundingClientRect().width)"
    widest = page.ask(f"[...document.querySelectorAll('svg:not(.bar)')].map(e => Math.max(...{marks}))")
    assert all(width > 5 for width in widest)


@pytest.mark.parametrize("width", [360, 1000])
@pytest.mark.parametrize("name", ["run", "violation"])
def test_no_word_of_a_chart_is_cut_off(page: Page, files: Mapping[str, Path], name: str, width: int) -> None:
    page.open(files[name], width=width)
    page.ask(OPEN)
    box = "(a => (b => [a.left - b.left, b.right - a.right, a.top - b.top, b.bottom - a.bottom, e.textContent])"
    told = f"{box}(e.ownerSVGElement.getBoundingClientRect()))(e.getBoundingClientRect())"
    words = page.ask(f"[...document.querySelectorAll('svg text')].filter(e => e.textContent).map(e => {told})")
    assert words
    assert [each for each in words if min(each[:4]) < -0.5] == []


@pytest.mark.parametrize("width", [360, 1000])
@pytest.mark.parametrize("name", ["run", "hostile", "hidden", "four"])
def test_nothing_is_wider_than_the_window(page: Page, files: Mapping[str, Path], name: str, width: int) -> None:
    """Wide tables scroll in their own box; names of 300 letters are broken."""
    page.open(files[name], width=width)
    page.ask(OPEN)
    assert page.ask("document.documentElement.scrollWidth") <= width


BROKEN = """(() => {
  const found = [], walk = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT)
  while (walk.nextNode()) for (const word of walk.currentNode.data.matchAll(/[A-Za-z]{2,24}|[0-9][0-9.,]+/g)) {
    const range = document.createRange()
    range.setStart(walk.currentNode, word.index)
    range.setEnd(walk.currentNode, word.index + word[0].length)
    if (new Set([...range.getClientRects()].map(box => Math.round(box.top))).size > 1) found.push(word[0])
  }
  return found
})()"""  # words and figures on more than one line


@pytest.mark.parametrize(("name", "width"), pairs(["run", "violation", "hidden", "keys", "four"], [390, 768, 1280]))
def test_no_word_and_no_figure_is_broken(page: Page, files: Mapping[str, Path], name: str, width: int) -> None:
    for media in ("screen", "print"):
        page.open(files[name], width=width)
        page.call("Emulation.setEmulatedMedia", media=media)
        page.ask(OPEN)
        assert [word for word in page.ask(BROKEN) if word not in "n" * 24] == []  # of a name of 300 letters


def test_a_run_prints_as_a_summary_or_as_a_whole(page: Page, files: Mapping[str, Path]) -> None:
    """Closed tables are not printed; a box on the page opens all of them, without a script."""
    page.open(files["run"])
    summary = printed(page)
    page.ask("document.querySelector('.all').checked = true; true")
    whole = printed(page)
    assert summary <= 4
    assert whole >= summary + page.ask("document.querySelectorAll('details').length")
    page.ask("document.querySelector('.all').checked = false; document.querySelector('details').open = true")
    assert summary < printed(page) < whole


PAPERS = {"A4": (8.27, 11.69), "Letter": (8.5, 11.0)}


@pytest.mark.parametrize(("name", "paper"), pairs(["four", "release"], ["Letter", "A4"]))
def test_what_is_signed_prints_on_one_sheet(page: Page, files: Mapping[str, Path], name: str, paper: str) -> None:
    """Verdict, lines, boxes, risks, decision; the evidence is on pages of its own, whole though it is folded."""
    page.open(files[name])
    whole = printed(page, PAPERS[paper])
    hidden = "document.querySelectorAll('details.evidence, .closing, footer')"
    page.ask(f"{hidden}.forEach(each => each.style.display = 'none'); true")
    assert printed(page, PAPERS[paper]) == 1 < whole


def printed(page: Page, paper: tuple[float, float] = (8.27, 11.69)) -> int:
    """The pages of a print on paper of this width and height in inches, in the style for prints."""
    page.call("Emulation.setEmulatedMedia", media="print")
    sizes = {"paperWidth": paper[0], "paperHeight": paper[1]}
    data = page.call("Page.printToPDF", preferCSSPageSize=True, printBackground=True, **sizes)["data"]
    return len(re.findall(rb"/Type\s*/Page\b", base64.b64decode(data)))


@pytest.mark.parametrize(("name", "scheme"), pairs(["run", "hostile", "hidden", "keys", "four"], ["light", "dark"]))
def test_axe_finds_no_serious_fault(page: Page, files: Mapping[str, Path], axe: str, name: str, scheme: str) -> None:
    page.open(files[name], scheme=scheme)
    page.ask(OPEN)
    assert (
        page.ask("getComputedStyle(document.body).backgroundColor")
        == {
            "light": "rgb(255, 255, 255)",
            "dark": "rgb(20, 23, 27)",
        }[scheme]
    )
    page.ask(axe + "; true")
    told = "r.violations.map(v => [v.impact, v.id, v.nodes.map(n => n.html).slice(0, 3)])"
    faults = page.ask(f"axe.run().then(r => {told})")
    assert [fault for fault in faults if fault[0] in ("serious", "critical")] == []


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The accessibility checker's source."""
    return (npm_package("axe-core@4", tmp_path_factory) / "axe.min.js").read_text()


def test_axe_finds_faults_where_there_are_some(page: Page, axe: str, tmp_path: Path) -> None:
    (tmp_path / "bad.html").write_text("<!doctype html><title>t</title><p style='color:#aaa;background:#fff'>faint</p>")
    page.open(tmp_path / "bad.html")
    page.ask(axe + "; true")
    assert "serious" in page.ask("axe.run().then(r => r.violations.map(v => v.impact))")
