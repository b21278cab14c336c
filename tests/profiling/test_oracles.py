"""Real tables with published answers, on both engines: every measure of every column set.

Needs ../shared/data. Of the 16,383 column sets of adult the test command asks those with at most 2 or at least 12
columns and a few of the others, drawn by a fixed seed.
"""

import csv
import json
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

import duckdb
import pytest

from qidsql.commands.risk.population.command import PopulationRequest
from qidsql.commands.risk.population.population import population
from qidsql.core.tables import names_of
from qidsql.engines.base import Engine
from qidsql.measures.criteria import Determines, Key, Violates
from qidsql.measures.disclosure_limits import (
    AnyDifference,
    DisclosureLimit,
    Distant,
    DistantInOrder,
    FewValues,
    Frequent,
    LowEntropy,
    MoreFrequent,
    MoreFrequentEnhanced,
    Recursive,
)
from qidsql.measures.population import population_uniques, shlosser
from qidsql.measures.profiles import ClassProfile, ClassSizes
from qidsql.profiling.by_entity import profiler_for
from qidsql.profiling.disclosing import disclosing
from qidsql.profiling.profiler import TableProfiler
from qidsql.search.greedy import greedy_minimal
from qidsql.search.lattice import levelwise
from qidsql.sql.classes import class_sizes
from qidsql.sql.disclosure import disclosure
from qidsql.sql.relation import relation
from tests.exhaustive import always
from tests.stores import ONE_ENGINE, DuckDBStore, PostgresStore, Store, quoted

NUMBERS = ", ".join(f"CAST({name} AS INTEGER) AS {name}" for name in ("education_num", "hours_per_week"))
Measures: TypeAlias = list[int]  # classes, colliding pairs, unique rows, smallest, largest


def load(store: Store, table: str, path: Path) -> list[str]:
    """The file as text columns, nothing interpreted; returns its columns."""
    with path.open(newline="") as file:
        names, *rows = csv.reader(file)
    columns = ", ".join(f"{quoted(name)} TEXT" for name in names)
    if isinstance(store, PostgresStore):
        store.execute(f"CREATE TABLE {table} ({columns})")
        with store.admin.cursor().copy(f"COPY {table} FROM STDIN".encode()) as copy:
            for row in rows:
                copy.write_row(row)
        store.execute(f"ANALYZE {table}")
    else:
        reader = f"read_csv('{path}', all_varchar = true, header = true)"
        store.execute(f"CREATE TABLE {table} AS SELECT * FROM {reader}")
    return names


@pytest.fixture(scope="module")
def loaded(module_store: Store, shared: Path) -> Store:
    """adult, the 14-column table of Motwani & Xu, and ARX's adult."""
    names = load(module_store, "adult", shared / "adult.csv")
    kept = ", ".join(name for name in names if name != "fnlwgt")
    module_store.execute(f"CREATE TABLE adult14 AS SELECT DISTINCT {kept} FROM adult")
    if isinstance(module_store, PostgresStore):
        module_store.execute("ANALYZE adult14")
    load(module_store, "arx_adult", shared / "arx_adult.csv")
    module_store.execute("CREATE VIEW adult_numeric AS SELECT sex, race, relationship, " + NUMBERS + " FROM adult")
    module_store.execute(
        "CREATE VIEW arx_adult_numeric AS SELECT sex, race, CAST(age AS INTEGER) AS age FROM arx_adult"
    )
    return module_store


@pytest.fixture(scope="module")
def engine(loaded: Store) -> Iterator[Engine]:
    with loaded.connect() as opened:
        yield opened


@pytest.fixture(scope="module")
def lattice(shared: Path) -> Callable[[str], dict[int, Measures]]:
    """Reads what the reference computed for every column set of a table."""

    def read(name: str) -> dict[int, Measures]:
        query = (
            "SELECT mask, distinct_count, 2 * unseparated_pairs, unique_groups, min_group, max_group "
            f"FROM '{shared / name}.parquet'"
        )
        with duckdb.connect() as connection:
            return {mask: measures for mask, *measures in connection.execute(query).fetchall()}

    return read


