"""Containment between columns of different tables: counts against brute force, the rule, the search and its budget."""

import itertools
import random
import re
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from fractions import Fraction
from math import comb

import pytest

from qidsql.core.tables import Attribute, Catalog, Ground, TableName, ValueKind
from qidsql.engines.base import Engine
from qidsql.linkage import containment
from qidsql.linkage.containment import ContainmentSearch, enough
from qidsql.linkage.joinable import Containment, joinable, names_agree
from qidsql.linkage.lineage import Linkage, same_attributes
from qidsql.sql.values_in_common import ComparedColumn, GroupMember, Overlap, sampled_in_common, values_in_common
from tests.exhaustive import always, first
from tests.stores import ONE_ENGINE, PostgresStore, Store, quoted

HOSTILE = ['a"b', "semi;colon", "per%cent %s", "$1 :name ?", "Ünïcode 名", "select", " blank ", "--", "new\nline"]


def catalog_of(engine: Engine, store: Store) -> Catalog:
    return engine.catalog("main" if store.name == "duckdb" else store.schema)  # type: ignore[attr-defined]


def compared(catalog: Catalog, engine: Engine, column: str, kind: ValueKind) -> ComparedColumn:
    attribute = catalog.attribute(column)
    return containment.compared_column(attribute, kind, engine.dialect)


def linked(store: Store, **options: object) -> Linkage:
    with store.connect() as engine:
        return linked_by(engine, store, **options)


def linked_by(engine: Engine, store: Store, **options: object) -> Linkage:
    return same_attributes(engine, catalog_of(engine, store), **options)  # type: ignore[arg-type]


def pairs(found: Linkage, ground: Ground = Ground.CONTAINMENT) -> set[frozenset[str]]:
    return {
        frozenset((f"{j.left.table.name}.{j.left.column}", f"{j.right.table.name}.{j.right.column}"))
        for j in found.same_attributes
        if j.ground is ground
    }


def parts(joined: Iterable[frozenset[str]]) -> set[frozenset[str]]:
    """What is one when these pairs are, by the definition: sets grow while two of them meet."""
    found: set[frozenset[str]] = set()
    for pair in joined:
        meeting = {part for part in found if part & pair}
        found = (found - meeting) | {pair.union(*meeting)}
    return found


def draw(kind: str, chance: random.Random) -> object:
    if chance.random() < 0.15:
        return None
    number = chance.randrange(-6, 30)
    return {
        "INTEGER": number,
        "BIGINT": number * 10**12,
        "VARCHAR": chance.choice(["a", "A", "a ", "", "ä", "b'", '"', "NULL"]) + str(number % 4),
        "DATE": date(2000, 1, 28) + timedelta(days=number),
        "DECIMAL(12, 3)": number / 4,
        "DOUBLE PRECISION": number / 8,
    }[kind]


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", always(0, 1, longer=range(2, 6)))
def test_values_in_common_are_those_of_the_definition(store: Store, seed: int) -> None:
    chance = random.Random(seed)
    kinds = {
        "INTEGER": ValueKind.WHOLE,
        "BIGINT": ValueKind.WHOLE,
        "VARCHAR": ValueKind.TEXT,
        "DATE": ValueKind.DATE,
        "DECIMAL(12, 3)": ValueKind.DECIMAL,
        "DOUBLE PRECISION": ValueKind.FLOAT,
    }
    contents: dict[str, list[list[object]]] = {kind: [] for kind in kinds}
    for table in range(3):
        rows = [[draw(kind, chance) for kind in kinds] for _ in range(chance.choice([0, 3, 40, 90]))]
        store.table(f"t{table}", {f"c{place}": kind for place, kind in enumerate(kinds)}, rows)
        for place, kind in enumerate(kinds):
            contents[kind].append([row[place] for row in rows])
    with store.connect() as engine:
        catalog = catalog_of(engine, store)
        for place, (name, kind) in enumerate(kinds.items()):
            columns = [compared(catalog, engine, f"t{table}.c{place}", kind) for table in range(3)]
            values = [set(column) - {None} for column in contents[name]]
            both_ways = [(0, 1), (2, 0), (1, 2), (2, 1)]
            found = engine.run(values_in_common(engine.dialect, columns, both_ways))
            for (one, other), each in found.items():
                expected = (len(values[one]), len(values[other]), len(values[one] & values[other]))
                assert (each.left, each.right, each.common) == expected, (name, one, other)
            assert list(found) == both_ways
            whole = [GroupMember(number, 0, column, 1) for number, column in enumerate(columns)]
            sampled = engine.run(sampled_in_common(engine.dialect, whole, whole))
            assert sampled.sizes == {number: len(each) for number, each in enumerate(values) if each}
            pairs_of = itertools.permutations(range(3), 2)
            commons = {(one, other): len(values[one] & values[other]) for one, other in pairs_of}
            assert sampled.found_in == {
                pair: common for pair, common in commons.items() if common and 2 * common >= len(values[pair[0]])
            }


