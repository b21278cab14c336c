"""`qidsql risk --population`: rows held against a population, by the definitions written again, and its verdicts."""

import json
import random
from collections import Counter
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest

import qidsql as package
from qidsql.commands.risk.population.command import PopulationRequest
from qidsql.commands.risk.population.population import PopulationResult
from qidsql.core.results import Verdict
from qidsql.errors import AccessError, SourceError, StatementError, UnknownName, UsageError
from tests.commandline import inside
from tests.definitions import population_figures_of
from tests.exhaustive import always
from tests.linkage.test_containment import HOSTILE
from tests.stores import EVERY_ENGINE, ONE_ENGINE, TWO_ENGINES, DuckDBStore, PostgresStore, SQLiteStore, Store, quoted

Row = tuple[object, ...]
BOTH = {"n": "INTEGER", "t": "VARCHAR"}


def held(store: Store, published: str = "a", people: str = "b", **options: object) -> PopulationResult:
    with store.connect() as engine:
        return package.risk(engine, published, population=people, **options)  # type: ignore[arg-type]


def drawn(chance: random.Random, number: int) -> list[Row]:
    return [(chance.choice([None, 1, 2, 3]), chance.choice([None, "x", "y", "Y", "x "])) for _ in range(number)]


@TWO_ENGINES
def test_values_that_look_different_are_different_people_but_for_numbers(store: Store) -> None:
    """The engines take 1 month for 30 days, whom a reader can tell apart, and 70 for 70.00."""
    types = {"stay": "INTERVAL", "weight": "NUMERIC" if store.name == "postgres" else "DECIMAL(6, 2)"}
    store.table("a", types, [("1 month", "70")])
    store.table("b", types, [("1 month", "70.00"), *[("30 days", "70")] * 4])
    one = package.risk(store.url, "a", population="b", on=["stay=stay"], k=2)
    assert (one.verdict, one.figures and one.figures.k_map) == ("violation", 1)
    assert package.risk(store.url, "a", population="b", on=["weight=weight"], k=5).verdict == "pass"


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", always(*range(2), longer=range(2, 80)))
@EVERY_ENGINE
def test_figures_are_those_of_the_definitions(store: Store, seed: int) -> None:
    chance = random.Random(seed)
    rows, people = drawn(chance, chance.choice([0, 1, 12, 25])), drawn(chance, chance.choice([0, 1, 30, 60]))
    if seed % 2:  # a sample of the population
        rows = chance.sample(people, len(people) // 3)
    counted = Counter(people)
    store.table("a", BOTH, rows)
    store.table("b", {"code": "VARCHAR", "n": "INTEGER"}, [(t, n) for n, t in people])
    store.table("c", {**BOTH, "people": "INTEGER"}, [(*person, number) for person, number in counted.items()])
    for k in (2, 4):
        expected = population_figures_of(rows, people, k)
        found = held(store, on=["n=n", "t=code"], k=k)
        assert found.figures == expected
        assert held(store, people="c", on=["n=n", "t=t"], counts="people", k=k).figures == expected
        below, unfit = expected.rows_below_k, expected.rows_absent or expected.rows_exceeding
        if expected.rows_matched and below:
            assert found.verdict is Verdict.VIOLATION
        elif not rows or not people or unfit or expected.rows_with_null:
            assert found.verdict is Verdict.INCONCLUSIVE
        else:
            assert found.verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("kind", "here", "there", "joins"),
    [("interval", "1 month", "30 days", False), ("jsonb", "70", "70.00", False), ("numeric", "70", "70.00", True)],
)
def test_only_numbers_are_found_in_another_spelling(
    postgres_store: PostgresStore, kind: str, here: str, there: str, joins: bool
) -> None:
    """Who looks for a month finds no 30 days, though they are equal to the engine."""
    postgres_store.execute(f"CREATE TABLE a AS SELECT '{here}'::{kind} AS x FROM generate_series(1, 3)")
    postgres_store.execute(f"CREATE TABLE b AS SELECT '{there}'::{kind} AS x FROM generate_series(1, 9)")
    postgres_store.execute(f"INSERT INTO b VALUES ('{here}'), ('{here}')")
    found = held(postgres_store, on=["x=x"], k=3)
    assert found.figures is not None and (found.figures.rows_below_k == 0) is joins


