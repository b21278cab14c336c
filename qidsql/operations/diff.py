"""The changes between two recorded runs."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated

from qidsql.core.policy import changed_settings
from qidsql.core.results import Verdict
from qidsql.operations.changes import with_states
from qidsql.operations.coverage import Coverage, Gap
from qidsql.operations.document import RunResult
from qidsql.operations.findings import complete_kinds
from qidsql.operations.table_run import Finding, FindingState, TableRun

SAME = (FindingState.UNCHANGED, FindingState.EXCEPTED)


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """One of the two runs."""

    run: str
    started: datetime
    verdict: Verdict
    accepted: Annotated[int, "findings that exceptions accept, in tables that pass"]


@dataclass(frozen=True, slots=True)
class CoverageDiff:
    """The coverage of each run, and the gaps that are new or gone."""

    before: str
    after: str
    new: tuple[Gap, ...]
    gone: tuple[Gap, ...]


@dataclass(frozen=True, slots=True)
class TableDiff:
    """A table, with its verdict in each run (null: not audited)."""

    source: str
    table: str
    was: Verdict | None
    now: Verdict | None
    policy_changed: Annotated[tuple[str, ...], "the settings that differ; findings are compared only if none does"]
    findings: tuple[Finding, ...]
    accepted: Annotated[tuple[int, int], "findings that exceptions accept where it passes: before, and now"] = (0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """The changes between two runs."""

    format: int = field(default=2, init=False)
    kind: str = field(default="diff", init=False)
    before: ComparedRun
    after: ComparedRun
    coverage: Annotated[CoverageDiff | None, "null if one of the runs has no coverage"]
    tables: tuple[TableDiff, ...]
    not_selected: Annotated[int, "tables of one run that --only left out of the other; not in `tables`"]


def diff(before: RunResult, after: RunResult) -> Diff:
    """Compares two runs: the tables with both verdicts, and the findings that changed."""
    old, new = _places(before), _places(after)
    tables, not_selected = [], 0
    for source, table in dict.fromkeys([*old, *new]):
        if (before.only and (source, table) not in old) or (after.only and (source, table) not in new):
            not_selected += 1
            continue
        was = before.tables[old[source, table]] if (source, table) in old else None
        now = after.tables[new[source, table]] if (source, table) in new else None
        tables.append(_table(source, table, was, now))
    return Diff(
        before=ComparedRun(before.run, before.started, before.verdict, before.accepted),
        after=ComparedRun(after.run, after.started, after.verdict, after.accepted),
        coverage=_coverage(before.coverage, after.coverage),
        tables=tuple(tables),
        not_selected=not_selected,
    )


def _table(source: str, table: str, was: TableRun | None, now: TableRun | None) -> TableDiff:
    changed: list[Finding] = []
    policy_changed: list[str] = []
    if was and now and now.audit:
        if was.audit:
            policy_changed = changed_settings(was.audit.account.policy, now.audit.account.policy)
        if not policy_changed:
            there = [finding for finding in was.findings if finding.state is not FindingState.GONE]
            found = [finding for finding in now.findings if finding.state is not FindingState.GONE]
            changed = [each for each in with_states(found, there, complete_kinds(now.audit)) if each.state not in SAME]
    return TableDiff(
        source=source,
        table=table,
        was=was.verdict if was else None,
        now=now.verdict if now else None,
        accepted=(was.accepted if was else 0, now.accepted if now else 0),
        policy_changed=tuple(policy_changed),
        findings=tuple(changed),
    )


def _coverage(before: Coverage | None, after: Coverage | None) -> CoverageDiff | None:
    if before is None or after is None:
        return None
    was, now = ({gap.id for gap in each.gaps} for each in (before, after))
    new = tuple(gap for gap in after.gaps if gap.id not in was)
    return CoverageDiff(before.text, after.text, new, tuple(gap for gap in before.gaps if gap.id not in now))


def _places(run: RunResult) -> dict[tuple[str, str], int]:
    """The index of each table in the run, so that tables can be unpacked one at a time."""
    return {(table.source, table.table): place for place, table in enumerate(run.tables)}
