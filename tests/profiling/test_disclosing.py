"""Column sets that disclose more than a limit allows, on every engine, beside the definitions."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from itertools import combinations
from random import Random

import pytest

from qidsql.core.tables import names_of
from qidsql.measures.disclosure_limits import DisclosureLimit
from qidsql.measures.profiles import Disclosing
from qidsql.profiling.disclosing import disclosing
from qidsql.profiling.profiler import TableProfiler
from qidsql.sql.relation import relation
from tests.definitions import entity_profile_of, exceeds, profile_of, projected
from tests.disclosure_limits import LIMITS, SENSITIVE, value_of
from tests.exhaustive import always
from tests.stores import EVERY_ENGINE, Store

COLUMNS = ("a", "b", "c")
VALUES = (0, 1, 2, 3, None)
Row = tuple[int | None, ...]
WORDS = [f"{limit.finding} {limit.limit}" for limit in LIMITS]


def random_rows(seed: int) -> list[Row]:
    """Rows of three columns, a sensitive value, and a person; the tables of some seeds are small, or of one value."""
    random = Random(seed)
    values = VALUES[: random.randint(1, 5)] if seed % 3 else VALUES[2:]
    number = random.choice([1, 3, 8, 20, 40])
    most = random.randint(1, 3)
    return [
        (*(random.choice((*range(most), None)) for _ in COLUMNS), random.choice(values), random.randint(0, number // 2))
        for _ in range(number)
    ]


def groups(rows: Sequence[Row], places: Sequence[int]) -> dict[Row, list[Hashable]]:
    found: dict[Row, list[Hashable]] = defaultdict(list)
    for row in rows:
        found[tuple(row[place] for place in places)].append(row[3])
    return found


def judged(limit: DisclosureLimit, rows: Sequence[Row], places: Sequence[int]) -> tuple[int, int]:
    """The rows and the classes beyond the limit."""
    table = [row[3] for row in rows]
    found = [g for g in groups(rows, places).values() if exceeds(limit.finding, value_of(limit), g, table)]
    return sum(map(len, found)), len(found)


@pytest.mark.parametrize("seed", always(*range(6), longer=range(6, 200)))
@EVERY_ENGINE
def test_random_tables(store: Store, seed: int) -> None:
    rows = random_rows(seed)
    name = f"t{seed}"
    store.table(name, dict.fromkeys((*COLUMNS, SENSITIVE, "person"), "INTEGER"), rows)
    with store.connect() as engine:
        table = engine.describe(name)
        source = relation(engine.dialect, table, table.columns)
        profiler = disclosing(TableProfiler(engine, source, COLUMNS, 3), table, LIMITS)
        by_person = disclosing(TableProfiler(engine, source, COLUMNS, 3, "person"), table, LIMITS[:2])
        masks = list(range(1, 8))
        for mask, profile, of_persons in zip(masks, profiler.profiles(masks), by_person.profiles(masks), strict=True):
            places = [COLUMNS.index(column) for column in names_of(mask, COLUMNS)]
            plain = profile_of(projected(rows, places), 3)
            assert (profile.classes, profile.smallest, profile.rows_at_risk) == (
                plain.classes,
                plain.smallest,
                plain.rows_at_risk,
            )
            for limit, figures in zip(LIMITS, profile.disclosing, strict=True):
                assert (figures.rows, figures.classes) == judged(limit, rows, places), limit
                assert limit.of(profile) == figures
            persons = [row[4] for row in rows]
            assert of_persons.rows == len(set(persons))
            assert of_persons.classes_at_risk == entity_profile_of(projected(rows, places), persons, 3).classes_at_risk
            for limit, figures in zip(LIMITS, of_persons.disclosing, strict=False):
                beyond = {key for key, group in groups(rows, places).items() if len(set(group)) < limit.limit}
                exposed = {row[4] for row in rows if tuple(row[place] for place in places) in beyond}
                assert (figures.rows, figures.classes) == (len(exposed), len(beyond))


@pytest.mark.parametrize("limit", LIMITS, ids=WORDS)
@pytest.mark.parametrize("seeds", always(range(60), longer=[range(60, 600)]))
def test_a_further_column_never_keeps_a_limit_again(limit: DisclosureLimit, seeds: range) -> None:
    met = 0
    for seed in seeds:
        rows = random_rows(seed)
        beyond = {
            places: judged(limit, rows, places)[1] > 0 for size in range(4) for places in combinations(range(3), size)
        }
        met += len(set(beyond.values())) == 2
        for places, exceeded in beyond.items():
            if exceeded:
                assert all(more for other, more in beyond.items() if set(places) <= set(other)), seed
    assert met, "no table of these decides anything"


def test_delta_with_absent_values_skipped_would_not_be_monotone() -> None:
    """The counter-example that shows why a value absent from a class counts."""
    whole = ["a"] * 12 + ["b"] * 4
    coarse = [["a"] * 7 + ["b"], ["a"] * 5 + ["b"] * 3]
    fine = [["a"] * 5, ["a"] * 2 + ["b"], coarse[1]]

    def skipping(group: list[str]) -> float:
        from math import log

        return max(abs(log(group.count(v) / len(group) / (whole.count(v) / len(whole)))) for v in set(group))

    assert max(map(skipping, fine)) < max(map(skipping, coarse))
    assert any(exceeds("delta-disclosure", LIMITS[-1].limit, group, whole) for group in fine)


@EVERY_ENGINE
def test_an_empty_table_exceeds_nothing(store: Store) -> None:
    store.table("nothing", dict.fromkeys((*COLUMNS, SENSITIVE), "INTEGER"), [])
    with store.connect() as engine:
        table = engine.describe("nothing")
        source = relation(engine.dialect, table, table.columns)
        profile = disclosing(TableProfiler(engine, source, COLUMNS, 3), table, LIMITS).profile(7)
        assert (profile.rows, profile.disclosing) == (0, ())
        assert not any(limit.met_by(profile) for limit in LIMITS)
        assert all(limit.measured_by(profile) for limit in LIMITS)


def test_figures_of_another_limit_decide_nothing() -> None:
    profile = profile_of([(1,), (1,)], 3)
    for limit in LIMITS:
        assert not limit.measured_by(profile)
        with pytest.raises(ValueError, match="without the sensitive column"):
            limit.met_by(profile)
    assert Disclosing(LIMITS[0].label, 1, 1, 1).limit != LIMITS[1].label
