"""What a scan finds in cells, against definitions written again; each line of a checklist met, and missed by a row."""

import hashlib
import ipaddress
import random
import string
from collections.abc import Sequence
from datetime import date
from functools import cache
from typing import Any

import duckdb
import pytest

from qidsql import connect
from qidsql.checklists.contents import THINGS, ScannedColumn, ScannedTable, scanned
from qidsql.core.tables import Column, Table, TableName
from qidsql.engines.duckdb.dialect import DUCKDB
from qidsql.sql.contents import column_contents
from tests.exhaustive import always
from tests.stores import Store


def luhn(digits: str) -> bool:
    total = 0
    for place, digit in enumerate(reversed(digits)):
        doubled = int(digit) * (2 if place % 2 else 1)
        total += doubled - 9 if doubled > 9 else doubled
    return total % 10 == 0


def iban(text: str) -> bool:
    moved = text[4:] + text[:4]
    return int("".join(str(int(sign, 36)) for sign in moved)) % 97 == 1


def is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return "%" not in text


def card(draw: random.Random) -> str:
    digits = "".join(draw.choices(string.digits, k=draw.randint(12, 18)))
    return digits + next(d for d in string.digits if luhn(digits + d))


def account(draw: random.Random) -> str:
    rest = "".join(draw.choices(string.digits + string.ascii_uppercase, k=draw.randint(11, 30)))
    digits = "".join(str(int(sign, 36)) for sign in f"{rest}DE00")
    return f"DE{98 - int(digits) % 97:02}{rest}"


@cache
def memory() -> duckdb.DuckDBPyConnection:
    return duckdb.connect()


def counted(values: Sequence[object], column: str = "c", type_name: str = "VARCHAR") -> dict[str, int]:
    """The counts of a column of DuckDB with these values."""
    memory().execute(f"CREATE OR REPLACE TABLE t AS SELECT unnest($1::{type_name}[]) AS {column}", [list(values)])
    table = Table(TableName("t"), "table", (Column(column, type_name),))
    statement = column_contents(DUCKDB, table, table.columns[0], 1937)
    return dict(statement.read(memory().execute(statement.sql).fetchall()))


