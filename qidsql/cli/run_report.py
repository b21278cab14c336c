"""The report of a run at a terminal: its tables, violations first, changes and errors."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from shlex import quote

from rich.console import Console
from rich.table import Table
from rich.text import Text

from qidsql.cli.coverage_report import print_coverage
from qidsql.core.results import Verdict
from qidsql.formats.figures import number, percentage
from qidsql.formats.severity import rank_of
from qidsql.operations.document import BROKEN, RunResult
from qidsql.operations.table_run import Finding, FindingState, TableRun
from qidsql.wording.numbers import count, few, plural, seconds

COLOURS = {
    Verdict.PASS: "green",
    Verdict.VIOLATION: "bold red",
    Verdict.INCONCLUSIVE: "yellow",
    Verdict.ERROR: "bold magenta",
}
WAIVED = "yellow"  # of a pass with exceptions
SHOWN_ROWS = 1000  # violations first: laying out the rows of many thousands of tables takes a minute
SHOWN_CHANGES = 12
SHOWN_TABLES = 6
SIGNS = {
    FindingState.NEW: "+ new",
    FindingState.WORSE: "! worse",
    FindingState.BETTER: "  better",
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
            is_large_enough=bool(
                audit and table.verdict is Verdict.VIOLATION and (smallest or 0) >= audit.account.policy.k
            ),
        )


def report(document: RunResult, recorded: bool = True) -> Callable[[Console], None]:
    """Returns a function that prints the run. `recorded`: whether it is in the history."""

    def put(console: Console) -> None:
        colour = WAIVED if document.waived else COLOURS[document.verdict]
        heading = (document.waived or document.verdict).upper()
        console.print(Text.assemble((heading, colour), f"  {document.reason}."))
        console.print()
        rows = sorted((_Row.of(table) for table in document.tables), key=lambda row: row.rank)
        _tables(console, rows)
        if document.coverage:
            print_coverage(console, document.coverage)
        _changes(console, document, rows)
        _reasons(console, document, rows)
        for note in document.notes:
            console.print(f"Note: {note}")
        _foot(console, document)
        _next(console, document, rows, recorded)

    return put


def _tables(console: Console, rows: Sequence[_Row]) -> None:
    if not rows:
        return
    grid = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for heading in ("Table", "Verdict"):
        grid.add_column(heading, overflow="fold")
    for heading in ("Rows", "k", "Smallest", "Below k"):
        grid.add_column(heading, justify="right")
    grid.add_column("Findings", overflow="fold")
    several = len({row.table.source for row in rows}) > 1
    for row in rows[:SHOWN_ROWS]:
        verdict = (row.waived or row.table.verdict) + (" (resumed)" if row.table.resumed else "")
        grid.add_row(
            row.table.place if several else row.table.table,
            Text(verdict, style=WAIVED if row.waived else COLOURS[row.table.verdict]),
            *(row.rows, row.k, row.smallest, row.below_k, row.states),
        )
    console.print(grid)
    if len(rows) > SHOWN_ROWS:
        console.print(f"... and {count(len(rows) - SHOWN_ROWS)} more (--format csv lists them all)")
    console.print()


def _changes(console: Console, document: RunResult, rows: Sequence[_Row]) -> None:
    """Prints the changes since the baseline, the worst first."""
    if document.baseline is None:
        unknown = ", and type changes of columns are unknown" if document.coverage else ""
        console.print(f"No earlier run to compare with: every finding is new{unknown}.")
        console.print()
        return
    compared = f"compared with run {document.baseline.run}"
    for change, tables in policy_changes([row.table for row in rows]).items():
        since = f"Policy changed since run {document.baseline.run} ({change})"
        console.print(f"{since}: findings of {few(tables, SHOWN_TABLES)} are not compared.")
    changed = [(row.table.table, finding) for row in rows for finding in row.changes]
    if not changed:
        if not all(row.table.policy_changed for row in rows):
            console.print(f"No finding changed, {compared}.")
        console.print()
        return
    console.print(f"{plural(len(changed), 'change')}, {compared}:")
    order = list(SIGNS)
    first = sorted(changed, key=lambda each: (order.index(each[1].state), each[0]))[:SHOWN_CHANGES]
    print_changes(console, [(finding, f"{table}: ") for table, finding in first])
    if len(changed) > SHOWN_CHANGES:
        console.print(f"  ... and {count(len(changed) - SHOWN_CHANGES)} more (--format json lists them all)")
    console.print()


def policy_changes(tables: Sequence[TableRun]) -> dict[str, list[str]]:
    """The tables whose policy differs from the baseline, by the settings that differ."""
    found: dict[str, list[str]] = {}
    for table in tables:
        if table.policy_changed:
            found.setdefault(", ".join(table.policy_changed), []).append(table.table)
    return found


def print_changes(console: Console, findings: Sequence[tuple[Finding, str]]) -> None:
    """Prints each finding with its state and the given prefix, wrapped in a column."""
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for finding, subject in findings:
        now, was = finding.measures.share_below_k, finding.was.share_below_k if finding.was else None
        moved = f" (below k {percentage(was)} -> {percentage(now)})" if was is not None and now is not None else ""
        grid.add_row(f"  {SIGNS[finding.state]:8}", Text(f"{subject}{finding.text}{moved}"))
    console.print(grid)


def _reasons(console: Console, document: RunResult, rows: Sequence[_Row]) -> None:
    """Prints the reasons that the rows do not show; one shared by several tables is printed once.

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
    for (verdict, why), subjects in shared.items():
        name, line = subjects[0]
        alone = len(subjects) == 1 and verdict is Verdict.ERROR and name and line
        subject = f"{name} ({file}:{line})" if alone else few([each for each, _ in subjects], SHOWN_TABLES)
        console.print(f"{verdict}: {subject}{why}", style=COLOURS[verdict])


def _foot(console: Console, document: RunResult) -> None:
    console.print(
        f"{plural(len(document.tables), 'table')}, {plural(document.statements, 'statement')}, "
        f"{seconds(document.seconds)}; run {document.run}. No cell value left a database."
    )
    if document.verdict is Verdict.VIOLATION and document.exit_code == 0:
        console.print("Exit code 0: no finding is new or worse (--fail-on new).")


def _next(console: Console, document: RunResult, rows: Sequence[_Row], recorded: bool) -> None:
    """Prints the suggested next commands."""
    path = document.file or "qidsql.toml"
    file, config = ("", "") if path == "qidsql.toml" else (f" {quote(path)}", f" --config {quote(path)}")
    for command in document.coverage.update_commands if document.coverage else ():
        console.print(Text(f"Next: {command}  adds them to the policy file"))
    wrong = [row.table.table for row in rows if row.table.verdict is Verdict.VIOLATION]
    if document.interrupted and recorded:
        console.print(f"Next: qidsql run{file}  resumes this run, if its sources are unchanged")
    elif wrong:
        command = f"report last{config}" if recorded else f"run{file} --no-history"
        console.print(f"Next: qidsql {command} --output report.html  explains {few(wrong, 3)}, and what would help")
