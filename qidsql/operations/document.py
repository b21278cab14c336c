"""What a run over many tables finds out: the run document. Reports and the history see nothing else."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated

from qidsql.commands.audit.result import AuditResult
from qidsql.core.results import Verdict
from qidsql.declarations.results import OMITTED, Rounded
from qidsql.operations.compact_form import PackedTables
from qidsql.operations.coverage import Coverage, Gap
from qidsql.operations.exit_codes import Code, FailOn, exit_code
from qidsql.operations.findings import findings
from qidsql.operations.table_run import FindingState, TableRun
from qidsql.version import __version__

FORMAT = 2  # of documents of runs
FRESH = (FindingState.NEW, FindingState.WORSE, FindingState.POLICY_CHANGED)
BROKEN = (Verdict.ERROR, Verdict.INCONCLUSIVE)  # no verdict on the table: never to be taken for a pass


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """The policy file, and the hash of its bytes."""

    path: str
    hash: str


@dataclass(frozen=True, slots=True)
class Baseline:
    """The run that findings are compared with."""

    run: str
    started: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """All that a run found out; a report is rendered from nothing else."""

    format: int = field(default=FORMAT, init=False)
    qidsql: Annotated[str, "the version that wrote this"] = __version__
    kind: str = field(default="run", init=False)
    run: Annotated[str, "empty: not a run, but one audit"]
    started: datetime
    finished: datetime
    seconds: Annotated[float, Rounded(3)]
    config: ConfigFile | None = None
    verdict: Verdict
    reason: Annotated[str, "one sentence"]
    only: Annotated[tuple[str, ...], "the tables and patterns that were asked for; empty: all of the policy file"] = ()
    complete: Annotated[bool, "every table that was asked for was reached"] = True
    interrupted: Annotated[bool, "by Ctrl-C or SIGTERM; a budget that is spent is no interruption"] = False
    fail_on: FailOn = FailOn.ANY
    exit_code: Code
    baseline: Baseline | None = None
    statements: int = 0
    notes: tuple[str, ...] = ()
    coverage: Annotated[Coverage | None, "null where the catalogs were not read"] = None
    min_count: Annotated[int | None, OMITTED, "counts of rows are left out"] = None
    tables: PackedTables

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """What the policy and the sources do not agree about."""
        return self.coverage.gaps if self.coverage else ()

    @property
    def file(self) -> str | None:
        """The policy file of the run; None for a single audit."""
        return None if self.config is None else self.config.path


def known_apart(table: TableRun) -> Verdict:
    """The table's verdict; a violation of which nothing is new or worse passes. Findings under another policy than
    before were compared with nothing, and count as new."""
    fresh = any(finding.state in FRESH for finding in table.findings)
    known = table.verdict is Verdict.VIOLATION and table.findings and not fresh
    return Verdict.PASS if known else table.verdict


def as_document(result: AuditResult) -> RunResult:
    """The document of a run over the one table of this audit."""
    account = result.account
    table = TableRun(
        source=account.source,
        source_label=account.source,
        table=account.table,
        verdict=result.verdict,
        reason=result.reason,
        audit=result,
        findings=tuple(findings(result, account.source)),
    )
    started = account.started.replace(microsecond=0)
    return RunResult(
        run="",
        started=started,
        finished=started,
        seconds=round(account.seconds, 3),
        verdict=result.verdict,
        reason=result.reason,
        exit_code=exit_code(FailOn.ANY, result.verdict, [], None),
        tables=PackedTables.of([table]),
        statements=account.statements,
    )
