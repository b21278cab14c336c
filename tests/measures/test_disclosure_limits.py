"""The words of limits on disclosure."""

import pytest

from qidsql.measures.disclosure_limits import DisclosureLimit
from qidsql.measures.profiles import ClassProfile, Disclosing
from tests.disclosure_limits import LIMITS

WORDS = [f"{limit.finding} {limit.limit}" for limit in LIMITS]


def test_no_two_limits_share_a_name() -> None:
    for words in ("name", "label", "meaning", "options"):
        assert len({getattr(limit, words) for limit in LIMITS}) == len(LIMITS), words


@pytest.mark.parametrize("limit", LIMITS, ids=WORDS)
def test_each_says_what_it_requires_and_what_it_does_not_cover(limit: DisclosureLimit) -> None:
    requires, _, misses = limit.meaning.partition(". ")
    assert limit.sensitive in requires
    assert misses
    assert "--" not in limit.meaning


@pytest.mark.parametrize("limit", LIMITS, ids=WORDS)
def test_a_violation_gives_its_rows(limit: DisclosureLimit) -> None:
    figures = Disclosing(limit.label, rows=4, classes=2, worst=10**6)
    profile = ClassProfile(10, 3, 2, 5, 2, 0, 0, 0, 20, disclosing=(figures,))
    assert limit.met_by(profile)
    assert limit.violation(profile) == f"4 of 10 rows (40.0 %) are in classes {limit.excess}"
    assert limit.figure(profile) in limit.reached(profile)
