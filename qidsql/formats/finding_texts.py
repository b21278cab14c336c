"""Titles and explanations of findings, shared by the formats."""

from qidsql.operations.findings import Audit, criteria
from qidsql.operations.table_run import FindingKind

# What the limit of each model of attribute disclosure requires of every class.
DISCLOSURE: dict[FindingKind, str] = {
    FindingKind.L_DIVERSITY: "at least l different values of the sensitive column",
    FindingKind.ENTROPY_L: "an entropy of the sensitive column of at least ln l",
    FindingKind.RECURSIVE_L: "a commonest value with fewer than c times the rows of the values from the l-th on",
    FindingKind.ALPHA: "at most the share alpha of its rows with the same value of the sensitive column",
    FindingKind.T_CLOSENESS: "values of the sensitive column within the distance t of those of the table",
    FindingKind.T_ORDERED: "ordered values of the sensitive column within the distance t of those of the table",
    FindingKind.T_HIERARCHICAL: "values of the sensitive column within the distance t of those of the table, by their "
    "hierarchy",
    FindingKind.BETA_LIKENESS: "no value that exceeds its share of the table by more than beta times it",
    FindingKind.ENHANCED_BETA: "no value that exceeds its share of the table by more than beta times it, or less for "
    "frequent values",
    FindingKind.DELTA_DISCLOSURE: "no value whose share differs from that of the table by a factor of e^delta or more",
}
TITLES = {
    FindingKind.K_ANONYMITY: "The table is below k",
    FindingKind.DIRECT_IDENTIFIER: "A direct identifier is among the columns",
    FindingKind.BELOW_K: "A minimal column set is below k",
    FindingKind.KEY: "A column set identifies every row",
    FindingKind.DISTINCT: "A column set reaches the distinct ratio",
    FindingKind.SEPARATION: "A column set reaches the separation ratio",
    FindingKind.ROWS_BELOW_K: "A column set puts too many rows below k",
    **{kind: f"A column set discloses a sensitive column ({kind})" for kind in DISCLOSURE},
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
    FindingKind.ROWS_BELOW_K: "The share of rows in classes below k reaches the limit of the policy.",
    **{
        kind: "Whoever knows these columns learns more about the sensitive column than the policy allows: rows that "
        f"agree on them form a class, and each class must have {words}."
        for kind, words in DISCLOSURE.items()
    },
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
    searched = (criterion.name for criterion in criteria(audit.account.policy) if criterion.finding == kind)
    return next(searched, None)
