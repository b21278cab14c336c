"""What the formats read in a document alike."""

from qidsql.operations.findings import Audit, criteria
from qidsql.operations.table_run import FindingKind

TITLES = {
    FindingKind.K_ANONYMITY: "The table is below k",
    FindingKind.DIRECT_IDENTIFIER: "A direct identifier is among the columns",
    FindingKind.BELOW_K: "A minimal column set is below k",
    FindingKind.KEY: "A column set tells every row apart",
    FindingKind.DISTINCT: "A column set reaches the distinct ratio",
    FindingKind.SEPARATION: "A column set reaches the separation ratio",
    FindingKind.ROWS_AT_RISK: "A column set puts too many rows at risk",
}
HELP = {
    FindingKind.K_ANONYMITY: "Rows that agree on all audited columns form a class. The policy asks for k rows in each "
    "at least.",
    FindingKind.DIRECT_IDENTIFIER: "Nearly every row has a value of its own in this column. Declare that it is not "
    "published, or leave it out.",
    FindingKind.BELOW_K: "The values of these columns together single out groups of fewer than k; no part of the set "
    "does.",
    FindingKind.KEY: "No two rows agree on these columns: who knows them finds each row.",
    FindingKind.DISTINCT: "Classes / rows of these columns is not below the limit of the policy.",
    FindingKind.SEPARATION: "The share of pairs of rows that these columns tell apart is not below the limit of the "
    "policy.",
    FindingKind.ROWS_AT_RISK: "The share of rows in classes below k is not below the limit of the policy.",
}
COVERAGE = "coverage"  # the kind of what the policy does not cover: no finding of a table
UNCOVERED = (
    "The policy does not cover all of its source",
    "Tables that no entry of the policy names are not audited, and such columns perhaps not as what they are. "
    "qidsql init --update adds them to the policy file.",
)


def unit_of(audit: Audit) -> str:
    """What is counted in the classes."""
    return "entities" if audit.account.policy.entity else "rows"


def criterion_of(audit: Audit, kind: FindingKind) -> str | None:
    """The name of the criterion by which an audit searched for findings of that kind."""
    searched = criteria(audit.account.policy)
    return searched[kind].name if kind in searched else None
