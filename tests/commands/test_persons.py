"""What a row is, in the commands that have no audit: rows that may be one person's do not pass for persons."""

from pathlib import Path

import duckdb
import pytest

import qidsql
from qidsql.core.results import Verdict
from qidsql.errors import UsageError
from tests.exhaustive import first
from tests.ways import against, work

LIKE_PERSONS = "patient_id is named like the persons and repeats"


def visits(path: Path, each: int) -> str:
    """60 rows in classes of six; `each` of them are of one patient."""
    rows = "".join(f"p{n // each},{n // 6},{20 + n // 6}\n" for n in range(60))
    path.write_text(f"patient_id,zip,age\n{rows}", encoding="utf-8")
    return str(path)


SAFE = {
    "columns": {"violates": 3, "columns": ("zip", "age")},
    "matching": {"k": 3, "columns": ("zip", "age")},
    "identical": {"k": 3, "columns": ("zip", "age")},
    "turns": {"k": 3, "columns": ("zip", "age")},
}


@pytest.mark.parametrize("command", first(SAFE))
def test_rows_that_may_be_one_persons_do_not_pass(command: str, tmp_path: Path) -> None:
    """Each class is one patient's six rows; where each row is another person, or that is confirmed, they pass."""
    run, options = work(command), SAFE[command]
    several, one = visits(tmp_path / "several.csv", 6), visits(tmp_path / "one.csv", 1)
    copy = {} if command == "columns" else {"into": str(tmp_path / "copy.csv")}
    refused = run(several, **options, **copy)
    assert refused.verdict is Verdict.INCONCLUSIVE and not refused.script
    [reason] = refused.account.unfinished
    assert LIKE_PERSONS in reason and "row if each row is another person" in reason
    assert not (tmp_path / "copy.csv").exists()
    for source, confirmed in ((several, {"entity": "row"}), (one, {})):
        assert run(source, **options, **confirmed).verdict in (Verdict.FINISHED, Verdict.PASS)


@pytest.mark.exhaustive
def test_a_column_of_persons_is_counted_or_must_tell_rows_apart(tmp_path: Path) -> None:
    several, one = visits(tmp_path / "several.csv", 6), visits(tmp_path / "one.csv", 1)
    assert qidsql.protect(several, entity="patient_id", **SAFE["columns"], by="columns").published == ()
    for command in ("matching", "identical", "turns"):
        run = work(command)
        refused = run(several, entity="patient_id", into=str(tmp_path / "copy.csv"), **SAFE[command])
        assert refused.verdict is Verdict.INCONCLUSIVE and not (tmp_path / "copy.csv").exists()
        assert "patient_id repeats or has NULLs" in refused.account.unfinished[0]
        assert run(one, entity="patient_id", **SAFE[command]).verdict in (Verdict.FINISHED, Verdict.PASS)


def test_a_row_without_a_person_may_be_anyones(tmp_path: Path) -> None:
    source = Path(visits(tmp_path / "one.csv", 1))
    source.write_text(source.read_text(encoding="utf-8").replace("p7,", ","), encoding="utf-8")
    refused = qidsql.protect(str(source), entity="patient_id", **SAFE["matching"], by="cells")
    assert refused.verdict is Verdict.INCONCLUSIVE


def test_rows_that_others_are_matched_with_may_be_one_persons(tmp_path: Path) -> None:
    """Six rows of the population fit each published row; they are one patient's, or confirmed to be six people."""
    people = tmp_path / "people.duckdb"
    with duckdb.connect(str(people)) as connection:
        for each in (6, 1):
            connection.execute(
                f"CREATE TABLE of_{each} AS SELECT 'p' || n // {each} AS patient_id, n // 6 AS zip FROM range(60) r(n)"
            )
        connection.execute("CREATE TABLE mart AS SELECT n AS zip FROM range(10) r(n)")
    for run in map(against, ("risk", "link")):
        doubted = run(str(people), "mart", "of_6", on="zip=zip", k=2)
        assert doubted.verdict is Verdict.INCONCLUSIVE and LIKE_PERSONS in doubted.reason
        assert run(str(people), "mart", "of_6", on="zip=zip", k=2, entity="row").verdict is Verdict.PASS
        assert run(str(people), "mart", "of_1", on="zip=zip", k=2).verdict is Verdict.PASS
        assert run(str(people), "mart", "of_6", on="zip=zip", k=7).verdict is Verdict.VIOLATION
        with pytest.raises(UsageError, match="takes only row here"):
            run(str(people), "mart", "of_6", on="zip=zip", entity="patient_id")


@pytest.mark.parametrize("command", ["keys", "risk", "uniques"])
def test_commands_without_a_pass_note_it(command: str, tmp_path: Path) -> None:
    run = work(command)
    for each, noted in ((6, True), (1, False)):
        notes = run(visits(tmp_path / f"{each}.csv", each), columns=("zip", "age")).account.notes
        assert any(LIKE_PERSONS in note for note in notes) is noted