def profiler(engine: Engine, table: str, k: int = 5) -> TableProfiler:
    described = engine.describe(table)
    names = [column.name for column in described.columns]
    source = relation(engine.dialect, described, described.columns)
    return profiler_for(engine, source, names, k, rows=described.estimated_rows)


def measures(profile: ClassProfile) -> Measures:
    return [profile.classes, profile.colliding_pairs, profile.unique_rows, profile.smallest, profile.largest]


@pytest.mark.exhaustive
def test_disclosure_of_sensitive_columns(engine: Engine, shared: Path) -> None:
    """Classes of one value, distinct l-diversity, and the guess with and without knowing the columns."""
    for case in json.loads((shared / "oracle_models.json").read_text()):
        table = engine.describe(case["table"])
        source = relation(engine.dialect, table, table.columns)
        known = tuple(case["quasi_identifiers"])
        found = engine.run(disclosure(engine.dialect, source, known, case["sensitive"], 5))
        assert (found.rows, found.fewest_values) == (case["rows"], case["distinct_l"])
        assert found.revealed == case["rows_homogeneous"]
        before, after = (Fraction(case[name]["num"], case[name]["den"]) for name in ("guess_prior", "guess_posterior"))
        assert (found.guess_before, found.guess_after) == (before, after)
        assert found.rows - (found.rows_in_large or 0) == case["rows_below_k5"]


@pytest.mark.exhaustive
@ONE_ENGINE
def test_limits_on_disclosure(engine: Engine, shared: Path) -> None:
    """Each model's exact value is within the limit of that value, and beyond any tighter one."""
    tiny = Fraction(1, 10**9)
    for case in json.loads((shared / "oracle_models.json").read_text()):
        sensitive = case["sensitive"]

        def exact(name: str, case: dict[str, Any] = case) -> Fraction:
            return Fraction(case[name]["num"], case[name]["den"])

        within: list[DisclosureLimit] = []
        beyond: list[DisclosureLimit] = [FewValues(sensitive, Fraction(case["distinct_l"] + 1))]
        if case["distinct_l"] >= 2:
            within.append(FewValues(sensitive, Fraction(case["distinct_l"])))
        by_order = [(DistantInOrder, "t_ordered")] if case["order"] == "numeric" else []  # texts are refused
        for model, name in [(Frequent, "alpha"), (Distant, "t_equal"), *by_order]:
            if exact(name) < 1:
                within.append(model(sensitive, exact(name)))
            beyond.append(model(sensitive, exact(name) - tiny))
        within.append(MoreFrequent(sensitive, exact("beta_basic")))
        beyond.append(MoreFrequent(sensitive, exact("beta_basic") - tiny))
        for rank in (2, 3, 4):
            if case[f"recursive_c_for_l{rank}"] == "infinite":
                beyond.append(Recursive(sensitive, Fraction(10**6), rank))
            else:  # c itself is beyond: the commonest value has fewer rows than c times the rare ones
                c = exact(f"recursive_c_for_l{rank}")
                within.append(Recursive(sensitive, c + tiny, rank))
                beyond.append(Recursive(sensitive, c, rank))
        entropy = Fraction(str(case["entropy_l"]))
        if entropy > 1:
            within.append(LowEntropy(sensitive, entropy - Fraction(1, 10**6)))
            beyond.append(LowEntropy(sensitive, entropy + Fraction(1, 10**6)))
        if not case["enhanced_beta_possible"]:
            beyond.append(MoreFrequentEnhanced(sensitive, Fraction(10**6)))
        if case["delta_disclosure"] == "infinite":
            beyond.append(AnyDifference(sensitive, Fraction(100)))
        else:
            delta = Fraction(str(case["delta_disclosure"]))
            within.append(AnyDifference(sensitive, delta + Fraction(1, 10**6)))
            beyond.append(AnyDifference(sensitive, delta - Fraction(1, 10**6)))
        table = engine.describe(case["table"] + ("_numeric" if case["order"] == "numeric" else ""))
        names = case["quasi_identifiers"]
        source = relation(engine.dialect, table, table.columns)
        limits = disclosing(profiler_for(engine, source, names, 5), table, [*within, *beyond])
        profile = limits.profile(limits.everything)
        assert (profile.rows, profile.classes, profile.smallest) == (case["rows"], case["classes"], case["k"])
        assert [limit for limit in within if limit.met_by(profile)] == []
        assert [limit for limit in beyond if not limit.met_by(profile)] == []


