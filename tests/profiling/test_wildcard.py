"""Where a NULL matches anything: the counts, on both engines, against the definition and sdcMicro's printed figures."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from random import Random
from typing import Any

import pytest

from qidsql import api
from qidsql.core.policy import Policy
from qidsql.core.tables import Nulls, names_of
from qidsql.engines.base import Engine
from qidsql.errors import StatementError, UsageError
from qidsql.measures.profiles import MatchSizes, bin_starts, size_bins
from qidsql.profiling.by_entity import profiler_for
from qidsql.profiling.profiler import TableProfiler
from qidsql.sql.matching_rows import Domain, matching_sizes
from qidsql.sql.relation import relation
from tests.definitions import Values, frequencies, mask_of, matching_profile_of, profile_of, projected, subsets
from tests.exhaustive import always
from tests.random_tables import together
from tests.stores import ONE_ENGINE, Store, quoted

TABLES = always(range(6), longer=[range(6, 200)])  # the store keeps all of them
K = 3


def test_single_columns_are_matched_not_grouped(store: Store) -> None:
    rows = [(1, 1), (1, 1), (2, 1), (None, 1), (2, None), (1, 1), (None, 2), (1, 2)]
    store.table("t", {"a": "INTEGER", "b": "INTEGER"}, rows)
    found = api.keys(store.url, "t", columns=["a", "b"], nulls="wildcard", all=True, violates=4)
    assert ([each.columns for each in found.column_sets], found.complete) == ([("b",)], True)


@dataclass(frozen=True)
class NullTable:
    """Few values and many NULLs, of types whose text, order and size differ."""

    name: str
    columns: int
    rows: tuple[Values, ...]

    @property
    def statements(self) -> list[str]:
        kinds = ("INTEGER", "VARCHAR(9)", "DATE", "BIGINT", "BOOLEAN")
        columns = ", ".join(f"c{place} {kinds[place % 5]}" for place in range(self.columns))
        made = [f"CREATE TABLE {quoted(self.name)} ({columns})"]
        if self.rows:
            values = ", ".join(f"({', '.join(self._literal(p, cell) for p, cell in enumerate(r))})" for r in self.rows)
            made.append(f"INSERT INTO {quoted(self.name)} VALUES {values}")
        return made

    def _literal(self, place: int, cell: object) -> str:
        if cell is None:
            return "NULL"
        texts = (f"{cell}", f"'v{cell}'", f"DATE '2024-01-0{int(str(cell)) + 1}'", f"{cell}", str(bool(cell)))
        return texts[place % 5]


def null_table(seed: int) -> NullTable:
    draw = Random(seed)
    columns = draw.choice((1, 2, 3, 3, 4, 5))
    pools = []
    for place in range(columns):
        values: list[int | None] = list(range(2 if place % 5 == 4 else draw.choice((1, 2, 3, 8))))
        pools.append(values + [None] * draw.choice((0, 0, 1, 2, 4)))
    rows = tuple(tuple(draw.choice(pool) for pool in pools) for _ in range(draw.choice((0, 1, 2, 8, 20, 40))))
    return NullTable(f"n{seed}", columns, rows)


@pytest.fixture(scope="module", params=TABLES)
def tables(module_store: Store, request: pytest.FixtureRequest) -> Iterator[tuple[Engine, list[NullTable]]]:
    made = [null_table(seed) for seed in request.param]
    together(module_store, [statement for table in made for statement in table.statements])
    with module_store.connect() as engine:
        yield engine, made


def profiler(engine: Engine, name: str, nulls: Nulls = Nulls.WILDCARD) -> TableProfiler:
    table = engine.describe(name)
    source = relation(engine.dialect, table, table.columns)
    return profiler_for(engine, source, [column.name for column in table.columns], K, nulls=nulls)


@pytest.mark.exhaustive
def test_profiles_and_sizes_of_every_column_set(tables: tuple[Engine, list[NullTable]]) -> None:
    engine, made = tables
    for table in made:
        asked, sets = profiler(engine, table.name), list(subsets(table.columns))
        expected = [matching_profile_of(projected(table.rows, places), K) for places in sets]
        assert asked.profiles([mask_of(places) for places in sets]) == expected, table
        sizes = asked.sizes(asked.everything)
        assert isinstance(sizes, MatchSizes)
        counted = Counter(frequencies(table.rows))
        assert sizes.rows == counted, table
        for k in (2, 5, bin_starts(K)[-1]):
            assert sizes.profile(k) == matching_profile_of(table.rows, k), table


@pytest.mark.exhaustive
def test_a_further_column_only_removes_matches(tables: tuple[Engine, list[NullTable]]) -> None:
    engine, made = tables
    for table in made[:20]:
        asked = profiler(engine, table.name)
        sets = [mask_of(places) for places in subsets(table.columns)]
        known = dict(zip(sets, asked.profiles(sets), strict=True))
        for mask, other in combinations(sets, 2):
            if mask & other == mask:
                less, more = known[mask], known[other]
                assert less.smallest >= more.smallest and less.largest >= more.largest, table
                assert less.rows_below_k <= more.rows_below_k and less.unique_rows <= more.unique_rows, table
                assert less.colliding_pairs >= more.colliding_pairs, table


def test_without_nulls_it_is_the_equal_profile(tables: tuple[Engine, list[NullTable]]) -> None:
    engine, made = tables
    whole = [table for table in made if table.rows and not any(cell is None for row in table.rows for cell in row)]
    assert whole
    for table in whole:
        asked = profiler(engine, table.name)
        assert asked.profile(asked.everything) == profile_of(table.rows, K).of_matches(), table


def test_sdcmicro_freq_calc(store: Store) -> None:
    """The table and the frequencies of sdcMicro's own test of freqCalc, whole and with two cells blanked."""
    rows = [(2, 3, 1), (3, 3, 3), (2, 3, 1), (2, 3, 2), (3, 3, 1), (3, 3, 1), (1, 4, 1), (2, 3, 1)]
    blanked = [(*row[:2], None) if place in (2, 6) else row for place, row in enumerate(rows)]
    for name, values, published in (
        ("whole", rows, (3, 1, 3, 1, 2, 2, 1, 3)),
        ("blanked", blanked, (3, 1, 4, 2, 2, 2, 1, 3)),
    ):
        store.table(name, dict.fromkeys("abc", "INTEGER"), values)
        with store.connect() as engine:
            asked = profiler(engine, name)
            assert asked.sizes(asked.everything).rows == Counter(published)


