"""Variables that stand for options and sources: what is wrong with one is said under its name."""

import re
from pathlib import Path

import pytest

from qidsql.cli.run import RunRequest
from qidsql.declarations.options import parameters
from tests.commandline import inside
from tests.policies import entries, policy_file

REFUSED = [
    ("QIDSQL_K", "many", "QIDSQL_K (for --k): expected a whole number"),
    ("QIDSQL_K", "1", "QIDSQL_K: k must be at least 2, got 1"),
    ("QIDSQL_MAX_STATEMENTS", "0", "QIDSQL_MAX_STATEMENTS (for --max-statements): expected a whole number from 1 on"),
    ("QIDSQL_MAX_SECONDS", "an hour", "QIDSQL_MAX_SECONDS (for --max-seconds): expected a number from 0.001 on"),
    ("QIDSQL_MAX_BYTES", "much", "QIDSQL_MAX_BYTES: --max-bytes must be a size such as 10GB, got much"),
    ("QIDSQL_FAIL_ON", "nw", "QIDSQL_FAIL_ON (for --fail-on): "),
    ("QIDSQL_BASELINE", "2024", "QIDSQL_BASELINE: no run 2024 in "),
    ("QIDSQL_HISTORY", "ftp://there/x", "QIDSQL_HISTORY: the history cannot be kept there"),
    ("QIDSQL_HISTORY", "postgresql+psycopg:u:p@h", "QIDSQL_HISTORY: the history cannot be kept there"),
]


@pytest.mark.parametrize(("variable", "value", "said"), REFUSED)
def test_a_variable_that_is_wrong_is_named(tmp_path: Path, variable: str, value: str, said: str) -> None:
    policy_file(tmp_path, "none.duckdb", entries("main.t"))
    outcome = inside("run", cwd=tmp_path, **{variable: value})
    assert (outcome.code, outcome.line.startswith(said)) == (2, True), outcome.line
    option = "--" + variable.removeprefix("QIDSQL_").lower().replace("_", "-")
    assert variable not in inside("run", option, value, cwd=tmp_path).line


def test_every_variable_is_in_the_help_and_the_test_above() -> None:
    known = {each.option.variable for each in parameters(RunRequest) if each.option.variable}
    assert known == {variable for variable, _, _ in REFUSED}
    assert known <= set(re.findall(r"QIDSQL_\w+", inside("run", "--help").out))


def test_a_source_that_a_variable_names_is_refused_by_its_name(tmp_path: Path) -> None:
    assert inside("audit", cwd=tmp_path, QIDSQL_URL="none.duckdb").line.startswith("QIDSQL_URL: there is no file none")
    assert inside("audit", "env:X", cwd=tmp_path, X="ftp://a/b").line.startswith("X: qidsql does not support")
    assert inside("audit", "none.duckdb", cwd=tmp_path).line.startswith("there is no file none")


def test_a_log_tells_stages_statements_and_searches_and_no_value(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("name,zip\nAda,4711\nBob,4712\nBob,4712\n")
    silent, info, debug = (
        inside("audit", "people.csv", cwd=tmp_path, QIDSQL_LOG=level) for level in ("", "info", "DEBUG")
    )
    reports = {re.sub(r"\d\.\d+ s", "", each.out) for each in (silent, info, debug)}
    assert len(reports) == 1 and "VIOLATION" in silent.out
    assert silent.err == ""
    for words in ("opening the source", "by levelwise: "):
        assert words in info.err
        assert words in debug.err
    assert re.search(r"qidsql\.engines\.runner \d\.\d{3} s: \w+", debug.err)
    assert "engines.runner" not in info.err
    assert not re.search("Ada|Bob|4711|4712", debug.err)
    assert (
        "QIDSQL_LOG must be info or debug, got loud"
        in inside("audit", "people.csv", cwd=tmp_path, QIDSQL_LOG="loud").line
    )
