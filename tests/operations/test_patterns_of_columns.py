"""Roles of columns of any table, by patterns of their names in [defaults.roles]."""

from pathlib import Path

import duckdb
import pytest

import qidsql
from qidsql.core.results import Verdict
from qidsql.core.tables import Role
from qidsql.errors import TomlFileError
from qidsql.operations.policy_file import read_policy_file
from qidsql.operations.run import run

COLUMNS = 'i AS bill_row_id, i AS load_row_id, i % 2 AS sex, i % 3 AS shift_id, i AS "odd[1]"'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        connection.execute(f"CREATE TABLE bills AS SELECT {COLUMNS} FROM range(60) AS r(i)")
    return tmp_path


def written(folder: Path, roles: str, more: str = "") -> Path:
    path = folder / "qidsql.toml"
    text = 'format = 1\n[sources.clinic]\nurl = "clinic.duckdb"\n[defaults]\nk = 5\nentity = "row"\n[defaults.roles]\n'
    path.write_text(f'{text}{roles}\n[[tables]]\ntable = "main.bills"\n{more}')
    return path


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("roles", "more", "left"),
    [
        ('"*_row_id" = "other"\n"odd[1]" = "other"', "", {"sex", "shift_id"}),
        ('"*_ID" = "other"\n"odd*" = "other"', "", {"sex"}),
        (
            '"*_id" = "other"\nshift_id = "quasi-identifier"\nsex = "quasi-identifier"\n"odd[[]1]" = "other"',
            "",
            {"sex", "shift_id"},
        ),
        ('"*" = "other"', '[tables.roles]\nsex = "quasi-identifier"', {"sex"}),
        ('"load_*" = "sensitive"\n"*_row_id" = "other"', '[tables.roles]\n"odd[1]" = "other"', {"sex", "shift_id"}),
    ],
)
def test_a_name_goes_before_a_pattern_and_the_entry_before_both(
    folder: Path, roles: str, more: str, left: set[str]
) -> None:
    path = written(folder, roles, more)
    audited = qidsql.audit(str(folder / "clinic.duckdb"), "bills", policy_file=str(path))
    assert {each.name for each in audited.columns if each.role is Role.QUASI_IDENTIFIER} == left
    assert audited.verdict == "pass"
    result = run(read_policy_file(path), None)
    assert result.verdict is Verdict.PASS
    assert result.coverage is not None
    assert result.coverage.columns_covered == 5


def test_what_no_pattern_covers_is_audited(folder: Path) -> None:
    path = written(folder, '"*_row" = "other"')
    assert run(read_policy_file(path), None).verdict is Verdict.VIOLATION


def test_a_pattern_is_decided_or_is_none(folder: Path) -> None:
    with pytest.raises(TomlFileError, match="is a pattern, and marked CHECK"):
        read_policy_file(written(folder, '"*_row_id" = "other"  # CHECK: what is it?'))
