"""Removes the counts of rows from a run document, so that it can be shared where cells of fewer than m persons cannot.

CMS's cell size suppression policy requires m = 11, and that nothing else reveals a smaller cell, such as the remainder
of a total or a percentage. Reports on a changing table make this hard. Someone who knows that one row was added, and
sees a rounded count change from "1 to 10" to "11 to 21", knows both counts, wherever the steps begin and however wide
they are. And if figures were hidden only while one of them is small, the day they appear would reveal the small one.

The rule is the same for every table, whatever its figures:

- Words are kept: verdicts, the policy and its coverage, the lists of column sets and what would meet the policy.
- One number is kept: that of the rows of the table (entities if the policy counts these). It is exact from 2 m on, and
  0 if there are none; otherwise the range 1 to 2 m - 1. Of a view, and under a where condition, it is not: the rows
  that these leave out would be the difference of two reports.
- All other figures that depend on the rows are removed, large ones too: sizes and numbers of classes, rows below k,
  rows with a NULL, ratios. Sentences are written without them, column sets are sorted by name, and a finding is new,
  gone or unchanged: "worse" and "better" would reveal counts.

The guarantee: a report is a function of its words and of that number, so tables that agree in these have the same
report. Hence any series of reports on a changing table, together with all that the reader knows about added and removed
rows, reveals no more about its classes than the words do.

The limits: verdicts and lists are exact. Someone who knows that one row was added and sees a pass become a violation
knows that one row is below k; with k = m, as CMS requires, a violation that became a pass was a class of m - 1. With k
below m, a pass at k means less than CMS requires. The number of rows of a table is not protected: the difference shows
of two states of it, of a table and a part of it that is a table of its own (a copy, a partition), and of rows and
entities.
tests/formats/test_min_count.py and the trials simulate an attacker who tries every pair of tables.
"""

from dataclasses import replace

from qidsql.commands.audit.command import AuditResult
from qidsql.core.policy import question
from qidsql.core.results import Verdict
from qidsql.core.tables import Role
from qidsql.declarations.hidden import Range, Total, fields_shown, hidden
from qidsql.formats.run_summary import TITLES, unit_of
from qidsql.measures.histories import KnownRows
from qidsql.measures.profiles import ClassProfile
from qidsql.operations.document import PackedTables, RunResult, verdict_on_new
from qidsql.operations.findings import exit_code
from qidsql.operations.hidden_counts import HiddenProfile
from qidsql.operations.table_run import Finding, FindingKind, FindingState, Measures, TableRun, TrendPoint
from qidsql.wording.texts import few, plural

RECOGNISED = "recognised as a direct identifier: at least 95 % of the values belong to one row each"
IMPOSSIBLE = "none: not even all audited columns together are one"
STATES = {  # hides how much a finding changed
    FindingState.WORSE: FindingState.UNCHANGED,
    FindingState.BETTER: FindingState.UNCHANGED,
}


def without_small_counts(document: RunResult, least: int) -> RunResult:
    """The document without counts of rows below `least`, by the rule above."""
    tables, verdicts, on_new = PackedTables(), list[str](), list[Verdict]()
    for table in document.tables:
        hidden = _table(table, least)
        verdicts.append(hidden.waived or hidden.verdict)
        on_new.append(verdict_on_new(hidden))
        tables.append(hidden)
        reason = hidden.reason
    if len(tables) != 1:
        counted = [f"{verdicts.count(each)} {each}" for each in dict.fromkeys(verdicts)]
        reason = f"{plural(len(tables), 'table')}: {', '.join(counted)}"
    if document.coverage:
        reason += f"; {document.coverage.text}"
    changed = {
        "reason": reason,
        "exit_code": exit_code(document.fail_on, document.verdict, on_new, document.coverage),
        "notes": tuple(note for note in document.notes if not any(sign.isdigit() for sign in note)),
    }
    return RunResult(**fields_shown(document) | changed, min_count=least, tables=tables)


def total(rows: int | None, least: int) -> Total:
    """The number of rows of a table, exact from twice the least count on, so that no step reveals a small count."""
    if rows is None or rows == 0 or rows >= 2 * least:
        return rows
    return Range(at_least=1, at_most=2 * least - 1)


def _table(table: TableRun, least: int) -> TableRun:
    audit = table.audit
    assert audit is None or not audit.hidden, "counts are already hidden"
    kept = fields_shown(table) | {"reason": table.reason if audit is None else _reason(table.verdict, audit)}
    return TableRun(
        **kept,
        audit=audit and _audit(audit, least),
        findings=tuple(map(_finding, table.findings)),
        trend=tuple(_point(point, audit, least) for point in table.trend),
    )


