"""The main job, end to end, on both engines."""

import re
from fractions import Fraction

import pytest

from qidsql.commands.audit.audit import audit
from qidsql.commands.audit.command import AuditRequest
from qidsql.core.results import Verdict
from tests import rendering
from tests.stores import EVERY_ENGINE, Store

pytestmark = EVERY_ENGINE


def test_a_table_with_classes_of_five_passes(store: Store) -> None:
    store.table("t", {"a": "INTEGER", "b": "VARCHAR(9)"}, [(i % 2, "x") for i in range(10)])
    with store.connect() as engine:
        result = audit(engine, AuditRequest("t", k=5))
    assert result.verdict is Verdict.PASS
    assert result.profile is not None
    assert result.profile.smallest == 5
    assert result.searches == ()


def test_a_rare_combination_violates(store: Store) -> None:
    rows = [(1, "x")] * 6 + [(2, "y")] * 6 + [(1, "y")]
    store.table("t", {"a": "INTEGER", "b": "VARCHAR(9)"}, rows)
    with store.connect() as engine:
        result = audit(engine, AuditRequest("t", k=5))
    assert result.verdict is Verdict.VIOLATION
    [violates, key] = result.searches
    assert [found.columns for found in result.found_by(violates)] == [("a", "b")]
    assert violates.complete
    assert key.impossible


def test_the_fewest_columns_to_withhold(store: Store) -> None:
    """a and b are below k together with c, and nothing else is: withholding c alone is enough."""
    rows = [(a, b, c) for a in range(2) for b in range(2) for c in range(2) for _ in range(5)] + [(0, 0, 2)] * 2
    store.table("t", {"a": "INTEGER", "b": "INTEGER", "c": "INTEGER"}, rows)
    with store.connect() as engine:
        result = audit(engine, AuditRequest("t", k=5))
    assert result.least_withheld is not None
    assert (result.least_withheld.columns, result.least_withheld.at_least) == (("c",), 1)
    assert result.withheld[0].columns == ("c",)
    assert result.withheld[0].passes


@pytest.mark.exhaustive
def test_rows_without_a_person_may_be_of_persons_counted_already(store: Store) -> None:
    """They are counted as one more person in each class, so a pass needs one more than k where there are such rows."""
    persons = {k: [(0, person) for person in "abc"[:k]] + [(1, person) for person in "abcd"] for k in (2, 3)}
    for number, (rows, verdict, reason) in enumerate(
        [
            (persons[3], Verdict.PASS, ""),
            (
                persons[3] + [(1, None)],
                Verdict.INCONCLUSIVE,
                "1 row has no person and may be of entities",
            ),
            (persons[2] + [(0, None)] * 5, Verdict.INCONCLUSIVE, "5 rows have no person and may be of entities"),
            (persons[3] + [(0, None)], Verdict.PASS, ""),
            (persons[2], Verdict.VIOLATION, ""),
        ]
    ):
        store.table(f"t{number}", {"a": "INTEGER", "person": "VARCHAR(9)"}, rows)
        with store.connect() as engine:
            result = audit(engine, AuditRequest(f"t{number}", k=3, entity="person"))
        assert (result.verdict, reason in result.reason) == (verdict, True), (number, result.reason)


def test_advice_passes_only_where_the_whole_policy_would(store: Store) -> None:
    rows = [(number, number % 3, "x" if number else "y") for number in range(60)]
    store.table("t", {"id": "INTEGER", "a": "INTEGER", "b": "VARCHAR(9)"}, rows)
    with store.connect() as engine:
        result = audit(engine, AuditRequest("t", k=5))
    assert [column.name for column in result.columns if column.recognised] == ["id"]
    [withheld] = result.withheld
    assert withheld.columns == ("b",)
    assert not withheld.passes
    assert "id" in withheld.still


def test_what_somebody_declared_a_quasi_identifier_is_recognised_as_nothing_else(store: Store) -> None:
    store.table("t", {"born": "INTEGER", "a": "INTEGER"}, [(number, number % 2) for number in range(60)])
    with store.connect() as engine:
        alone = audit(engine, AuditRequest("t", k=5))
        declared = audit(engine, AuditRequest("t", k=5, quasi_identifiers=("BORN",)))
    assert [column.name for column in alone.columns if column.recognised] == ["born"]
    assert not any(column.recognised for column in declared.columns)
    assert all(column.audited for column in declared.columns)
    assert declared.verdict is Verdict.VIOLATION


def test_what_a_spent_budget_has_proved_stands(store: Store) -> None:
    store.table("t", {"a": "INTEGER", "b": "INTEGER"}, [(number % 7, number % 11) for number in range(30)])
    with store.connect() as engine:
        result = audit(engine, AuditRequest("t", k=5, max_statements=2 if store.name in ("duckdb", "spark") else 3))
    assert result.verdict is Verdict.VIOLATION
    assert "alone" in result.reason
    assert result.account.unfinished
    assert all(column.profile is not None for column in result.columns)


def test_what_a_verdict_assumes_is_said(store: Store) -> None:
    store.table("t", {"a": "INTEGER", "b": "INTEGER", "c": "INTEGER"}, [(1, 2, 3)] * 9)
    with store.connect() as engine:
        result = audit(engine, AuditRequest("t", k=5, columns=("a",)))
        entity = audit(engine, AuditRequest("t", k=2, entity="b", sensitive=("c",)))
    assert result.verdict is Verdict.PASS
    assert "the one column audited (a)" in result.reason
    assert any("columns left out are not published" in each for each in result.assumptions)
    text = rendering.render(result, 120)
    assert len(re.findall("b, c", text)) == 1  # named once, where they are left out
    assert any("--entity" in each for each in result.assumptions)
    assert entity.verdict is Verdict.VIOLATION
    assert any("b is not published" in each for each in entity.assumptions)
    assert any("part of the verdict" in each for each in entity.assumptions)


def test_a_table_that_passes_can_disclose(store: Store) -> None:
    """Five people of one class share a diagnosis: nobody is singled out, and everybody's diagnosis is known."""
    rows = [("a", "flu", 1)] * 5 + [("b", "flu", 1), ("b", "flu", 2), *[("b", "cold", 2)] * 3]
    store.table("t", {"zip": "VARCHAR(9)", "diagnosis": "VARCHAR(9)", "ward": "INTEGER"}, rows)
    with store.connect() as engine:
        result = audit(engine, AuditRequest("t", k=5, sensitive=("diagnosis", "ward")))
        wildcard = audit(engine, AuditRequest("t", k=5, sensitive=("diagnosis",), nulls="wildcard"))
    assert result.verdict is Verdict.PASS
    alone, with_ward, *_ = result.disclosed
    assert (alone.sensitive, alone.known, with_ward.known) == ("diagnosis", ("zip",), ("zip", "ward"))
    assert (alone.figures.revealed, alone.figures.fewest_values) == (5, 1)
    assert (alone.figures.guess_before, alone.figures.guess_after) == (Fraction(7, 10), Fraction(8, 10))
    assert with_ward.figures.revealed == 6
    text = " ".join(rendering.render(result, 120).split())
    assert "whoever knows this column knows the diagnosis of 5 rows (50.0 %)" in text
    assert "right for 80.0 %, for 70.0 % without knowing anything" in text
    assert wildcard.disclosed == ()
    assert any("is not measured" in each for each in wildcard.assumptions)
