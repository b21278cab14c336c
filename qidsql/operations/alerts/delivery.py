"""Delivers the alerts of a run.

A message is recorded, in one transaction with the verdicts that it reports, before the first attempt to deliver it, and
removed after delivery. So a message can arrive twice (with the same id), but none is lost, whenever the process is
killed. Messages that could not be delivered are tried again in the next run.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Annotated, Protocol

from qidsql.core.results import Verdict
from qidsql.errors import SecretMissing, Undelivered
from qidsql.operations.alerts.channels import with_timeout
from qidsql.operations.alerts.message import LastSent, Message, changes
from qidsql.operations.alerts.settings import Alert, Snooze
from qidsql.operations.document import RunResult
from qidsql.wording.texts import plural

BACKOFF = 2.0  # seconds before the second attempt; each later one waits twice as long
MAX_AGE = timedelta(days=14)  # older messages are dropped
MAX_PENDING = 100  # messages kept for an alert; older ones are dropped


@dataclass(frozen=True, slots=True)
class PendingMessage:
    """A message that has not been delivered yet."""

    message: Message
    since: datetime
    attempts: int = 0
    failure: str = ""  # why the last attempt failed


class Record(Protocol):
    """The state of the alerts between runs. Each method is one transaction and may raise QidsqlError."""

    def last_sent(self, alert: str) -> Mapping[tuple[str, str], LastSent]:
        """The last verdict that the alert sent of each table, by source and table."""
        ...

    def add(self, message: Message, since: datetime) -> None:
        """Stores the message as pending, and its changes as sent."""
        ...

    def pending(self) -> Sequence[PendingMessage]:
        """The messages that have not been delivered, oldest first."""
        ...

    def record_failure(self, message: str, attempts: int, failure: str) -> None:
        """Stores the total number of attempts for the message with this id, and why the last one failed."""
        ...

    def remove(self, message: str) -> None:
        """Deletes the message with this id: it was delivered, or delivery was abandoned."""
        ...


class MemoryRecord:
    """A record in memory, used while the history is not available."""

    def __init__(self) -> None:
        self._last_sent: dict[tuple[str, str, str], LastSent] = {}
        self._pending: dict[str, PendingMessage] = {}

    def last_sent(self, alert: str) -> Mapping[tuple[str, str], LastSent]:
        return {(source, table): last for (name, source, table), last in self._last_sent.items() if name == alert}

    def add(self, message: Message, since: datetime) -> None:
        self._pending[message.id] = PendingMessage(message, since)
        for change in message.changes:
            self._last_sent[message.alert, *change.subject] = change.as_sent

    def pending(self) -> Sequence[PendingMessage]:
        return list(self._pending.values())

    def record_failure(self, message: str, attempts: int, failure: str) -> None:
        pending = self._pending[message]
        self._pending[message] = replace(pending, attempts=attempts, failure=failure)

    def remove(self, message: str) -> None:
        self._pending.pop(message, None)


def notify(
    run: RunResult,
    alerts: Sequence[Alert],
    record: Record,
    say: Callable[[str], None],
    folder: Path,
    *,
    note: Callable[[str], None] = lambda words: None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    sleep: Callable[[float], None] = time.sleep,
) -> int:
    """Sends the changes of a run to the alerts that they concern, after the pending messages of earlier runs.

    Returns the number of messages still pending. `say` reports each alert that failed, `note` each retry. `folder` is
    that of the policy file. After an interrupted run there is only one attempt, since the user is waiting. Raises
    QidsqlError if the record cannot be read or written.
    """
    for alert in alerts:
        found = changes(alert, run, record.last_sent(alert.name), now().date())
        if found:
            id = f"{run.run}/{alert.name}"
            message = Message(id=id, alert=alert.name, run=run.run, started=run.started, changes=tuple(found))
            record.add(message, now())
    most = 1 if run.interrupted else None
    return deliver_pending(alerts, record, say, folder, attempts=most, note=note, now=now, sleep=sleep)


def deliver_pending(
    alerts: Sequence[Alert],
    record: Record,
    say: Callable[[str], None],
    folder: Path,
    *,
    attempts: int | None = None,
    note: Callable[[str], None] = lambda words: None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    sleep: Callable[[float], None] = time.sleep,
) -> int:
    """Delivers the pending messages, those of an alert in their order; returns the number still pending.

    If a message cannot be delivered, later ones of the same alert are not tried before the next run. All alerts are
    tried before any is retried, so that they share the pauses. `attempts` can lower an alert's own limit. `note`
    reports retries, `say` alerts that failed.
    """
    waiting = _pruned(alerts, record, say, now())
    trying, tried = [alert for alert in alerts if alert.name in waiting], 0
    while trying:
        tried += 1
        again = []
        for alert in trying:
            failure = _deliver_all(alert, waiting[alert.name], record, folder)
            if failure is None:
                continue
            if failure.transient and tried < min(alert.attempts, attempts or alert.attempts):
                again.append(alert)
                note(f"the alert {alert.name} is retried in {BACKOFF * 2 ** (tried - 1):g} s: {failure}")
            else:
                many = plural(len(waiting[alert.name]), "message")
                say(f"the alert {alert.name} was not delivered: {failure}; {many} kept for the next run")
        trying = again
        if trying:
            sleep(BACKOFF * 2 ** (tried - 1))
    return sum(map(len, waiting.values()))


def _deliver_all(alert: Alert, waiting: list[PendingMessage], record: Record, folder: Path) -> Undelivered | None:
    """Delivers messages, removing them from the list and the record, until one fails; returns its failure."""
    while waiting:
        first = waiting[0]
        try:
            deliver(alert, first.message, folder)
        except Undelivered as failure:
            waiting[0] = replace(first, attempts=first.attempts + 1, failure=str(failure))
            record.record_failure(first.message.id, first.attempts + 1, str(failure))
            return failure
        record.remove(first.message.id)
        del waiting[0]
    return None


def _pruned(
    alerts: Sequence[Alert], record: Record, say: Callable[[str], None], now: datetime
) -> dict[str, list[PendingMessage]]:
    """The pending messages by alert. Removes those that are too old, too many or without an alert, and reports them."""
    names = {alert.name for alert in alerts}
    by_alert: dict[str, list[PendingMessage]] = {}
    for each in record.pending():
        by_alert.setdefault(each.message.alert, []).append(each)
    waiting: dict[str, list[PendingMessage]] = {}
    for name, messages in by_alert.items():
        old = [each for each in messages if name not in names or now - each.since > MAX_AGE]
        fresh = [each for each in messages if each not in old]
        old, fresh = old + fresh[:-MAX_PENDING], fresh[-MAX_PENDING:]
        for each in old:
            record.remove(each.message.id)
        if old:
            why = (
                f"older than {MAX_AGE.days} days, or more than {MAX_PENDING}"
                if name in names
                else "removed from the policy file"
            )
            say(f"{plural(len(old), 'message')} of the alert {name} dropped ({why})")
        if fresh:
            waiting[name] = fresh
    return waiting


def deliver(alert: Alert, message: Message, folder: Path) -> None:
    """One attempt of at most `alert.timeout` seconds. A command runs in `folder`. Raises Undelivered."""
    try:
        if alert.kind == "command":
            from qidsql.operations.alerts import channels as command

            command.run(alert, message, folder)
        elif alert.kind == "email":
            from qidsql.operations.alerts import channels as mail

            with_timeout(alert.timeout, lambda: mail.send(alert, message))
        else:
            from qidsql.operations.alerts import channels

            with_timeout(alert.timeout, lambda: channels.post(alert, message))
    except SecretMissing as missing:
        raise Undelivered(str(missing), transient=False) from None


def sample_message(alert: Alert, now: datetime) -> Message:
    """A message without changes, for testing an alert."""
    id = f"test-{now:%Y%m%dT%H%M%S}/{alert.name}"
    return Message(id=id, alert=alert.name, run="test", started=now, changes=())


# The alerts of a policy file, with the last verdicts sent and the messages not yet delivered.


@dataclass(frozen=True, slots=True)
class SentVerdict:
    """The last verdict that an alert sent of a table, unless it is a pass; an empty table means the whole run."""

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
    """An alert with its filters and its state, without addresses."""

    alert: Annotated[str, "its name in the policy file"]
    kind: str
    on: tuple[str, ...]
    owners: Annotated[tuple[str, ...], "only tables of these owners; empty: all"]
    tables: Annotated[tuple[str, ...], "only these tables and patterns; empty: all"]
    snoozed: Annotated[tuple[Snooze, ...], "those still in effect"]
    told: tuple[SentVerdict, ...]
    kept: Annotated[tuple[KeptMessage, ...], "oldest first"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertsOverview:
    """The alerts of a policy file."""

    format: int = field(default=1, init=False)
    kind: str = field(default="alerts", init=False)
    alerts: tuple[AlertState, ...]


def overview(alerts: Sequence[Alert], record: Record, today: date) -> AlertsOverview:
    """The alerts with their recorded state. Raises QidsqlError."""
    return AlertsOverview(alerts=tuple(_state(alert, record, today) for alert in alerts))


def _state(alert: Alert, record: Record, today: date) -> AlertState:
    sent = sorted(record.last_sent(alert.name).items(), key=lambda each: each[0])
    return AlertState(
        alert=alert.name,
        kind=alert.kind,
        on=alert.on,
        owners=alert.owners,
        tables=alert.tables,
        snoozed=tuple(snooze for snooze in alert.snoozes if today < snooze.until),
        told=tuple(SentVerdict(*subject, last.verdict) for subject, last in sent if last.verdict is not Verdict.PASS),
        kept=tuple(
            KeptMessage(each.message.id, each.since, each.attempts, each.failure, each.message.text)
            for each in record.pending()
            if each.message.alert == alert.name
        ),
    )
