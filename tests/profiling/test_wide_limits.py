"""Limits whose fractions exceed 64 bits, a hair beside what a class just keeps: every engine decides in integers."""

from fractions import Fraction
from typing import Any

import pytest

from qidsql.measures.disclosure_limits import (
    DisclosureLimit,
    Distant,
    DistantInHierarchy,
    DistantInOrder,
    Frequent,
    LowEntropy,
    MoreFrequent,
    MoreFrequentEnhanced,
    Recursive,
)
from qidsql.profiling.by_entity import profiler_for
from qidsql.profiling.disclosing import disclosing
from qidsql.sql.relation import relation
from tests.definitions import hierarchical_distance
from tests.disclosure_limits import COLUMNS, SENSITIVE, groups, judged
from tests.sql.disclosure_limit_mutants import HIERARCHY, hierarchy_file
from tests.stores import THREE_ENGINES, Store

HAIR = Fraction(1, 10**19)
# In class 0 three values are equally frequent, in class 1 there are two, in class 2 one is rare.
NAMES = {"a": "ann", "b": "bob", "c": "eve"}
ROWS = [(group, 0, 0, NAMES[each], 1) for group, values in enumerate(("abc", "ab", "aaac")) for each in values]


def beside(rows: Any) -> list[DisclosureLimit]:
    third, half = Fraction(1, 3), Fraction(1, 2)
    found: list[DisclosureLimit] = [LowEntropy(SENSITIVE, Fraction(2) + HAIR), Frequent(SENSITIVE, Fraction(1 / 3))]
    table = [row[3] for row in rows]
    for move in (-HAIR, Fraction(0), HAIR):
        found += [Frequent(SENSITIVE, share + move) for share in (third, half, Fraction(3, 4))]
        found += [Recursive(SENSITIVE, c + move, 2) for c in (half, Fraction(1), Fraction(3))]
        for group in groups(rows, [0]).values():
            shares = {value: Fraction(group.count(value), len(group)) for value in set(table)}
            usual = {value: Fraction(table.count(value), len(table)) for value in set(table)}
            distance = sum(abs(shares[v] - usual[v]) for v in usual) / 2
            gaps = [sum(shares[v] - usual[v] for v in sorted(usual)[: n + 1]) for n in range(3)]
            excess = max(shares[v] / usual[v] for v in usual) - 1
            found += [Distant(SENSITIVE, distance + move), DistantInOrder(SENSITIVE, sum(map(abs, gaps)) / 2 + move)]
            found += [model(SENSITIVE, excess + move) for model in (MoreFrequent, MoreFrequentEnhanced)]
            if table[0] in HIERARCHY:
                tall = hierarchical_distance(group, table, HIERARCHY)
                found.append(DistantInHierarchy(SENSITIVE, tall + move, hierarchy_file()))
    return found


@pytest.mark.parametrize("ordered", [False, True])
@THREE_ENGINES
def test_limits_beyond_64_bits_are_decided_exactly(store: Store, ordered: bool) -> None:
    """The order of texts is that of letters, so the limit by order is held against numbers."""
    rows: Any = [(*row[:3], [*NAMES.values()].index(row[3]), row[4]) for row in ROWS] if ordered else ROWS
    tried = (limit for limit in beside(rows) if isinstance(limit, DistantInOrder) == ordered)
    limits = list({limit.label: limit for limit in tried}.values())
    kind = "INTEGER" if ordered else "VARCHAR(9)"
    store.table("people", dict.fromkeys(COLUMNS, "INTEGER") | {SENSITIVE: kind, "person": "INTEGER"}, rows)
    table = [row[3] for row in rows]
    with store.connect() as engine:
        described = engine.describe("people")
        source = relation(engine.dialect, described, described.columns)
        profiler = disclosing(profiler_for(engine, source, COLUMNS, 3), described, limits)
        found = {each.limit: each.classes for each in profiler.profile(1).disclosing}
    for limit in limits:
        if isinstance(limit, DistantInHierarchy):
            each = groups(rows, [0]).values()
            expected = sum(hierarchical_distance(group, table, HIERARCHY) > limit.limit for group in each)
        else:
            expected = judged(limit, rows, [0])[1]
        assert found[limit.label] == expected, limit.options
