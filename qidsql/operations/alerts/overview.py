"""The alerts of a policy file: what each sent last, and what has not been delivered."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Annotated

from qidsql.core.results import Verdict
from qidsql.operations.alerts.delivery import Record
from qidsql.operations.alerts.settings import Alert, Snooze


@dataclass(frozen=True, slots=True)
class SentVerdict:
    """What an alert sent last of a table, if that is no pass; of the run as a whole with an empty table."""

    source: str
    table: str
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class KeptMessage:
    """A message that has not been delivered."""

    id: str
    since: datetime
    attempts: int
    failure: Annotated[str, "why the last attempt failed; empty before the first"]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertState:
    """An alert: whom it tells of what; never an address."""

    alert: Annotated[str, "its name in the policy file"]
    kind: str
    on: tuple[str, ...]
    owners: Annotated[tuple[str, ...], "only tables of these owners; empty: all"]
    tables: Annotated[tuple[str, ...], "only these tables and patterns; empty: all"]
    snoozed: Annotated[tuple[Snooze, ...], "those that still last"]
    told: tuple[SentVerdict, ...]
    kept: Annotated[tuple[KeptMessage, ...], "oldest first"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertsOverview:
    """The alerts of a policy file."""

    format: int = field(default=1, init=False)
    kind: str = field(default="alerts", init=False)
    alerts: tuple[AlertState, ...]


def overview(alerts: Sequence[Alert], record: Record, today: date) -> AlertsOverview:
    """The alerts with what the record holds of them. Raises QidsqlError."""
    return AlertsOverview(alerts=tuple(_state(alert, record, today) for alert in alerts))


def _state(alert: Alert, record: Record, today: date) -> AlertState:
    sent = sorted(record.told(alert.name).items(), key=lambda each: each[0])
    return AlertState(
        alert=alert.name,
        kind=alert.kind,
        on=alert.on,
        owners=alert.owners,
        tables=alert.tables,
        snoozed=tuple(snooze for snooze in alert.snoozes if today < snooze.until),
        told=tuple(SentVerdict(*subject, told.verdict) for subject, told in sent if told.verdict is not Verdict.PASS),
        kept=tuple(
            KeptMessage(each.message.id, each.since, each.attempts, each.failure, each.message.text)
            for each in record.kept()
            if each.message.alert == alert.name
        ),
    )
