"""Local recoding on both engines, on adult, and of hostile input; random tables are a class of trials."""

import csv
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

from qidsql.commands.protect.command import ProtectRequest
from qidsql.commands.protect.protect import protect
from qidsql.engines.connect import connect
from tests.stores import Store
from tests.trials.recodings import check, protected, random_case


def test_postgres_makes_the_same_copy(duckdb_store: Store, postgres_store: Store, tmp_path: Path) -> None:
    for seed in (3, 4):
        case = random_case(seed)
        found = [protected(case, store, tmp_path / "hierarchies") for store in (duckdb_store, postgres_store)]
        for result, copy in found:
            check(case, result, copy)
        (one, rows), (other, others) = found
        assert one.recoded == other.recoded
        assert sorted(map(repr, rows)) == sorted(map(repr, others))


@pytest.mark.exhaustive
def test_the_detail_that_a_copy_of_adult_keeps(shared: Path, tmp_path: Path) -> None:
    source, into = shared / "arx_adult.csv", tmp_path / "copy.csv"
    request = ProtectRequest(
        k=5, by="values", hierarchies=str(shared / "arx_hierarchies"), keep_identifiers=True, into=str(into)
    )
    with connect(str(source), writable=True) as engine:
        result = protect(engine, request)
    assert result.recoded is not None
    with into.open(newline="") as file:
        header, *rows = map(tuple, csv.reader(file))
    with source.open(newline="") as file:
        originals = list(csv.reader(file))[1:]
    assert len(rows) == len(originals) == 30_162
    assert min(Counter(rows).values()) >= 5
    lost = Fraction(0)
    for place, name in enumerate(header):
        path = next((shared / "arx_hierarchies").glob(f"*_{name}.csv"))
        lines = [line.split(";") for line in path.read_text().splitlines()]
        leaves = {label: sum(label in line for line in lines) for own in lines for label in own}
        lost += sum(Fraction(leaves[row[place]] - 1, len(lines) - 1) for row in rows)
    kept = 1 - lost / (len(rows) * len(header))
    assert kept == result.recoded.kept
    assert float(kept) >= 0.928