@pytest.mark.exhaustive
@ONE_ENGINE
def test_codes_that_fill_several_integers(store: Store) -> None:
    draw = Random(5)
    columns = [f"c{place}" for place in range(24)]
    rows = [tuple(None if draw.random() < 0.2 else draw.randrange(2) for _ in columns) for _ in range(30)]
    rows += [tuple(None if draw.random() < 0.3 else cell for cell in row) for row in rows for _ in range(2)]
    store.table("wide", dict.fromkeys(columns, "INTEGER"), rows)
    with store.connect() as engine:
        asked = profiler(engine, "wide")
        assert asked.sizes(asked.everything).rows == Counter(frequencies(rows))


def test_a_profile_asks_the_counts_the_values_and_one_statement(store: Store) -> None:
    store.table("t", {"a": "INTEGER", "b": "INTEGER", "c": "INTEGER"}, [(1, None, 1), (1, 2, 1), (None, 2, 2)])
    with store.connect() as engine:
        asked = profiler(engine, "t")
        before = engine.statements
        asked.profile(0b111)
        batches = 1 if engine.dialect.name == "duckdb" else 2  # a and b, by value
        assert engine.statements - before <= 1 + batches + 1
        before = engine.statements
        asked.profile(0b011)
        assert engine.statements - before == 1
        asked.profile(0b011)
        assert engine.statements - before == 1


def test_a_table_that_grew_more_values_is_no_answer(store: Store) -> None:
    store.table("t", {"a": "INTEGER", "b": "INTEGER"}, [(number, None if number else 1) for number in range(40)])
    with store.connect() as engine:
        table = engine.describe("t")
        source = relation(engine.dialect, table, table.columns)
        stale = Domain(2, {"a": 0, "b": 1}, {"b": 1})
        with pytest.raises(StatementError, match="changed"):
            engine.run(matching_sizes(engine.dialect, source, ("a", "b"), stale, 10))


