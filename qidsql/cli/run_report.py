"""The report of a run: its tables, violations first, changes and errors."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from shlex import quote

from qidsql.core.results import Verdict
from qidsql.formats.texts import number, percentage, rank_of, told
from qidsql.operations.coverage import RENAMED, Coverage, GapState, Severity
from qidsql.operations.document import BROKEN, RunResult
from qidsql.operations.table_run import Finding, FindingState, TableRun
from qidsql.report.blocks import TONES, Cell, Fields, Grid, Head, Next, Outcome, Report, Sentence, Tone
from qidsql.wording.texts import count, few, plural, seconds

# The coverage section of the report of a run.


GAPS_SHOWN = 12  # gaps
COVERAGE_TONES = {Severity.VIOLATION: Tone.RISK, Severity.WARNING: Tone.UNKNOWN}


def coverage_report(coverage: Coverage) -> Report:
    """The gaps, violations first."""
    outside = [each for each in coverage.sources if each.out_of_scope]
    for place, source in enumerate(outside):
        many = plural(source.out_of_scope, "table")
        yield Sentence(f"Out of scope: {many} of {source.source} (scope in the policy file).", close=place > 0)
    gaps = coverage.by_severity
    if not gaps:
        return
    yield Sentence("Not covered, not confirmed, or changed:", close=bool(outside))
    rows = [
        ("  + new" if gap.state is GapState.NEW else "", Cell(gap.severity, COVERAGE_TONES[gap.severity]), gap.text)
        for gap in gaps[:GAPS_SHOWN]
    ]
    yield Grid([Head("", text=True)] * 3, rows, close=True)
    if len(gaps) > GAPS_SHOWN:
        more = f"... and {count(len(gaps) - GAPS_SHOWN)} more (--format json lists them all)"
        yield Sentence(more, close=True, inset=True)
    if coverage.may_be_renamed:
        yield Sentence(RENAMED, close=True)


SHOWN_ROWS = 1000  # violations first: laying out the rows of many thousands of tables takes a minute
SHOWN_CHANGES = 12
TABLES_SHOWN = 6
SIGNS = {
    FindingState.NEW: "+ new",
    FindingState.WORSE: "! worse",
    FindingState.BETTER: "better",
    FindingState.GONE: "- gone",
}  # of changes, the worst first
STATES = (
    FindingState.NEW,
    FindingState.WORSE,
    FindingState.BETTER,
    FindingState.UNCHANGED,
    FindingState.POLICY_CHANGED,
    FindingState.GONE,
    FindingState.EXCEPTED,
)


@dataclass(frozen=True, slots=True)
class _Row:
    """The row of a table, without its audit and unchanged findings, to save memory."""

    table: TableRun
    rank: tuple[int, float]
    rows: str
    k: str
    smallest: str
    below_k: str
    waived: str
    states: str
    changes: tuple[Finding, ...]
    causes: tuple[str, ...]  # of many findings
    is_large_enough: bool  # in violation, not by k: for a reason that its row does not show

    @classmethod
    def of(cls, table: TableRun) -> "_Row":
        audit, profile = table.audit, table.audit.profile if table.audit else None
        share = profile.share_below_k if profile else None
        states = Counter(finding.state for finding in table.findings)
        smallest = profile.smallest if profile else None
        return cls(
            waived=table.waived,
            table=replace(table, audit=None, findings=(), trend=()),
            rank=rank_of(table),
            k=count(audit.account.policy.k) if audit else "",
            smallest="" if smallest is None else count(smallest),
            rows=number(audit.account.rows) if audit and audit.account.rows is not None else "",
            below_k="" if share is None else percentage(float(share)),
            states=", ".join(f"{states[state]} {state}" for state in STATES if states[state]),
            changes=tuple(finding for finding in table.findings if finding.state in SIGNS),
            causes=tuple(told(table.open_findings, SHOWN_CHANGES)) if len(table.open_findings) > SHOWN_CHANGES else (),
            is_large_enough=bool(
                audit and table.verdict is Verdict.VIOLATION and (smallest or 0) >= audit.account.policy.k
            ),
        )


def report(document: RunResult, recorded: bool = True) -> Report:
    """The run. `recorded`: whether it is in the history."""
    waived = Tone.UNKNOWN if document.waived else None
    yield Outcome(document.verdict, f"{document.reason}.", document.waived.upper(), waived)
    rows = sorted((_Row.of(table) for table in document.tables), key=lambda row: row.rank)
    if rows:
        yield from _tables(rows)
    if document.coverage:
        yield from coverage_report(document.coverage)
    if any(row.k for row in rows):  # one was audited
        yield from _changes(document, rows)
    yield from _causes(rows)
    yield from _reasons(document, rows)
    if document.notes:
        notes = Fields()
        notes.add_all("Note", document.notes)
        yield notes
    yield from _cost(document)
    yield from _next(document, rows, recorded)


def _tables(rows: Sequence[_Row]) -> Report:
    figures = [Head("Rows"), Head("k"), Head("Smallest"), Head("Below k")]
    heads = [Head("Table", text=True), Head("Verdict", text=True), *figures, Head("Findings", text=True)]
    several = len({row.table.source for row in rows}) > 1
    lines: list[list[str | Cell]] = []
    for row in rows[:SHOWN_ROWS]:
        verdict = (row.waived or row.table.verdict) + _kept(row.table)
        tone = Tone.UNKNOWN if row.waived else TONES[row.table.verdict]
        name = row.table.place if several else row.table.table
        lines.append([name, Cell(verdict, tone), row.rows, row.k, row.smallest, row.below_k, row.states])
    yield Grid(heads, lines)
    if len(rows) > SHOWN_ROWS:
        yield Sentence(f"... and {count(len(rows) - SHOWN_ROWS)} more (--format csv lists them all)", close=True)


def _kept(table: TableRun) -> str:
    """What a verdict is that this run did not come to."""
    return " (unchanged)" if table.unchanged else " (resumed)" if table.resumed else ""


def _changes(document: RunResult, rows: Sequence[_Row]) -> Report:
    """The changes since the baseline, the worst first."""
    if document.baseline is None:
        unknown = ", and type changes of columns are unknown" if document.coverage else ""
        yield Sentence(f"No earlier run to compare with: every finding is new{unknown}.")
        return
    compared = f"compared with run {document.baseline.run}"
    policies = policy_changes([row.table for row in rows])
    for place, (change, tables) in enumerate(policies.items()):
        since = f"Policy changed since run {document.baseline.run} ({change})"
        yield Sentence(f"{since}: findings of {few(tables, TABLES_SHOWN)} are not compared.", close=place > 0)
    changed = [(row.table.table, finding) for row in rows for finding in row.changes]
    if not changed:
        if not all(row.table.policy_changed for row in rows):
            yield Sentence(f"No finding changed, {compared}.", close=bool(policies))
        return
    yield Sentence(f"{plural(len(changed), 'change')}, {compared}:", close=bool(policies))
    order = list(SIGNS)
    first = sorted(changed, key=lambda each: (order.index(each[1].state), each[0]))[:SHOWN_CHANGES]
    yield finding_changes([(finding, f"{table}: ") for table, finding in first])
    if len(changed) > SHOWN_CHANGES:
        more = f"... and {count(len(changed) - SHOWN_CHANGES)} more (--format json lists them all)"
        yield Sentence(more, close=True, inset=True)


def _causes(rows: Sequence[_Row]) -> Report:
    """Of the worst tables with many findings, the few columns that cause them."""
    many = [row for row in rows if row.causes]
    for row in many[:TABLES_SHOWN]:
        yield Sentence(f"Causes in {row.table.table}:", close=row is not many[0])
        listed = Fields(close=True, inset=True)
        listed.add_all("", row.causes)
        yield listed
    if len(many) > TABLES_SHOWN:
        yield Sentence(f"... and {count(len(many) - TABLES_SHOWN)} more tables with many findings", close=True)


def policy_changes(tables: Sequence[TableRun]) -> dict[str, list[str]]:
    """The tables whose policy differs from the baseline, by the settings that differ."""
    found: dict[str, list[str]] = {}
    for table in tables:
        if table.policy_changed:
            found.setdefault(", ".join(table.policy_changed), []).append(table.table)
    return found


def finding_changes(findings: Sequence[tuple[Finding, str]]) -> Fields:
    """Each finding with its state and the given prefix."""
    found = Fields(close=True, inset=True)
    for finding, subject in findings:
        now, was = finding.measures.share_below_k, finding.was.share_below_k if finding.was else None
        moved = f" (below k {percentage(was)} -> {percentage(now)})" if was is not None and now is not None else ""
        found.add(SIGNS[finding.state], f"{subject}{finding.text}{moved}")
    return found


def _reasons(document: RunResult, rows: Sequence[_Row]) -> Report:
    """The reasons that the rows do not show; one shared by several tables is said once.

    An error of a single table has its line in the policy file, which may be wrong.
    """
    file = PurePath(document.file or "").name
    shared: dict[tuple[Verdict, str], list[tuple[str, int | None]]] = {}
    for row in rows:
        table = row.table
        if table.verdict in BROKEN or row.is_large_enough:
            why = table.reason.removeprefix(table.table)
            name = table.table if why != table.reason else ""
            shared.setdefault((table.verdict, why), []).append((name, table.line))
    reasons = Fields()
    for (verdict, why), subjects in shared.items():
        name, line = subjects[0]
        alone = len(subjects) == 1 and verdict is Verdict.ERROR and name and line
        subject = f"{name} ({file}:{line})" if alone else few([each for each, _ in subjects], TABLES_SHOWN)
        reasons.add(verdict, f"{subject}{why}", tone=TONES[verdict])
    if reasons.rows:
        yield reasons


def _cost(document: RunResult) -> Report:
    spared = f" ({plural(document.spared, 'statement')} spared, by what earlier runs found)" if document.spared else ""
    worked = f"{plural(document.statements, 'statement')}{spared}, {seconds(document.seconds)}; run {document.run}"
    yield Sentence(f"{plural(len(document.tables), 'table')}, {worked}. No cell value left a database.")
    if document.verdict is Verdict.VIOLATION and document.exit_code == 0:
        yield Sentence("Exit code 0: no finding is new or worse (--fail-on new).", close=True)


def _next(document: RunResult, rows: Sequence[_Row], recorded: bool) -> Report:
    """The suggested next commands."""
    path = document.file or "qidsql.toml"
    file, config = ("", "") if path == "qidsql.toml" else (f" {quote(path)}", f" --config {quote(path)}")
    updates = document.coverage.update_commands if document.coverage else ()
    steps = [(command, "adds them to the policy file") for command in updates]
    wrong = [row.table.table for row in rows if row.table.verdict is Verdict.VIOLATION]
    if document.interrupted and recorded:
        steps.append((f"qidsql run{file}", "resumes this run, if its sources are unchanged"))
    elif wrong:
        command = f"report last{config}" if recorded else f"run{file} --no-history"
        explains = f"explains {few(wrong, 3)}, and what would help"
        steps.append((f"qidsql {command} --output report.html", explains))
    yield Next(steps)
