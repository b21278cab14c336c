"""The summary of a run: a row for each table, violations first, and the heading."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from qidsql.core.results import Verdict
from qidsql.formats import texts as figures
from qidsql.formats.texts import VERDICTS, Profile, most_severe, rank_of
from qidsql.operations.document import RunResult
from qidsql.operations.findings import Audit, criteria
from qidsql.operations.hidden_counts import HiddenAudit
from qidsql.operations.table_run import FindingKind, FindingState, TableRun
from qidsql.wording.texts import plural

OF_TABLES = {
    Verdict.VIOLATION: " in violation of the policy",
    Verdict.ERROR: " that could not be audited",
    Verdict.INCONCLUSIVE: " without a verdict",
}


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """A table in the summary of a run, without its audit, to save memory; `index` is its place in the document."""

    index: int
    table: str
    source: str
    owner: str | None
    verdict: Verdict
    waived: str
    new: int  # findings
    rows: str
    k: int | None
    profile: Profile | None
    rank: tuple[int, float]

    @classmethod
    def of(cls, index: int, table: TableRun) -> "SummaryRow":
        audit = table.audit
        rows = figures.number(audit.account.rows if audit else None)
        if isinstance(audit, HiddenAudit) and audit.account.policy.entity:
            rows = f"{figures.number(audit.entities)} entities"
        return cls(
            index=index,
            table=table.table,
            source=table.source,
            owner=table.owner,
            verdict=table.verdict,
            waived=table.waived,
            new=sum(finding.state is FindingState.NEW for finding in table.findings),
            rows=rows,
            k=audit.account.policy.k if audit else None,
            profile=audit.profile if audit else None,
            rank=rank_of(table),
        )


def summary_rows(document: RunResult) -> list[SummaryRow]:
    """A row for each table, violations first."""
    rows: list[SummaryRow] = []
    for table in document.tables:
        rows.append(SummaryRow.of(len(rows) + 1, table))
    return sorted(rows, key=lambda row: row.rank)


def banner(document: RunResult, rows: Sequence[SummaryRow]) -> tuple[Verdict, str]:
    """The verdict on a run and its heading: violations come first, also if a table could not be audited."""
    counted = Counter(row.verdict for row in rows)
    if not any(counted[verdict] for verdict in OF_TABLES):  # the coverage decides, or not every table was reached
        if document.waived:
            return Verdict.INCONCLUSIVE, document.waived.capitalize()  # in its colour
        return document.verdict, VERDICTS[document.verdict]
    worst = most_severe(document, counted)
    texts = [plural(counted[each], "table") + words for each, words in OF_TABLES.items() if counted[each]]
    return worst, ", ".join(texts)


# Titles and explanations of findings, shared by the formats.


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