def test_samples_are_looked_for_in_the_whole_of_the_columns_of_their_group(store: Store) -> None:
    texts = [f"value {number}" for number in range(4000)]
    store.table("big", {"v": "VARCHAR", "n": "BIGINT"}, [(text, place) for place, text in enumerate(texts)])
    store.table("part", {"v": "VARCHAR", "n": "NUMERIC(12)"}, [(text, place) for place, text in enumerate(texts[:900])])
    with store.connect() as engine:
        catalog = catalog_of(engine, store)
        for column, kind in (("v", ValueKind.TEXT), ("n", ValueKind.FLOAT)):
            big, part = (compared(catalog, engine, f"{table}.{column}", kind) for table in ("big", "part"))
            smalls = [GroupMember(0, 0, big, 16), GroupMember(1, 0, part, 4), GroupMember(2, 1, part, 4)]
            found = engine.run(sampled_in_common(engine.dialect, smalls, [*smalls[:2], GroupMember(3, 2, big, 1)]))
            of_big, of_part = found.sizes[0], found.sizes[1]
            assert 180 < of_big < 330  # of 4,000 values every 16th: 250, and more than 4 deviations around it
            assert 165 < of_part < 285  # of 900 every 4th
            assert found.found_in[1, 0] == of_part == found.sizes[2], "what is contained is found, all of the sample"
            assert set(found.found_in) == {(1, 0)}, (
                "900 of 4,000 are less than half; the others are in groups of their own"
            )