@pytest.mark.exhaustive
def test_samples_held_against_their_populations(store: Store, shared: Path, tmp_path: Path) -> None:
    """k-map, journalist and marketer risk, delta-presence over all classes of the population, uniques of both."""
    for number, case in enumerate(json.loads((shared / "oracle_kmap.json").read_text())):
        every = int(case["sample"].split()[-3])
        assert case["sample"] == f"rows whose 1-based number mod {every} = 0"
        with (shared / f"{case['table']}.csv").open(newline="") as file:
            names, *rows = csv.reader(file)
        with (tmp_path / "sample.csv").open("w", newline="") as file:
            csv.writer(file).writerows([names, *rows[every - 1 :: every]])
        for name, path in (("sample", tmp_path / "sample.csv"), ("people", shared / f"{case['table']}.csv")):
            load(store, f"{name}_{number}", path)
        on = [f"{name}={name}" for name in case["quasi_identifiers"]]
        exact = {name: Fraction(each["num"], each["den"]) for name, each in case.items() if isinstance(each, dict)}
        with store.connect() as engine:
            for k in (5, 11):
                request = PopulationRequest(f"sample_{number}", population=f"people_{number}", on=on, k=k)
                result = population(engine, request)
                found = result.figures
                assert found is not None
                assert (found.rows, found.people) == (case["sample_rows"], case["population_rows"])
                assert (found.k_map, found.smallest) == (case["k_map"], case["k_anonymity"])
                assert found.rows_below_k == case[f"sample_rows_below_kmap_{k}"]
                assert (result.verdict == "violation") is (case["k_map"] < k)
                assert found.journalist_max == exact["journalist_max"] and found.marketer == exact["marketer"]
                assert found.journalist_by_classes == exact["journalist_avg_rc1_classes"]
                assert found.presence_min == exact["delta_presence_min_over_population"]
                assert found.presence_max == exact["delta_presence_max"]
                assert found.population_classes == case["population_classes"]
                assert found.population_classes_absent == case["population_classes_without_sample"]
                assert found.population_uniques == case["population_uniques"]
                assert found.sample_uniques == case["sample_uniques"]
                assert found.uniques_of_both == case["sample_uniques_that_are_population_unique"]


@pytest.mark.exhaustive
def test_population_uniques(engine: Engine, shared: Path) -> None:
    """Pitman and Zayatz as ARX 3.9.2 has them; SNB by its own equations, which ARX writes wrong.

    The reference computed Zayatz with the logarithms of large factorials, to 9 digits.
    """
    tables: dict[tuple[str, ...], ClassSizes] = {}
    for case in json.loads((shared / "oracle_population.json").read_text()):
        names = tuple(case["quasi_identifiers"])
        if names not in tables:
            table = engine.describe(case["table"])
            tables[names] = engine.run(
                class_sizes(engine.dialect, relation(engine.dialect, table, table.columns), names)
            )
        sizes = tables[names].classes
        assert (sizes[1], sizes[2]) == (case["sample_uniques"], case["sample_doubles"])
        assert shlosser(sizes, 30_162 / case["population"]) == pytest.approx(case["shlosser_classes"], rel=1e-12)
        pitman, zayatz, snb = population_uniques(sizes, case["population"])
        assert pitman.uniques == pytest.approx(case["pitman"], rel=1e-6)
        assert zayatz.uniques == pytest.approx(case["zayatz"], rel=2e-9)
        if case["snb"] is not None:
            assert snb.uniques == pytest.approx(case["snb"], rel=1e-9)


