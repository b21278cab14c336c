"""Sentences about one row are singular."""

from pathlib import Path

import pytest

from tests.commandline import inside
from tests.ways import words


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("audit", "1 of 1 rows (100 %) is in classes of fewer than 2"),
        ("matching", "1 row is fewer than k = 2"),
        ("identical", "1 row is fewer than k = 2"),
        ("turns", "1 row (100 %) is below k = 2"),
    ],
)
def test_one_row_is(tmp_path: Path, command: str, sentence: str) -> None:
    (tmp_path / "one.csv").write_text("a\n1\n")
    assert sentence in " ".join(inside(*words(command), str(tmp_path / "one.csv"), "--k", "2").out.split())