# Sex and race of 30,162 people of ARX's adult, and of its rows whose 1-based number is divisible by 7.
ADULT = [
    ("Female", "Amer-Indian-Eskimo", 13, 107),
    ("Female", "Asian-Pac-Islander", 46, 294),
    ("Female", "Black", 206, 1399),
    ("Female", "Other", 13, 87),
    ("Female", "White", 1143, 7895),
    ("Male", "Amer-Indian-Eskimo", 22, 179),
    ("Male", "Asian-Pac-Islander", 88, 601),
    ("Male", "Black", 207, 1418),
    ("Male", "Other", 17, 144),
    ("Male", "White", 2553, 18038),
]


@pytest.mark.exhaustive
@ONE_ENGINE
@EVERY_ENGINE
def test_a_sample_of_adult(store: Store) -> None:
    store.table(
        "census", {"sex": "VARCHAR", "race": "VARCHAR", "people": "INTEGER"}, [(s, r, n) for s, r, _, n in ADULT]
    )
    store.table("sample", {"sex": "VARCHAR", "race": "VARCHAR"}, [(s, r) for s, r, f, _ in ADULT for _ in range(f)])
    result = held(store, "sample", "census", on=["sex=sex", "race=race"], counts="people", presence="0.118,0.157")
    figures = result.figures
    assert result.verdict is Verdict.PASS and figures is not None
    assert "could be one of at least 87 people" in result.reason
    assert (figures.rows, figures.people, figures.k_map, figures.smallest) == (4308, 30162, 87, 13)
    assert (figures.journalist_max, figures.journalist_by_classes) == (Fraction(1, 87), Fraction(5, 15081))
    assert figures.marketer == Fraction(7998378011736405421472671, 24712689830239347291982307520)
    assert (figures.presence_min, figures.presence_max) == (Fraction(17, 144), Fraction(23, 147))
    assert held(store, "sample", "census", on="sex=sex", counts="people").figures.k_map == 9782  # type: ignore[union-attr]
    for presence in ("0.12,1", "0,0.156"):
        options = {"on": ["sex=sex", "race=race"], "counts": "people", "presence": presence}
        assert held(store, "sample", "census", **options).verdict is Verdict.VIOLATION
    exact = f"{Fraction(17, 144)},{Fraction(23, 147)}"
    assert held(store, "sample", "census", **{**options, "presence": exact}).verdict is Verdict.PASS


# verdicts


@pytest.mark.exhaustive
@ONE_ENGINE
def test_below_k(store: Store) -> None:
    store.table("a", {"n": "INTEGER"}, [(1,), (2,), (2,), (2,)])
    store.table("b", {"n": "INTEGER"}, [(1,)] * 3 + [(2,)] * 7 + [(3,)])
    few = held(store, on="n=n")
    assert few.verdict is Verdict.VIOLATION
    assert "1 of 4 rows" in few.reason and "25.0 %" in few.reason and "fewer than 5 people" in few.reason
    assert held(store, on="n=n", k=3).verdict is Verdict.PASS
    assert held(store, on="n=n", k=4).verdict is Verdict.VIOLATION
    assert held(store, on="n=n", rows_below_k="25%").verdict is Verdict.VIOLATION
    assert held(store, on="n=n", rows_below_k="26%").verdict is Verdict.PASS
    assert held(store, on="n=n", where="n > 1").verdict is Verdict.PASS
    assert held(store, on="n=n", k=2, presence="0,0.4").verdict is Verdict.VIOLATION, "3 of 7"
    assert held(store, on="n=n", k=2, presence="0,0.5").verdict is Verdict.PASS
    none_of_three = held(store, on="n=n", k=2, presence="0.01,1")
    assert none_of_three.verdict is Verdict.VIOLATION and "0 %" in none_of_three.reason


