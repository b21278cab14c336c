"""The risks of a release against thresholds, by their definitions written again."""

from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.commandline import inside
from tests.commands.release.test_release import PEOPLE, ROLES, check, holds, policy, state, table

LIMITS = """
title = "House rules"
text = "Data office, 2026"
[[lines]]
item = "limit"
asks = "the risk"
check = "{check}"
limit = "{limit}"
"""
FEW = [(20 + n % 3, "n", "abc"[n % 3]) for n in range(16)]  # classes of 6, 5, 5


def at(folder: Path, name: str, limit: object, **more: Any) -> tuple[str, dict[str, Any]]:
    """The state of a line with this limit, and what is stated of the risk."""
    (folder / "own.toml").write_text(LIMITS.format(check=name, limit=limit))
    found = check(folder, "--checklist", "own.toml")
    [stated] = [each for each in found["predicate"]["risks"] if each["name"] == name]
    assert stated["limit"] == str(limit)
    assert inside("release", "out.parquet", "--of", "patients", "--checklist", "own.toml", "-o", "r.json", cwd=folder)
    outcome = inside("verify", "r.json", "out.parquet", cwd=folder)
    assert holds(outcome), outcome.out
    return state(found, "own.toml limit"), stated


@pytest.mark.exhaustive
def test_households(tmp_path: Path) -> None:
    """1 - the product of (1 - r) over the members; the greatest one decides."""
    policy(tmp_path, {**ROLES, "home": "sensitive"}, release='household = "home"')
    rows = [(*row, n // 4) for n, row in enumerate(FEW)]
    table(tmp_path, rows, "age, state, diagnosis, home")
    sizes, risks = Counter(row[:2] for row in FEW), dict.fromkeys(range(4), Fraction(1))
    for *row, home in rows:
        risks[home] *= 1 - Fraction(1, sizes[tuple(row[:2])])
    highest = 1 - min(risks.values())
    above, below = f"{float(highest) + 0.001:.4f}", f"{float(highest) - 0.001:.4f}"
    assert at(tmp_path, "households", above)[0] == "met"
    found, stated = at(tmp_path, "households", below)
    assert found == "not met" and abs(stated["risk"] - float(highest)) < 1e-8
    table(tmp_path, [*rows, (20, "n", "a", 99)], "age, state, diagnosis, home")
    with duckdb.connect() as connection:
        path = tmp_path / "out.parquet"
        connection.execute(
            f"CREATE TABLE t AS FROM '{path}'; UPDATE t SET home = NULL WHERE home = 99; COPY t TO '{path}'"
        )
    assert at(tmp_path, "households", "1")[0] == "not examined"


@pytest.mark.exhaustive
def test_a_register_gives_the_risks_of_a_journalist_and_a_marketer(tmp_path: Path) -> None:
    policy(tmp_path, release='linked = [{table = "voters.parquet", on = ["age=age", "state=state"]}]')
    table(tmp_path, [*PEOPLE, *PEOPLE])
    (tmp_path / "voters.parquet").write_bytes((tmp_path / "out.parquet").read_bytes())
    with duckdb.connect() as connection:
        kept = f"SELECT age, state FROM '{tmp_path / 'out.parquet'}'"
        connection.execute(f"COPY ({kept}) TO '{tmp_path / 'voters.parquet'}'")
    table(tmp_path)
    for name, limit, expected in (
        ("journalist", "1/24", "met"),
        ("journalist", "1/25", "not met"),
        ("marketer", "1/24", "met"),
        ("marketer", "1/25", "not met"),
    ):
        assert at(tmp_path, name, limit)[0] == expected
    (tmp_path / "voters.parquet").unlink()
    outcome = inside("verify", "r.json", "out.parquet", cwd=tmp_path)
    assert holds(outcome) and "the line own.toml limit" in " ".join(outcome.out.split())
    assert at(tmp_path, "journalist", "1")[0] == "not examined"


@pytest.mark.exhaustive
def test_population_uniques_are_an_estimate_that_a_person_judges(tmp_path: Path) -> None:
    policy(tmp_path, release="population = 1000")
    table(tmp_path)
    found, stated = at(tmp_path, "population uniques", "0.05")
    assert (found, stated["risk"]) == ("met", 0)
    table(tmp_path, [*PEOPLE, *((200 + n, "n", "a") for n in range(30))])
    assert at(tmp_path, "population uniques", "1")[0] == "for a person to say"
    assert at(tmp_path, "population uniques", "0.0001")[0] == "not met"
    policy(tmp_path, release="population = 10")
    assert at(tmp_path, "population uniques", "1")[0] == "not examined"


@pytest.mark.exhaustive
def test_a_probability_of_an_attack_changes_no_threshold_of_the_data(tmp_path: Path) -> None:
    once = 'k = {}\nentity = "row"'
    policy(tmp_path, more=once.format(2), release='attempt = "0.1"')
    table(tmp_path, PEOPLE[:44])
    found = check(tmp_path, "--checklist", "ema-0070", "--checklist", "ipc-low")
    assert (state(found, "ema-0070 threshold"), state(found, "ipc-low threshold")) == ("not met", "met")
    [highest] = [each for each in found["predicate"]["risks"] if each["name"] == "highest"]
    assert highest["limit"] == "0.09"  # of both lists the smaller one: 0.09 of an attack of 0.1 allows 0.9
    found = check(tmp_path, "--checklist", "ipc-low")
    [highest] = [each for each in found["predicate"]["risks"] if each["name"] == "highest"]
    assert highest["limit"] == "1/2" and highest["risk"] < 0.9  # of the policy's k, not of 0.9 for ipc-low


@pytest.mark.exhaustive
def test_a_limit_on_disclosure_is_no_risk_of_being_identified(tmp_path: Path) -> None:
    policy(tmp_path, more='k = 5\nentity = "row"\nl_diversity = 2')
    table(tmp_path, [(20, "n", "a")] * 40)
    found = check(tmp_path, "--checklist", "ipc-high", "--checklist", "wp216")
    assert state(found, "policy requirements") == "not met"
    assert (state(found, "ipc-high threshold"), state(found, "wp216 singling out")) == ("met", "met")
