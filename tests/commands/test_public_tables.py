"""The field's standard table through the commands that work in blocks, with 3 to 14 columns: none ends in an error."""

from pathlib import Path

import pytest

from tests.commandline import inside

COLUMNS = (
    *("age", "workclass", "education", "marital_status", "occupation", "relationship", "race", "sex"),
    *("native_country", "income", "education_num", "hours_per_week", "capital_gain", "capital_loss"),
)


@pytest.mark.exhaustive
@pytest.mark.parametrize("columns", range(3, 15))
@pytest.mark.parametrize("k", ["3", "10"])
@pytest.mark.parametrize("command", ["turns", "suppress", "uniques"])
def test_adult(command: str, k: str, columns: int, adult_path: Path, tmp_path: Path) -> None:
    named = [word for name in COLUMNS[:columns] for word in ("-c", name)]
    outcome = inside(command, str(adult_path), "adult", "--k", k, *named, "--max-seconds", "5", cwd=tmp_path)
    assert outcome.code in (0, 1, 3), outcome
