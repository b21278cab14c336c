"""init --review: one question for all columns of a name, and a file with the answers."""

import tomllib
from pathlib import Path

import duckdb
import pytest

import qidsql
from qidsql.commands.init.draft import draft
from qidsql.commands.init.report import STOP, questions, reviewed
from qidsql.errors import UsageError
from tests.commandline import refused


@pytest.fixture
def clinic(tmp_path: Path) -> str:
    path = tmp_path / "clinic.duckdb"
    with duckdb.connect(str(path)) as connection:
        for name in ("visits", "bills", "stays"):
            columns = "i AS row_id, i % 40 AS patient_id, i % 7 AS xq, 1980 + i % 50 AS birth_year"
            connection.execute(f"CREATE TABLE {name} AS SELECT {columns} FROM range(400) AS r(i)")
    return str(path)


def answered(clinic: str, answers: dict[str, str]) -> tuple[dict[str, dict[str, object]], str, list[str]]:
    asked: list[str] = []

    def ask(text: str, allowed: tuple[str, ...]) -> str:
        asked.append(text)
        answer = answers.get(text.partition(",")[0], "")
        assert answer in ("", STOP, *allowed)
        return answer

    result = qidsql.init(clinic)
    text = draft(reviewed(result, questions(result), ask))
    return {each["table"]: each for each in tomllib.loads(text)["tables"]}, text, asked


def test_one_answer_is_written_for_all_tables(clinic: str) -> None:
    tables, text, asked = answered(clinic, {"xq": "o", "patient_id": "p", "row_id": "d"})
    assert len(asked) == len({each.partition(",")[0] for each in asked}), "each name is asked about once"
    assert "3 tables: main.bills, main.stays, main.visits" in asked[0]
    for table in tables.values():
        assert table["entity"] == "patient_id"
        assert table["roles"]["xq"] == "other"  # type: ignore[index]
    lines = [line for line in text.splitlines() if line.startswith(("xq", "entity"))]
    assert len(lines) == 6
    assert not any("CHECK" in line for line in lines)


def test_what_is_not_answered_stays_marked(clinic: str) -> None:
    _, text, asked = answered(clinic, {})
    assert text == draft(qidsql.init(clinic))
    assert "CHECK" in text
    first = asked[0].partition(",")[0]
    assert len(answered(clinic, {first: STOP})[2]) == 1


def test_each_row_can_be_another_person(clinic: str) -> None:
    tables, _, _ = answered(clinic, {"patient_id": "r"})
    assert {(each["entity"], each["roles"].get("patient_id")) for each in tables.values()} == {  # type: ignore[attr-defined]
        ("row", "direct identifier")
    }


def test_nobody_is_asked_where_there_is_no_terminal(clinic: str, tmp_path: Path) -> None:
    assert "there is none" in refused("init", clinic, "--review", "-o", str(tmp_path / "q.toml"))
    with pytest.raises(UsageError, match="command line"):
        qidsql.init(clinic, review=True)
