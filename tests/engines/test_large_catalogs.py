"""Catalogs of thousands: what is not asked for is not resolved, and one table is described as in a small catalog."""

from pathlib import Path

import duckdb
import pytest

import qidsql
from qidsql.commands.doctor import doctor
from qidsql.engines.connect import connect
from qidsql.engines.duckdb import opening
from qidsql.errors import QidsqlError, UsageError
from tests.stores import PostgresStore

BOTH = (3, 100)  # more files than the first are read when they are described


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with duckdb.connect() as connection:
        for number in range(6):
            other = ", DATE '2026-01-01' AS day" if number == 4 else ""
            query = f"SELECT i AS id, i % {number + 2} AS age{other} FROM range(60) AS r(i)"
            connection.execute(f"COPY ({query}) TO '{tmp_path}/f{number}.parquet'")
    (tmp_path / "text.csv").write_text("a,b\n1,2\n")
    return tmp_path


@pytest.mark.exhaustive
def test_files_that_are_read_later_are_the_same_tables(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = []
    for many in BOTH:
        monkeypatch.setattr(opening, "MANY_FILES", many)
        audits = [qidsql.audit(str(folder), f"f{n}", columns=("age",), k=11, entity="row") for n in (3, 4)]
        with connect(str(folder)) as engine:
            tables = [engine.describe(f"f{n}") for n in (4, 0)]
            answers.append((engine.catalog().tables, tables, [(each.verdict, each.reason) for each in audits]))
    assert answers[0] == answers[1]
    assert [verdict for verdict, _ in answers[0][2]] == ["pass", "violation"]


def test_a_broken_file_among_many_is_named_and_bars_no_other(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "MANY_FILES", 3)
    broken = folder / "f2.parquet"
    broken.write_bytes(broken.read_bytes()[:-9] + b"\0" * 5 + b"PAR1")
    found = {each.table: each for each in qidsql.doctor(str(folder)).tables}
    assert [name for name, table in found.items() if not table.auditable] == ["main.f2"]
    assert qidsql.audit(str(folder), "f3", columns=("age",), k=11, entity="row").verdict == "pass"
    with pytest.raises(QidsqlError):
        qidsql.audit(str(folder), "f2", columns=("age",), k=12)


def test_names_that_differ_in_case_are_refused_later_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    polars = pytest.importorskip("polars")
    for number in range(4):
        names = {"a": [1], "A" if number == 1 else "b": [2]}
        polars.DataFrame(names).write_parquet(tmp_path / f"f{number}.parquet")
    monkeypatch.setattr(opening, "MANY_FILES", 3)
    [odd] = [each for each in qidsql.doctor(str(tmp_path)).tables if not each.auditable]
    assert (odd.table, "letter case" in odd.checks[0].text) == ("main.f1", True)
    with pytest.raises(QidsqlError, match="letter case"):
        qidsql.audit(str(tmp_path), "f1", k=2)


def test_doctor_says_whose_rows_it_did_not_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "MANY", 3)
    monkeypatch.setattr(doctor, "FILES_READ", 2)
    result = qidsql.doctor(str(folder))
    assert result.verdict == "pass"
    assert ["only its columns" in str(each.checks) for each in result.tables] == [False] * 2 + [True] * 5


@pytest.fixture
def doubled(tmp_path: Path) -> str:
    """A table under 22 views, each of which unites the one before with itself."""
    path = tmp_path / "views.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE v0 AS SELECT i % 2 AS sex, i % 3 AS v1 FROM range(60) AS r(i)")
        for number in range(1, 23):
            connection.execute(f"CREATE VIEW v{number} AS FROM v0")
        for number in range(22, 0, -1):  # from above, as each is planned when it is made
            connection.execute(f"CREATE OR REPLACE VIEW v{number} AS FROM v{number - 1} UNION ALL FROM v{number - 1}")
        columns = ", ".join(f"v12.sex AS v{number}" for number in range(12, 0, -1))
        connection.execute(f"CREATE VIEW honest AS SELECT {columns} FROM v3 AS v12")
    return str(path)


@pytest.mark.exhaustive
def test_views_that_no_engine_could_plan_are_named(doubled: str) -> None:
    found = {each.table.name: each.obstacle for each in qidsql.tables(doubled).tables}
    refused = [name for name, obstacle in found.items() if obstacle is not None]
    assert sorted(refused) == sorted(f"v{number}" for number in range(13, 23))
    assert "4,194,303 times" in str(found["v22"])
    assert qidsql.doctor(doubled).verdict == "inconclusive"
    for name in ("v0", "v4", "honest"):
        assert qidsql.audit(doubled, name, columns=("sex" if name != "honest" else "v3",), k=5).verdict == "pass", name
    with pytest.raises(UsageError, match="make a table of it"):
        qidsql.audit(doubled, "v22")


def test_the_planner_is_asked_once_for_types_and_again_for_another(postgres_store: PostgresStore) -> None:
    """Each question to it holds a lock: of 20,000 tables a server ran out of them."""
    for number in range(4):
        postgres_store.table(f"t{number}", {"age": "integer", "zip": "text"}, [(1, "a")])
    postgres_store.execute(f"CREATE TABLE {postgres_store.schema}.odd (age integer, place point)")
    with postgres_store.connect() as engine:
        asked: list[str] = []
        attempt = engine._attempt  # type: ignore[attr-defined]
        engine._attempt = lambda sql: asked.append(sql) or attempt(sql)  # type: ignore[attr-defined, func-returns-value]
        result = qidsql.doctor(engine, schema=postgres_store.schema)
    assert len([sql for sql in asked if "WHERE FALSE GROUP BY" in sql]) == 2, asked
    assert result.verdict == "pass"
