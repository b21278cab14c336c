"""Run documents and alerts for the tests."""

from typing import Any

from qidsql.operations.alerts.settings import Alert, read_alerts

SECRET = "T0K3N-hidden-in-the-path"


def run_document(number: int = 1, **verdicts: str) -> dict[str, Any]:
    """A run over tables of the source clinic: run_document(1, patients="violation")."""
    order = ["error", "violation", "inconclusive", "pass"]
    return {
        "format": 1,
        "kind": "run",
        "run": f"run-{number}",
        "started": f"2026-11-{number:02}T03:00:00+00:00",
        "complete": True,
        "interrupted": False,
        "verdict": min(verdicts.values(), key=order.index, default="inconclusive"),
        "reason": "the reason of the run",
        "tables": [
            {
                "source": "clinic",
                "source_label": "postgresql://auditor@db/clinic",
                "table": f"main.{table}",
                "owner": "research" if table == "visits" else None,
                "verdict": verdict,
                "reason": f"main.{table} is a {verdict}",
                "error": f"no connection for {table}" if verdict == "error" else None,
            }
            for table, verdict in verdicts.items()
        ],
    }


def violation(number: int, *findings: dict[str, Any]) -> dict[str, Any]:
    """A run in which main.patients breaks its policy in these ways."""
    document = run_document(number, patients="violation")
    document["tables"][0]["findings"] = list(findings)
    return document


def finding(kind: str, k: Any, at_risk: Any, whole: Any = 1000, *columns: str, state: str = "new") -> dict[str, Any]:
    """A finding as it stands in the document of a run."""
    named = " + ".join(columns) or "all"
    return {
        "id": f"{kind} {named}",
        "kind": kind,
        "columns": list(columns),
        "measures": {"rows": whole, "k": k, "rows_at_risk": at_risk},
        "state": state,
        "text": f"{kind} of {named}",
    }


def alert(**table: Any) -> Alert:
    """One alert, read as it would stand in qidsql.toml."""
    given = {"kind": "webhook", "url": "env:ALERT_URL"} if "kind" not in table else {}
    [read] = read_alerts({"team": {**given, **table}})
    return read
