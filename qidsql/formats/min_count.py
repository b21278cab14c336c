"""A run document without counts of rows: what may be passed on where cells of fewer than m persons may not.

CMS's cell size suppression policy asks for m = 11, and that nothing else reveals a smaller cell: no rest of a total, no
percentage. Reports of a table that changes make this hard. Whoever knows that one row was added, and sees a rounded
count step from "1 to 10" to "11 to 21", knows both counts, wherever the steps begin and however wide they are. And
where figures are hidden only while one of them is small, the day on which they appear tells what the small one was.

The rule, for every table alike, whatever its figures are:

- Words stay: verdicts, the policy and what it covers, the lists of column sets and what would meet the policy.
- One number stays: how many rows the table has (entities where the policy counts these), exact from 2 m on; below that
  it is told as 1 to 2 m - 1, and 0 as 0.
- All other figures that depend on the rows are left out, large ones too: sizes and numbers of classes, rows below k,
  rows with a NULL, ratios. Sentences are written without them, column sets are listed in the order of their names, and
  a finding is new, gone or there: "worse" and "better" would count.

What is promised: a report is a function of its words and of that number, so that tables which agree in these have the
same report. Any series of reports of a changing table, together with whatever the reader knows about the rows that came
and went, therefore tells no more about its classes than its words do.

What the words tell: verdicts and lists are exact. Whoever knows that one row was added and sees a pass become a
violation knows that one row is below k; with k = m, as CMS would have it, a violation that became a pass was a class of
m - 1. With k below m, a pass at k says less than CMS asks for. The number of rows is not protected against someone who
counts what comes and goes: differences of totals are told, as is how many rows a view has that its table has not.
tests/formats/test_min_count.py and the trials play the attacker, who tries every pair of tables that there is.
"""

from dataclasses import fields, replace

from qidsql.commands.audit.result import AuditResult, ColumnFinding
from qidsql.core.results import Verdict
from qidsql.core.tables import Role
from qidsql.formats.document_words import TITLES, unit_of
from qidsql.measures.profiles import ClassProfile
from qidsql.operations.compact_form import PackedTables
from qidsql.operations.document import RunResult, known_apart
from qidsql.operations.exit_codes import exit_code
from qidsql.operations.findings import Audit
from qidsql.operations.hidden_counts import (
    HiddenAccount,
    HiddenAudit,
    HiddenColumn,
    HiddenProfile,
    HiddenSet,
    HiddenWithheld,
    Range,
    Total,
)
from qidsql.operations.table_run import Finding, FindingKind, FindingState, Measures, TableRun, TrendPoint
from qidsql.wording.numbers import plural, some

RECOGNISED = "recognised as a direct identifier: at least 95 % of the values belong to one row each"
IMPOSSIBLE = "none: not even all audited columns together are one"
STATES = {  # how much a finding changed is left out
    FindingState.WORSE: FindingState.UNCHANGED,
    FindingState.BETTER: FindingState.UNCHANGED,
}


def without_small_counts(document: RunResult, least: int) -> RunResult:
    """The document without counts of rows, for a least count of `least`; see above for the rule."""
    tables, verdicts, apart = PackedTables(), list[Verdict](), list[Verdict]()
    for table in document.tables:
        hidden = _table(table, least)
        verdicts.append(hidden.verdict)
        apart.append(known_apart(hidden))
        tables.append(hidden)
        reason = hidden.reason
    if len(tables) != 1:
        counted = [f"{verdicts.count(each)} {each}" for each in dict.fromkeys(verdicts)]
        reason = f"{plural(len(tables), 'table')}: {', '.join(counted)}"
    if document.coverage:
        reason += f"; {document.coverage.text}"
    return replace(
        document,
        reason=reason,
        exit_code=exit_code(document.fail_on, document.verdict, apart, document.coverage),
        notes=tuple(note for note in document.notes if not any(sign.isdigit() for sign in note)),
        min_count=least,
        tables=tables,
    )


def total(rows: int | None, least: int) -> Total:
    """The number of rows of a table: from twice the least count on exact, so that no step to it reveals a small one."""
    if rows is None or rows == 0 or rows >= 2 * least:
        return rows
    return Range(at_least=1, at_most=2 * least - 1)


