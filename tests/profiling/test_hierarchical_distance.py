"""t-closeness by the distance in a hierarchy of values, on every engine, beside the definition."""

from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

from qidsql.commands.audit.audit import audit
from qidsql.commands.audit.command import AuditRequest
from qidsql.commands.keys.command import KeysRequest
from qidsql.commands.keys.keys import keys
from qidsql.core.policy import Policy
from qidsql.core.recodings import read_hierarchy
from qidsql.errors import UsageError
from qidsql.measures.disclosure_limits import DistantInHierarchy, limits_among
from qidsql.profiling.by_entity import profiler_for
from qidsql.profiling.disclosing import disclosing
from qidsql.sql.relation import relation
from tests.definitions import hierarchical_distance
from tests.exhaustive import always
from tests.stores import TWO_OF_THREE, Store

VALUES = ["flu", "cold; bad", "gastritis", "ul'cer", "migraine", "1"]
LIMITS = [Fraction(n, 20) for n in range(0, 20, 2)]


def written(path: Path, paths: dict[str, list[str]]) -> str:
    lines = (";".join(f'"{cell}"' for cell in (value, *above)) for value, above in paths.items())
    path.write_text("".join(f"{line}\n" for line in lines))
    return str(path)


def random_paths(random: Random) -> dict[str, list[str]]:
    """Two to four levels above the values; names of nodes are used again on other levels."""
    paths: dict[str, list[str]] = {value: [] for value in VALUES}
    for _ in range(random.randint(1, 3)):
        last = {value: above[-1] if above else value for value, above in paths.items()}
        parent = {node: random.choice("xyz") for node in sorted(set(last.values()))}
        for value, above in paths.items():
            above.append(parent[last[value]])
    return {value: [*above, "*"] for value, above in paths.items()}


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", always(0, 1, longer=range(2, 60)))
@TWO_OF_THREE
def test_random_tables_and_hierarchies(store: Store, seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    paths = random_paths(random)
    file = written(tmp_path / "h.csv", paths)
    rows = [(random.choice([1, 2, None]), random.choice(VALUES)) for _ in range(random.choice([4, 15, 30]))]
    store.table("t", {"a": "INTEGER", "s": "VARCHAR(20)"}, rows)
    groups: dict[Any, list[str]] = defaultdict(list)
    for known, value in rows:
        groups[known].append(value)
    table = [value for _, value in rows]
    distances = {key: hierarchical_distance(group, table, paths) for key, group in groups.items()}
    limits = [
        DistantInHierarchy("s", limit, file) for limit in dict.fromkeys((*LIMITS, *distances.values())) if limit < 1
    ]
    with store.connect() as engine:
        described = engine.describe("t")
        source = relation(engine.dialect, described, described.columns)
        profile = disclosing(profiler_for(engine, source, ["a"], 2), described, limits).profile(1)
    for limit in limits:
        beyond = [groups[key] for key, distance in distances.items() if distance > limit.limit]
        assert (limit.of(profile).rows, limit.of(profile).classes) == (sum(map(len, beyond)), len(beyond)), limit.limit
        assert limit.worst(profile) == pytest.approx(float(max(distances.values())), abs=1e-6)


def test_two_levels_are_the_equal_distance() -> None:
    flat = {value: ["*"] for value in "abc"}
    group, table = list("aab"), list("aabbcc")
    assert hierarchical_distance(group, table, flat) == Fraction(1, 3)
    near = {"a": ["x", "*"], "b": ["x", "*"], "c": ["y", "*"]}  # the same, but a and b are close
    assert hierarchical_distance(list("a"), list("ab"), near) == Fraction(1, 4)
    assert hierarchical_distance(list("a"), list("ac"), near) == Fraction(1, 2)


@TWO_OF_THREE
def test_in_commands(store: Store, tmp_path: Path) -> None:
    paths = {"flu": ["lung", "*"], "cold": ["lung", "*"], "ulcer": ["gut", "*"]}
    rows = [("a", "flu")] * 2 + [("b", "cold")] * 2 + [("c", "ulcer")] * 2
    store.table("t", {"zip": "VARCHAR(3)", "diagnosis": "VARCHAR(9)"}, rows)
    file = written(tmp_path / "h.csv", paths)
    given: dict[str, Any] = {"k": 2, "sensitive": "diagnosis", "hierarchy": file}
    with store.connect() as engine:
        kept = audit(engine, AuditRequest("t", t_hierarchical="2/3", **given))
        beyond = audit(engine, AuditRequest("t", t_hierarchical="0.66", **given))
        found = keys(engine, KeysRequest("t", all=True, reveals="diagnosis", t_hierarchical=0.5, hierarchy=file))
        lacking = written(tmp_path / "lacking.csv", {"flu": ["*"], "cold": ["*"]})
        with pytest.raises(UsageError, match=r"lacking\.csv lacks 1 value of diagnosis: add a line") as raised:
            audit(engine, AuditRequest("t", t_hierarchical=0.5, **{**given, "hierarchy": lacking}))
        assert "ulcer" not in str(raised.value)
    assert (kept.verdict, beyond.verdict) == ("pass", "violation")
    assert [each.columns for each in found.column_sets] == [("zip",)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected lines such as value;parent"),
        ("SECRET\n", "expected lines such as value;parent"),
        ("SECRET;x;*\nb;*\n", ":2: 2 levels, where the first line has 3"),
        ("SECRET;x;*\nSECRET;y;*\n", ":2: the value of this line has a line before"),
        ("SECRET;x;y;*\nb;x;z;*\n", ":2: what stands at level 1 has another parent"),
        ("SECRET;x\nb;y\n", "the last level differs"),
    ],
)
def test_what_is_no_hierarchy_is_refused_without_its_values(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "h.csv"
    path.write_text(text)
    with pytest.raises(UsageError) as raised:
        read_hierarchy(str(path))
    assert said in str(raised.value)
    assert "SECRET" not in str(raised.value)


def test_policies(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--require t-hierarchical needs the hierarchy"):
        Policy.read(sensitive="s", t_hierarchical=0.2)
    with pytest.raises(UsageError, match="that of one sensitive column"):
        Policy.read(sensitive=["s", "t"], t_hierarchical=0.2, hierarchy="h.csv")
    [limit] = limits_among(Policy.read(sensitive="s", t_hierarchical=0.2, hierarchy="gone.csv").criteria)
    assert limit.hierarchy == "gone.csv"  # read when it is measured, not when a stored report is shown
