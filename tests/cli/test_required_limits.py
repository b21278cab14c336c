"""Limits by their names: `--require alpha=0.5` on the command line is the parameter alpha=0.5 of Python."""

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

import qidsql
from qidsql.core.requirements import LIMITS
from tests.commandline import inside

GIVEN = {
    "l_diversity": "3",
    "t_closeness": "0.4",
    "entropy_l": "1.5",
    "recursive_l": "3,2",
    "alpha": "0.5",
    "t_ordered": "0.2",
    "t_hierarchical": "0.3",
    "beta_likeness": "1",
    "enhanced_beta": "0.7",
    "delta_disclosure": "1/2",
}
BESIDE = {"t_ordered": {"order": "a,b,c"}, "t_hierarchical": {"hierarchy": "h.csv"}}
POLICY = """
[sources.here]
url = "t.duckdb"
[[tables]]
table = "t"
alpha = 0.9
{}
[tables.roles]
sex = "quasi-identifier"
dx = "sensitive"
"""


@pytest.fixture(autouse=True)
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "h.csv").write_text("a;x;*\nb;x;*\nc;y;*\n")
    with duckdb.connect("t.duckdb") as made:
        made.execute(
            "CREATE TABLE t AS SELECT i % 4 AS zip, i % 3 AS sex, 'abc'[i % 5 % 3 + 1] AS dx FROM range(60) r(i)"
        )
    return "t.duckdb"


def audited(*options: object) -> dict[str, Any]:
    asked = inside("audit", "t.duckdb", "t", *options, "--format", "json")
    assert asked.code in (0, 1, 3), asked.err
    found: dict[str, Any] = json.loads(asked.out)
    return found


@pytest.mark.parametrize("name", LIMITS)
def test_a_limit_by_its_name_is_the_parameter(source: str, name: str) -> None:
    beside = BESIDE.get(name, {})
    options = [part for key, value in beside.items() for part in (f"--{key}", value)]
    by_name = audited("--sensitive", "dx", "--require", f"{name.replace('_', '-')}={GIVEN[name]}", *options)
    value = int(GIVEN[name]) if name == "l_diversity" else GIVEN[name]
    given: dict[str, Any] = {name: value, **beside}
    expected = qidsql.audit(source, "t", sensitive="dx", **given).to_dict()
    assert by_name["policy"][name] is not None
    assert [by_name[key] for key in ("policy", "verdict", "reason")] == [
        expected[key] for key in ("policy", "verdict", "reason")
    ]


def test_several_limits_go_together() -> None:
    options = ("--require", "alpha=0.5", "--require", "t-closeness=0.4", "--require", "entropy-l=1.5")
    found = audited("--sensitive", "dx", *options)["policy"]
    assert (found["alpha"], found["t_closeness"], found["entropy_l"]) == ("0.5", "0.4", "1.5")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--require", "alfa=0.5"), "no limit alfa (did you mean alpha?) in --require"),
        (("--require", "alpha"), "--require alpha needs its limit: alpha=SHARE"),
        (("--require", "l-diversity=two"), "--require l-diversity must be l-diversity=L"),
        (("--require", "alpha=0.5", "--require", "alpha=0.4"), "--require alpha is given twice; keep one"),
        (("--t", "0.5", "--require", "t-closeness=0.4"), "t-closeness is given twice; keep one"),
        (("--alpha", "0.5"), "--alpha is --require alpha=LIMIT"),
        (("--require", "t-hierarchical=0.5"), "--require t-hierarchical needs the hierarchy of the values"),
    ],
)
def test_what_is_no_limit_is_said_with_the_remedy(options: tuple[str, ...], said: str) -> None:
    asked = inside("audit", "t.duckdb", "t", "--sensitive", "dx", *options)
    assert (asked.code, asked.out) == (2, "")
    assert said in asked.err


def test_a_limit_by_name_replaces_that_of_the_policy_file_and_no_other(tmp_path: Path) -> None:
    (tmp_path / "qidsql.toml").write_text(POLICY.format(""))
    assert audited()["policy"]["alpha"] == "0.9"
    assert audited("--require", "alpha=0.5")["policy"]["alpha"] == "0.5"
    both = audited("--require", "entropy-l=1.2")["policy"]
    assert (both["alpha"], both["entropy_l"]) == ("0.9", "1.2")
    (tmp_path / "qidsql.toml").write_text(
        POLICY.format('entity = "zip"\nrequire = ["unicity-1=50%"]').replace("alpha = 0.9", "")
    )
    assert audited("--require", "l-diversity=2")["policy"]["require"] == ["unicity-1=50%"]
    assert audited("--require", "unicity-2=5%")["policy"]["require"] == ["unicity-2=5%"]


def test_a_search_takes_limits_by_name(source: str) -> None:
    asked = inside("keys", source, "t", "--all", "--reveals", "dx", "--require", "alpha=0.5", "--format", "json")
    expected, found = qidsql.keys(source, "t", all=True, reveals="dx", alpha=0.5), json.loads(asked.out)
    assert found["criterion"] == expected.criterion
    assert [each["columns"] for each in found["column_sets"]] == [list(each.columns) for each in expected.column_sets]
    wrong = inside("keys", source, "t", "--require", "unicity-2=5%")
    assert "no limit unicity-2 in --require; there are: alpha, " in wrong.err