def test_adult_has_24_duplicate_rows_and_so_no_key(engine: Engine) -> None:
    adult = profiler(engine, "adult")
    rows, nulls = adult.counts()
    assert (rows, nulls) == (32_561, (0,) * 15)
    profile = adult.profile(adult.everything)
    assert profile.duplicate_rows == 24
    assert not Key().met_by(profile)
    assert greedy_minimal(adult, Key()).found == ()


@ONE_ENGINE
@pytest.mark.parametrize("inner", always(150, longer=[16_172]))
def test_adult14_every_column_set(engine: Engine, lattice: Callable[[str], dict[int, Measures]], inner: int) -> None:
    table, expected = profiler(engine, "adult14"), lattice("lattice_adult14_distinct")
    assert (table.counts()[0], len(expected)) == (29_096, 16_383)
    outer = [mask for mask in sorted(expected) if not 2 < mask.bit_count() < 12]
    inner = inner if engine.dialect.name == "duckdb" else min(inner, 2_000)  # all of them take Postgres minutes
    masks = outer + Random(14).sample(sorted(expected.keys() - outer), inner)
    for mask, profile in zip(masks, table.profiles(masks), strict=True):
        assert profile.rows == 29_096
        assert measures(profile) == expected[mask], names_of(mask, table.names)


def test_adult14_minimal_keys(engine: Engine) -> None:
    """Two of 13 columns each, says the reference: education and education_num stand for each other."""
    table = profiler(engine, "adult14")
    without = [table.everything & ~(1 << place) for place in range(table.columns)]
    keys = [mask for mask, profile in zip(without, table.profiles(without), strict=True) if Key().met_by(profile)]
    assert {table.names[place] for place in range(14) for mask in keys if not mask >> place & 1} == {
        "education",
        "education_num",
    }
    [found] = greedy_minimal(table, Key()).found
    assert found.mask in keys


def test_adult14_definition_3_and_algorithm_5_1_differ(engine: Engine) -> None:
    """33 minimal sets hold a class below k = 2; what tells apart as much as all columns is one of the two keys."""
    table = profiler(engine, "adult14", k=2)
    violating = levelwise(table, Violates(2))
    assert (len(violating.found), violating.complete) == (33, True)
    [found] = greedy_minimal(table, Determines(29_096)).found
    assert found.size == 13


@pytest.mark.exhaustive
@ONE_ENGINE
def test_arx_adult_every_column_set(engine: Engine, lattice: Callable[[str], dict[int, Measures]]) -> None:
    table, expected = profiler(engine, "arx_adult"), lattice("lattice_arx_adult")
    masks = sorted(expected)
    assert len(masks) == 511
    for mask, profile in zip(masks, table.profiles(masks), strict=True):
        assert profile.rows == 30_162
        assert measures(profile) == expected[mask], names_of(mask, table.names)


def test_arx_adult_published_risks(engine: Engine) -> None:
    """ARX's own tests: average re-identification risk and share of unique records."""
    table = profiler(engine, "arx_adult")
    profile = table.profile(table.everything)
    assert (profile.classes, profile.unique_rows) == (19_502, 15_512)
    assert float(profile.distinct_ratio) == 0.6465751607983555
    assert float(Fraction(profile.unique_rows, profile.rows)) == 0.5142895033485844


@pytest.mark.exhaustive
def test_both_engines_give_the_same_profiles(tmp_path: Path, postgres_url: str, shared: Path) -> None:
    """All counts of a profile, those of k included, which the reference does not hold."""
    answers = []
    with DuckDBStore(tmp_path / "store.duckdb") as one, PostgresStore(postgres_url) as other:
        for store in (one, other):
            load(store, "arx_adult", shared / "arx_adult.csv")
            with store.connect() as engine:
                table = profiler(engine, "arx_adult", k=7)
                masks = range(1, table.everything + 1, 23)
                answers.append([*table.profiles([*masks, table.everything]), *table.singles()])
                answers[-1] += [table.sizes(table.everything)]
    assert answers[0] == answers[1]
