"""All minimal keys against a peer's: Desbordante's HPIValid, on tables with hundreds of them."""

import csv
from pathlib import Path
from random import Random

import pytest

from qidsql.profiling.by_entity import profiler_for
from qidsql.profiling.samples import PairsThatAgree
from qidsql.search.minimal_keys import minimal_keys
from qidsql.sql.relation import relation
from tests.search.tables import Row
from tests.stores import ONE_ENGINE, Store

desbordante = pytest.importorskip("desbordante", reason="desbordante is not installed (pip install desbordante)")


def tables() -> list[list[Row]]:
    """Six shapes: few rows and many columns, many rows, skewed values, NULLs, columns that follow from others."""
    drawn: list[list[Row]] = []
    for seed, (height, width, values, skew) in enumerate(
        [(60, 16, 6, 1), (200, 18, 4, 1), (500, 15, 9, 2), (1000, 14, 12, 1), (100, 17, 4, 2), (2000, 16, 30, 2)]
    ):
        random = Random(seed)

        def cell(most: int, random: Random = random, skew: int = skew) -> int | None:
            value = int(most * random.random() ** skew)
            return None if value == 1 and random.random() < 0.3 else value

        sizes = [random.randint(2, values) for _ in range(width)]
        rows = [[cell(size) for size in sizes] for _ in range(height)]
        for row in rows:
            row[-1] = (row[0] or 0) // 2  # follows from the first column
            row[-2] = None if row[1] is None else 9 - row[1]  # a twin of the second one
        drawn.append(list(dict.fromkeys(map(tuple, rows))))
    return drawn


def by_peer(rows: list[Row], path: Path) -> set[int]:
    """An empty field is one more value to Desbordante, as NULL is to us."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([f"c{place}" for place in range(len(rows[0]))])
        writer.writerows(["" if value is None else value for value in row] for row in rows)
    search = desbordante.ucc.algorithms.HPIValid()
    search.load_data(table=(str(path), ",", True))
    search.execute()
    return {sum(1 << place for place in ucc.indices) for ucc in search.get_uccs()}


@pytest.mark.exhaustive
@ONE_ENGINE
def test_the_same_minimal_keys_as_hpivalid(store: Store, tmp_path: Path) -> None:
    drawn = tables()
    expected = [by_peer(rows, tmp_path / "table.csv") for rows in drawn]
    assert sum(len(keys) >= 100 for keys in expected) >= 5
    for number, rows in enumerate(drawn):
        store.table(f"t{number}", {f"c{place}": "INTEGER" for place in range(len(rows[0]))}, rows)
    with store.connect() as engine:
        for number, rows in enumerate(drawn):
            table = engine.describe(f"t{number}")
            source = relation(engine.dialect, table, table.columns)
            names = [column.name for column in table.columns]
            profiler = profiler_for(engine, source, names, 2, rows=len(rows))
            result = minimal_keys(profiler, PairsThatAgree(profiler))
            assert result.complete
            assert {found.mask for found in result.found} == expected[number]