@pytest.mark.exhaustive
@ONE_ENGINE
def test_what_is_no_sample_of_the_population_is_no_pass(store: Store) -> None:
    store.table("a", {"n": "INTEGER"}, [(1,)] * 30)
    store.table("absent", {"n": "INTEGER"}, [(1,)] * 30 + [(2,)])
    store.table("b", {"n": "INTEGER"}, [(1,)] * 30)
    store.table("few", {"n": "INTEGER"}, [(1,)] * 29)
    assert held(store, on="n=n", presence="0,1").verdict is Verdict.PASS
    for published, people, words in (
        ("absent", "b", "the values of 1 row do not occur"),
        ("a", "few", "1 combination of values has more rows than people"),
        ("absent", "few", "the values of 1 row do not occur there and 1 combination"),
    ):
        for options in ({}, {"rows_below_k": "50%"}, {"presence": "0,1"}):
            result = held(store, published, people, on="n=n", **options)
            if people == "few" and "presence" in options:
                assert result.verdict is Verdict.VIOLATION, "more published than there are people"
                continue
            assert result.verdict is Verdict.INCONCLUSIVE
            assert "not a sample of" in result.reason and words in result.reason
    nobody = held(store, "absent", "b", on="n=n", where="n = 2") if store.name != "sqlite" else None
    assert nobody is not None and nobody.verdict is Verdict.INCONCLUSIVE and "no row of" in nobody.reason


@pytest.mark.exhaustive
@ONE_ENGINE
def test_a_null_never_makes_a_pass(store: Store) -> None:
    """Not even where the population has as many NULLs: what one of them stands for is not what the other does."""
    store.table("a", {"n": "INTEGER"}, [(1,)] * 9 + [(None,)])
    store.table("b", {"n": "INTEGER"}, [(1,)] * 50 + [(None,)] * 50)
    store.table("whole", {"n": "INTEGER"}, [(1,)] * 9)
    store.table("nulls", {"n": "INTEGER"}, [(None,)] * 9)
    result = held(store, on="n=n")
    assert result.verdict is Verdict.INCONCLUSIVE and "1 row of" in result.reason and "NULL" in result.reason
    assert held(store, on="n=n", rows_below_k="10%").verdict is Verdict.INCONCLUSIVE
    assert held(store, on="n=n", rows_below_k="11%").verdict is Verdict.PASS, "at risk or not, it is too few"
    assert held(store, on="n=n", rows_below_k="11%", presence="0,1").verdict is Verdict.INCONCLUSIVE
    assert held(store, "whole", on="n=n", presence="0,1").verdict is Verdict.PASS
    assert held(store, "whole", on="n=n", presence="0.1,1").verdict is Verdict.INCONCLUSIVE, "50 of unknown values"
    assert held(store, "nulls", on="n=n").verdict is Verdict.INCONCLUSIVE
    assert held(store, "whole", "nulls", on="n=n").verdict is Verdict.INCONCLUSIVE


def test_empty_tables(store: Store) -> None:
    store.table("a", {"n": "INTEGER"}, [(1,)])
    store.table("empty", {"n": "INTEGER"}, [])
    for published, people in (("a", "empty"), ("empty", "a")):
        result = held(store, published, people, on="n=n")
        assert result.verdict is Verdict.INCONCLUSIVE and "has no " in result.reason


def test_a_spent_budget_is_inconclusive(store: Store) -> None:
    rows = [(f"code {number % 40}",) for number in range(400)]
    for table in "ab":
        store.table(table, {"code": "VARCHAR"}, rows)
    assert held(store).verdict is Verdict.PASS
    for options in ({"max_statements": 1}, {"max_seconds": 1e-9}):
        result = held(store, **options)
        assert result.verdict is Verdict.INCONCLUSIVE and result.account.unfinished and result.figures is None
    assert held(store, on="code=code", max_statements=1).verdict is Verdict.PASS


# columns


