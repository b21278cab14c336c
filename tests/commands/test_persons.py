"""What a row is, in the commands that have no audit: rows that may be one person's do not pass for persons."""

from pathlib import Path

import pytest

import qidsql
from qidsql.core.results import Verdict
from qidsql.errors import UsageError

LIKE_PERSONS = "patient_id is named like the persons and repeats"


def visits(path: Path, each: int) -> str:
    """60 rows in classes of six; `each` of them are of one patient."""
    rows = "".join(f"p{n // each},{n // 6},{20 + n // 6}\n" for n in range(60))
    path.write_text(f"patient_id,zip,age\n{rows}", encoding="utf-8")
    return str(path)


SAFE = {
    "mask": {"violates": 3, "columns": ("zip", "age")},
    "suppress": {"k": 3, "columns": ("zip", "age")},
    "anonymize": {"k": 3, "columns": ("zip", "age")},
    "turns": {"k": 3, "columns": ("zip", "age")},
}


@pytest.mark.parametrize("command", SAFE)
def test_rows_that_may_be_one_persons_do_not_pass(command: str, tmp_path: Path) -> None:
    """Each class is one patient's six rows; where each row is another person, or that is confirmed, they pass."""
    run, options = getattr(qidsql, command), SAFE[command]
    several, one = visits(tmp_path / "several.csv", 6), visits(tmp_path / "one.csv", 1)
    copy = {} if command == "mask" else {"into": str(tmp_path / "copy.csv")}
    refused = run(several, **options, **copy)
    assert refused.verdict is Verdict.INCONCLUSIVE and not refused.script
    [reason] = refused.account.unfinished
    assert LIKE_PERSONS in reason and "row if each row is another person" in reason
    assert not (tmp_path / "copy.csv").exists()
    for source, confirmed in ((several, {"entity": "row"}), (one, {})):
        assert run(source, **options, **confirmed).verdict in (Verdict.FINISHED, Verdict.PASS)


def test_persons_are_counted_or_refused(tmp_path: Path) -> None:
    several = visits(tmp_path / "several.csv", 6)
    assert qidsql.mask(several, entity="patient_id", **SAFE["mask"]).published == ()
    for command in ("suppress", "anonymize", "turns"):
        with pytest.raises(UsageError, match="several rows of one patient_id would pass"):
            getattr(qidsql, command)(several, entity="patient_id", **SAFE[command])


@pytest.mark.parametrize("command", ["keys", "risk", "uniques"])
def test_commands_without_a_pass_note_it(command: str, tmp_path: Path) -> None:
    run = getattr(qidsql, command)
    for each, noted in ((6, True), (1, False)):
        notes = run(visits(tmp_path / f"{each}.csv", each), columns=("zip", "age")).account.notes
        assert any(LIKE_PERSONS in note for note in notes) is noted