def _audit(audit: AuditResult, least: int) -> AuditResult:
    account, entity = audit.account, audit.account.policy.entity is not None
    counted = None if _is_part(audit) else audit.entities if entity else account.rows
    rows, entities = (None, total(counted, least)) if entity else (total(counted, least), None)

    def profile(of: ClassProfile) -> HiddenProfile:
        return HiddenProfile(entities if entity else rows, of.k, entity)

    found = hidden(audit, profile)
    sets = sorted(found.column_sets, key=lambda each: (each.criterion, len(each.columns), each.columns))
    kept: AuditResult = replace(
        found,
        reason=_reason(audit.verdict, audit),
        account=replace(found.account, rows=rows),
        entities=entities,
        columns=tuple(replace(each, reason=RECOGNISED) if each.recognised else each for each in found.columns),
        column_sets=tuple(sets),
        searches=tuple(replace(each, impossible=IMPOSSIBLE if each.impossible else "") for each in found.searches),
    )
    return kept


def _finding(finding: Finding) -> Finding:
    whole = finding.kind is FindingKind.K_ANONYMITY
    columns = "all audited columns" if whole else " + ".join(finding.columns)
    return Finding(
        **fields_shown(finding) | {"state": STATES.get(finding.state, finding.state)},
        measures=Measures(),
        text=f"{columns}: {TITLES[finding.kind].lower()}",
    )


def _point(point: TrendPoint, audit: AuditResult | None, least: int) -> TrendPoint:
    """A table in an earlier run; its number of entities is not recorded. Under another policy, or without an audit, it
    could have entities, or be a part."""
    whole = audit and not _is_part(audit) and not audit.account.policy.entity
    same = audit and point.question == question(audit.account.policy)
    rows = point.rows if isinstance(point.rows, Range) else total(point.rows, least)
    return TrendPoint(**fields_shown(point), rows=rows if whole and same else None, smallest=None, share_below_k=None)


def _is_part(audit: AuditResult) -> bool:
    """Whether another report can be about the same rows and a few more."""
    return audit.account.policy.where is not None or "view" in audit.account.kind


def _reason(verdict: Verdict, audit: AuditResult) -> str:
    """The reason for the verdict, without figures."""
    name, policy, profile = audit.account.table, audit.account.policy, audit.profile
    columns = plural(sum(column.audited for column in audit.columns), "column")
    recognised = [column.name for column in audit.columns if column.recognised]
    unreadable = [column.name for column in audit.columns if column.role is Role.UNREADABLE]
    if audit.estimate is not None:
        found = f"is not {policy.k}-anonymous" if verdict is Verdict.VIOLATION else "was not fully examined"
        return f"{name} {found} on the {columns} audited, by a sample of the classes"
    if verdict is Verdict.PASS and audit.verdict is not Verdict.PASS:
        return f"{name} passes by exceptions: its violations are accepted"
    if verdict is Verdict.PASS:
        return f"{name} meets the policy: each class on the {columns} audited has at least {policy.k} {unit_of(audit)}"
    if verdict is Verdict.INCONCLUSIVE:
        if audit.account.rows == 0 or not profile:
            return audit.reason  # empty or not fully audited: the reason has no figure
        if audit.persons and not audit.account.unfinished and not unreadable:
            named = few([each.column for each in audit.persons])
            return f"{name}: nobody has confirmed whether {named} or each row is a person"
        proposed = [column.name for column in audit.columns if column.proposed]
        if proposed and not audit.account.unfinished and not unreadable:
            return f"{name}: nobody has confirmed that {few(proposed)} can be left out"
        if policy.known_rows and not audit.account.unfinished and not unreadable:
            return f"{name}: what {KnownRows(policy.known_rows).words} tell was not decided"
        left = "; ".join(audit.account.unfinished) or f"{few(unreadable)} could not be read"
        return f"{name} was not fully audited: {left}"
    if not profile and not recognised:
        return audit.reason  # one column alone is below k
    if (
        policy.known_rows
        and audit.histories
        and audit.histories.smallest < policy.k <= (profile.smallest if profile else 0)
    ):
        known = KnownRows(policy.known_rows).words
        return f"{name}: {known} leave fewer than k = {policy.k} values of {policy.entity}"
    if profile and profile.smallest < policy.k:
        return f"{name} is not {policy.k}-anonymous on the {columns} audited"
    if recognised:
        return f"{name} has {plural(len(recognised), 'undeclared direct identifier')}: {few(recognised)}"
    return f"{name} has column sets that reach or exceed a limit of the policy"
