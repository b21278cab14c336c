"""What people read, HTML and Markdown: well formed, complete, and deaf to what hostile names say."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from html import unescape
from itertools import pairwise

import pytest
from lxml import html as lxml_html
from markdown_it import MarkdownIt

from qidsql.core.results import Verdict
from qidsql.formats.min_count import without_small_counts
from qidsql.formats.registry import rendered
from qidsql.formats.texts import told, without_options
from qidsql.operations.document import Baseline, PackedTables, RunResult
from qidsql.operations.table_run import Finding, FindingKind, Measures, TrendPoint
from qidsql.wording.texts import share, without_controls
from tests.exhaustive import first
from tests.formats.documents import HOSTILE, with_tables

TAGS = (
    "html head meta link title style body a header main footer section article p div h1 h2 h3 strong small bdi br span "
    "dl dt dd ul li table caption thead tbody tr th td svg desc text rect line circle wbr details summary label input"
)


def page_of(document: RunResult) -> lxml_html.HtmlElement:
    """The page as a browser reads it; a tag that nobody wrote into a template came out of a name."""
    page = lxml_html.document_fromstring(rendered(document, "html"))
    assert {element.tag for element in page.iter() if isinstance(element.tag, str)} <= set(TAGS.split())
    said = page.xpath("//body//text()[not(ancestor::bdi)]")
    assert not re.search(r"(?<![\w-])--[a-z]", "".join(said)), "an option of the command line, on a page for lawyers"
    return page


@pytest.mark.exhaustive
def test_the_page_runs_nothing_and_fetches_nothing(document: RunResult) -> None:
    page = page_of(document)
    for element in page.iter():
        if not isinstance(element.tag, str):
            continue
        assert not [name for name in element.attrib if name.startswith("on")]
        for name in ("href", "src", "data", "action", "srcset", "style"):
            value = element.get(name)
            assert value is None or value.startswith(("#", "data:")), (element.tag, name, value)
    assert "url(" not in page.find(".//style").text
    assert "@import" not in page.find(".//style").text
    [policy] = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert policy.startswith("default-src 'none'")


@pytest.mark.exhaustive
def test_the_page_can_be_found_ones_way_in(document: RunResult) -> None:
    page = page_of(document)
    assert page.get("lang") == "en"
    assert len(page.findall(".//h1")) == 1
    levels = [int(element.tag[1]) for element in page.iter("h1", "h2", "h3")]
    assert all(after <= before + 1 for before, after in pairwise(levels))
    ids = page.xpath("//@id")
    assert len(set(ids)) == len(ids)
    assert {link.removeprefix("#") for link in page.xpath("//a/@href")} <= set(ids)
    for reference in page.xpath("//@aria-labelledby"):
        assert reference in ids
    for table in page.iter("table"):
        assert table.xpath("thead/tr/th[@scope='col']")
        width = sum(int(cell.get("colspan", 1)) for cell in table.find("thead/tr"))
        for row in table.iterfind("tbody/tr"):
            assert sum(int(cell.get("colspan", 1)) for cell in row) == width
    for drawing in page.iter("svg"):
        assert drawing.get("role") == "img"
        assert drawing.find("title").text
        assert drawing.find("desc").text


@pytest.mark.exhaustive
def test_the_page_says_the_verdict_of_every_table_in_a_sentence(document: RunResult) -> None:
    page = page_of(document)
    told = [
        without_spaces(element.text_content()) for element in page.xpath("//article//div[contains(@class,'verdict')]/p")
    ]
    wanted = [without_spaces(without_controls(without_options(table.sentence))) + "." for table in document.tables]
    assert sorted(told) == sorted(wanted)


def without_spaces(text: str) -> str:
    return " ".join(text.split())


def test_hostile_names_are_shown_as_they_are(documents: Mapping[str, RunResult]) -> None:
    shown = {without_spaces(name.text_content()) for name in page_of(documents["hostile"]).iter("bdi")}
    for name in HOSTILE:
        assert without_spaces(without_controls(name)) in shown, name


@pytest.mark.parametrize("case", first(["pass", "violation", "inconclusive", "empty", "hostile", "run"]))
def test_the_page_has_every_part(documents: Mapping[str, RunResult], case: str) -> None:
    text = page_of(documents[case]).text_content()
    for part in ("Subject, time and method", "Not checked", "Explanation of the figures", "signature"):
        assert part in text
    assert ("Smallest identifying sets" in text) is (case in ("violation", "hostile", "run"))
    assert ("Trend" in text) is (case == "run")
    assert ("Accepted by exception" in text) is (case == "run")


def test_a_run_says_violations_first_and_folds_the_tables(documents: Mapping[str, RunResult]) -> None:
    """Not what happened to one of its tables: errors, then tables without a verdict, then those that pass follow."""
    page = page_of(documents["run"])
    banner = page.xpath("//main/div[contains(@class,'verdict')]")[0]
    assert banner.get("class") == "verdict violation"
    heading = banner.find("strong").text
    counted = Counter(table.verdict for table in documents["run"].tables)
    assert heading.startswith(f"{counted['violation']} tables in violation of the policy, 1 table that could not be")
    order = [each.get("class").split()[-1] for each in page.xpath("//section[h2/@id='index']//td/span")]
    ranks = [("violation", "error", "inconclusive", "pass").index(each) for each in order]
    assert ranks == sorted(ranks) and len(ranks) == len(documents["run"].tables)
    folded = page.xpath("//details")
    assert len(folded) == len(ranks)
    assert not any("open" in each.attrib for each in folded)
    assert page.xpath("//article/parent::details") == folded


@pytest.mark.parametrize("case", first(["pass", "violation", "entity", "wildcard", "inconclusive", "empty"]))
def test_the_page_opens_with_a_person_by_the_definition(documents: Mapping[str, RunResult], case: str) -> None:
    """The rows that are alone, and those below k, counted again from the class sizes; the risks from the profile."""
    [table] = documents[case].tables
    page = page_of(documents[case])
    said = [without_spaces(each.text_content()) for each in page.xpath("//section[@class='person']/p")]
    profile = table.audit.profile if table.audit else None
    if profile is None or not profile.rows:
        assert said == []
        return
    known = [sentence for sentence in said if "taken at random" not in sentence]  # one row, if there are several
    last = next(sentence for sentence in reversed(known) if sentence.startswith("Whoever"))
    rows = sum(each.rows for each in table.audit.class_sizes) or profile.rows
    alone = sum(each.rows for each in table.audit.class_sizes if each.high == 1)
    below = sum(each.rows for each in table.audit.class_sizes if each.low < profile.k)
    if alone:
        assert f"exactly one {'person' if case == 'entity' else 'row'}, for {share(alone, rows)} of" in last
    if alone < rows or last.startswith("Whoever knows all"):  # else fewer columns leave nothing to say
        assert ("fewer than" in last) is (below > 0)
        assert below == 0 or f"for {share(below, rows)} of them" in last
        assert below > 0 or "cannot tell from these columns" in last
    tiles = page.xpath("//dl[@class='figures']/div")
    shown = {tile.find("dt").text: without_spaces(tile.find("dd").text) for tile in tiles}
    assert shown["Highest risk"] == share(1, profile.smallest)
    average = share(profile.classes, profile.rows)  # the mean over the rows of 1 / their class
    assert shown["Average risk"] == ("–" if case in ("wildcard", "entity") else average)
    assert shown["Below k"] == share(profile.rows_below_k, profile.rows)


def test_what_is_said_of_a_person_with_hidden_counts_is_what_the_lists_say(documents: Mapping[str, RunResult]) -> None:
    """No figure but k, and the same for every table with these lists."""
    page = page_of(without_small_counts(documents["violation"], 11))
    [sentence] = [each.text_content() for each in page.xpath("//section[@class='person']/p")]
    [table] = documents["violation"].tables
    smallest = min((each.columns for each in table.audit.column_sets if "below k" in each.criterion), key=len)
    assert sentence == f"Whoever knows {', '.join(smallest)} of a person finds fewer than 5 rows, for some of the rows."


def test_of_a_table_that_broke_nothing_is_said_that_nobody_knows(documents: Mapping[str, RunResult]) -> None:
    """Neither that its findings stand, nor that a run over several tables broke because one of them did."""
    page = page_of(documents["run"])
    [broken] = [
        each.text_content() for each in page.xpath("//article") if "no table public.gone" in each.text_content()
    ]
    assert "Not known: the audit failed before anything could be compared" in broken
    assert "every finding is as in run" not in broken


def test_of_an_audit_that_measured_nothing_nothing_is_met(documents: Mapping[str, RunResult]) -> None:
    """Nor changed, nor drawn; which columns were to be audited is said all the same."""
    [table] = documents["inconclusive"].tables
    assert table.audit and table.audit.profile is None
    started = datetime(2026, 11, 20, 3, tzinfo=UTC)
    point = TrendPoint(
        run="r0", started=started, verdict=Verdict.INCONCLUSIVE, rows=None, smallest=None, share_below_k=None
    )
    document = with_tables(documents["inconclusive"], replace(table, trend=(point,)))
    document = replace(document, baseline=Baseline("r0", started))
    page = page_of(document)
    met = [row[-1].text_content() for row in page.xpath("//article//tr[td/span]") if len(row) == 4]
    assert met == ["not known", "not known"]
    assert "Not known: the audit ended before anything could be compared" in page.text_content()
    assert "Trend" in page.text_content()
    assert not list(page.iter("svg"))
    names = [column.name for column in table.audit.columns]
    assert sorted(row[0].text_content() for row in page.xpath("//article//tr[td]") if len(row) == 7) == sorted(names)


@pytest.mark.exhaustive
@pytest.mark.parametrize("least", [11, 1000])
def test_a_requirement_that_is_violated_is_not_met_also_where_its_figure_is_hidden(
    documents: Mapping[str, RunResult], least: int
) -> None:
    """At 1,000 the whole table is a small count: no figure is left, and the verdict stands."""
    page = page_of(without_small_counts(documents["violation"], least))
    rows = {row[0].text: row[-1].text_content() for row in page.xpath("//section//tr | //article//tr")}
    assert rows["Smallest class (k)"] == "no"
    passing = page_of(without_small_counts(documents["pass"], least))
    rows = {row[0].text: row[-1].text_content() for row in passing.xpath("//article//tr")}
    assert rows["Smallest class (k)"] in ("yes", "not known")


def test_markdown_holds_no_markup_but_its_own(document: RunResult) -> None:
    """As a pull request shows it: no tag, link, image, mention or heading comes out of a name."""
    text = rendered(document, "markdown")
    tokens = [
        each
        for token in MarkdownIt("commonmark").enable("table").parse(text)
        for each in [token, *(token.children or [])]
    ]
    for token in tokens:
        assert token.type not in ("image", "link_open", "code_inline", "fence", "code_block", "hr", "blockquote_open")
        if token.type in ("html_block", "html_inline"):
            assert not re.sub(r"</?(details|summary|sub)>", "", token.content).count("<")
    assert sum(token.type == "heading_open" for token in tokens) == 1
    assert not re.search(r"(?<!\w)@\w|https?:", text)
    rows = [line for line in text.splitlines() if line.startswith("| ")][1:]
    assert len(rows) == len(document.tables)
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 6 for row in rows)


def test_markdown_tells_what_is_found(documents: Mapping[str, RunResult]) -> None:
    def plain(text: str) -> str:
        return without_spaces(unescape(re.sub(r"\\([\\`*_{}\[\]()#|~!$])", r"\1", text)).replace("\u200b", ""))

    for name in ("violation", "hostile"):
        text = plain(rendered(documents[name], "markdown"))
        [table] = documents[name].tables
        for each in told(table.open_findings, 10):
            assert without_spaces(without_controls(each)) in text


def finding(number: int, *columns: str, kind: FindingKind = FindingKind.BELOW_K) -> Finding:
    return Finding(id=str(number), kind=kind, columns=columns, measures=Measures(), text=" + ".join(columns))


def test_many_findings_are_told_by_the_columns_that_cause_them() -> None:
    """Each finding is in one line: alone, in a group of a column, or among those that are only counted."""
    wide = [finding(n, "resume_id", f"c{n}") for n in range(14)]
    deep = [finding(100 + n, "a", f"c{n}", f"d{n}") for n in range(4)]
    rare = [finding(200, "age"), finding(201, "x", "y"), finding(202, "z", "w")]
    key = finding(300, "resume_id", "a", kind=FindingKind.KEY)
    assert told([*wide, *deep, *rare, key], 10) == [
        "age",
        "resume_id with any of 14 columns: 14 column sets below k",
        "a with some of 8 columns: 4 column sets below k",
        *("x + y", "z + w", "resume_id + a"),
        "22 findings in all; --format json lists them",
    ]
    assert told(rare, 3) == ["age", "x + y", "z + w"]


@pytest.mark.exhaustive
def test_a_page_of_a_thousand_tables_is_small_and_names_each(documents: Mapping[str, RunResult]) -> None:
    [table] = documents["violation"].tables
    tables = [replace(table, table=f"main.t{number:03}") for number in range(1_000)]
    document = replace(documents["run"], tables=PackedTables.of(tables))
    page = rendered(document, "html")
    assert len(page.encode()) < 300_000
    assert all(f"main.t{number:03}" in page.replace("<wbr>", "") for number in range(1_000))
    assert "1,000 tables in all" in page
    assert len(rendered(document, "markdown")) < 65_536
