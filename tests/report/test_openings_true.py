"""Sentences that open a page say no more than the result below them."""

from pathlib import Path

import duckdb
import pytest

import qidsql
from qidsql.commands.protect.cells import matching_report as suppression
from qidsql.commands.tables.report import opening


@pytest.mark.parametrize(("rank", "said"), [(False, "no row was read"), (True, "each table was read to rank them")])
def test_the_opening_says_whether_rows_were_read(tmp_path: Path, rank: bool, said: str) -> None:
    place = tmp_path / "t.duckdb"
    with duckdb.connect(str(place)) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS a")
    assert said in opening(qidsql.tables(str(place), rank=rank))


@pytest.mark.exhaustive
def test_nobody_is_found_by_the_protected_columns_alone(tmp_path: Path) -> None:
    place = tmp_path / "t.duckdb"
    with duckdb.connect(str(place)) as connection:
        connection.execute("CREATE TABLE t AS SELECT i % 2 AS a, i // 2 AS b, i AS c FROM range(8) AS r(i)")
    found = qidsql.protect(
        str(place), "t", columns=["a", "b"], k=2, against="known-person", sensitive=["c"], into="safe", by="cells"
    )
    said = suppression.opening(found)
    assert "By the 2 protected columns alone, nobody is found by exactly one row" in said
    assert "1 other column of the copy is as in the table" in said


@pytest.mark.parametrize(
    ("against", "safe", "left"),
    [
        ("released-rows", "then each row matches at least 1 other.", "still finds 1 person."),
        ("known-person", "then at least 2 released rows can be each person's.", "nobody is found by exactly one row."),
    ],
)
def test_the_page_of_a_suppression_says_what_is_emptied_and_who_is_still_found(
    tmp_path: Path, against: str, safe: str, left: str
) -> None:
    """Rows (1, 1), (1, 1) and (1, 2): by the optimum the third loses its b, and nobody else can be the third person."""
    place = tmp_path / "t.csv"
    place.write_text("a,b\n1,1\n1,1\n1,2\n")
    found = qidsql.protect(str(place), k=2, against=against, columns=["a", "b"], by="cells")
    said = suppression.opening(found)
    assert said.startswith(f"{found.cells} value")
    assert f"must be emptied; {safe}" in said
    assert left in said


def test_withholding_that_changes_nothing_is_no_remedy(tmp_path: Path) -> None:
    """b is c under another name: to withhold one of them alone changes no class."""
    place = tmp_path / "t.csv"
    place.write_text("b,c\n" + "".join(f"{i},x{i}\n" for i in range(40)) + "0,x0\n" * 9)
    found = qidsql.audit(str(place), k=5, columns=["b", "c"])
    assert found.verdict == "violation"
    assert found.profile is not None
    below = found.profile.rows_below_k
    useless = [each.columns for each in found.withheld if each.profile.rows_below_k == below]
    assert useless
    assert not {each.columns for each in found.helpful} & set(useless)
    shown = found.to_html().partition("What would help most")[2].partition("</table>")[0]
    assert not any(
        f'withhold</th><td data-head="Of"><bdi>{columns[0]}</bdi>' in shown for columns in useless if len(columns) == 1
    )
    assert ("What would help most" in found.to_markdown()) == bool(found.helpful)
