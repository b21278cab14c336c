"""Marks of missing values in files: declared ones are NULL, usual ones are noted, no other text is ever named."""

from pathlib import Path

import duckdb
import pytest

import qidsql
from qidsql.errors import QidsqlError, StatementError, UsageError
from tests.ways import measured_set

ROWS = 'age,job,hours\n30,clerk,40\n31,?,99\n"NA",cook,40\n30,cook,99\n31,NA,40\n'
NOTE = "texts that often mean a missing value: age (1 field NA, else numbers); job (1 field ? and 1 field NA)"


def file(folder: Path, ending: str) -> str:
    path = folder / "m.csv"
    path.write_text(ROWS)
    if ending != "csv":
        form = "parquet" if ending == "parquet" else "json"
        duckdb.sql(f"FROM read_csv('{path}', all_varchar = true)").write_parquet(str(path.with_suffix(".parquet")))
        if form == "json":
            duckdb.execute(
                f"COPY (FROM '{path.with_suffix('.parquet')}') TO '{path.with_suffix('.json')}' (FORMAT json)"
            )
    return str(path.with_suffix(f".{ending}"))


@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_declared_marks_are_read_as_null(ending: str, tmp_path: Path) -> None:
    result = qidsql.audit(f"{file(tmp_path, ending)}?missing=NA,?,hours:99", k=2)
    assert {each.name: each.nulls for each in result.columns} == {"age": 1, "job": 2, "hours": 2}
    kinds = {each.name: each.type for each in result.columns}
    assert kinds["age"] == ("BIGINT" if ending == "csv" else "VARCHAR")
    assert "read as NULL: NA, ?; 99 of hours" in result.account.snapshot
    assert result.account.source.endswith("?missing=NA,?,hours:99"), "the next command reads the same"


@pytest.mark.exhaustive
def test_the_rows_are_those_of_the_file_with_empty_fields(tmp_path: Path) -> None:
    empty = tmp_path / "empty.csv"
    empty.write_text("age,job,hours\n30,clerk,40\n31,,\n,cook,40\n30,cook,\n31,,40\n")
    declared = f"{file(tmp_path, 'csv')}?missing=NA,?,hours:99"
    for nulls in ("equal", "wildcard"):
        found, right = (qidsql.audit(each, k=2, nulls=nulls) for each in (declared, str(empty)))
        assert (found.verdict, found.profile) == (right.verdict, right.profile)


@pytest.mark.parametrize("ending", ["csv", "json"])
def test_usual_marks_are_noted(ending: str, tmp_path: Path) -> None:
    result = qidsql.audit(file(tmp_path, ending), k=2)
    [note] = [each for each in result.account.notes if "missing" in each]
    assert note.startswith(NOTE) and note.endswith("put ?missing=?,NA after the path")


def test_in_json_numbers_beside_marks_are_numbers(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text('{"age": 30}\n{"age": "NA"}\n{"age": 30}\n{"age": 99}\n')
    assert 'age (1 field "NA", else numbers)' in " ".join(qidsql.audit(str(path), k=2).account.notes)
    [age] = qidsql.audit(f"{path}?missing=NA,99", k=2).columns
    assert (age.type, age.nulls) == ("BIGINT", 2)


def test_no_other_text_is_named_and_a_file_without_marks_has_no_note(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text("name,code\nSECRET,9\nnone,x\nunknown,99\n")
    result = qidsql.audit(str(path), k=2)
    assert not any("missing" in each for each in result.account.notes)
    path.write_text("name,code\nSECRET,9\nNA,x\n-999,99\n")
    [note] = [each for each in qidsql.audit(str(path), k=2).account.notes if "missing" in each]
    assert "name (1 field NA)" in note and "SECRET" not in note and "-999" not in note


@pytest.mark.parametrize(
    ("option", "words"),
    [("missing=", "must list marks"), ("missing=NA,", "must list marks"), ("missing=hour:99", "did you mean hours")],
)
def test_what_is_no_list_of_marks_is_refused(option: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=words):
        qidsql.audit(f"{file(tmp_path, 'csv')}?{option}")


def test_the_advice_for_a_condition_on_texts_works(tmp_path: Path) -> None:
    path = file(tmp_path, "csv")
    for condition in ("age > 30", "CAST(age AS INTEGER) > 30"):
        with pytest.raises(StatementError, match=r"TRY_CAST\(age AS INTEGER\)"):
            measured_set(path, columns=["job"], where=condition)
    assert measured_set(path, columns=["job"], where="TRY_CAST(age AS INTEGER) > 30").account.rows == 2
    assert measured_set(f"{path}?missing=NA", columns=["job"], where="age > 30").account.rows == 2


def test_a_second_source_takes_marks_too(tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    people.write_text("age,job\n" + "30,clerk\n" * 3 + "?,clerk\n")
    published = tmp_path / "published.csv"
    published.write_text("age,job\n30,clerk\n")
    assert qidsql.risk(str(published), "published", population=f"{people}?missing=?", k=3).verdict == "pass"
    with pytest.raises(QidsqlError, match="header, for csv files, and missing"):
        qidsql.risk(str(published), "published", population=f"{people}?threads=1", k=3)
