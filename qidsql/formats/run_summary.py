"""The summary of a run: a row for each table, violations first, and the heading."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from qidsql.core.results import Verdict
from qidsql.formats import figures
from qidsql.formats.figures import Profile
from qidsql.formats.severity import most_severe, rank_of
from qidsql.formats.texts import VERDICTS
from qidsql.operations.document import RunResult
from qidsql.operations.hidden_counts import HiddenAudit
from qidsql.operations.table_run import FindingState, TableRun
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