def test_most_puts_large_frequencies_together(store: Store) -> None:
    rows = [(1,)] * 5 + [(2,)] * 9 + [(None,)]
    store.table("t", {"a": "INTEGER"}, rows)
    with store.connect() as engine:
        table = engine.describe("t")
        source = relation(engine.dialect, table, table.columns)
        sizes = engine.run(matching_sizes(engine.dialect, source, ("a",), Domain(15, {"a": 1}, {"a": 2}), 7))
    assert sizes == MatchSizes({}, {6: 5, 7: 10}, False, 6, 15, 5 * 5 + 9 * 9 + 14, 7)
    assert [(each.low, each.rows) for each in size_bins(sizes, [1, 6, 7])] == [(1, 0), (6, 5), (7, 10)]
    with pytest.raises(ValueError, match="counted together"):
        sizes.profile(8)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"distinct": Fraction(1, 2)}, "--distinct counts classes"),
        ({"entity": "a"}, "--entity and --nulls wildcard"),
        ({"nulls": "never"}, "--nulls must be equal"),
    ],
)
def test_what_has_no_meaning_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Policy(**{"nulls": "wildcard", **options})


@pytest.mark.exhaustive
@ONE_ENGINE
def test_audit_keys_and_mask(store: Store) -> None:
    draw = Random(3)
    rows = [tuple(None if draw.random() < 0.1 else draw.randrange(size) for size in (4, 5, 6, 9)) for _ in range(60)]
    store.table("t", dict.fromkeys("abcd", "INTEGER"), rows)

    def minimal(test: object) -> set[tuple[str, ...]]:
        met = [set(p) for p in subsets(4) if test(projected(rows, p))]  # type: ignore[operator]
        return {names_of(mask_of(p), "abcd") for p in met if not any(other < p for other in met)}

    with store.connect() as engine:
        audit = api.audit(engine, "t", k=3, nulls="wildcard")
        assert audit.profile == matching_profile_of(rows, 3)
        below = next(search for search in audit.searches if search.criterion == "column set below k = 3")
        expected = minimal(lambda part: min(frequencies(part)) < 3)
        assert below.complete and {found.columns for found in audit.found_by(below)} == expected
        assert all(
            found.profile == matching_profile_of(projected(rows, ["abcd".index(n) for n in found.columns]), 3)
            for found in audit.found_by(below)
        )
        separated = api.keys(engine, "t", all=True, separation=Fraction(95, 100), nulls="wildcard")
        assert separated.complete and {found.columns for found in separated.column_sets} == minimal(
            lambda part: sum(f - 1 for f in frequencies(part)) * 100 <= 5 * 60 * 59
        )
        no_key = api.keys(engine, "t", nulls="wildcard")
        assert no_key.impossible.endswith("match another in all columns searched")
        plan = api.protect(engine, "t", violates=3, exact=True, nulls="wildcard", by="columns")
        safe = [p for p in subsets(4) if min(frequencies(projected(rows, p))) >= 3]
        assert plan.optimal and plan.weight == max((len(p) for p in safe), default=0)


def test_keys_where_nulls_match_nothing_else(store: Store) -> None:
    """b has a NULL, which matches every row: only a and c together, or a with b, tell all apart."""
    rows = [(1, 1, 1), (1, 2, 2), (2, None, 1), (2, 3, 2), (3, 4, 1)]
    store.table("t", dict.fromkeys("abc", "INTEGER"), rows)
    with store.connect() as engine:
        found = api.keys(engine, "t", all=True, nulls="wildcard")
        assert found.complete and found.algorithm == "borders"
        assert {each.columns for each in found.column_sets} == {("a", "c")}
        assert api.keys(engine, "t", nulls="wildcard").optimal
        with pytest.raises(UsageError, match="hitting-sets treats NULL as a value"):
            api.keys(engine, "t", all=True, algorithm="hitting-sets", nulls="wildcard")


def test_an_identifier_with_a_null_is_still_recognised(store: Store) -> None:
    store.table("t", {"id": "INTEGER", "a": "INTEGER"}, [(number or None, number % 2) for number in range(40)])
    with store.connect() as engine:
        result = api.audit(engine, "t", k=2, nulls="wildcard")
    assert [column.name for column in result.columns if column.recognised] == ["id"]
    assert result.columns[0].profile == matching_profile_of([(number or None,) for number in range(40)], 2)
