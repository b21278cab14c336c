"""Protected copies: their order and their columns tell nothing that the copy should not."""

from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pytest

import qidsql
from qidsql.errors import UnknownName, UsageError
from tests.commandline import inside
from tests.exhaustive import always, pairs
from tests.stores import ONE_ENGINE, SAIL, PostgresStore, Store, quoted
from tests.ways import words, work

COLUMNS = {"a b": "VARCHAR", "age": "INTEGER", "diagnosis": "VARCHAR"}
ROWS = [(letter, age, f"{letter}{age}{n}") for letter in "xyz" for age in (31, 32, 47) for n in range(9)]
WAYS: list[tuple[str, dict[str, Any]]] = [
    ("matching", {}),
    ("matching", {"method": "shared"}),
    ("matching", {"against": "known-person"}),
    ("identical", {}),
    ("turns", {"turns": ["age=width:10"]}),
]
TWO_WAYS = always(WAYS[0], WAYS[4], longer=WAYS[1:4])
PRINTED = always((*WAYS[0], "view"), (*WAYS[4], "view"), longer=[(*WAYS[0], "table"), (*WAYS[3], "table")])


def in_two_orders(store: Store) -> list[list[Any]]:
    """The rows of two tables, the same in two orders, as the tables have them."""
    orders = [ROWS, Random(3).sample(ROWS, len(ROWS))]
    for number, rows in enumerate(orders):
        store.table(f"people{number}", COLUMNS, rows)
    return orders


def as_stored(store: Store, name: str) -> list[Any]:
    if isinstance(store, PostgresStore):
        return [tuple(row) for row in store.admin.execute(f"SELECT * FROM {quoted(name)}".encode()).fetchall()]
    with duckdb.connect(store.url) as connection:
        return connection.execute(f"SELECT * FROM {quoted(name)}").fetchall()


def tells_nothing(orders: list[list[Any]], copies: list[list[Any]]) -> bool:
    """The same rows are in the same order, whatever order they came in, and not sorted by a column."""
    persons = [[row[2] for row in copy] for copy in copies]
    came = [[row[2] for row in rows] for rows in orders]
    assert sorted(persons[0]) == sorted(persons[1]) == sorted(came[0])
    return persons[0] == persons[1] and persons[0] not in came and persons[0] != sorted(persons[0])


@pytest.mark.exhaustive
def test_the_copy_of_a_table_can_be_a_file(store: Store, tmp_path: Path) -> None:
    """The source is read only: nothing in it changes, and its writers need not wait for a writer."""
    store.table("people", COLUMNS, ROWS)
    path = tmp_path / "copy.parquet"
    options: dict[str, Any] = {"k": 3, "sensitive": "diagnosis", "into": str(path)}
    if store.name == "postgres":
        with pytest.raises(UsageError, match="writes no files; a copy of its tables is a table there"):
            qidsql.protect(store.url, "people", **options, by="cells")
        return
    verbs: dict[str, dict[str, Any]] = {"matching": {}, "protect": {"by": "values"}}
    for verb, more in verbs.items():
        result = work(verb)(store.url, "people", **options, **more)
        assert result.target == str(path)
        with duckdb.connect() as connection:
            copy = connection.execute(f"SELECT * FROM '{path}'").fetchall()
        assert sorted(row[2] for row in copy) == sorted(row[2] for row in ROWS)
        with pytest.raises(UsageError, match="exists already"):
            work(verb)(store.url, "people", **options, **more)
        path.unlink()
    with duckdb.connect(store.url) as connection:
        assert connection.execute("FROM duckdb_tables() SELECT table_name").fetchall() == [("people",)]


@pytest.mark.exhaustive
@pytest.mark.parametrize("way", TWO_WAYS)
def test_a_copy_does_not_keep_the_order_of_its_source(store: Store, way: tuple[str, dict[str, Any]]) -> None:
    """Line i was person i, for anyone with the list of persons."""
    verb, options = way
    orders = in_two_orders(store)
    for number in range(2):
        work(verb)(store.url, f"people{number}", k=3, sensitive="diagnosis", into=f"copy{number}", **options)
    assert tells_nothing(orders, [as_stored(store, f"copy{number}") for number in range(2)])


@pytest.mark.exhaustive
@ONE_ENGINE
@pytest.mark.parametrize("way", PRINTED)
def test_a_printed_copy_does_not_either(store: Store, way: tuple[str, dict[str, Any], str]) -> None:
    verb, options, kind = way
    orders, copies = in_two_orders(store), []
    asked = options if verb == "turns" else {**options, "sql": kind}
    for number in range(2):
        found = work(verb)(store.url, f"people{number}", k=3, sensitive="diagnosis", **asked)
        store.run(found.script)
        ending = {"matching": "suppressed", "identical": "anonymized", "turns": "recoded"}[verb]
        copies.append(as_stored(store, f"people{number}_{ending}"))
        with store.connect() as engine:  # the order makes no audit of the view impossible
            assert qidsql.audit(engine, f"people{number}_{ending}", k=2, columns=("a b", "age")).profile is not None
    assert tells_nothing(orders, copies)