@pytest.mark.parametrize("size", [0, 1, 5, 16, 100, 255])
def test_a_sample_rules_out_a_contained_column_once_in_100_000_times(size: int) -> None:
    assert enough(size, whole=True) == -(-size * 9 // 10)

    def below(found: int) -> Fraction:
        """How likely fewer are found where 90 % are contained, by the definition of the binomial distribution."""
        chance = Fraction(9, 10)
        return sum((comb(size, n) * chance**n * (1 - chance) ** (size - n) for n in range(found)), Fraction(0))

    least = enough(size, whole=False)
    assert below(least) < Fraction(1, 100_000) <= below(least + 1)


def kinds_of_types(store: Store) -> None:
    numbers = [(number, number, number, number) for number in range(100, 400, 3)]
    exact = "DECIMAL(12, 2)"
    store.table("n1", {"small": "INTEGER", "large": "BIGINT", "exact": exact, "loose": "DOUBLE PRECISION"}, numbers)
    texts = [(str(row[0]), str(row[0])) for row in numbers]
    store.table("t1", {"long_text": "VARCHAR", "short_text": "VARCHAR(10)"}, texts)
    store.table(
        "t2",
        {"number_1": "BIGINT", "number_2": exact, "text_1": "VARCHAR(20)"},
        [(r[0], r[0], str(r[0])) for r in numbers],
    )


def test_numbers_meet_numbers_and_texts_texts_and_texts_of_digits_both(store: Store) -> None:
    kinds_of_types(store)
    store.table("t3", {"words": "VARCHAR"}, [(f"{number} x",) for number in range(100, 400, 3)])
    with store.connect() as engine:
        catalog = catalog_of(engine, store)
        found = ContainmentSearch(engine, catalog.tables, everything=True).run()
    met = [{each.left.column, each.right.column} for each in found.containments if each.common == 100]
    columns = {"n1": ("small", "large", "exact", "loose"), "t1": ("long_text", "short_text")}
    others = [*columns["n1"], *columns["t1"]]
    expected = [{one, other} for one in others for other in ("number_1", "number_2", "text_1")]
    expected += [{one, other} for one in columns["n1"] for other in columns["t1"]]
    assert sorted(map(sorted, met)) == sorted(map(sorted, expected)), "each pair once"
    assert all(each.left_in_right == each.right_in_left == 1 for each in found.containments if each.common)


TEXTS_OF_NUMBERS = [
    "7",
    "07",
    "0",
    "00",
    "+7",
    "-7",
    "7.0",
    " 7",
    "7 ",
    "",
    "٧",
    "x7",
    "1e1",
    "9" * 18,
    "9" * 19,
    "7\n",
    None,
]


@pytest.mark.parametrize("kind", first(["BIGINT", "DECIMAL(20, 2)", "DOUBLE PRECISION"]))
def test_texts_of_digits_are_the_numbers_that_they_are(store: Store, kind: str) -> None:
    chance = random.Random(5)
    texts = [*TEXTS_OF_NUMBERS, *(f"{chance.randrange(3000):0{chance.randrange(1, 7)}}" for _ in range(400))]
    numbers = [*range(0, 3000, 2), 10**17]
    store.table("a", {"t": "VARCHAR"}, [(text,) for text in texts])
    store.table("b", {"n": kind}, [(number,) for number in numbers])
    store.table("c", {"t": "VARCHAR"}, [(f"{text}?",) for text in texts])
    read = {int(text) for text in texts if text is not None and re.fullmatch("[0-9]{1,18}", text, re.ASCII)}
    with store.connect() as engine:
        found = ContainmentSearch(engine, catalog_of(engine, store).tables, everything=True).run().containments
    [both] = [each for each in found if {each.left.column, each.right.column} == {"t", "n"}]
    assert (both.left.table.name, both.left_values, both.right_values) == ("a", len(read), len(numbers))
    assert both.common == len(read & set(numbers))
    assert "of the texts of" in both.ground and "a.t only those of digits" in both.ground


def test_zip_codes_that_a_file_holds_as_numbers(store: Store) -> None:
    """The graph's example: names differ, some texts are errors; house numbers fit by accident, and words do not fit."""
    codes = [f"{97201 + 7 * number}" for number in range(60)]
    rows = [(code, str(number % 40), f"no {number}") for number, code in enumerate([*codes, "?", "unknown"])]
    store.table("patients", {"zip_code": "VARCHAR", "house": "VARCHAR", "remark": "VARCHAR"}, rows)
    store.table("voters", {"postcode": "INTEGER", "age": "INTEGER"}, [(int(code), n) for n, code in enumerate(codes)])
    assert pairs(linked(store)) == {frozenset(("patients.zip_code", "voters.postcode"))}
    found = linked(store, refused=[frozenset(catalog_pair(store, "patients.zip_code", "voters.postcode"))])
    assert pairs(found) == set()


def catalog_pair(store: Store, *columns: str) -> list[Attribute]:
    with store.connect() as engine:
        catalog = catalog_of(engine, store)
    return [catalog.attribute(column) for column in columns]


def test_what_holds_no_value_is_said(store: Store) -> None:
    store.table("a", {"n": "INTEGER", "t": "VARCHAR", "unused": "VARCHAR"}, [(n, f"x{n}", None) for n in range(30)])
    store.table("b", {"n": "INTEGER", "t": "VARCHAR"}, [(n, f"y{n}") for n in range(30)])
    store.table("none", {"n": "INTEGER", "t": "VARCHAR"}, [])
    store.table("nulls", {"n": "INTEGER", "t": "VARCHAR"}, [(None, None)])
    found = linked(store)
    assert {name.name for name in found.silent} == {"none", "nulls"}
    assert found.unfinished == ()
    tables, columns = [note for note in found.notes if note.startswith("not compared")]
    assert re.search(r"since they have no values: \S*none, \S*nulls;", tables)
    assert re.fullmatch(r"not compared, since every row is NULL: \S*a\.unused", columns)
    stopped = linked(store, max_statements=0)
    assert stopped.silent == frozenset() and stopped.unfinished, "what was not looked at is not empty"


def test_numbers_are_compared_exactly_where_a_float_could_not(store: Store) -> None:
    big = 2**53
    store.table("a", {"n": "BIGINT"}, [(big + 2 * number,) for number in range(50)])
    store.table("b", {"n": "BIGINT"}, [(big + 2 * number + 1,) for number in range(50)])
    with store.connect() as engine:
        [found] = ContainmentSearch(engine, catalog_of(engine, store).tables, everything=True).run().containments
    assert (found.left_values, found.right_values, found.common) == (50, 50, 0)


def test_labels_padding_and_letter_case(postgres_store: PostgresStore) -> None:
    postgres_store.execute("CREATE TYPE mood AS ENUM ('sad', 'ok', 'Ok', 'well')")
    postgres_store.execute("CREATE TABLE a (mood mood)")
    postgres_store.execute("INSERT INTO a VALUES ('sad'), ('ok'), ('Ok'), (NULL)")
    postgres_store.execute("CREATE TABLE b (mood char(8))")
    postgres_store.execute("INSERT INTO b VALUES ('sad'), ('ok'), ('OK')")
    with postgres_store.connect() as engine:
        [found] = (
            ContainmentSearch(engine, catalog_of(engine, postgres_store).tables, everything=True).run().containments
        )
    assert (found.left_values, found.right_values, found.common) == (3, 3, 2)


def test_endless_dates_are_no_values(store: Store) -> None:
    days = [(date(1950, 1, 1) + timedelta(days=3 * number),) for number in range(60)]
    store.table("a", {"born": "DATE"}, days)
    store.table("b", {"day": "DATE"}, days)
    store.execute("INSERT INTO b VALUES ('infinity'), ('-infinity'), (NULL)")
    assert pairs(linked(store)) == {frozenset(("a.born", "b.day"))}


# The rule

BOTH = {"crowded_left": True, "crowded_right": True}
DAYS = {"crowded_right": True, "far_right": True}
PATIENTS, VOTERS = TableName("patients", "main"), TableName("voters", "main")


def judge(left: str, right: str, kind: ValueKind, counts: Sequence[int], **flags: bool) -> Containment:
    every = dict.fromkeys(("crowded_left", "crowded_right", "far_left", "far_right", "aligned"), False) | flags
    return joinable(Attribute(PATIENTS, left), Attribute(VOTERS, right), kind, Overlap(*counts, **every))  # type: ignore[misc]


@pytest.mark.parametrize(
    ("names", "kind", "counts", "flags", "joinable", "words"),
    [
        (("zip_code", "postcode"), ValueKind.TEXT, (48, 60, 45), {}, True, "93.8 % of the 48 values of main.pat"),
        (("zip_code", "postcode"), ValueKind.TEXT, (48, 60, 43), {}, False, "too few for a join"),
        (("zip_code", "postcode"), ValueKind.TEXT, (60, 48, 45), {}, True, "of main.voters.postcode are in main.pat"),
        (("sex", "deceased"), ValueKind.TEXT, (2, 2, 2), {}, False, "codes as few as these fit by accident"),
        (("sex", "Sex"), ValueKind.TEXT, (2, 2, 2), {}, True, "and the names agree"),
        (("quantity", "age"), ValueKind.WHOLE, (100, 110, 100), BOTH, False, "from about zero on"),
        (("ssn", "tax_number"), ValueKind.WHOLE, (5000, 9000, 4990), {}, True, "compared as whole numbers"),
        (("dob", "born"), ValueKind.DATE, (400, 30000, 400), {**DAYS, "aligned": True}, True, ""),
        (("hired", "born"), ValueKind.DATE, (400, 30000, 400), DAYS, False, "only a part"),
        (("sex", "sex"), ValueKind.TEXT, (0, 3, 0), {}, False, "0 % of the 0 values"),
        (("status", "status"), ValueKind.TEXT, (3, 3, 3), {}, False, "codes as few"),  # the name says nothing
    ],
)  # fmt: skip
def test_what_is_joinable_and_why(
    names: tuple[str, str],
    kind: ValueKind,
    counts: tuple[int, int, int],
    flags: dict[str, bool],
    joinable: bool,
    words: str,
) -> None:
    found = judge(*names, kind, counts, **flags)
    assert found.joinable is joinable
    assert words in found.ground
    assert found.left_in_right == (Fraction(counts[2], counts[0]) if counts[0] else 0)


@pytest.mark.parametrize(
    ("one", "other", "agree"),
    [
        ("patients.birth_date", "voters.BirthDate", True),
        ("patients.birth_date", "voters.birth_dates", True),
        ("patients.id", "visits.patient_id", True),
        ("patients.id", "visits.patient", True),
        ("patient.id", "visits.PATIENT-ID", True),
        ("patients.name", "visits.patient_name", True),
        ("patients.id", "visits.id", False),
        ("patients.name", "doctors.name", False),
        ("patients.sex", "visits.gender", False),
        ("patients.zip", "visits.patient", False),
        ("Ünïcode 名.名", "t.名", True),
    ],
)
def test_names_agree(one: str, other: str, agree: bool) -> None:
    left, right = (Attribute(TableName(table), column) for table, column in (each.split(".") for each in (one, other)))
    assert names_agree(left, right) is names_agree(right, left) is agree


# The search


def clinic(store: Store) -> None:
    """Joinable by values and not by name, by name and not by values, by accident, and by a key that is not declared."""
    chance = random.Random(5)
    birth = [date(1932, 1, 1) + timedelta(days=chance.randrange(29000)) for _ in range(900)]
    zips = [f"97{chance.randrange(201, 260)}" for _ in birth]
    people = [
        (number, f"MRN-{number:05}", day, code, chance.choice("FM"), chance.randrange(100))
        for number, (day, code) in enumerate(zip(birth, zips, strict=True))
    ]
    store.table(
        "patients",
        {
            "id": "INTEGER",
            "mrn": "VARCHAR",
            "birth_date": "DATE",
            "zip_code": "VARCHAR",
            "sex": "VARCHAR",
            "age": "INTEGER",
        },
        people,
    )
    days = [date(2025, 1, 1) + timedelta(days=chance.randrange(365)) for _ in range(2000)]
    visits = [
        (number, chance.randrange(900), day, chance.randrange(100), chance.choice("YN"))
        for number, day in enumerate(days)
    ]
    store.table(
        "visits",
        {"id": "BIGINT", "patient_id": "BIGINT", "visit_date": "DATE", "quantity": "SMALLINT", "urgent": "VARCHAR"},
        visits,
    )
    voters = [(f"name {person[0]}", person[2], person[3], person[4], f"MRN-{person[0]:04}") for person in people[::3]]
    store.table(
        "voters", {"name": "VARCHAR", "dob": "DATE", "postcode": "VARCHAR", "sex": "CHAR(1)", "mrn": "VARCHAR"}, voters
    )


CLINIC = {
    frozenset(("patients.id", "visits.patient_id")),
    frozenset(("patients.birth_date", "voters.dob")),
    frozenset(("patients.zip_code", "voters.postcode")),
    frozenset(("patients.sex", "voters.sex")),
}


@pytest.mark.exhaustive
def test_a_clinic(store: Store) -> None:
    clinic(store)
    found = linked(store)
    assert pairs(found) == CLINIC
    assert found.unfinished == ()
    assert found.statements <= 8
    assert any("by accident" in note for note in found.notes)
    [dates] = [pair for pair in found.same_attributes if pair.left.column == "birth_date"]
    assert "100 % of the " in dates.detail and "compared as dates" in dates.detail


@pytest.mark.exhaustive
@ONE_ENGINE
def test_samples_lead_to_the_same_joints(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    clinic(store)
    monkeypatch.setattr(containment, "SAMPLE_FROM", 0)
    monkeypatch.setattr(containment, "SAMPLE_COLUMNS", 4)
    monkeypatch.setattr(containment, "LEAST_SAMPLE", 8)
    monkeypatch.setattr(containment, "COLUMNS_AT_ONCE", 2)
    found = linked(store)
    assert pairs(found) == CLINIC
    assert found.statements > 8


@pytest.mark.exhaustive
@ONE_ENGINE
@pytest.mark.parametrize("seed", always(0, longer=(1, 2)))
def test_columns_are_one_as_by_brute_force(store: Store, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever way they are found: by samples first, or counted at once; in few large statements or in many small."""
    chance = random.Random(seed)
    values: dict[str, set[object]] = {}
    for table in range(8):
        columns: list[list[object]] = []
        for place in range(4):
            start = chance.choice([0, 0, 200, 500])
            numbers = range(start, start + chance.choice([30, 100, 400]))
            drawn = chance.sample(numbers, min(len(numbers), chance.choice([25, 60, 380])))
            columns.append([f"x{n}" if place < 2 else 7919 * n for n in drawn])
            values[f"t{table}.c{place}"] = set(columns[-1])
        longest = max(map(len, columns))
        padded = [column + [None] * (longest - len(column)) for column in columns]
        kinds = {f"c{place}": "VARCHAR" if place < 2 else "INTEGER" for place in range(4)}
        store.table(f"t{table}", kinds, list(zip(*padded, strict=True)))
    expected = parts(
        frozenset((one, other))
        for one, other in itertools.permutations(values, 2)
        if one[:2] != other[:2]
        and len(values[one]) >= 20
        and 10 * len(values[one] & values[other]) >= 9 * len(values[one])
    )
    assert len(expected) > 2
    assert parts(pairs(linked(store))) == expected
    for sizes in (
        {"SAMPLE_FROM": 0, "LEAST_SAMPLE": 16},
        {"SAMPLE_FROM": 0, "COLUMNS_AT_ONCE": 2},
        {"VALUES_PER_STATEMENT": 500, "COLUMNS_AT_ONCE": 7},
    ):
        for name, size in sizes.items():
            monkeypatch.setattr(containment, name, size)
        assert parts(pairs(linked(store))) == expected, sizes
        monkeypatch.undo()


def test_everything_measured_is_brute_force(store: Store) -> None:
    chance = random.Random(11)
    tables: dict[str, list[list[object]]] = {}
    for number in range(4):
        rows = [[chance.choice([None, *range(number, 40)]), f"x{chance.randrange(30)}"] for _ in range(150)]
        store.table(f"t{number}", {"a": "INTEGER", "b": "VARCHAR"}, rows)
        tables[f"t{number}"] = rows
    with store.connect() as engine:
        found = ContainmentSearch(engine, catalog_of(engine, store).tables, everything=True).run()

    def values(attribute: Attribute) -> set[object]:
        place = "ab".index(attribute.column)
        return {row[place] for row in tables[attribute.table.name]} - {None}

    assert len(found.containments) == found.counted == 12
    for each in found.containments:
        left, right = values(each.left), values(each.right)
        assert (each.left_values, each.right_values, each.common) == (len(left), len(right), len(left & right))


def test_foreign_keys_views_and_accepted_names_need_no_statement(store: Store) -> None:
    store.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, town VARCHAR)")
    store.execute("CREATE TABLE stays (who INTEGER REFERENCES people (id), Town VARCHAR, moment INTEGER)")
    store.execute("CREATE VIEW guests AS SELECT who AS guest FROM stays")
    found = linked(store, values=False, names=True)
    assert pairs(found, Ground.FOREIGN_KEY) == {frozenset(("people.id", "stays.who"))}
    assert pairs(found, Ground.VIEW) == {frozenset(("guests.guest", "stays.who"))}
    assert {frozenset(map(str.lower, pair)) for pair in pairs(found, Ground.NAME)} == {
        frozenset(("people.town", "stays.town"))
    }
    assert found.statements == 0


def test_what_is_one_already_is_not_compared_and_what_is_refused_is_compared_with_the_others(store: Store) -> None:
    store.execute("CREATE TABLE a (id INTEGER PRIMARY KEY)")
    store.execute("CREATE TABLE b (a INTEGER REFERENCES a (id))")
    store.execute("CREATE TABLE c (number INTEGER)")
    for table in "abc":
        store.execute(f"INSERT INTO {table} VALUES " + ", ".join(f"({7919 * n})" for n in range(40)))
    known = frozenset(("a.id", "b.a"))
    found = linked(store)
    assert pairs(found, Ground.FOREIGN_KEY) == {known}
    assert len(pairs(found)) == 1 and known not in pairs(found), "c.number is joined with one of them"
    with store.connect() as engine:
        catalog = catalog_of(engine, store)
        refused = frozenset(map(catalog.attribute, known))
        found = same_attributes(engine, catalog, refused=[refused])
    assert pairs(found) == {frozenset((each, "c.number")) for each in known}


@pytest.mark.exhaustive
@ONE_ENGINE
def test_a_budget_is_kept_and_what_is_left_is_said(store: Store) -> None:
    clinic(store)
    with store.connect() as engine:
        needed = linked_by(engine, store).statements
        counts = []
        for budget in range(needed + 1):
            found = linked_by(engine, store, max_statements=budget)
            assert found.statements <= budget
            assert pairs(found) <= CLINIC
            assert (found.unfinished == ()) is (budget == needed)
            counts.append(len(pairs(found)))
        assert counts[0] == 0 and counts[-1] == len(CLINIC) and counts == sorted(counts)
        late = linked_by(engine, store, deadline=0.0)
    assert pairs(late) == set() and "time budget" in late.unfinished[0]


def test_any_names(store: Store) -> None:
    codes = [f"code {number * 7919 % 1000}" for number in range(60)]
    for place, name in enumerate(HOSTILE):
        table, values = quoted(f"{name} {place}"), ", ".join(f"('{code}')" for code in codes[place:])
        store.execute(f"CREATE TABLE {table} ({quoted(name)} VARCHAR)")
        store.execute(f"INSERT INTO {table} VALUES {values}")
    found = linked(store)
    assert parts(pairs(found)) == {frozenset(f"{name} {place}.{name}" for place, name in enumerate(HOSTILE))}


def test_a_closed_table_and_a_closed_column_are_said(postgres_store: PostgresStore, reader: str) -> None:
    codes = [(f"c{number}", f"d{number}") for number in range(50)]
    for table in ("seen", "half", "closed"):
        postgres_store.table(table, {"code_a": "TEXT", "code_b": "TEXT"}, codes)
    postgres_store.execute(f"GRANT SELECT ON seen TO {reader}")
    postgres_store.execute(f"GRANT SELECT (code_a) ON half TO {reader}")
    with postgres_store.connect_as(reader) as engine:
        found = same_attributes(engine, engine.catalog(postgres_store.schema))
    assert pairs(found) == {frozenset(("seen.code_a", "half.code_a"))}
    assert any("closed were not compared" in each and "GRANT SELECT" in each for each in found.unfinished)
    assert any("may not read" in each and "half.code_b" in each for each in found.unfinished)


def test_no_value_is_told(store: Store) -> None:
    rows = [(f"cnry{number}", 770_000_000_001 + 7919 * number) for number in range(80)]
    for table in ("one", "two"):
        store.table(table, {f"{table}_text": "VARCHAR", f"{table}_number": "BIGINT"}, rows)
    with store.connect() as engine:
        catalog = catalog_of(engine, store)
        handed: list[object] = []
        for worker in engine._ready_sessions(None):
            session = worker.opened(None)
            execute = session.execute

            def watched(sql: str, execute: object = execute) -> object:
                rows = execute(sql)  # type: ignore[operator]
                if "pg_locks" not in sql:  # the names of tables
                    handed.extend(cell for row in rows for cell in row)
                return rows

            session.execute = watched  # type: ignore[method-assign,assignment]
        found = same_attributes(engine, catalog)
    assert len(pairs(found)) == 2
    told = f"{found} {handed}"
    assert "cnry" not in told and "77000" not in told
    assert_small(handed)


def assert_small(cells: Iterable[object]) -> None:
    """Counts of 80 values, about or exactly, places in an order of 4 ends, and truth values."""
    assert all(cell is None or isinstance(cell, bool) or 0 <= int(cell) <= 100 for cell in cells)  # type: ignore[call-overload]
