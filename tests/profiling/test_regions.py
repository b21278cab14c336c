"""Classes in regions: what they prove holds, and an audit by them says what one without them says."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from qidsql.commands.audit import causes
from qidsql.commands.audit.audit import audit
from qidsql.commands.audit.command import AuditRequest, AuditResult
from qidsql.commands.table_search import table_profiler
from qidsql.core.tables import Nulls
from qidsql.engines.base import Engine
from qidsql.measures.profiles import ClassProfile
from qidsql.profiling import samples as regions
from qidsql.profiling.profiler import TableProfiler
from qidsql.profiling.samples import regions_of
from tests.definitions import mask_of, profile_of, projected, subsets
from tests.exhaustive import always
from tests.random_tables import RandomTable, drop, load, random_table
from tests.stores import TWO_ENGINES, SQLiteStore, Store, at_costs
from tests.trials import audits

pytestmark = TWO_ENGINES
TABLES = 25


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Regions of tables of a row or more, in DuckDB too."""
    at_costs(monkeypatch, region_rows=1)
    monkeypatch.setattr(regions, "FEWEST_ROWS_OF_BUCKET", 2)


@pytest.fixture(params=always(0, longer=range(TABLES, 10 * TABLES, TABLES)))
def tables(request: pytest.FixtureRequest, store: Store) -> Iterator[list[RandomTable]]:
    made = [random_table(seed, store.name) for seed in range(request.param, request.param + TABLES)]
    load(store, made)
    yield made
    drop(store, made)


def profiler_of(engine: Engine, table: RandomTable, k: int) -> TableProfiler:
    described = engine.describe(table.name)
    columns = [described.column(name) for name in table.names]
    profiler = table_profiler(engine, described, columns, AuditRequest(table.name, k=k).policy)
    profiler.singles()
    return profiler


@pytest.mark.exhaustive
@pytest.mark.usefixtures("few")
def test_classes_in_a_region_are_classes_of_the_table(store: Store, tables: list[RandomTable]) -> None:
    with store.connect() as engine:
        for table in (table for table in tables if table.rows and table.columns > 1):
            found = regions_of(profiler_of(engine, table, 3))
            assert found is not None
            sets = list(subsets(table.columns))
            masks = [mask_of(places) for places in sets]
            wholes = [profile_of(projected(table.rows, places), 3) for places in sets]
            for part, sample, whole in zip(found.profiles(masks), found.sampled(masks, 1), wholes, strict=True):
                assert sample == whole  # a sample of all classes, and no two hashes are equal
                assert whole.smallest <= part.smallest <= part.largest <= whole.largest
                assert part.rows_below_k <= whole.rows_below_k and part.classes <= whole.classes


@pytest.mark.exhaustive
@pytest.mark.usefixtures("few")
def test_an_audit_by_regions_says_what_one_without_them_says(
    store: Store, tables: list[RandomTable], monkeypatch: pytest.MonkeyPatch
) -> None:
    with store.connect() as engine:
        decided = 0
        for number, table in enumerate(tables):
            k = 2 + number % 4
            request = AuditRequest(table.name, k=k, columns=table.names, entity="row")
            wrong = audits.wrong_in(engine, table, {"entity": "row"}, k)
            assert wrong is None, (table.name, wrong)
            by_regions = audit(engine, request)
            with monkeypatch.context() as patch:
                patch.setattr(causes, "regions_of", lambda profiler: None)
                assert facts(by_regions) == facts(audit(engine, request))
            decided += any(search.algorithm == "decided by regions" for search in by_regions.searches)
        assert decided > len(tables) // 3


def facts(result: AuditResult) -> object:
    searches = [replace(search, algorithm="") for search in result.searches]
    return result.verdict, result.column_sets, searches, result.withheld, result.least_withheld, result.columns


def test_what_has_no_regions(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.table("t", {"a": "INTEGER", "b": "VARCHAR(3)", "c": "INTEGER[]", "p": "INTEGER"}, [])
    store.execute("INSERT INTO t SELECT i, 'x', ARRAY[i], i FROM generate_series(1, 200) AS numbers(i)")
    at_costs(monkeypatch, region_rows=200)

    def has_regions(names: str, **options: object) -> bool:
        policy = AuditRequest("t", **{"entity": "row", **options}).policy  # type: ignore[arg-type]
        described = engine.narrowed(engine.describe("t"), policy.where)
        profiler = table_profiler(engine, described, [described.column(name) for name in names], policy)
        profiler.counts()
        profiler.profile(1)
        return regions_of(profiler) is not None

    with store.connect() as engine:
        assert has_regions("ab")
        assert not has_regions("a")
        assert has_regions("abc") == (store.name == "duckdb")  # an array of what may have no hash
        assert not has_regions("ab", entity="p")
        assert not has_regions("ab", nulls=Nulls.WILDCARD.value)
        assert not has_regions("ab", where="a > 1")  # 199 rows
        at_costs(monkeypatch, region_rows=100)
        assert has_regions("ab", where="a > 1")


def test_another_engine_has_no_regions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at_costs(monkeypatch, region_rows=1)
    with SQLiteStore(tmp_path / "t.sqlite") as store:
        store.table("t", {"a": "INTEGER", "b": "INTEGER"}, [(1, 2), (3, 4)])
        with store.connect() as engine:
            table = engine.describe("t")
            profiler = table_profiler(engine, table, table.columns, AuditRequest("t").policy)
            profiler.singles()
            assert regions_of(profiler) is None


@pytest.mark.parametrize("share", [4, 16])
def test_a_sample_of_classes_is_of_about_that_share(store: Store, share: int, monkeypatch: pytest.MonkeyPatch) -> None:
    store.table("s", {"a": "INTEGER", "b": "INTEGER"}, [])
    store.execute("INSERT INTO s SELECT i % 3000, i % 7 FROM generate_series(1, 6000) AS numbers(i)")
    at_costs(monkeypatch, region_rows=1)
    with store.connect() as engine:
        table = engine.describe("s")
        profiler = table_profiler(engine, table, table.columns, AuditRequest("s").policy)
        profiler.singles()
        found = regions_of(profiler)
        assert found is not None
        [sample] = found.sampled([1], share)
    assert (sample.smallest, sample.largest) == (2, 2)  # whole classes
    assert abs(sample.classes * share - 3000) < 4 * (3000 * share) ** 0.5


def test_the_rarest_values_are_in_the_region(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = Random(3)
    rows = [(draw.randrange(4), "X" if number < 20 else "F") for number in range(2_000)]
    store.table("r", {"a": "INTEGER", "b": "VARCHAR(1)"}, rows)
    at_costs(monkeypatch, region_rows=1)
    monkeypatch.setattr(regions, "FEWEST_ROWS_OF_BUCKET", 10)
    with store.connect() as engine:
        table = engine.describe("r")
        profiler = table_profiler(engine, table, table.columns, AuditRequest("r").policy)
        profiler.singles()
        found = regions_of(profiler)
        assert found is not None
        [part] = found.profiles([2])
    assert part == ClassProfile.of_sizes({20: 1}, 5)
