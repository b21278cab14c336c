"""The verdict on one table from what is known of it: every branch, and what each is written from."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from qidsql.commands.audit.command import ColumnFinding
from qidsql.commands.audit.facts import AuditFacts
from qidsql.commands.audit.verdict import anonymity, assumptions, judge, of_persons, verdict_on
from qidsql.core.policy import Policy
from qidsql.core.results import Verdict
from qidsql.core.tables import NO_RIGHT, Role, Table, TableName
from qidsql.measures.profiles import ClassProfile
from qidsql.measures.sampling import ClassEstimate

HALF = Fraction(1, 2)
SAFE = ClassProfile.of_sizes({5: 4}, 5)
RISKY = ClassProfile.of_sizes({1: 2, 4: 1, 5: 2}, 5)  # 6 of 16 rows at risk


def column(name: str, role: Role = Role.QUASI_IDENTIFIER, **more: Any) -> ColumnFinding:
    profile = more.pop("profile", None)
    reason = NO_RIGHT if role is Role.UNREADABLE else ""
    return ColumnFinding(name=name, type="INTEGER", role=role, reason=reason, profile=profile, nulls=None, **more)


AGE, CITY = column("age"), column("city")
UNREADABLE = column("diagnosis", Role.UNREADABLE)
RECOGNISED = column("email", Role.DIRECT_IDENTIFIER, recognised=True)


def judged(
    *columns: ColumnFinding, profile: ClassProfile | None, rows: int | None = 20, **policy: Any
) -> tuple[str, str]:
    verdict, reason = judge("people", Policy(**policy), rows, columns, profile)
    return verdict.value, reason


def test_a_table_at_k_passes_and_one_below_violates() -> None:
    assert judged(AGE, CITY, profile=SAFE) == (
        "pass",
        "people is 5-anonymous on the 2 columns audited; k = 5 is required",
    )
    assert judged(AGE, profile=RISKY) == (
        "violation",
        "people is 1-anonymous on the one column audited (age); k = 5 is required: 6 of 16 rows (37.5 %) are in "
        "classes of fewer than 5",
    )
    assert judged(AGE, profile=SAFE, k=6)[0] == "violation"


@pytest.mark.parametrize("profile", [SAFE, None, ClassProfile.of_sizes({}, 5)])
def test_a_table_without_rows_is_never_a_pass(profile: ClassProfile | None) -> None:
    assert judged(AGE, profile=profile, rows=0) == ("inconclusive", "people cannot be judged: the table is empty")
    _, reason = judged(AGE, profile=profile, rows=0, where="age > 3")
    assert reason == "people cannot be judged: no row meets the where condition"
    assert judged(AGE, profile=SAFE, rows=1)[0] == judged(AGE, profile=SAFE, rows=None)[0] == "pass"


def test_a_ratio_that_is_reached_violates() -> None:
    verdict, reason = judged(AGE, CITY, profile=SAFE, distinct=Fraction(1, 5))
    assert verdict == "violation"
    assert reason.startswith("people is 5-anonymous on the 2 columns audited, but they contain a 0.2-distinct quasi-id")
    assert judged(AGE, profile=SAFE, distinct=Fraction(1, 4))[0] == "pass"


def test_without_the_whole_profile_one_audited_column_can_violate_and_nothing_passes() -> None:
    assert judged(AGE, profile=None) == ("inconclusive", "people was not fully examined")
    assert judged(AGE, column("zip", profile=SAFE), profile=None)[0] == "inconclusive"
    one = column("zip", profile=RISKY)
    assert judged(AGE, one, profile=None) == ("violation", "people is below k = 5 on zip alone")
    left_out = column("zip", Role.SENSITIVE, profile=RISKY)
    assert judged(AGE, left_out, profile=None)[0] == "inconclusive"


def test_a_direct_identifier_that_nobody_declared_violates() -> None:
    verdict, reason = judged(AGE, RECOGNISED, profile=SAFE)
    assert verdict == "violation"
    assert reason.startswith("people contains 1 direct identifier: email; the others are 5-anonymous. ")
    assert "email" in reason.partition("Declare what is not published: ")[2]
    verdict, reason = judged(AGE, RECOGNISED, profile=None)
    assert verdict == "violation"
    assert "email; the rest was not judged. " in reason
    assert judged(AGE, column("email", Role.DIRECT_IDENTIFIER), profile=SAFE)[0] == "pass"


def test_a_column_that_could_not_be_read_is_never_a_pass() -> None:
    verdict, reason = judged(AGE, UNREADABLE, profile=SAFE)
    assert verdict == "inconclusive"
    assert reason.startswith(
        "people is 5-anonymous on the columns audited, but diagnosis could not be read: grant SELECT, or declare"
    )
    assert judged(AGE, UNREADABLE, profile=RISKY)[0] == "violation"
    assert judged(AGE, UNREADABLE, profile=None)[1] == "people was not fully examined"


def test_who_stands_in_small_classes_is_said_in_the_unit_that_was_counted() -> None:
    entities = anonymity("people", Policy(entity="person"), RISKY, ["age"])
    assert entities.endswith("6 of 16 entities (person) (37.5 %) are in classes of fewer than 5")
    wildcard = anonymity("people", Policy(nulls="wildcard"), RISKY.of_matches(), ["age"])
    assert wildcard.endswith("6 of 16 rows (37.5 %) match fewer than 5")


def test_what_a_verdict_takes_for_granted() -> None:
    def said(*columns: ColumnFinding, **policy: Any) -> list[str]:
        parts = {
            "left out are not published": "left out",
            "not known outside": "sensitive",
            "each row is another": "rows",
        }
        parts |= {"each row is another": "rows", "person is not published": "entity"}
        parts |= {"a NULL may have been any value": "wildcard", "a copy alone cannot show": "known person"}
        taken = assumptions(Policy(**policy), columns, Verdict.VIOLATION)
        parts["in a copy with suppressed cells"] = "suppressed"
        return [name for text in taken for part, name in parts.items() if part in text]

    assert said(AGE) == ["rows"]
    assert said(AGE, column("id", Role.DIRECT_IDENTIFIER)) == ["left out", "rows"]
    assert said(AGE, column("id", Role.EXCLUDED)) == ["left out", "rows"]
    assert said(AGE, column("diagnosis", Role.SENSITIVE)) == ["sensitive", "rows"]
    assert said(AGE, entity="person") == ["entity"]
    gaps = replace(AGE, nulls=3)
    assert said(gaps) == ["rows", "suppressed"]
    assert said(gaps, AGE) == ["rows", "suppressed"]
    assert said(replace(gaps, role=Role.EXCLUDED)) == ["left out", "rows"]
    assert said(gaps, entity="person") == ["entity"]
    assert said(gaps, distinct="0.5") == ["rows"]  # wildcards have no classes to count
    for proposed, left_out in ((1, "a0 is left out"), (2, "a0, a1 are left out")):
        columns = [column(f"a{place}", Role.SENSITIVE, proposed=True) for place in range(proposed)]
        taken = assumptions(Policy(), [AGE, *columns], Verdict.INCONCLUSIVE)
        assert [text for text in taken if "proposal" in text] == [f"{left_out} by proposal, unconfirmed"]
    assert "suppressed" not in " ".join(assumptions(Policy(), [gaps], Verdict.PASS))
    assert said(gaps, nulls="wildcard") == ["rows", "wildcard", "known person"]
    assert said(AGE, nulls="wildcard") == ["rows", "wildcard", "known person"]


def test_rows_without_an_entity_are_no_further_entities_of_a_class() -> None:
    """One entity less in each class has to keep the policy; that is known of k alone."""
    policy = Policy(k=5, entity="person")
    more = ClassProfile.of_sizes({6: 4}, 5)
    assert of_persons(policy, SAFE, 0, "it passes") == (Verdict.PASS, "it passes")
    assert of_persons(policy, more, 3, "it passes") == (Verdict.PASS, "it passes")
    for profile, unnamed, asked in (
        (SAFE, 1, policy),
        (more, 1, replace(policy, rows_below_k=HALF)),
        (more, None, policy),
    ):
        verdict, reason = of_persons(asked, profile, unnamed, "it passes")
        assert (verdict, reason.startswith("it passes; ")) == (Verdict.INCONCLUSIVE, True)
    assert of_persons(policy, None, 0, "it passes")[0] is Verdict.INCONCLUSIVE


def test_the_verdict_on_facts_counts_entities_and_says_when_the_work_was_interrupted() -> None:
    people = Table(TableName("people"), "table", ())
    facts = AuditFacts(people, (AGE,), rows=20, profile=SAFE, unnamed=1)
    assert verdict_on(facts, Policy())[0] is Verdict.INCONCLUSIVE, "what a row is was not examined"
    facts = replace(facts, persons=())
    assert verdict_on(facts, Policy())[0] is Verdict.PASS
    assert verdict_on(facts, Policy(entity="person"))[0] is Verdict.INCONCLUSIVE
    facts = replace(facts, interrupted=True)
    assert verdict_on(facts, Policy()) == (Verdict.INCONCLUSIVE, "people was interrupted before the end")
    verdict, reason = verdict_on(replace(facts, profile=RISKY), Policy())
    assert verdict is Verdict.VIOLATION, "proved is proved, as with a spent budget"
    assert reason.startswith("people is 1-anonymous")
    assert reason.endswith(". The audit was interrupted before the end")


def test_a_pass_without_the_columns_left_out_by_proposal_has_to_hold_with_them() -> None:
    income = column("income", Role.SENSITIVE, proposed=True)

    def verdict(whole: ClassProfile | None, profile: ClassProfile = SAFE) -> tuple[str, str]:
        found, reason = judge("people", Policy(), 20, [AGE, CITY, income], profile, whole)
        return found.value, reason

    assert verdict(SAFE) == (
        "pass",
        "people is 5-anonymous on the 3 columns audited; k = 5 is required; income among them could be left out",
    )
    assert verdict(RISKY) == (
        "inconclusive",
        "people is 5-anonymous on the 2 columns audited, but nobody has confirmed that income can be left out; with "
        "them the table is 1-anonymous, and 6 of 16 rows (37.5 %) are below 5: confirm the roles (--roles accepted), "
        "or audit these columns too (--roles none)",
    )
    assert verdict(None)[0] == "inconclusive"  # the work ended before
    found, reason = verdict(RISKY, RISKY)
    assert found == "violation"
    assert reason.endswith("; left out by proposal: income")


@pytest.mark.parametrize(("smallest", "verdict"), [(4, "violation"), (5, "inconclusive")])
def test_a_sampled_class_of_k_rows_is_none_below_k(smallest: int, verdict: str) -> None:
    estimate = ClassEstimate.of(ClassProfile.of_sizes({smallest: 3}, 5), 10, 1000)
    assert judge("people", Policy(), 1000, (AGE,), None, None, estimate)[0].value == verdict
