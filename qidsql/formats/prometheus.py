"""Metrics in Prometheus' text format, for collectors such as the textfile collector of node_exporter."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any, NamedTuple

from qidsql.core.results import Account, Verdict
from qidsql.formats.texts import Profile
from qidsql.operations.coverage import Gap, Severity
from qidsql.operations.document import BROKEN, RunResult
from qidsql.operations.table_run import FindingState, TableRun, TrendPoint

COVERED = {
    "tables": "Tables of the source in the scope of the policy file.",
    "tables_covered": "Those of these tables that the policy covers.",
    "columns": "Columns of these tables.",
    "columns_covered": "Those of these columns that the policy covers.",
}
WAIVED = "pass with exceptions"
VERDICTS = (Verdict.PASS, WAIVED, Verdict.VIOLATION, Verdict.ERROR, Verdict.INCONCLUSIVE)


class Sample(NamedTuple):
    """One line: labels and a value."""

    labels: Mapping[str, str]
    value: float


@dataclass(frozen=True, slots=True)
class _Table:
    """The figures of a table: the audits of all tables may not fit into memory."""

    labels: Mapping[str, str]
    verdict: Verdict
    waived: str
    trend: tuple[TrendPoint, ...]
    states: tuple[FindingState, ...]
    open_findings: int
    account: Account | None
    profile: Profile | None

    @classmethod
    def of(cls, table: TableRun) -> "_Table":
        labels = {"source": table.source, "table": table.table} | ({"owner": table.owner} if table.owner else {})
        states = tuple(finding.state for finding in table.findings)
        known = (table.audit.account, table.audit.profile) if table.audit else (None, None)
        return cls(labels, table.verdict, table.waived, table.trend, states, len(table.open_findings), *known)


def written(document: RunResult) -> Iterator[str]:
    """Gauges of the run and of each table. Times are Unix seconds; unknown figures have no line."""
    for name, help, samples in _metrics(document):
        if samples:
            yield f"# HELP {name} {help}\n# TYPE {name} gauge\n"
            yield from (f"{name}{_labels(sample.labels)} {_value(sample.value)}\n" for sample in samples)


def _metrics(document: RunResult) -> Iterator[tuple[str, str, list[Sample]]]:
    tables = [_Table.of(table) for table in document.tables]
    accounts = [(table.labels, table.account) for table in tables if table.account]
    profiles = [(table.labels, table.profile) for table in tables if table.profile]

    def gauge(name: str, help: str, values: Iterable[tuple[Mapping[str, str], Any]]) -> tuple[str, str, list[Sample]]:
        known = [Sample(labels, float(value)) for labels, value in values if isinstance(value, int | float | Fraction)]
        return f"qidsql_{name}", help, known

    yield gauge("info", "The version of qidsql that wrote this file.", [({"version": document.qidsql}, 1)])
    yield gauge("run_verdict", "1 for the verdict of the last run, the worst of its tables.", _verdicts({}, document))
    yield gauge("run_started_timestamp_seconds", "When the last run began.", [({}, _unix(document.started))])
    yield gauge("run_duration_seconds", "Duration of the last run.", [({}, document.seconds)])
    yield gauge("run_statements", "Statements of the last run.", [({}, document.statements)])
    yield gauge("run_spared_statements", "Statements that earlier audits spared.", [({}, document.spared)])
    yield gauge(
        "run_last_success_timestamp_seconds",
        "When a run last had a verdict on every table, whatever the verdicts.",
        [({}, _last_success(document, tables))],
    )
    sources = document.coverage.sources if document.coverage else ()
    by_source = [({"source": source.source}, source) for source in sources if not source.error]
    for name, help in COVERED.items():
        yield gauge(f"coverage_{name}", help, [(labels, getattr(source, name)) for labels, source in by_source])
    yield gauge(
        "coverage_gaps",
        "Gaps of the coverage, by severity.",
        [sample for labels, _ in by_source for sample in _gaps(labels, document.gaps)],
    )
    yield gauge(
        "table_verdict",
        "1 for the verdict of the table.",
        [sample for table in tables for sample in _verdicts(table.labels, table)],
    )
    yield gauge(
        "table_last_success_timestamp_seconds",
        "When the table last had a verdict, whatever it was.",
        [(table.labels, _last_judged(table)) for table in tables],
    )
    yield gauge("table_rows", "Rows audited.", [(labels, account.rows) for labels, account in accounts])
    yield gauge("table_k", "The class size that the policy requires.", [(x, a.policy.k) for x, a in accounts])
    yield gauge("table_smallest", "Size of the smallest class.", [(x, p.smallest) for x, p in profiles])
    yield gauge(
        "table_rows_below_k",
        "Rows (with an entity: entities) in classes below k.",
        [(labels, profile.rows_below_k) for labels, profile in profiles],
    )
    yield gauge("table_share_below_k", "Share of rows in classes below k.", [(x, p.share_below_k) for x, p in profiles])
    yield gauge("table_findings", "Findings, by state.", [sample for table in tables for sample in _findings(table)])
    yield gauge("table_statements", "Statements of its audit.", [(x, account.statements) for x, account in accounts])
    yield gauge("table_duration_seconds", "Duration of its audit.", [(x, account.seconds) for x, account in accounts])


def _verdicts(labels: Mapping[str, str], judged: RunResult | _Table) -> list[tuple[Mapping[str, str], Any]]:
    found = WAIVED if judged.waived else judged.verdict
    return [({**labels, "verdict": verdict}, int(found is verdict)) for verdict in VERDICTS]


def _findings(table: _Table) -> list[tuple[Mapping[str, str], Any]]:
    states = (FindingState.NEW, FindingState.WORSE, FindingState.EXCEPTED)
    counted = [({**table.labels, "state": state}, table.states.count(state)) for state in states]
    return [*counted, ({**table.labels, "state": "open"}, table.open_findings)]


def _gaps(labels: Mapping[str, str], gaps: Iterable[Gap]) -> list[tuple[Mapping[str, str], Any]]:
    mine = [gap.severity for gap in gaps if gap.source == labels["source"]]
    return [({**labels, "severity": each}, mine.count(each)) for each in Severity]


def _last_success(document: RunResult, tables: list[_Table]) -> float | None:
    """The end of this run if every table has a verdict, else the start of the last such run in the trends."""
    if document.verdict not in BROKEN and not any(table.verdict in BROKEN for table in tables):
        return _unix(document.started) + document.seconds
    judged = [
        {point.run: _unix(point.started) for point in table.trend if point.verdict not in BROKEN} for table in tables
    ]
    first = judged[0] if judged else {}
    return max((started for run, started in first.items() if all(run in each for each in judged)), default=None)


def _last_judged(table: _Table) -> float | None:
    if table.verdict not in BROKEN and table.account:
        return _unix(table.account.started) + table.account.seconds
    return max((_unix(point.started) for point in table.trend if point.verdict not in BROKEN), default=None)


def _unix(moment: datetime) -> float:
    return moment.timestamp()


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    pairs = [f'{name}="{_escaped(value)}"' for name, value in labels.items()]
    return "{" + ",".join(pairs) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _value(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)
