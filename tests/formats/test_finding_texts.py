"""Each criterion that a policy can require has a kind of finding, and each kind its words."""

from qidsql.core.requirements import LIMITS
from qidsql.formats.run_summary import HELP, TITLES
from qidsql.measures.criteria import Distinct, RowsBelowK, Separation
from qidsql.measures.disclosure_limits import DisclosureLimit
from qidsql.operations.table_run import FindingKind


def kinds(limit: type[DisclosureLimit]) -> set[str]:
    return {limit.finding} if not limit.__subclasses__() else set().union(*map(kinds, limit.__subclasses__()))


def test_each_criterion_has_a_kind_of_finding() -> None:
    """Step 2 of how to add one, in the page on the architecture."""
    disclosure = kinds(DisclosureLimit)
    assert len(disclosure) == len(LIMITS)
    assert {*disclosure, Distinct.finding, Separation.finding, RowsBelowK.finding} <= set(FindingKind)
    assert set(TITLES) == set(HELP) == set(FindingKind)