def test_joinable_columns_are_found(store: Store) -> None:
    people = [(f"z{number % 30}", "fm"[number % 2], number) for number in range(600)]
    store.table("a", {"zip": "VARCHAR", "sex": "VARCHAR"}, [each[:2] for each in people[::7]])
    store.table("b", {"postcode": "VARCHAR", "sex": "VARCHAR", "other": "INTEGER"}, people)
    found = held(store)
    assert {str(each) for each in found.columns} == {"zip = postcode", "sex"} and not found.columns_given
    assert found.verdict is Verdict.PASS and found.figures is not None and found.figures.k_map == 20


def test_columns_that_might_single_out_more_are_no_pass(store: Store) -> None:
    people = [(f"z{number % 30}", "fm"[number // 30 % 2], number) for number in range(600)]
    store.table("a", {"zip": "VARCHAR", "sex": "VARCHAR"}, [each[:2] for each in people[::7]])
    store.table("b", {"postcode": "VARCHAR", "gender": "VARCHAR"}, [each[:2] for each in people])
    store.table("c", {"code": "INTEGER"}, [(number,) for number in range(9)])
    doubtful = held(store)
    assert [str(each) for each in doubtful.columns] == ["zip = postcode"]
    assert doubtful.verdict is Verdict.INCONCLUSIVE and "1 pair of columns not taken" in doubtful.reason
    assert held(store, on="zip=postcode").verdict is Verdict.PASS, "a person said which"
    nothing = held(store, people="c")
    assert nothing.verdict is Verdict.INCONCLUSIVE and nothing.figures is None


def test_texts_are_compared_with_numbers_as_numbers(store: Store) -> None:
    """A text that is no number counts as a NULL, which is never a pass."""
    store.table("a", {"zip": "VARCHAR"}, [("01",)] * 2 + [("97",)])
    store.table("words", {"zip": "VARCHAR"}, [("01",), ("x1",)])
    store.table("b", {"postcode": "INTEGER"}, [(1,)] * 6 + [(97,)] * 5)
    found = held(store, on="zip=postcode")
    assert found.verdict is Verdict.PASS and found.figures is not None and found.figures.k_map == 5
    words = held(store, "words", on="zip=postcode")
    assert words.verdict is Verdict.INCONCLUSIVE and words.figures is not None
    assert (words.figures.rows_with_null, words.figures.rows_absent) == (1, 0)


@EVERY_ENGINE
def test_types_that_cannot_be_compared_are_an_error(store: Store) -> None:
    store.table("a", {"n": "INTEGER"}, [(1,)])
    store.table("b", {"d": "DATE"}, [("2024-01-01",)])
    with pytest.raises(UsageError, match="cannot be compared; convert them to one type in a view"):
        held(store, on="n=d")


def test_truth_values_named_on_both_sides_are_compared(store: Store) -> None:
    store.table("a", {"ill": "BOOLEAN"}, [(True,)])
    store.table("b", {"ill": "BOOLEAN"}, [(True,)] * 5 + [(False,)])
    assert held(store, on="ill=ill").figures.k_map == 5  # type: ignore[union-attr]
    with pytest.raises(UsageError, match="cannot be compared"):
        store.table("c", {"ill": "INTEGER"}, [(1,)])
        held(store, people="c", on="ill=ill")


def test_values_of_one_type_are_not_merged_by_a_conversion(duckdb_store: DuckDBStore) -> None:
    """Nanoseconds would be cut off: seven people at the same microsecond would be taken for one class."""
    moments = [f"2024-01-01 00:00:00.00000000{number}" for number in range(7)]
    for table in "ab":
        duckdb_store.table(table, {"moment": "TIMESTAMP_NS"}, [(moment,) for moment in moments])
    found = held(duckdb_store, on="moment=moment")
    assert found.figures is not None and found.figures.k_map == 1
    with duckdb_store.connect() as engine:
        link = package.link(engine, "a", "b", on="moment=moment").link
    assert link is not None and link.singled_out == 7


@pytest.mark.exhaustive
@ONE_ENGINE
def test_any_names(store: Store) -> None:
    for name in HOSTILE:
        for table in (name, f"{name}2"):
            columns = f"{quoted(name)} INTEGER, {quoted(name + '=')} INTEGER"
            store.execute(f"CREATE TABLE {quoted(table)} ({columns})")
            store.execute(f"INSERT INTO {quoted(table)} VALUES (1, 6), (2, 7)")
        with store.connect() as engine:
            full = [str(each) for each in engine.table_names() if each.name in (name, f"{name}2")]
            first, second = sorted(full, key=len)
            result = package.risk(engine, first, population=second, on=f"{name}={name}", counts=f"{name}=")
        assert result.verdict is Verdict.PASS and result.figures is not None
        assert (result.figures.k_map, result.figures.people) == (6, 13)


# tables of counts


def test_counts_that_are_none(store: Store) -> None:
    """A NULL and a negative number are nobody; they never take away what other rows count."""
    store.table("a", {"n": "INTEGER"}, [(1,), (2,)])
    counts = [(1, 6), (1, -5), (1, None), (2, 5), (3, 0), (None, 4)]
    store.table("b", {"n": "INTEGER", "people": "INTEGER", "word": "VARCHAR"}, [(*each, "x") for each in counts])
    figures = held(store, on="n=n", counts="people").figures
    assert figures is not None and (figures.k_map, figures.people, figures.uncounted) == (5, 15, 2)
    assert (figures.population_classes, figures.presence_min) == (3, Fraction(1, 6)), "of 3 there is nobody"
    for column, error, words in (
        ("word", UsageError, "no type of whole numbers"),
        ("peple", UnknownName, "mean people"),
    ):
        with pytest.raises(error, match=words):
            held(store, on="n=n", counts=column)


def test_counts_are_not_compared(store: Store) -> None:
    """A column of counts that has the values of another is no column in common."""
    numbers = list(range(1000, 1400, 3))
    store.table("a", {"n": "INTEGER", "people": "INTEGER"}, [(n, n) for n in numbers])
    store.table("b", {"n": "INTEGER", "people": "INTEGER"}, [(n, n) for n in numbers])
    found = held(store, counts="people")
    assert [str(each) for each in found.columns] == ["n"] and found.verdict is Verdict.PASS
    with pytest.raises(UnknownName, match="no column people"):
        held(store, on="people=people", counts="people")


def test_counts_larger_than_an_integer(store: Store) -> None:
    store.table("a", {"n": "INTEGER"}, [(1,)])
    store.table("b", {"n": "INTEGER", "people": "BIGINT"}, [(1, 2**62)] * 6)
    assert held(store, on="n=n", counts="people").figures.k_map == 6 * 2**62  # type: ignore[union-attr]


# input


@pytest.mark.parametrize("presence", ["0.1", "0.5,0.1", "0,2", "-1,1", "0,0.1,0.2", "a,b", ""])
def test_limits_of_presence(presence: str) -> None:
    with pytest.raises(UsageError, match="presence must be"):
        package.risk("nowhere.duckdb", "a", population="b", presence=presence)


@ONE_ENGINE
@EVERY_ENGINE
def test_bad_input(store: Store) -> None:
    store.table("a", {"n": "INTEGER"}, [])
    store.table("b", {"n": "INTEGER"}, [])
    for given, error, words in (
        (("a", "a"), UsageError, "named twice"),
        (("a", "c"), UnknownName, "no table c"),
    ):
        with pytest.raises(error, match=words):
            held(store, *given, on="n=n")
    for options, error, words in (
        ({"on": "n"}, UsageError, "on must be a pair"),
        ({"on": "m=n"}, UnknownName, "no column m"),
        ({"k": 1}, UsageError, "at least 2"),
        ({"rows_below_k": "0"}, UsageError, "above 0"),
    ):
        with pytest.raises(error, match=words):
            held(store, **options)


def test_a_closed_table_is_an_error(postgres_store: PostgresStore, reader: str) -> None:
    for table in "ab":
        postgres_store.table(table, {"n": "INTEGER"}, [(1,)])
    postgres_store.execute(f"GRANT SELECT ON a TO {reader}")
    with postgres_store.connect_as(reader) as engine, pytest.raises(AccessError, match="GRANT SELECT"):
        package.risk(engine, "a", population="b", on="n=n")


# a population in another source


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    """A database with patients, and the people of their region in files and in another database."""
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        connection.execute("CREATE TABLE patients AS SELECT i % 5 AS zip, 'cnry' AS word FROM range(20) AS r(i)")
        connection.execute("CREATE TABLE people AS SELECT 1 AS zip")
        connection.execute("CREATE TABLE census AS SELECT i % 6 AS postcode, 'cnry' AS word FROM range(60) AS r(i)")
        for form in ("parquet", "csv", "json"):
            connection.execute(f"COPY census TO '{tmp_path}/census.{form}'")
        connection.execute("DROP TABLE census")
    with duckdb.connect(str(tmp_path / "region.duckdb")) as connection:
        for table in ("people", "patients"):
            connection.execute(f"CREATE TABLE {table} AS SELECT * FROM '{tmp_path}/census.parquet'")
    (tmp_path / "folder").mkdir()
    for name in ("one", "two"):
        (tmp_path / "folder" / f"{name}'s [x].csv").write_text((tmp_path / "census.csv").read_text())
    return tmp_path


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "people",
    always(
        ("census.parquet", None),
        ("census.csv?header=true", "census"),
        ("region.duckdb", "main.patients"),
        ("folder", "one's [x]"),
        longer=[
            ("census.csv", None),
            ("census.json", None),
            ("region.duckdb", "people"),
            ("folder/two's [[]x].csv", None),
        ],
    ),
)
@pytest.mark.parametrize("first", always("clinic.duckdb", longer=["patients.csv", "patients.parquet"]))
def test_a_population_in_another_source(clinic: Path, first: str, people: tuple[str, str | None]) -> None:
    source, table = people
    if first != "clinic.duckdb":
        with duckdb.connect(str(clinic / "clinic.duckdb"), read_only=True) as connection:
            connection.execute(f"COPY patients TO '{clinic / first}'")
    population = str(clinic / source) + (f":{table}" if table else "")
    result = package.risk(str(clinic / first), "patients", population=population, on="zip=postcode", k=10)
    assert result.verdict is Verdict.PASS and result.figures is not None
    assert (result.figures.k_map, result.figures.people, result.figures.rows) == (10, 60, 20)
    assert result.population_source == str(clinic / source).removesuffix("?header=true")
    assert result.population_source in result.account.snapshot
    found = package.risk(str(clinic / first), "patients", population=population, max_statements=40)
    assert found.verdict in (Verdict.INCONCLUSIVE, Verdict.PASS), "the word is a column in common too"


@pytest.mark.parametrize(
    ("typed", "source", "table"),
    [
        ("voters", None, "voters"),
        ("main.voters", None, "main.voters"),
        ('"outside/people".voters', None, '"outside/people".voters'),
        ("census.csv", "census.csv", None),
        ("./census", "./census", None),
        ("census_*.gz", "census_*.gz", None),
        ("region.duckdb:people", "region.duckdb", "people"),
        ("out/region.db:main.people", "out/region.db", "main.people"),
        ("folder:", "folder", None),
        ("census.csv?missing=?", "census.csv?missing=?", None),
        ("env:CENSUS", "env:CENSUS", None),
        ("env:CENSUS:people", "env:CENSUS", "people"),
        ("duckdb:region.db", "duckdb:region.db", None),
        ("duckdb:///data/region.db:people", "duckdb:///data/region.db", "people"),
        ("postgresql://jane:secret@host", "postgresql://jane:secret@host", None),
        ("host=db password=secret", "host=db password=secret", None),
    ],
)
def test_what_has_a_sign_of_a_source_is_one(typed: str, source: str | None, table: str | None) -> None:
    assert PopulationRequest(population=typed).place == (source, table)


def test_a_file_is_a_source_whatever_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("census.gz", "voters", "c:people"):
        (tmp_path / name).touch()
    for typed, expected in {
        "census.gz": ("census.gz", None),
        "census.old": (None, "census.old"),
        "voters": (None, "voters"),  # no sign: a file of this name hides no table
        "c:people": ("c:people", None),
        "c:people:": ("c:people", None),
    }.items():
        assert PopulationRequest(population=typed).place == expected


def test_an_open_engine_has_tables_whatever_their_names(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
        connection.execute('CREATE TABLE a AS SELECT 1 AS n; CREATE TABLE "b/c:d" AS SELECT 1 AS n FROM range(9)')
    with package.connect(str(tmp_path / "a.duckdb")) as engine:
        assert package.risk(engine, "a", population="b/c:d", on="n=n").verdict is Verdict.PASS
    for typed, code in (("b/c:d", 2), ('"b/c:d"', 0)):
        assert inside("risk", tmp_path / "a.duckdb", "a", "--population", typed, "--on", "n=n").code == code


def test_a_file_is_its_only_table(tmp_path: Path) -> None:
    for name in ("sample.csv", "people.csv"):
        (tmp_path / name).write_text("zip\n1\n1\n", encoding="utf-8")
    ran = inside(
        "risk", tmp_path / "sample.csv", "--population", tmp_path / "people.csv", "--on", "zip=zip", "--k", "2"
    )
    assert ran.code == 0 and "main.sample" in ran.out


def test_the_second_source_is_only_the_population(clinic: Path) -> None:
    """Tables of the first are found in the first, those of the second in the second, whatever their names."""
    source, population = str(clinic / "clinic.duckdb"), str(clinic / "region.duckdb")
    with package.connect(source, beside=population) as engine:
        assert {str(name) for name in engine.table_names()} == {"main.patients", "main.people"}
        assert [column.name for column in engine.describe("patients").columns] == ["zip", "word"]
        assert [column.name for column in engine.describe_beside("patients").columns] == ["postcode", "word"]
        with pytest.raises(UnknownName, match=r"region\.duckdb"):
            engine.describe_beside("census")
    with pytest.raises(UnknownName, match=r"no column zip in main\.people"):
        package.risk(source, "patients", population=f"{population}:people", on="zip=zip")
    before = {path: path.read_bytes() for path in clinic.rglob("*") if path.is_file()}
    for name in ("region.duckdb:people", "census.csv"):
        package.risk(source, "patients", population=str(clinic / name), on="zip=postcode")
    assert {path: path.read_bytes() for path in clinic.rglob("*") if path.is_file()} == before, "nothing is left"


def test_a_second_source_that_cannot_be_read(clinic: Path, postgres_store: PostgresStore) -> None:
    source = str(clinic / "clinic.duckdb")
    lite = SQLiteStore(clinic / "people.sqlite")
    (clinic / "damaged.duckdb").write_bytes(b"cnry" * 9000)
    (clinic / "bad.csv").write_text('zip,word\n1,"cnry\n2,x,cnry\n')
    (clinic / "bad.json").write_text('[{"cnry": cnry}]')
    for given, error, words in (
        (source, UsageError, "is the source itself"),
        (postgres_store.url, UsageError, "the second source must be a DuckDB database"),
        (str(lite.path), UsageError, "the second source must be a DuckDB database"),
        (str(clinic / "nothing.csv"), SourceError, "there is no file"),
        (str(clinic / "damaged.duckdb"), SourceError, "is not a DuckDB database"),
        (str(clinic / "bad.csv"), SourceError, r"bad\.csv"),
        (str(clinic / "bad.json"), SourceError, r"bad\.json"),
        (f"{clinic}/census.csv?memory_limit=1GB", UsageError, "only the options header"),
        ("env:NO_SUCH_VARIABLE", UsageError, "NO_SUCH_VARIABLE is not set"),
    ):
        with pytest.raises(error, match=words) as raised:
            package.risk(source, "patients", population=given, on="zip=zip")
        assert "cnry" not in str(raised.value)
    for first in (postgres_store.url, lite.url):
        with pytest.raises(UsageError, match=r"cannot be read together with .*; load it into a table there"):
            package.risk(first, "patients", population=str(clinic / "census.csv"), on="zip=zip")
    with package.connect(source) as engine, pytest.raises(UsageError, match="opened without a second source"):
        package.risk(engine, "patients", population=str(clinic / "census.csv"), on="zip=zip")


def test_a_time_limit_while_the_population_is_read(clinic: Path) -> None:
    source, population = str(clinic / "clinic.duckdb"), str(clinic / "census.csv")
    result = package.risk(source, "patients", population=population, on="zip=postcode", max_seconds=1e-9)
    assert (result.verdict, result.population_source) == (Verdict.INCONCLUSIVE, "not opened")


def test_a_view_of_the_population_reads_no_other_file(clinic: Path) -> None:
    with duckdb.connect(str(clinic / "region.duckdb")) as connection:
        connection.execute(f"CREATE VIEW foreign_rows AS SELECT * FROM '{clinic}/census.csv'")
    with pytest.raises((AccessError, StatementError)):
        population = f"{clinic}/region.duckdb:foreign_rows"
        package.risk(str(clinic / "clinic.duckdb"), "patients", population=population, on="zip=postcode")


# the command


@pytest.mark.exhaustive
def test_the_command(clinic: Path) -> None:
    source, more = clinic / "clinic.duckdb", ("--population", clinic / "census.parquet", "--on", "zip=postcode")
    passed = inside("risk", source, "patients", *more)
    assert passed.code == 0
    words = " ".join(passed.out.split())
    for text in (
        "PASS each row of main.patients could be one of at least 10 people of main.census on zip = postcode",
        "every published row could be one of at least 10 people of the population",
        "right person with a chance of at most 10.0 %",
        "names a person for each row gets 2.0 of 20 rows right on average (10.0 %)",
        "0 % to 40.0 % are published",
        "A NULL matches nothing: nobody can look it up",
        "Not covered what else is known",
        "1 statement in 1 round, at most 2 scans",
        "no cell value left the engine",
    ):
        assert text in words
    assert inside("risk", source, "patients", *more, "--k", "11").code == 1
    assert inside("risk", source, "patients", "--population", "people", "--on", "zip=zip").code == 1
    assert (
        inside("risk", source, "patients", "--population", "people", "--on", "zip=zip", "--rows-below-k", "50%").code
        == 3
    )
    document = json.loads(inside("risk", source, "patients", *more, "--format", "json").out)
    assert document["verdict"] == "pass" and document["figures"]["k_map"] == 10
    assert (document["figures"]["marketer"], document["figures"]["presence_max"]) == (0.1, 0.4)
    plan = inside("risk", source, "patients", *more, "--dry-run")
    assert plan.code == 0 and "GROUP BY" in plan.out and "Only the catalog was queried" in plan.out
    for options in ([], ["--format", "json"], ["--show-sql"], ["--dry-run"]):
        outcome = inside("risk", source, "patients", *more, *options)
        assert "cnry" not in outcome.out + outcome.err


def test_the_report_says_what_is_no_sample(duckdb_store: DuckDBStore) -> None:
    duckdb_store.table("a", {"n": "INTEGER"}, [(1,), (2,), (2,), (3,), (None,)])
    duckdb_store.table("b", {"n": "INTEGER", "m": "INTEGER"}, [(1, 9), (2, 1), (None, 2), (4, None)])
    outcome = inside("risk", duckdb_store.url, "a", "--population", "b", "--on", "n=n", "--counts", "m")
    words = " ".join(outcome.out.split())
    assert outcome.code == 1
    for text in (
        "Not a sample the values of 1 row (20.0 %) do not occur in the population",
        "Not a sample the values of 2 rows (40.0 %) occur in more published rows than people",
        "NULL 1 row (20.0 %) have a NULL",
        "NULL 2 people of the population have one",
        "1 row of the population have no count",
        "each of the 3 rows that match could be one of at least 1 person",
        "2 rows (40.0 %) could be fewer than 5, 2 of them only one person",
    ):
        assert text in words
