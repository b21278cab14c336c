"""The table of Motwani & Xu's experiments, with its reference figures: a fixture for the rooms that search."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest

from qidsql.engines.connect import connect
from qidsql.profiling.by_entity import profiler_for
from qidsql.profiling.profiler import TableProfiler
from qidsql.profiling.samples import TableSampler
from qidsql.sql.relation import relation


@dataclass(frozen=True)
class Adult:
    """adult 29,096 x 14 in a DuckDB file, with a fresh profiler."""

    profiler: TableProfiler
    figures: dict[str, Any]

    def sampler(self, seed: int) -> TableSampler:
        table = self.profiler.engine.describe("adult")
        return TableSampler(self.profiler, table, table.columns, seed)

    def names(self, mask: int) -> set[str]:
        return {name for place, name in enumerate(self.profiler.names) if mask >> place & 1}


@pytest.fixture(scope="session")
def adult_path(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("adult") / "adult.duckdb"
    figures = json.loads((shared / "reference_figures.json").read_text())["mx_adult"]
    selection = figures["selection"].partition("--")[0].replace("'adult.csv'", f"'{shared / 'adult.csv'}'")
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE TABLE adult AS {selection} ORDER BY ALL")
    return path


@pytest.fixture
def adult(adult_path: Path, shared: Path) -> Iterator[Adult]:
    figures = json.loads((shared / "reference_figures.json").read_text())["mx_adult"]
    with connect(str(adult_path)) as engine:
        table = engine.describe("adult")
        names = [column.name for column in table.columns]
        profiler = profiler_for(engine, relation(engine.dialect, table, table.columns), names, 5, None, 29_096)
        yield Adult(profiler, {figure["what"]: figure for figure in figures["figures"]} | figures["all_minimal"])
