"""The summary of a run: a row for each table, violations first, and the heading."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from qidsql.commands.audit.command import AuditResult
from qidsql.core.requirements import CRITERIA, LIMITS
from qidsql.core.results import Verdict
from qidsql.formats import texts as figures
from qidsql.formats.texts import VERDICTS, Profile, most_severe, rank_of
from qidsql.operations.document import RunResult
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
        if audit and audit.hidden and audit.account.policy.entity:
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


# What a policy can forbid or limit, besides k.
DISCLOSURE = {FindingKind(limit.kind.finding): limit for limit in LIMITS.values()}
FORBIDDEN = {FindingKind(each.kind.finding): each for each in CRITERIA.values() if each.in_policies} | DISCLOSURE
TITLES = {
    FindingKind.K_ANONYMITY: "The table is below k",
    FindingKind.DIRECT_IDENTIFIER: "A direct identifier is among the columns",
    FindingKind.BELOW_K: "A minimal column set is below k",
    FindingKind.BELOW_K_BY_KNOWN_ROWS: "A minimal column set is below k by several rows of a person",
    FindingKind.KEY: "A column set identifies every row",
    **{kind: each.title for kind, each in FORBIDDEN.items()},
}
HELP = {
    FindingKind.K_ANONYMITY: "Rows that agree on all audited columns form a class. The policy requires at least k rows "
    "in each.",
    FindingKind.DIRECT_IDENTIFIER: "Nearly every row has a different value in this column. Declare it as a direct "
    "identifier, which is not published, or leave it out.",
    FindingKind.BELOW_K: "The values of these columns together single out groups of fewer than k rows; no smaller part "
    "of the set does.",
    FindingKind.BELOW_K_BY_KNOWN_ROWS: "Fewer than k persons have some choice of a person's rows, by the values of "
    "these columns; no smaller part of the set shows that.",
    FindingKind.KEY: "No two rows agree on these columns: someone who knows the values of a person finds the row.",
    **{kind: each.explanation for kind, each in FORBIDDEN.items()},
}
COVERAGE = "coverage"  # the kind of gaps in the coverage, which are not findings of a table
UNCOVERED = (
    "The policy does not cover all of its source",
    "Tables in no entry of the policy are not audited, and unlisted columns may be audited in the wrong role. "
    "qidsql init --update adds them to the policy file.",
)


def unit_of(audit: AuditResult) -> str:
    """The unit that the classes count."""
    return "entities" if audit.account.policy.entity else "rows"


def criterion_of(audit: AuditResult, kind: FindingKind) -> str | None:
    """The name of the criterion that an audit searched for this kind of finding; None for other kinds."""
    searched = (criterion.name for criterion in audit.account.policy.explaining if criterion.finding == kind)
    return next(searched, None)
