"""Run documents and alerts for the tests."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from qidsql.core.results import Verdict, worst
from qidsql.operations.alerts.settings import Alert, read_alerts
from qidsql.operations.document import PackedTables, RunResult
from qidsql.operations.table_run import Finding, FindingKind, FindingState, Measures, TableRun

SECRET = "T0K3N-hidden-in-the-path"


def run_document(number: int = 1, **verdicts: str) -> RunResult:
    """A run over tables of the source clinic: run_document(1, patients="violation")."""
    started = datetime(2026, 11, number, 3, tzinfo=UTC)
    return RunResult(
        run=f"run-{number}",
        started=started,
        finished=started,
        seconds=1.0,
        verdict=worst(verdicts.values()),
        reason="the reason of the run",
        exit_code=1,
        tables=PackedTables.of(
            TableRun(
                source="clinic",
                source_label="postgresql://auditor@db/clinic",
                table=f"main.{table}",
                owner="research" if table == "visits" else None,
                verdict=Verdict(verdict),
                reason=f"main.{table} is a {verdict}",
                error=f"no connection for {table}" if verdict == "error" else None,
            )
            for table, verdict in verdicts.items()
        ),
    )


def violation(number: int, *findings: Finding) -> RunResult:
    """A run in which main.patients breaks its policy in these ways."""
    document = run_document(number, patients="violation")
    return replace(document, tables=PackedTables.of([replace(document.tables[0], findings=findings)]))


def finding(
    kind: str, k: int | None, at_risk: int | None, whole: int | None = 1000, *columns: str, state: str = "new"
) -> Finding:
    """A finding as it stands in the document of a run."""
    named = " + ".join(columns) or "all"
    return Finding(
        id=f"{kind} {named}",
        kind=FindingKind(kind),
        columns=columns,
        measures=Measures(rows=whole, smallest=k, rows_below_k=at_risk),
        state=FindingState(state),
        text=f"{kind} of {named}",
    )


def alert(**table: Any) -> Alert:
    """One alert, read as it would stand in qidsql.toml."""
    given = {"kind": "webhook", "url": "env:ALERT_URL"} if "kind" not in table else {}
    [read] = read_alerts({"team": {**given, **table}})
    return read
