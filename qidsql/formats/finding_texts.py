"""Titles and explanations of findings, shared by the formats."""

from qidsql.operations.findings import Audit, criteria
from qidsql.operations.table_run import FindingKind

TITLES = {
    FindingKind.K_ANONYMITY: "The table is below k",
    FindingKind.DIRECT_IDENTIFIER: "A direct identifier is among the columns",
    FindingKind.BELOW_K: "A minimal column set is below k",
    FindingKind.KEY: "A column set identifies every row",
    FindingKind.DISTINCT: "A column set reaches the distinct ratio",
    FindingKind.SEPARATION: "A column set reaches the separation ratio",
    FindingKind.ROWS_AT_RISK: "A column set puts too many rows at risk",
}
HELP = {
    FindingKind.K_ANONYMITY: "Rows that agree on all audited columns form a class. The policy requires at least k rows "
    "in each.",
    FindingKind.DIRECT_IDENTIFIER: "Nearly every row has a different value in this column. Declare it as a direct "
    "identifier, which is not published, or leave it out.",
    FindingKind.BELOW_K: "The values of these columns together single out groups of fewer than k rows; no smaller part "
    "of the set does.",
    FindingKind.KEY: "No two rows agree on these columns: someone who knows the values of a person finds the row.",
    FindingKind.DISTINCT: "The number of classes divided by the number of rows reaches the limit of the policy.",
    FindingKind.SEPARATION: "The share of pairs of rows that differ in these columns reaches the limit of the policy.",
    FindingKind.ROWS_AT_RISK: "The share of rows in classes below k reaches the limit of the policy.",
}
COVERAGE = "coverage"  # the kind of gaps in the coverage, which are not findings of a table
UNCOVERED = (
    "The policy does not cover all of its source",
    "Tables in no entry of the policy are not audited, and unlisted columns may be audited in the wrong role. "
    "qidsql init --update adds them to the policy file.",
)


def unit_of(audit: Audit) -> str:
    """The unit that the classes count."""
    return "entities" if audit.account.policy.entity else "rows"


def criterion_of(audit: Audit, kind: FindingKind) -> str | None:
    """The name of the criterion that an audit searched for this kind of finding; None for other kinds."""
    searched = criteria(audit.account.policy)
    return searched[kind].name if kind in searched else None
