"""Functional dependencies between two columns, against their definition."""

from itertools import permutations

from qidsql.search.redundant_columns import dependencies
from tests.search.memory import MemoryProfiler, random_rows


def test_one_column_determines_another_where_equal_values_meet_equal_values() -> None:
    found_any = 0
    for seed in range(400):
        rows, columns = random_rows(seed)
        wanted = set()
        for left, right in permutations(range(columns), 2):
            values = [len({row[place] for row in rows}) for place in (left, right)]
            key_or_constant = any(many in (0, 1, len(rows)) for many in values)
            if not key_or_constant and all(a[right] == b[right] for a in rows for b in rows if a[left] == b[left]):
                wanted.add((left, right))
        profiler = MemoryProfiler(rows, columns)
        found = dependencies(profiler)
        assert (set(found), len(found)) == (wanted, len(wanted)), seed
        assert len(profiler.asked) <= columns * (columns + 1) // 2
        found_any += len(found)
    assert found_any > 50
