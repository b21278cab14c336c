"""Audits by a sample of the classes: no false violation, never a pass. Of intervals: `tests/trials/estimates.py`."""

from collections import Counter
from math import sqrt
from pathlib import Path
from statistics import stdev
from typing import Any

import duckdb
import pytest

import qidsql
from qidsql.commands.audit import figures
from qidsql.core.results import Verdict
from qidsql.engines.connect import connect
from qidsql.errors import UsageError
from tests.commandline import inside
from tests.exhaustive import always
from tests.random_tables import random_table
from tests.stores import SAIL, SQLiteStore, Store
from tests.trials.estimates import K, sampled_at_risk, small_classes

SAMPLING = pytest.mark.engines("duckdb", "postgres", SAIL)


@pytest.fixture
def one_in_two(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the tables of the tests were large."""
    monkeypatch.setattr(figures, "share_for", lambda rows, k, error: 2)


@SAMPLING
@pytest.mark.parametrize("seeds", always(range(8), longer=[range(8, 60)]))
@pytest.mark.usefixtures("one_in_two")
def test_a_violation_is_one_and_nothing_passes(store: Store, seeds: range) -> None:
    """On random tables of awkward values, by brute force."""
    tables = [table for table in (random_table(seed, store.name) for seed in seeds) if table.rows]
    for table in tables:
        for statement in table.statements:
            store.execute(statement)
    with store.connect() as engine:
        for table in tables:
            found = qidsql.audit(engine, table.name, k=K, columns=table.names, approximate=0.1)
            sizes = Counter(Counter(row[: len(table.names)] for row in table.rows).values())
            sampled = found.estimate
            assert sampled is not None and found.account.statements == 2
            assert found.verdict is not Verdict.PASS
            assert sampled.smallest in {0, *sizes}, table
            assert (found.verdict is Verdict.VIOLATION) == (0 < sampled.smallest < K)
            assert sampled.sampled_classes <= sum(sizes.values()) and sampled.sampled_rows <= len(table.rows)
            assert sampled.rows_below_k.low <= sum(size * number for size, number in sizes.items() if size < K)


def test_few_rows_are_counted_exactly(tmp_path: Path) -> None:
    file = people(tmp_path, 300)
    found = qidsql.audit(file, k=2, approximate=0.01, columns=["sex"])
    assert (found.verdict, found.estimate) == (Verdict.PASS, None)
    assert "300 rows are too few for an estimate of this error: counted exactly" in found.account.notes
    assert found.profile == qidsql.audit(file, k=2, columns=["sex"]).profile


def people(folder: Path, rows: int) -> str:
    path = folder / "people.parquet"
    duckdb.sql(
        f"COPY (SELECT i AS id, hash(i) % 500 AS zip, hash(i, 1) % 2 AS sex, i % 2 AS same FROM range({rows}) AS t(i)) "
        f"TO '{path}'"
    )
    return str(path)


def test_identifiers_are_left_out(tmp_path: Path) -> None:
    """What the other columns violate, all violate."""
    file = people(tmp_path, 20_000)
    found = qidsql.audit(file, k=15, approximate=0.2)
    roles = {column.name: column for column in found.columns}
    assert "about as many values" in roles["id"].reason and roles["zip"].audited
    truth = Counter(duckdb.sql(f"SELECT zip, sex, same FROM '{file}'").fetchall())
    at_risk = sum(size for size in truth.values() if size < 15)
    sampled = found.estimate
    assert sampled is not None and sampled.rows_below_k.low <= at_risk <= sampled.rows_below_k.high
    assert sampled.share > 1 and found.verdict is Verdict.VIOLATION and found.profile is None
    everything = qidsql.audit(file, k=15, approximate=0.2, keep_identifiers=True)
    assert {column.name for column in everything.columns if column.audited} == {"id", "zip", "sex", "same"}


@pytest.mark.parametrize(
    ("given", "counted"),
    [({}, 4), ({"quasi_identifiers": ["zip", "sex"]}, 2), ({"columns": ["zip"]}, 0), ({"keep_identifiers": True}, 0)],
)
def test_values_are_counted_of_undeclared_columns_only(tmp_path: Path, given: dict[str, Any], counted: int) -> None:
    """Counting them takes longer than the sample."""
    with connect(people(tmp_path, 20_000)) as engine:
        statements: list[str] = []
        engine.watchers.append(lambda each: statements.append(each.sql))
        qidsql.audit(engine, k=15, approximate=0.2, **given)
    assert sum(sql.count("APPROX_COUNT_DISTINCT") for sql in statements) == counted


def test_no_violation_seen_is_inconclusive(tmp_path: Path) -> None:
    found = qidsql.audit(people(tmp_path, 40_000), k=5, approximate=0.2, columns=["sex", "same"])
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "up to" in found.reason and "audit without" in found.reason


def test_a_sample_of_nearly_all_classes_says_that_it_spares_nothing(tmp_path: Path) -> None:
    file = people(tmp_path, 40_000)
    for error, notes in ((0.1, 1), (0.3, 0)):
        found = qidsql.audit(file, k=5, approximate=error, columns=["sex", "same"])
        assert found.estimate is not None and (found.estimate.share < 16) == bool(notes)
        assert sum("only counts all exactly" in note for note in found.account.notes) == notes


def test_the_report(tmp_path: Path) -> None:
    file = people(tmp_path, 20_000)
    outcome = inside("audit", file, "--k", "15", "--approximate", "20%")
    assert outcome.code == 1
    assert "estimated from one class in" in " ".join(outcome.out.split())
    plan = inside("audit", file, "--approximate", "0.2", "--dry-run")
    assert plan.code == 0 and "approx_count_distinct" in plan.out.lower()


@pytest.mark.parametrize("given", [{"entity": "id"}, {"nulls": "wildcard"}, {"l_diversity": 2, "sensitive": "sex"}])
def test_what_is_not_estimated_is_refused(tmp_path: Path, given: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="approximate"):
        qidsql.audit(people(tmp_path, 10), approximate=0.1, **given)  # type: ignore[arg-type]


def test_an_engine_without_hashes(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "people.sqlite")
    store.table("people", {"a": "INTEGER"}, [(1,), (2,)])
    with pytest.raises(UsageError, match="draws no sample of classes"):
        qidsql.audit(store.url, "people", approximate=0.1)


@pytest.mark.parametrize("number", always(longer=[1_000]))
@pytest.mark.exhaustive
def test_seeds_draw_independent_samples(number: int) -> None:
    """The deviation from the truth, in units of its standard deviation, has one of 1 over many seeds."""
    share, source = 8, "SELECT hash(i) % 3000 AS zip, hash(i, 1) % 2 AS sex FROM range(12000) AS t(i)"
    small = small_classes(source)
    spread = sqrt((share - 1) * sum(size**2 for size in small))
    found = sampled_at_risk(source, share, list(range(number)))
    assert 0.9 <= stdev((drawn * share - sum(small)) / spread for drawn in found) <= 1.1
