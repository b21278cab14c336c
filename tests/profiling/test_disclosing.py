"""Column sets that disclose more than a limit allows, on every engine, beside the definitions."""

from itertools import combinations

import pytest

from qidsql.measures.disclosure_limits import DisclosureLimit
from qidsql.measures.profiles import Disclosing
from qidsql.profiling.by_entity import profiler_for
from qidsql.profiling.disclosing import disclosing
from qidsql.sql.relation import relation
from tests.definitions import exceeds, profile_of
from tests.disclosure_limits import COLUMNS, LIMITS, SENSITIVE, differences, judged, random_rows
from tests.exhaustive import always
from tests.stores import TWO_OF_THREE, Store

WORDS = [f"{limit.finding} {limit.limit}" for limit in LIMITS]


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", always(0, longer=range(1, 30)))
@TWO_OF_THREE
def test_random_tables(store: Store, seed: int) -> None:
    rows = random_rows(seed)
    name = f"t{seed}"
    store.table(name, dict.fromkeys((*COLUMNS, SENSITIVE, "person"), "INTEGER"), rows)
    with store.connect() as engine:
        assert differences(engine, name, rows) == []


@pytest.mark.exhaustive
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


@TWO_OF_THREE
def test_an_empty_table_exceeds_nothing(store: Store) -> None:
    store.table("nothing", dict.fromkeys((*COLUMNS, SENSITIVE), "INTEGER"), [])
    with store.connect() as engine:
        table = engine.describe("nothing")
        source = relation(engine.dialect, table, table.columns)
        profile = disclosing(profiler_for(engine, source, COLUMNS, 3), table, LIMITS).profile(7)
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