@pytest.mark.exhaustive
@pytest.mark.engines("duckdb")
@pytest.mark.parametrize("ending", always("csv", longer=["parquet"]))
@pytest.mark.parametrize("way", TWO_WAYS)
def test_nor_does_a_file(store: Store, tmp_path: Path, way: tuple[str, dict[str, Any]], ending: str) -> None:
    verb, options = way
    orders, copies = in_two_orders(store), []
    for number in range(2):
        source, copy = tmp_path / f"people{number}.{ending}", tmp_path / f"copy{number}.{ending}"
        with duckdb.connect(store.url) as connection:
            connection.execute(f"COPY people{number} TO '{source}'")
        work(verb)(str(source), k=3, sensitive="diagnosis", into=str(copy), **options)
        copies.append(duckdb.sql(f"FROM '{copy}'").fetchall())
    assert tells_nothing(orders, copies)


@pytest.mark.exhaustive
@ONE_ENGINE
@pytest.mark.parametrize(
    ("verb", "left_out"),
    pairs(
        ["matching", "identical", "turns"],
        ["exclude", "identifiers", "columns"],
    ),
)
def test_a_copy_has_only_protected_and_sensitive_columns(store: Store, verb: str, left_out: str) -> None:
    """The number of a value gave every suppressed cell of it back."""
    rows = [(letter, ord(letter), age, "x") for letter in "aabbc" for age in (31, 32)]
    store.table("people", {"letter": "VARCHAR", "code": "INTEGER", "age": "INTEGER", "diagnosis": "VARCHAR"}, rows)
    options = {left_out: ("letter", "age") if left_out == "columns" else ("code",)}
    asked = {**options, "k": 2, "sensitive": "diagnosis", "into": "copy"}
    found = work(verb)(store.url, "people", **asked)
    assert found.copied == ("letter", "age", "diagnosis")
    assert [each.name for each in found.not_copied] == ["code"]
    with store.connect() as engine:
        assert tuple(column.name for column in engine.describe("copy").columns) == found.copied


@pytest.mark.engines("duckdb")
def test_the_report_names_a_column_that_the_policy_does_not_publish(store: Store, tmp_path: Path) -> None:
    rows = [(letter, ord(letter), age) for letter in "aabbc" for age in (31, 32)]
    store.table("people", {"letter": "VARCHAR", "code": "INTEGER", "age": "INTEGER"}, rows)
    policy = f'[sources.here]\nurl = "{store.url}"\n[[tables]]\ntable = "main.people"\nroles.code = "other"\n'
    (tmp_path / "qidsql.toml").write_text(policy, encoding="utf-8")
    asked = (
        *words("matching"),
        store.url,
        "people",
        "--k",
        "2",
        "--policy",
        "qidsql.toml",
        "--into",
        "copy",
    )
    said = " ".join(inside(*asked, cwd=tmp_path).out.split())
    assert "Not copied code: declared as other, not published" in said
    assert "Unprotected" not in said
    assert {len(row) for row in as_stored(store, "copy")} == {2}


EDUCATION = {"school": "VARCHAR", "years": "INTEGER", "sex": "VARCHAR"}
GRADES = ["none", "some", "half", "most", "full"]


def pupils(store: Store, odd: int = 0) -> None:
    """`years` names `school`, but for `odd` rows; the four of sex x lose their school."""
    rows = [(GRADES[n % 5], n % 5, "f" if n % 3 else "m") for n in range(90)]
    rows += [(GRADES[n], n, "x") for n in range(4)] + [("full", 0, "f")] * odd
    store.table("pupils", EDUCATION, rows)


@pytest.mark.exhaustive
@pytest.mark.parametrize("verb", always("matching", longer=["identical"]))
def test_cells_that_a_kept_column_gives_back_are_said_first(store: Store, verb: str) -> None:
    pupils(store)
    found = work(verb)(store.url, "pupils", k=2, keep="YEARS", into="copy")
    [given] = [each for each in found.given_back if each.of == "school"]
    assert (given.column, given.cells, given.certain, given.blank) == ("years", 4, 4, 4)
    assert f"but {given}: leave years out, or protect it too" in found.reason
    assert "years gives back 4 of 4 blank cells of school" in found.reason
    assert found.copied == ("school", "years", "sex")
    assert found.kept == ("years",)
    pages = found.to_html(), found.to_markdown()
    assert all("4 of 4 blank cells of school" in page for page in pages)
    plain = found.to_dict()["given_back"]
    assert {"column": "years", "of": "school", "cells": 4, "certain": 4, "blank": 4} in plain


