"""Limits on disclosure in commands: the sets that exceed them, what can be published, the verdict."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest

from qidsql.commands.audit.audit import audit
from qidsql.commands.audit.command import AuditRequest
from qidsql.commands.keys.command import KeysRequest
from qidsql.commands.keys.keys import keys
from qidsql.commands.protect.columns.columns import columns as masking
from qidsql.commands.protect.columns.command import ColumnsRequest
from qidsql.core.policy import Policy
from qidsql.core.results import Verdict
from qidsql.errors import UsageError
from qidsql.operations.changes import verdict_with_exceptions
from qidsql.operations.findings import complete_kinds, findings
from qidsql.operations.table_run import Acceptance, FindingKind
from tests import rendering
from tests.definitions import exceeds
from tests.disclosure_limits import COLUMNS, SENSITIVE, Row, groups, random_rows
from tests.exhaustive import always
from tests.stores import EVERY_ENGINE, ONE_OF_THREE, Store

OPTIONS: list[tuple[str, Any, Any]] = [  # the option, its value, and the limit of the definition
    ("l_diversity", 2, Fraction(2)),
    ("l_diversity", 3, Fraction(3)),
    ("entropy_l", "2", Fraction(2)),
    ("recursive_l", "3/2,2", (Fraction(3, 2), 2)),
    ("alpha", "50%", Fraction(1, 2)),
    ("t_closeness", 0.4, Fraction(2, 5)),
    ("t_ordered", "1/4", Fraction(1, 4)),
    ("beta_likeness", 1, Fraction(1)),
    ("enhanced_beta", 2, Fraction(2)),
    ("delta_disclosure", "1.5", Fraction(3, 2)),
]
PATIENTS = [("a", "flu", 1)] * 5 + [
    ("b", "flu", 1),
    ("b", "cold", 2),
    ("b", "cold", 3),
    ("b", "flu", 4),
    ("b", "flu", 5),
]


def beyond(option: str, limit: Any, rows: Sequence[Row], places: Sequence[int]) -> bool:
    table = [row[3] for row in rows]
    model = option.replace("_", "-")
    return any(exceeds(model, limit, group, table) for group in groups(rows, places).values())


def minimal(option: str, limit: Any, rows: Sequence[Row]) -> set[tuple[str, ...]]:
    """By trying all."""
    found: list[tuple[int, ...]] = []
    for size in range(1, 4):
        for places in combinations(range(3), size):
            if beyond(option, limit, rows, places) and not any(set(one) <= set(places) for one in found):
                found.append(places)
    return {tuple(COLUMNS[place] for place in places) for places in found}


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", always(4, longer=[2, *range(5, 9)]))
@pytest.mark.parametrize(("option", "value", "limit"), OPTIONS)
@ONE_OF_THREE
def test_searches_find_what_trying_all_finds(store: Store, option: str, value: Any, limit: Any, seed: int) -> None:
    rows = random_rows(seed)
    expected = minimal(option, limit, rows)
    store.table("t", dict.fromkeys((*COLUMNS, SENSITIVE, "person"), "INTEGER"), rows)
    given: dict[str, Any] = {"reveals": SENSITIVE, option: value, "exclude": "person"}
    with store.connect() as engine:
        for algorithm in ("borders", "levelwise"):
            every = keys(engine, KeysRequest("t", all=True, algorithm=algorithm, **given))
            assert {found.columns for found in every.column_sets} == expected
            assert every.complete
            assert bool(every.impossible) == (not expected)
        least = keys(engine, KeysRequest("t", **given))
        assert least.cost == min(map(len, expected), default=None)
        one = keys(engine, KeysRequest("t", minimal=True, **given))
        assert {found.columns for found in one.column_sets} <= expected
        plan = masking(engine, ColumnsRequest("t", exact=True, entity="row", **given))
    safe = [set(places) for size in range(4) for places in combinations(COLUMNS, size)]
    safe = [places for places in safe if not any(set(found) <= places for found in expected)]
    assert len(plan.published) == max(map(len, safe))
    assert set(plan.published) in safe


@pytest.mark.exhaustive
@EVERY_ENGINE
def test_a_limit_decides_the_verdict(store: Store) -> None:
    store.table("t", {"zip": "VARCHAR(9)", "diagnosis": "VARCHAR(9)", "ward": "INTEGER"}, PATIENTS)
    with store.connect() as engine:
        without = audit(engine, AuditRequest("t", k=5, sensitive="diagnosis", exclude="ward"))
        refused = audit(engine, AuditRequest("t", k=5, sensitive="diagnosis", exclude="ward", l_diversity=2))
        both = audit(engine, AuditRequest("t", k=5, sensitive=("diagnosis", "ward"), l_diversity=2))
        close = audit(engine, AuditRequest("t", k=5, sensitive="diagnosis", exclude="ward", t_closeness="0.2"))
        unclose = audit(engine, AuditRequest("t", k=5, sensitive="diagnosis", exclude="ward", t_closeness="0.199999"))
    assert (without.verdict, close.verdict, unclose.verdict) == (Verdict.PASS, Verdict.PASS, Verdict.VIOLATION)
    assert "no class is further than t = 0.2 from the table in diagnosis" in close.reason
    assert refused.verdict is Verdict.VIOLATION
    assert refused.reason == (
        "main.t is 5-anonymous on the one column audited (zip), but 5 of 10 rows (50.0 %) are in classes of a single "
        "value of diagnosis"
    ).replace("main.", "" if "." not in str(refused.account.table) else str(refused.account.table).split(".")[0] + ".")
    [limit] = [search for search in refused.searches if "diagnosis" in search.criterion]
    assert [found.columns for found in refused.found_by(limit)] == [("zip",)]
    assert limit.complete
    text = " ".join(rendering.render(refused, 120).split())
    assert "Minimal sets: column set that reveals somebody's diagnosis" in text
    assert "Exceeding" in text
    wards = [search.criterion for search in both.searches if "ward" in search.criterion]
    assert wards == ["column set that reveals somebody's ward"]


@EVERY_ENGINE
def test_a_limit_that_was_not_measured_is_never_a_pass(store: Store) -> None:
    store.table("t", {"zip": "VARCHAR(9)", "diagnosis": "VARCHAR(9)", "ward": "INTEGER"}, PATIENTS)
    with store.connect() as engine:
        given: dict[str, Any] = {"k": 5, "sensitive": "diagnosis", "exclude": "ward", "l_diversity": 2}
        whole = audit(engine, AuditRequest("t", **given)).account.statements
        seen = [audit(engine, AuditRequest("t", max_statements=most, **given)) for most in range(1, whole + 1)]
    verdicts = [result.verdict for result in seen]
    assert Verdict.PASS not in verdicts
    first = verdicts.index(Verdict.VIOLATION)
    assert set(verdicts[:first]) == {Verdict.INCONCLUSIVE}
    assert set(verdicts[first:]) == {Verdict.VIOLATION}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"l_diversity": 2}, "--l-diversity is about a sensitive column: --sensitive COLUMN"),
        ({"sensitive": "d", "l_diversity": 1}, "l must be a whole number of at least 2"),
        ({"sensitive": "d", "t_closeness": 1}, "t must be at least 0 and below 1"),
        ({"sensitive": "d", "alpha": "100%"}, "alpha must be above 0 and below 1"),
        ({"sensitive": "d", "entropy_l": 1}, "must be above 1"),
        ({"sensitive": "d", "recursive_l": "3"}, "must be C,L such as 3,2, got 3"),
        ({"sensitive": "d", "recursive_l": "x,2"}, "must be a ratio"),
        ({"sensitive": "d", "recursive_l": "3,1"}, "l at least 2"),
        ({"sensitive": "d", "beta_likeness": 0}, "beta must be above 0"),
        ({"sensitive": "d", "delta_disclosure": -1}, "must be above 0"),
        ({"sensitive": "d", "l_diversity": 2, "nulls": "wildcard"}, "--l-diversity counts classes"),
        ({"sensitive": "d", "t_closeness": 0.1, "entity": "p"}, "--t-closeness measures rows"),
    ],
)
def test_what_a_policy_refuses(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Policy.read(**given)


def test_a_search_is_for_one_limit_on_one_column() -> None:
    with pytest.raises(UsageError, match="choose one criterion"):
        KeysRequest("t", reveals="d", l_diversity=2, alpha=0.5)
    with pytest.raises(UsageError, match="one sensitive column"):
        KeysRequest("t", sensitive=("d", "e"), l_diversity=2)
    with pytest.raises(UsageError, match="choose one criterion"):
        KeysRequest("t", reveals="d", distinct=0.5)


@EVERY_ENGINE
def test_the_sensitive_column_is_not_searched(store: Store) -> None:
    store.table("t", {"zip": "VARCHAR(9)", "Diagnosis": "VARCHAR(9)", "ward": "INTEGER"}, PATIENTS)
    with store.connect() as engine:
        found = keys(engine, KeysRequest("t", reveals="diagnosis", all=True))  # in another letter case
        assert found.account.columns == ("zip", "ward")
        assert {each.columns for each in found.column_sets} == {("zip",), ("ward",)}


@EVERY_ENGINE
def test_exceptions_never_pass_a_limit_that_was_not_measured(store: Store) -> None:
    """The classes below k are accepted, and the budget ended before the limit was measured."""
    store.table("t", {"zip": "VARCHAR(9)", "diagnosis": "VARCHAR(9)"}, [("a", "flu")] * 3)
    seen = set()
    with store.connect() as engine:
        for most in range(1, 6):
            request = AuditRequest("t", k=5, sensitive="diagnosis", l_diversity=2, max_statements=most)
            result = audit(engine, request)
            accepted = [
                replace(finding, exception=Acceptance("small", None))
                for finding in findings(result, "s")
                if finding.kind is FindingKind.K_ANONYMITY
            ]
            open_findings = [each for each in findings(result, "s") if each.kind is FindingKind.L_DIVERSITY]
            verdict = verdict_with_exceptions(result, [*accepted, *open_findings], complete_kinds(result))
            assert verdict is not Verdict.PASS, most
            seen.add((bool(accepted), verdict))
    assert (True, Verdict.INCONCLUSIVE) in seen
