"""What the alerts of a policy file are, what they told last, and what has not arrived: for a report."""

from collections.abc import Sequence
from datetime import date
from typing import Any

from qidsql.operations.alerts.changes import PASS
from qidsql.operations.alerts.delivery import Record
from qidsql.operations.alerts.settings import Alert


def overview(alerts: Sequence[Alert], record: Record, today: date) -> dict[str, Any]:
    """Plain lists, dicts, strings and numbers, ready for JSON; without addresses. Raises QidsqlError."""
    kept = record.kept()
    return {
        "format": 1,
        "kind": "alerts",
        "alerts": [
            {
                "alert": alert.name,
                "kind": alert.kind,
                "on": list(alert.on),
                "owners": list(alert.owners),
                "tables": list(alert.tables),
                "snoozed": [
                    {"table": snooze.table, "until": snooze.until.isoformat(), "reason": snooze.reason}
                    for snooze in alert.snoozes
                    if today < snooze.until
                ],
                "told": [
                    {"source": source, "table": table, "verdict": told.verdict}
                    for (source, table), told in sorted(record.told(alert.name).items(), key=lambda each: each[0])
                    if told.verdict != PASS
                ],
                "kept": [
                    {
                        "id": each.message.id,
                        "since": each.since.isoformat(timespec="seconds"),
                        "attempts": each.attempts,
                        "failure": each.failure,
                        "text": each.message.title,
                    }
                    for each in kept
                    if each.message.alert == alert.name
                ],
            }
            for alert in alerts
        ],
    }
