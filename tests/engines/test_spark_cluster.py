"""A cluster of Spark with two workers on this machine: one that dies, a server that dies, any number of partitions.

They need Java and pyspark, or SPARK_HOME, and take minutes.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import qidsql
from qidsql.engines.connect import connect
from qidsql.engines.spark.address import address
from qidsql.engines.spark.session import SparkSession
from qidsql.profiling.by_entity import profiler_for
from qidsql.sql.relation import relation
from tests.commandline import environment
from tests.definitions import profile_of
from tests.postgres_server import wait_until
from tests.random_tables import random_table
from tests.spark_server import SparkCluster
from tests.stores import SparkStore

pytestmark = [pytest.mark.spark, pytest.mark.exhaustive]
ROWS = 3_000_000
PATIENCE = 900  # seconds
TABLES = 25
OFTEN = 2  # tables with 200 partitions, of which each statement then has as many tasks
TOGETHER = (2,)  # partitions with which the sets of a table share statements


@pytest.fixture
def cluster() -> Iterator[SparkCluster]:
    with SparkCluster() as started:
        yield started


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A table whose classes take a cluster of two cores some seconds to count."""
    path = tmp_path_factory.mktemp("large") / "large.parquet"
    duckdb.sql(
        f"COPY (SELECT hash(i) % 900000 AS zip, hash(i, 1) % 30000 AS born, hash(i, 2) % 2 AS sex FROM range({ROWS}) "
        f"AS t(i)) TO '{path}'"
    )
    return str(path)


def started(url: str, path: str, log: Path) -> "subprocess.Popen[str]":
    """An audit whose first statement has been answered, which the log says."""
    command = [sys.executable, "-m", "qidsql", "audit", url, path, "--max-size", "1", "--show-sql", "--format", "json"]
    with log.open("w") as stream:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stream, text=True, env=environment())
    wait_until(lambda: "SELECT" in log.read_text() or process.poll() is not None, PATIENCE)
    assert process.poll() is None
    return process


def test_a_worker_that_dies_changes_nothing(cluster: SparkCluster, large: str, tmp_path: Path) -> None:
    process = started(cluster.url, large, tmp_path / "log")
    cluster.workers[0].kill()
    out, _ = process.communicate(timeout=PATIENCE)
    found = json.loads(out)
    exact = qidsql.audit(large, max_size=1).to_dict()
    assert (process.returncode, found["profile"]) == (1, exact["profile"])
    assert found["column_sets"] == exact["column_sets"] and found["unfinished"] == exact["unfinished"] == []


def test_a_server_that_dies_is_noticed(cluster: SparkCluster, large: str, tmp_path: Path) -> None:
    """Within 15 seconds, and some for a busy machine."""
    process = started(cluster.url, large, tmp_path / "log")
    cluster.server.kill()
    out, _ = process.communicate(timeout=20)
    assert process.returncode == 3 and "Traceback" not in (tmp_path / "log").read_text()
    assert json.loads(out)["verdict"] == "inconclusive" and "was lost" in out


def test_any_number_of_partitions(cluster: SparkCluster, tmp_path: Path) -> None:
    """Each set of columns of random tables, by its definition: by a statement each, or several together."""
    tables = [table for table in (random_table(seed, "spark") for seed in range(TABLES)) if table.rows]
    with SparkStore(tmp_path / "store.duckdb", cluster.url) as store:
        for table in tables:
            for statement in table.statements:
                store.execute(statement)
        url = store.url
        for partitions in (1, 2, 7, 200):
            with connect(url) as engine:
                SparkSession(address(url), 60).execute(f"SET spark.sql.shuffle.partitions = {partitions}")
                for table in tables[: OFTEN if partitions == 200 else TABLES]:
                    described = engine.describe(table.name)
                    rows = relation(engine.dialect, described, described.columns)
                    sets = list(range(1, 1 << table.columns))
                    profiler = profiler_for(engine, rows, table.names, 3)
                    if partitions in TOGETHER:
                        profiler.counts()
                    found = profiler.profiles(sets)
                    for mask, profile in zip(sets, found, strict=True):
                        chosen = [tuple(row[p] for p in range(table.columns) if mask >> p & 1) for row in table.rows]
                        assert profile == profile_of(chosen, 3), (table, mask, partitions)
