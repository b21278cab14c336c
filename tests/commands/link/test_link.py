"""`qidsql link`: who is singled out by a join of two tables, against brute force, and its verdicts."""

import json
import random
import re
from fractions import Fraction
from pathlib import Path

import pytest

import qidsql as package
from qidsql.commands.link.link import Join, LinkResult
from qidsql.core.results import Verdict
from qidsql.errors import AccessError, UnknownName, UsageError
from tests.commandline import inside
from tests.exhaustive import always
from tests.linkage.test_containment import HOSTILE, clinic
from tests.stores import EVERY_ENGINE, ONE_ENGINE, DuckDBStore, PostgresStore, Store, quoted

Row = tuple[object, ...]


def linked(store: Store, left: str = "a", right: str = "b", **options: object) -> LinkResult:
    with store.connect() as engine:
        return package.link(engine, left, right, **options)  # type: ignore[arg-type]


def pairs(join: Join) -> tuple[tuple[str, str], ...]:
    return tuple((each.left, each.right) for each in join.columns)


def matches_of(rows: list[Row], others: list[Row], k: int) -> tuple[int, ...]:
    """The counts by their definition: a row matches the rows that equal it, where none of the two has a NULL."""
    found = [0 if None in row else sum(row == other for other in others) for row in rows]
    return (
        len(rows),
        sum(None in row for row in rows),
        sum(number == 0 for number in found),
        sum(number == 1 for number in found),
        sum(1 <= number < k for number in found),
    )


@pytest.mark.parametrize("seed", always(0, 1, longer=range(2, 5)))
def test_matches_are_those_of_the_definition(store: Store, seed: int) -> None:
    chance = random.Random(seed)

    def rows(number: int) -> list[Row]:
        return [(chance.choice([None, 1, 2, 3, 4]), chance.choice([None, "x", "y", "Y"])) for _ in range(number)]

    left, right = rows(chance.choice([1, 30])), rows(chance.choice([1, 25]))
    store.table("a", {"n": "INTEGER", "t": "VARCHAR"}, left)
    store.table("b", {"code": "VARCHAR(3)", "n": "DECIMAL(5, 1)"}, [(t, n) for n, t in right])
    with store.connect() as engine:
        links = [(k, package.link(engine, "a", "b", on=["n=n", "t=code"], k=k).link) for k in (2, 3, 6)]
    for k, found in links:
        assert found is not None and pairs(found) == (("n", "n"), ("t", "code"))
        for side, own, others in ((found.left, left, right), (found.right, right, left)):
            counts = (side.rows, side.with_null, side.matching_none, side.matching_one, side.matching_below_k)
            assert counts == matches_of(own, others, k)
            assert side.matching_none + side.matching_one + side.matching_several == side.rows
        alone = [row for row in left if None not in row and left.count(row) == right.count(row) == 1]
        assert found.singled_out == len(alone)


@pytest.mark.exhaustive
def test_the_joinable_columns_are_found_and_joined_on(store: Store) -> None:
    clinic(store)
    result = linked(store, "patients", "voters")
    assert result.link is not None
    assert set(pairs(result.link)) == {("birth_date", "dob"), ("zip_code", "postcode"), ("sex", "sex")}
    assert result.link.right.matching_none == 0, "every voter is a patient"
    assert result.verdict is Verdict.VIOLATION
    assert f"{result.link.left.matching_below_k} of 900 rows" in result.reason
    assert "mrn is not compared: proposed as direct identifier" in "\n".join(result.account.notes)
    assert result.account.statements <= 8


