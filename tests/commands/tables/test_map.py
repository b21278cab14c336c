"""The map on the page of `tables --rank`: every table of a warehouse, small enough to mail, its names as they are."""

from dataclasses import replace
from fractions import Fraction

from qidsql.commands.tables.command import ListedColumn, ListedTable, TableCounts, TablesResult
from qidsql.commands.tables.report import TABLES_MAPPED, TABLES_RANKED
from qidsql.core.results import Verdict
from qidsql.core.tables import TableName
from tests.rendering import render

COLUMNS = tuple(ListedColumn(name, "VARCHAR", True, True) for name in ("id", "zip_code", "birth_date", "diagnosis"))


def table(number: int, alone: int | None = None, name: str = "", joined: int = 0) -> ListedTable:
    """One of 1,000 persons, of whom so many are alone; None: it could not be read."""
    counts = TableCounts(
        rows=1_000,
        distinct_rows=1_000,
        identifiers=("id",),
        quasi_identifiers=("zip_code", "birth_date"),
        entity=None,
        sensitive=("diagnosis",),
        joined=tuple(f"public.customers_of_the_year_{each}" for each in range(joined)),
        persons=1_000,
        alone=alone,
        alone_by=("zip_code", "birth_date"),
    )
    listed = ListedTable(
        TableName(name or f"customers_{number}", f"schema_{number % 12}"), "table", 1_000, COLUMNS, None
    )
    return replace(listed, obstacle="not reached: time") if alone is None else replace(listed, counts=counts)


def result(*tables: ListedTable) -> TablesResult:
    return TablesResult(verdict=Verdict.FINISHED, reason="ranked", source="w.duckdb", engine="DuckDB", tables=tables)


def test_a_page_of_a_thousand_tables_shows_each_and_stays_small() -> None:
    tables = [table(number, alone=1_000 - number if number < 900 else None, joined=40) for number in range(1_000)]
    page = result(*tables).to_html()
    assert len(page.encode()) < 300_000
    for each in tables:
        assert f"<bdi>{each.table.name}</bdi>" in page
    assert page.count("<h3>schema") == 12
    assert "900 more tables are in the JSON" in page


def test_of_more_tables_the_riskiest_are_on_the_map_and_the_page_stays_below_half_a_megabyte() -> None:
    page = result(*(table(number, alone=5) for number in range(20_000))).to_html()
    assert page.count('title="schema') == TABLES_MAPPED
    assert len(page.encode()) < 500_000
    assert f"{20_000 - TABLES_RANKED:,} more tables are in the JSON" in page


def test_shades_are_shares_of_people_alone() -> None:
    """By the definition again: none, under 1 %, 10 %, a half, and more."""
    for alone in (0, 1, 9, 10, 99, 100, 499, 500, 1_000):
        page = result(table(1, alone)).to_html()
        shade = sum(Fraction(alone, 1_000) >= share for share in (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2)))
        assert f'<li class="s{shade + 1 if alone else 0} "' in page, alone
    assert (
        '<li class="s0 unknown" title="schema_1.customers_1: not reached: time">'
        in result(table(1), table(2, 0)).to_html()
    )


def test_names_are_text_on_the_page() -> None:
    page = result(table(1, 5, name='<b>"&\u202e')).to_html()
    assert "<b>" not in page
    assert "&lt;b&gt;&#34;&amp;" in page


def test_other_formats_have_the_schemas_as_a_table() -> None:
    several = result(table(1, 5), table(2, 0), table(3), table(13, 7))
    for text in (several.to_markdown(), render(several)):
        lines = [line.replace("|", " ").replace("\\", "").split() for line in text.splitlines()]
        assert ["schema_1", "2", "2", "0"] in lines
        assert ["schema_2", "1", "0", "0"] in lines
        assert ["schema_3", "1", "0", "1"] in lines