@pytest.mark.parametrize("number", always(500, longer=[200_000]))
def test_check_digits_and_addresses_as_defined(number: int) -> None:
    draw = random.Random(39)
    cards = [card(draw) if draw.random() < 0.5 else str(draw.randrange(10**12, 10**19)) for _ in range(number)]
    found = counted(cards)
    assert found["cards_like"] == number
    assert found["cards"] == sum(map(luhn, cards))
    accounts = [account(draw) for _ in range(number // 20)]
    wrong = [text[:2] + f"{draw.randrange(100):02}" + text[4:] for text in accounts]
    assert counted([*accounts, *wrong])["ibans"] == sum(map(iban, [*accounts, *wrong]))
    addresses = [drawn_address(draw) for _ in range(number)]
    assert counted(addresses)["ips"] == sum(map(is_ip, addresses))
    assert 0.2 * number < sum(map(is_ip, addresses)) < 0.9 * number


def drawn_address(draw: random.Random) -> str:
    """An address, or one with too many or too large parts, of both versions."""
    if draw.random() < 0.4:
        parts = [str(draw.randrange(280)) for _ in range(draw.choice((4, 4, 4, 5)))]
        return ".".join(["0" * (draw.random() < 0.1) + parts[0], *parts[1:]])
    groups = [f"{draw.randrange(65536):{draw.choice('xX')}}" for _ in range(draw.choice((1, 2, 5, 6, 7, 8, 8, 8, 9)))]
    if draw.random() < 0.6:
        groups.insert(draw.randint(0, len(groups)), "")
        if groups[0] == "":
            groups.insert(0, "")
        if groups[-1] == "":
            groups.append("")
    if draw.random() < 0.15:
        groups[-1] = "1.2.3.4" if groups[-1] else ""
    return ":".join(groups)


TWENTY = [f"{n}" for n in range(20)]
HIT = {  # of each thing: a column's name, harmless values, and one that is the thing
    "places": ("city", ["x"] * 3, "x"),
    "zip codes": ("zip", ["537"] * 20, "53703"),
    "sparse zip codes": ("zip", ["537"] * 20, "036"),
    "dates": ("c", ["2020", "2020-01-01"] * 10, "2020-01-02"),
    "dates in words": ("c", ["x"] * 20, "seen on 3 March 2020"),
    "dates of Germany": ("c", ["1.2.3"] * 20, "31.12.2020"),
    "ages": ("age", ["89", "7", "90+"] * 7, "91"),
    "birth years": ("birth_year", ["1937", "2001"] * 10, "1936"),
    "birth years in bands": ("birth_year", ["[1940, 1950)", "<1940"] * 10, "[1930, 1940)"),
    "e-mail addresses": ("c", ["x@y", "@z.de"] * 10, "write to a.b@example.org, please"),
    "account numbers": ("c", ["DE44500105175407324932"] * 20, "GB82 WEST 1234 5698 7654 32"),
    "web addresses": ("c", ["wwwx"] * 20, "see www.example.org/x"),
    "images": ("c", ["image"] * 20, "/scans/7.JPG"),
}


DATES = ("2020-01-02", "seen on 3 March 2020", "31.12.2020")


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", always(*list(HIT)[::3], longer=[each for each in HIT if each not in list(HIT)[::3]]))
def test_one_value_is_found(case: str) -> None:
    name, harmless, hit = HIT[case]
    others = {"sparse zip codes": "zip codes", "birth years in bands": "birth years"}
    thing = others.get(case, "dates" if HIT[case][2] in DATES else case)
    clean = "state" if case == "places" else name
    assert sought(harmless, clean, thing) == ([], [])
    found, _ = sought([*harmless, hit], name, thing)
    assert len(found) == 1 and name in found[0]
    assert hit not in found[0] or len(hit) < 5


def scan(values: Sequence[Any], name: str, type_name: str = "VARCHAR") -> ScannedTable:
    return ScannedTable(len(values), (ScannedColumn.of_name(name, counted(values, name, type_name)),))


def sought(values: Sequence[Any], name: str, thing: str, type_name: str = "VARCHAR") -> tuple[list[str], list[str]]:
    found = scan(values, name, type_name).sought(thing)
    return found.found, found.possible


LIKE = [
    ("telephone numbers", "+49 30 123456"),
    ("IP addresses", "10.0.0.1"),
    ("vehicles and devices", "1M8GDM9AXKP042788"),
    ("vehicles and devices", "00:1A:2b:3C:4D:5E"),
    ("personal numbers", "123-45-6789"),
    ("hashes", hashlib.sha256(b"x").hexdigest()),
    ("hashes", "123e4567-e89b-12d3-a456-426614174000"),
    ("dates", "20200102"),
    ("dates", "202012"),
    ("dates", "2020-W05"),
]


@pytest.mark.parametrize("like", always(LIKE[0], longer=LIKE[1:]), ids=lambda pair: pair[0])
def test_most_values_decide_and_fewer_are_for_a_person(like: tuple[str, str]) -> None:
    thing, value = like
    for rows, expected in ((17, (1, 0)), (16, (0, 1)), (0, (0, 0))):
        found = sought([value] * rows + ["12"] * (20 - rows), "c", thing)
        assert tuple(map(len, found)) == expected


@pytest.mark.exhaustive
def test_check_digits_decide_beyond_chance() -> None:
    draw = random.Random(1)
    cards = [card(draw) for _ in range(100)]
    chance = [str(draw.randrange(10**15, 10**16)) for _ in range(1000)]
    wrong = [text for text in chance if not luhn(text)]
    for values, expected in (
        (cards[:18] + wrong[:2], (1, 0)),
        (cards[:17] + wrong[:3], (0, 1)),
        (cards[:1], (0, 1)),
        (chance, (0, 0)),
        (chance + cards, (0, 1)),
    ):
        assert tuple(map(len, sought(values, "c", "account numbers"))) == expected


HONEST = [
    ["10000-19999", "20000-29999"] * 10,
    ["2010/2011", "2011/2012"] * 10,
    ["120/80", "135/85"] * 10,
    ["01000-01999"] * 20,
    ["[30, 40)", "[40, 50)"] * 10,
    ["12.5", "1,234.50", "-7"] * 10,
    ["F32.1", "M54.5"] * 10,
    ["53703", "53706"] * 10,
    ["HS-grad", "Some-college", "Prof-school"] * 10,
]


@pytest.mark.parametrize("values", always(*HONEST[::4], longer=[each for each in HONEST if each not in HONEST[::4]]))
def test_honest_columns_hold_nothing(values: list[str]) -> None:
    table = scan(values, "c")
    found = {thing: table.sought(thing) for thing in THINGS}
    assert {thing: each for thing, each in found.items() if each.found or each.possible} == {}


@pytest.mark.exhaustive
def test_whole_numbers_are_found_in_columns_of_floats() -> None:
    """As pandas writes numbers with an empty cell among them: 36.0."""
    for name, thing, number in (
        ("zip", "zip codes", 36.0),
        ("c", "dates", 20200102.0),
        ("c", "account numbers", 4111111111111111.0),
        ("age", "ages", 91.0),
    ):
        assert len(sought([number] * 20, name, thing, "DOUBLE")[0]) == 1
    assert sought([537.0] * 20, "zip", "zip codes", "DOUBLE") == ([], [])


def test_dates_by_type_and_bytes() -> None:
    years = [date(1990, 1, 1), date(2000, 1, 1)]
    assert sought(years, "d", "dates", "DATE") == ([], [])
    assert len(sought([*years, date(2000, 1, 2)], "d", "dates", "DATE")[0]) == 1
    assert sought(years, "birth_date", "birth years", "DATE") == ([], [])
    assert len(sought([*years, date(1936, 1, 1)], "birth_date", "birth years", "DATE")[0]) == 1
    assert len(sought([b"\xff\xd8\xff\xe0"], "b", "images", "BLOB")[0]) == 1
    assert len(sought([b"abc"], "b", "images", "BLOB")[1]) == 1


@pytest.mark.exhaustive
def test_unique_values_and_texts_are_for_a_person() -> None:
    assert len(sought(["89", "90"], "age", "ages")[1]) == 1
    assert len(sought(["SW1A 1AA", "x"], "c", "zip codes")[1]) == 1
    assert len(sought(["call 555-123-4567"], "c", "telephone numbers")[1]) == 1
    assert len(sought(["[85, 95)", "7"], "age", "ages")[1]) == 1
    assert sought(["[80, 90)", "85+", "10.95"], "age", "ages") == ([], [])
    assert len(sought(["x", "a b\tc d\ne f"], "c", "free text")[1]) == 1
    for text in ("Karte 4111 1111 1111 1111", "an DE44500105175407324931"):
        assert len(sought(["x", text], "c", "account numbers")[1]) == 1
    assert sought(["0.1234567890123456", "2020-01-02 10:11:12"], "c", "account numbers") == ([], [])
    assert len(sought([18262, 18263], "birth_date", "dates", "INTEGER")[1]) == 1
    assert sought([18262, 18263], "income", "dates", "INTEGER") == ([], [])
    assert len(sought([" \n+49 30 123456\t"], "c", "telephone numbers")[0]) == 1
    assert len(sought(TWENTY, "c", "unique values")[1]) == 1
    assert sought([*TWENTY[:19], "0"], "c", "unique values") == ([], [])
    assert len(sought(["x", "a b c d e f"], "c", "free text")[1]) == 1
    assert sought(["x", "a b c d e"], "c", "free text") == ([], [])


@pytest.mark.exhaustive
def test_both_engines_count_the_same(store: Store) -> None:
    draw = random.Random(7)
    texts = [each[2] for each in HIT.values()] + [text for each in HIT.values() for text in each[1][:2]]
    texts += [drawn_address(draw) for _ in range(40)] + [card(draw) for _ in range(5)] + [account(draw), None, "", " x"]
    store.table("cells", {"c": "TEXT", "n": "BIGINT", "d": "DATE"}, [(each, 7, date(2020, 2, 2)) for each in texts])
    with connect(store.url) as engine:
        found = scanned(engine, engine.describe("cells"), 2026)
    assert found.columns[0].counts == counted(texts)
    assert found.columns[1].counts["filled"] == found.columns[2].counts["days"] == len(texts)


@pytest.mark.exhaustive
def test_names_of_columns_are_corrected_by_counts() -> None:
    many = [f"v{n}" for n in range(21)]
    for name, thing in (("surname", "names"), ("mobile", "telephone numbers"), ("mrn", "personal numbers")):
        assert len(sought(many, name, thing)[0]) == 1
        assert len(sought(many[:20], name, thing)[1]) == 1
        assert sought([None], name, thing) == ([], [])
    assert len(sought(many, "comment", "free text")[1]) == 1