def test_a_shared_key_is_withheld_and_not_blanked(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("person,zip\n" + "".join(f"p{n},{n % 3}\n" for n in range(40)))
    (tmp_path / "stays.csv").write_text("person,ward\n" + "".join(f"p{n % 30},w{n % 7}\n" for n in range(60)))
    shown = inside("link", tmp_path, "people", "stays", "--k", "5", "--on", "person=person").out
    assert "Next: withhold person," in shown
    assert "qidsql suppress" not in shown
    other = inside("link", tmp_path, "people", "stays", "--k", "5", "--on", "zip=ward").out
    assert "withhold" not in other
    page = inside("link", tmp_path, "people", "stays", "--k", "5", "--on", "zip=ward", "--format", "markdown").out
    assert "main.people and main.stays" in page.splitlines()[0].replace("\\", "")
    assert "k = 5: a row of main.people is singled out if it matches 1 to 4 rows of main.stays" in page


def test_one_column_is_joined_with_one(store: Store) -> None:
    codes = [(f"code {number}",) for number in range(40)]
    store.table("a", {"code": "VARCHAR"}, codes)
    store.table("b", {"other": "VARCHAR", "code": "VARCHAR"}, [(code, code) for (code,) in codes])
    found = linked(store).link
    assert found is not None and pairs(found) == (("code", "code"),)


def test_a_condition_limits_the_rows_of_the_first_table(store: Store) -> None:
    store.table("a", {"n": "INTEGER", "kept": "INTEGER"}, [(1, 1), (1, 0), (2, 1), (3, 0)])
    store.table("b", {"n": "INTEGER"}, [(1,), (3,), (3,)])
    found = linked(store, on="n=n", where="kept = 1").link
    assert found is not None
    assert (found.left.rows, found.left.matching_one, found.left.matching_none, found.singled_out) == (2, 1, 1, 1)
    with pytest.raises(UnknownName, match="keep"):
        linked(store, on="n=n", where="keep = 1")


@pytest.mark.exhaustive
@ONE_ENGINE
def test_verdicts(store: Store) -> None:
    store.table("a", {"n": "INTEGER"}, [(number // 2,) for number in range(10)] + [(99,)])
    store.table("b", {"n": "INTEGER"}, [(0,), (1,), (1,), (2,), (2,), (2,)])
    store.table("empty", {"n": "INTEGER"}, [])
    store.table("texts", {"word": "VARCHAR"}, [("x",)])
    few = linked(store, on="n=n")
    assert few.verdict is Verdict.VIOLATION and "2 of 11 rows" in few.reason
    assert linked(store, on="n=n", rows_below_k="20%").verdict is Verdict.PASS
    assert linked(store, on="n=n", rows_below_k=Fraction(2, 11)).verdict is Verdict.VIOLATION
    assert linked(store, on="n=n", k=3).link.left.matching_below_k == 4  # type: ignore[union-attr]
    assert linked(store, "empty", "a", on="n=n").verdict is Verdict.INCONCLUSIVE
    assert linked(store, "b", "a", k=3).verdict is Verdict.VIOLATION, "names agree"


@pytest.mark.exhaustive
@ONE_ENGINE
def test_where_nothing_was_compared_there_is_no_pass(store: Store) -> None:
    store.table("a", {"n": "INTEGER", "word": "VARCHAR"}, [(number, None) for number in range(30)])
    store.table("empty", {"n": "INTEGER"}, [])
    store.table("nulls", {"n": "INTEGER", "word": "VARCHAR"}, [(None, "x"), (None, "y")])
    store.table("texts", {"word": "VARCHAR"}, [("x",)])
    store.table("others", {"m": "INTEGER"}, [(9999,), (99999,)])
    for left, right, on, words in (
        ("a", "empty", (), "empty has no value in the columns"),
        ("nulls", "a", (), "nulls and .*a? ?has no value|one of them has no value"),
        ("a", "texts", (), "a has no value"),
        ("texts", "empty", (), "no columns of one kind"),
        ("a", "nulls", "n=n", r"each row of \S*nulls has a NULL in the joined columns \(n\)"),
        ("nulls", "a", "n=n", r"each row of \S*nulls has a NULL"),
    ):
        with store.connect() as engine:
            for k in (2, 5):
                result = package.link(engine, left, right, on=on, k=k)
                assert result.verdict is Verdict.INCONCLUSIVE, (left, right)
                assert re.search(words, result.reason), result.reason
    assert linked(store, "a", "others").verdict is Verdict.PASS


@EVERY_ENGINE
def test_columns_named_twice_are_joined_once(store: Store) -> None:
    for table in "ab":
        store.table(table, {"n": "INTEGER", "m": "INTEGER"}, [(1, 2), (3, 4)])
    found = linked(store, on=["n=n", "N = n", "n=m", "n=n"]).link
    assert found is not None and pairs(found) == (("n", "n"), ("n", "m"))


def test_texts_and_numbers_are_joined_as_numbers(store: Store) -> None:
    zips = [("01234", "a"), ("97201", "b"), ("97201", "c"), ("x", "d"), (None, "e")]
    store.table("a", {"zip": "VARCHAR", "word": "VARCHAR"}, zips)
    store.table("b", {"postcode": "INTEGER"}, [(1234,), (97201,), (4,)])
    for on in ("zip=postcode", "zip = POSTCODE"):
        found = linked(store, on=on).link
        assert found is not None
        assert (found.left.rows, found.left.matching_one, found.left.matching_none) == (5, 3, 2)
        assert (
            found.right.rows,
            found.right.matching_one,
            found.right.matching_several,
            found.right.matching_none,
        ) == (3, 1, 1, 1)
    other_way = linked(store, "b", "a", on="postcode=zip").link
    assert other_way is not None and (other_way.left.matching_one, other_way.right.matching_one) == (1, 3)
    nothing = linked(store, on="word=postcode")
    assert nothing.verdict is Verdict.INCONCLUSIVE and "each row" in nothing.reason


def test_what_is_contained_by_accident_is_no_pass(store: Store) -> None:
    store.table("a", {"quantity": "INTEGER"}, [(number % 30,) for number in range(60)])
    store.table("b", {"age": "INTEGER"}, [(number,) for number in range(60)])
    result = linked(store)
    assert result.verdict is Verdict.INCONCLUSIVE and "--on a=b" in result.reason
    [found] = result.columns_compared
    assert found.left_in_right == 1 and not found.joinable and "by accident" in found.ground


@pytest.mark.exhaustive
@ONE_ENGINE
def test_columns_that_might_single_out_more_are_no_pass(store: Store) -> None:
    people = [(f"z{number % 30}", "fm"[number // 30 % 2], number) for number in range(60)]
    store.table("a", {"zip": "VARCHAR", "sex": "VARCHAR", "a_no": "INTEGER"}, people)
    store.table(
        "b", {"postcode": "VARCHAR", "gender": "VARCHAR", "b_no": "INTEGER"}, [(z, s, n + 900) for z, s, n in people]
    )
    store.table("c", {"zip": "VARCHAR", "tags": "JSON"}, [(each[0], "{}") for each in people])
    store.table("d", {"zip": "VARCHAR"}, [each[:1] for each in people])
    store.table("e", {"word": "VARCHAR", "tags": "JSON"}, [("x", "{}")])
    codes = linked(store)
    assert codes.link is not None and codes.link.left.matching_below_k == 0
    assert codes.verdict is Verdict.INCONCLUSIVE and "1 pair of columns not taken" in codes.reason
    assert linked(store, on=["zip=postcode", "sex=gender"]).verdict is Verdict.VIOLATION
    assert linked(store, on="zip=postcode").verdict is Verdict.PASS, "a person said which"
    for other in ("c", "e"):
        closed = linked(store, "d", other)
        assert closed.verdict is Verdict.INCONCLUSIVE and "tags" in closed.reason
    assert linked(store, "a", "d").verdict is Verdict.INCONCLUSIVE, "a_no may be published too"
    assert linked(store, "a", "d", identifiers="a_no").verdict is Verdict.PASS


@pytest.mark.exhaustive
def test_a_spent_budget_is_inconclusive(store: Store) -> None:
    clinic(store)
    for budget in (1, 2, 3):
        result = linked(store, "patients", "voters", max_statements=budget)
        assert result.account.statements <= budget
        assert result.verdict is Verdict.INCONCLUSIVE and result.account.unfinished
    assert linked(store, "patients", "voters", max_seconds=1e-9).verdict is Verdict.INCONCLUSIVE


@pytest.mark.exhaustive
def test_any_names(store: Store) -> None:
    for place, name in enumerate(HOSTILE):
        for table in (name, f"{name}2"):
            store.execute(f"CREATE TABLE {quoted(table)} ({quoted(name)} INTEGER, {quoted(name + '=')} VARCHAR)")
            store.execute(f"INSERT INTO {quoted(table)} VALUES (1, 'x'), (2, NULL)")
        with store.connect() as engine:
            full = [str(each) for each in engine.table_names() if each.name in (name, f"{name}2")]
            result = package.link(engine, *sorted(full, key=len), on=[f"{name}=={name}=", f"{name}={name}"])
        assert result.link is not None, place
        assert pairs(result.link) == ((f"{name}=", f"{name}="), (name, name))
        assert result.link.singled_out == 1


def test_bad_input(store: Store) -> None:
    store.table("a", {"number": "INTEGER", "zip": "VARCHAR"}, [])
    store.table("b", {"number": "INTEGER", "zip_code": "VARCHAR", "born": "DATE"}, [])
    for on, error, words in (
        ("zip", UsageError, "on must be a pair of columns"),
        ("zap=zip_code", UnknownName, "did you mean zip"),
        ("zip=zip_cod", UnknownName, "did you mean zip_code"),
        ("number=born", UsageError, "cannot be compared"),
    ):
        with pytest.raises(error, match=words):
            linked(store, on=on)
    with pytest.raises(UsageError, match="named twice"):
        linked(store, "a", "A")
    with pytest.raises(UnknownName):
        linked(store, "a", "nowhere")
    with pytest.raises(UsageError, match="at least 2"):
        linked(store, k=1)


def test_a_closed_table_is_an_error_and_closed_columns_are_said(postgres_store: PostgresStore, reader: str) -> None:
    for table in ("a", "b", "c"):
        postgres_store.table(table, {"zip": "TEXT", "secret": "TEXT"}, [(f"z{n}", f"s{n}") for n in range(30)])
    postgres_store.execute(f"GRANT SELECT ON a TO {reader}")
    postgres_store.execute(f"GRANT SELECT (zip) ON b TO {reader}")
    with postgres_store.connect_as(reader) as engine:
        result = package.link(engine, "a", "b")
        assert result.link is not None and pairs(result.link) == (("zip", "zip"),)
        assert any("not readable" in note and "secret" in note for note in result.account.notes)
        with pytest.raises(AccessError, match="GRANT SELECT"):
            package.link(engine, "a", "c")


@pytest.mark.exhaustive
def test_the_command(duckdb_store: DuckDBStore) -> None:
    clinic(duckdb_store)
    url = duckdb_store.url
    outcome = inside("link", url, "patients", "voters")
    assert outcome.code == 1
    for words in ("VIOLATION", "birth_date = dob", "compared as dates", "exactly one", "no cell value left the engine"):
        assert words in outcome.out
    told = json.loads(inside("link", url, "patients", "voters", "--format", "json").out)
    assert told["verdict"] == "violation" and told["statements"] > 0
    assert {pair["left"] for pair in told["link"]["columns"]} == {"birth_date", "zip_code", "sex"}
    assert inside("link", url, "patients", "voters", "--on", "sex=sex").code == 0
    assert inside("link", url, "patients", "nowhere").code == 2
    assert inside("link", url, "patients", "voters", "--max-statements", "1").code == 3
    plan = inside("link", url, "patients", "voters", "--dry-run")
    assert plan.code == 0 and "MIN(" in plan.out.upper() and "Only the catalog was queried" in plan.out
    shown = inside("link", url, "patients", "voters", "--on", "sex=sex", "--show-sql")
    assert "GROUP BY" in shown.err


def test_a_pass_tells_of_the_other_way_round(duckdb_store: DuckDBStore) -> None:
    """One row of the list fits many records: nobody on it is singled out, but each of those records is."""
    duckdb_store.table("list", {"zip": "INTEGER"}, [(9000 + 7 * number,) for number in range(30)])
    duckdb_store.table("records", {"postcode": "VARCHAR"}, [(str(9000 + 7 * (n % 60)),) for n in range(240)])
    outcome = inside("link", duckdb_store.url, "list", "records", "--on", "zip=postcode")
    assert outcome.code == 0
    assert "main.records main.list --on postcode=zip  # the other direction: 120 rows of main.records" in outcome.out
    other = inside("link", duckdb_store.url, "records", "list", "--on", "postcode=zip")
    assert other.code == 1 and "120 of 240 rows" in other.out and "other direction" not in other.out


@pytest.mark.exhaustive
def test_no_value_is_told(duckdb_store: DuckDBStore) -> None:
    rows = [(f"cnry{number}", 770_000_000_001 + 7919 * number) for number in range(40)]
    for table in ("one", "two"):
        duckdb_store.table(table, {"text_of": "VARCHAR", "number_of": "BIGINT"}, rows)
    for options in ([], ["--format", "json"], ["--show-sql"], ["--on", "text_of=text_of"], ["--dry-run"]):
        outcome = inside("link", duckdb_store.url, "one", "two", *options)
        assert outcome.code in (0, 1)
        assert "cnry" not in outcome.out + outcome.err and "77000" not in outcome.out + outcome.err