@pytest.mark.engines("duckdb")
@pytest.mark.parametrize("by", ["values", "levels", "cells"])
def test_a_column_that_is_kept_is_in_the_headline(store: Store, by: str) -> None:
    store.table(
        "people", {"number": "INTEGER", "Ill": "VARCHAR", "age": "INTEGER"}, [(n, "no", n % 9) for n in range(90)]
    )
    given = {"k": 2, "by": by, "sensitive": "ill", "entity": "row"}
    kept = qidsql.protect(store.url, "people", keep="NUMBER", into="copy", **given)
    assert "; number is copied unchanged, and nobody measured who is found by that" in kept.reason
    without = qidsql.protect(store.url, "people", identifiers="number", into="other", **given)
    assert without.target and "copied unchanged" not in without.reason


@pytest.mark.engines("duckdb")
@pytest.mark.parametrize("case", [(1, 4, 3), (2, 3, 3)])
def test_nearly_determined_cells_are_counted_too(store: Store, case: tuple[int, int, int]) -> None:
    """One school in 19 that is another one leaves less than a tenth of the doubt of all rows, which is 0.8; 2 in 20 do
    not."""
    odd, cells, certain = case
    pupils(store, odd)
    found = qidsql.protect(store.url, "pupils", k=2, keep="years", sql="view", by="cells", against="released-rows")
    shown = [(each.of, each.cells, each.certain) for each in found.given_back or ()]
    assert ("school", cells, certain) in shown


@pytest.mark.engines("duckdb")
def test_columns_that_give_cells_back_together(store: Store) -> None:
    """Neither of them tells the school, but both do: it is the sum of their numbers, of four."""
    rows = [(GRADES[(n // 4 + n) % 4], n % 4, n // 4 % 4, "f" if n % 3 else "m") for n in range(160)]
    rows += [(GRADES[(n // 4 + n) % 4], n % 4, n // 4, "x") for n in range(16)]
    store.table("pupils", {"school": "VARCHAR", "tens": "INTEGER", "ones": "INTEGER", "sex": "VARCHAR"}, rows)
    found = qidsql.protect(
        store.url, "pupils", k=5, keep=["tens", "ones"], into="copy", by="cells", against="released-rows"
    )
    given = {(each.column, each.cells == each.blank > 0) for each in found.given_back or () if each.of == "school"}
    assert given == {("tens, ones", True)}
    assert "tens, ones together give back" in found.reason


@pytest.mark.engines("sqlite", SAIL)
def test_cells_that_a_printed_view_gives_back(store: Store) -> None:
    pupils(store)
    found = qidsql.protect(store.url, "pupils", k=2, keep="years", sql="view", by="cells", against="released-rows")
    assert [(each.column, each.cells) for each in found.given_back or () if each.of == "school"] == [("years", 4)]
    assert "the printed statement carries it out, but years gives back 4 of 4" in found.reason


@pytest.mark.engines("duckdb")
def test_without_unprotected_columns_the_headline_stands(store: Store) -> None:
    pupils(store)
    found = qidsql.protect(store.url, "pupils", k=2, into="copy", by="cells", against="released-rows")
    assert found.given_back == ()
    assert found.reason.endswith("copy was written, and each row of it matches 1 other")
    kept = qidsql.protect(store.url, "pupils", k=2, keep="sex", into="other", by="cells", against="released-rows")
    assert "matches 1 other on the 2 protected columns" in kept.reason


@pytest.mark.engines("duckdb")
def test_a_kept_column_has_one_role(store: Store) -> None:
    pupils(store)
    for options in ({"identifiers": "sex"}, {"columns": ("sex", "school")}):
        with pytest.raises(UsageError, match="keep sex: "):
            qidsql.protect(store.url, "pupils", keep="sex", into="copy", **options, by="cells")
    with pytest.raises(UnknownName):
        qidsql.protect(store.url, "pupils", keep="none_such", by="cells")
    found = qidsql.protect(store.url, "pupils", k=2, keep="years", turns="drop=sex", into="copy", by="turns")
    assert found.copied == ("school", "years")


@pytest.mark.engines("duckdb")
def test_an_order_that_is_kept_is_said(store: Store) -> None:
    pupils(store)
    for verb, options in (("matching", ("--sql", "update")), ("columns", ("--violates", "2"))):
        told = inside(*words(verb), store.url, "pupils", *options)
        assert "order" in told.out.partition("To carry it out")[2].partition("\n")[0]