def _table(table: TableRun, least: int) -> TableRun:
    audit = table.audit
    assert not isinstance(audit, HiddenAudit), "its counts are hidden already"
    return replace(
        table,
        reason=table.reason if audit is None else _reason(table.verdict, audit),
        audit=audit and _audit(audit, least),
        findings=tuple(map(_finding, table.findings)),
        trend=tuple(_point(point, audit, least) for point in table.trend),
    )


def _audit(audit: AuditResult, least: int) -> HiddenAudit:
    account, entity = audit.account, audit.account.policy.entity is not None
    rows = None if entity else total(account.rows, least)
    entities = total(audit.entities, least) if entity else None

    def hidden(profile: ClassProfile) -> HiddenProfile:
        return HiddenProfile(entities if entity else rows, profile.k, entity)

    def column(found: ColumnFinding) -> HiddenColumn:
        return HiddenColumn(
            name=found.name,
            type=found.type,
            role=found.role,
            audited=found.audited,
            recognised=found.recognised,
            reason=RECOGNISED if found.recognised else found.reason,
            profile=hidden(found.profile) if found.profile else None,
            without=hidden(found.without) if found.without else None,
        )

    sets = [
        HiddenSet(criterion=found.criterion, columns=found.columns, profile=hidden(found.profile))
        for found in audit.column_sets
    ]
    withheld = [
        HiddenWithheld(columns=each.columns, passes=each.passes, still=each.still, profile=hidden(each.profile))
        for each in audit.withheld
    ]
    return HiddenAudit(
        format=audit.format,
        qidsql=audit.qidsql,
        verdict=audit.verdict,
        reason=_reason(audit.verdict, audit),
        account=HiddenAccount(
            **{each.name: getattr(account, each.name) for each in fields(HiddenAccount) if each.name != "rows"},
            rows=rows,
        ),
        entities=entities,
        columns=tuple(map(column, audit.columns)),
        profile=hidden(audit.profile) if audit.profile else None,
        column_sets=tuple(sorted(sets, key=lambda found: (found.criterion, len(found.columns), found.columns))),
        searches=tuple(replace(each, impossible=IMPOSSIBLE if each.impossible else "") for each in audit.searches),
        withheld=tuple(withheld),
        least_withheld=audit.least_withheld,
        assumptions=audit.assumptions,
        complete=audit.complete,
    )


def _finding(finding: Finding) -> Finding:
    whole = finding.kind is FindingKind.K_ANONYMITY
    columns = "all audited columns" if whole else " + ".join(finding.columns)
    return replace(
        finding,
        state=STATES.get(finding.state, finding.state),
        measures=Measures(),
        was=None,
        text=f"{columns}: {TITLES[finding.kind].lower()}",
    )


def _point(point: TrendPoint, audit: Audit | None, least: int) -> TrendPoint:
    """A table in an earlier run; how many entities there were then is not recorded."""
    entity = audit is not None and audit.account.policy.entity is not None
    rows = point.rows if isinstance(point.rows, Range) else total(point.rows, least)
    return replace(point, rows=None if entity else rows, k=None, share_at_risk=None)


def _reason(verdict: Verdict, audit: AuditResult) -> str:
    """Why the table has its verdict, in words."""
    name, policy, profile = audit.account.table, audit.account.policy, audit.profile
    columns = plural(sum(column.audited for column in audit.columns), "column")
    recognised = [column.name for column in audit.columns if column.recognised]
    unreadable = [column.name for column in audit.columns if column.role is Role.UNREADABLE]
    if verdict is Verdict.PASS and audit.verdict is not Verdict.PASS:
        return f"{name} passes by exceptions: what violates its policy is accepted"
    if verdict is Verdict.PASS:
        return f"{name} meets the policy: each class on the {columns} audited has at least {policy.k} {unit_of(audit)}"
    if verdict is Verdict.INCONCLUSIVE:
        if audit.account.rows == 0 or not profile:
            return audit.reason  # empty, or not examined to the end: no figure is in it
        left = "; ".join(audit.account.unfinished) or f"{some(unreadable)} could not be read"
        return f"{name} was not examined to the end: {left}"
    if not profile and not recognised:
        return audit.reason  # one column alone is below k
    if profile and profile.smallest < policy.k:
        return f"{name} is not {policy.k}-anonymous on the {columns} audited"
    if recognised:
        return f"{name} holds {plural(len(recognised), 'direct identifier')} that nobody declared: {some(recognised)}"
    return f"{name} holds column sets that the policy forbids, by its ratios"
