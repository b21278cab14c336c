"""The run document: the result of a run over many tables. Reports and the history are made from it alone."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated

from qidsql.commands.audit.result import AuditResult
from qidsql.core.policy import Release
from qidsql.core.results import Verdict
from qidsql.declarations.results import OMITTED, Rounded
from qidsql.operations.compact_form import PackedTables
from qidsql.operations.coverage import Coverage, Gap
from qidsql.operations.exit_codes import Code, FailOn, exit_code
from qidsql.operations.findings import findings
from qidsql.operations.table_run import FindingState, TableRun, passes_with
from qidsql.version import __version__

FORMAT = 3  # of documents of runs
FRESH = (FindingState.NEW, FindingState.WORSE, FindingState.POLICY_CHANGED)
BROKEN = (Verdict.ERROR, Verdict.INCONCLUSIVE)  # no verdict on the table: must never be read as a pass


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """The policy file and the hash of its content."""

    path: str
    hash: str


@dataclass(frozen=True, slots=True)
class Baseline:
    """The run that findings are compared with."""

    run: str
    started: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """The result of a run."""

    format: int = field(default=FORMAT, init=False)
    qidsql: Annotated[str, "the version that wrote this"] = __version__
    kind: str = field(default="run", init=False)
    run: Annotated[str, "empty for the document of a single audit"]
    started: datetime
    finished: datetime
    seconds: Annotated[float, Rounded(3)]
    config: ConfigFile | None = None
    release: Annotated[Release | None, OMITTED, "as declared in the policy file"] = None
    verdict: Verdict
    reason: Annotated[str, "one sentence"]
    only: Annotated[tuple[str, ...], "the tables and patterns selected; empty: all of the policy file"] = ()
    complete: Annotated[bool, "every selected table was reached"] = True
    interrupted: Annotated[bool, "by Ctrl-C or SIGTERM; not by a spent budget"] = False
    fail_on: FailOn = FailOn.ANY
    exit_code: Code
    baseline: Baseline | None = None
    statements: int = 0
    notes: tuple[str, ...] = ()
    coverage: Annotated[Coverage | None, "null if the catalogs were not read"] = None
    min_count: Annotated[int | None, OMITTED, "the M of --min-count: counts of rows are hidden"] = None
    accepted: Annotated[int, "findings that exceptions accept, in tables that pass"] = 0
    tables: PackedTables

    @property
    def waived(self) -> str:
        """How a run passes of which exceptions accept findings, in words; empty for every other."""
        return passes_with(self.accepted) if self.verdict is Verdict.PASS else ""

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """The gaps of the coverage."""
        return self.coverage.gaps if self.coverage else ()

    @property
    def file(self) -> str | None:
        """The policy file of the run; None for a single audit."""
        return None if self.config is None else self.config.path


def verdict_on_new(table: TableRun) -> Verdict:
    """The table's verdict for --fail-on new: a violation without a new or worse finding passes. Findings that were not
    compared because the policy changed count as new."""
    fresh = any(finding.state in FRESH for finding in table.findings)
    known = table.verdict is Verdict.VIOLATION and table.findings and not fresh
    return Verdict.PASS if known else table.verdict


def as_document(result: AuditResult) -> RunResult:
    """The run document of a single audit."""
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
        release=account.policy.origin.release if account.policy.origin else None,
        tables=PackedTables.of([table]),
        statements=account.statements,
    )
