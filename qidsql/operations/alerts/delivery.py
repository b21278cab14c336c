"""From a run to messages that arrive.

A message is written into the record, in one step with the verdicts that it tells, before the first attempt to deliver
it, and taken out when it arrived: a message can come twice (with the same id), but none gets lost, whenever the process
is killed. What could not be delivered is tried again with the next run.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol

from qidsql.operations.alerts.changes import Told, changes
from qidsql.operations.alerts.message import Message
from qidsql.operations.alerts.settings import Alert, SecretMissing
from qidsql.operations.alerts.undelivered import Undelivered, within
from qidsql.operations.document import RunResult
from qidsql.wording.numbers import plural

BACKOFF = 2.0  # seconds before the second attempt; each later one waits twice as long
KEPT_FOR = timedelta(days=14)  # news older than this are none
MOST_KEPT = 100  # messages kept of an alert


@dataclass(frozen=True, slots=True)
class Kept:
    """A message that has not arrived yet."""

    message: Message
    since: datetime
    attempts: int = 0
    failure: str = ""  # why the last attempt failed


class Record(Protocol):
    """What the alerts remember from run to run. Each method is one transaction and may raise QidsqlError."""

    def told(self, alert: str) -> Mapping[tuple[str, str], Told]:
        """What the alert told last, by source and table."""
        ...

    def put(self, message: Message, since: datetime) -> None:
        """Keeps the message, and its changes as told."""
        ...

    def kept(self) -> Sequence[Kept]:
        """The messages that have not arrived, oldest first."""
        ...

    def failed(self, message: str, attempts: int, failure: str) -> None:
        """Notes by the message's id how often it was tried in all, and why the last attempt failed."""
        ...

    def gone(self, message: str) -> None:
        """Lets go of the message with this id: it arrived, or is given up."""
        ...


class ShortRecord:
    """A record for as long as the process lives: where the history cannot be had."""

    def __init__(self) -> None:
        self._told: dict[tuple[str, str, str], Told] = {}
        self._kept: dict[str, Kept] = {}

    def told(self, alert: str) -> Mapping[tuple[str, str], Told]:
        return {(source, table): told for (name, source, table), told in self._told.items() if name == alert}

    def put(self, message: Message, since: datetime) -> None:
        self._kept[message.id] = Kept(message, since)
        for change in message.changes:
            self._told[message.alert, *change.subject] = change.told

    def kept(self) -> Sequence[Kept]:
        return list(self._kept.values())

    def failed(self, message: str, attempts: int, failure: str) -> None:
        kept = self._kept[message]
        self._kept[message] = Kept(kept.message, kept.since, attempts, failure)

    def gone(self, message: str) -> None:
        self._kept.pop(message, None)


def tell(
    run: RunResult,
    alerts: Sequence[Alert],
    record: Record,
    say: Callable[[str], None],
    folder: Path,
    *,
    murmur: Callable[[str], None] = lambda words: None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    sleep: Callable[[float], None] = time.sleep,
) -> int:
    """Tells what changed with this run to whom it concerns, after what earlier runs could not deliver.

    Returns how many messages are kept because they could not be delivered; each alert that failed is said. `folder` is
    that of the policy file. After an interrupted run there is one attempt and no more: whoever
    stopped it does not wait. Raises QidsqlError when the record cannot be read or written.
    """
    for alert in alerts:
        found = changes(alert, run, record.told(alert.name), now().date())
        if found:
            id = f"{run.run}/{alert.name}"
            message = Message(id=id, alert=alert.name, run=run.run, started=run.started, changes=tuple(found))
            record.put(message, now())
    most = 1 if run.interrupted else None
    return deliver_kept(alerts, record, say, folder, attempts=most, murmur=murmur, now=now, sleep=sleep)


def deliver_kept(
    alerts: Sequence[Alert],
    record: Record,
    say: Callable[[str], None],
    folder: Path,
    *,
    attempts: int | None = None,
    murmur: Callable[[str], None] = lambda words: None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    sleep: Callable[[float], None] = time.sleep,
) -> int:
    """Delivers the messages of the record, each alert's in their order; returns how many are still kept.

    When one of an alert does not arrive, its later ones are not tried: they are kept for the next run. Every alert is
    tried once before any is tried again, so that all wait for the same pauses. `attempts` bounds the attempts of an
    alert further than it does itself. What is about to be tried again is murmured, what failed is said.
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
            if failure.passing and tried < min(alert.attempts, attempts or alert.attempts):
                again.append(alert)
                murmur(f"the alert {alert.name} is tried again in {BACKOFF * 2 ** (tried - 1):g} s: {failure}")
            else:
                many = plural(len(waiting[alert.name]), "message")
                say(f"the alert {alert.name} was not delivered: {failure}; {many} kept for the next run")
        trying = again
        if trying:
            sleep(BACKOFF * 2 ** (tried - 1))
    return sum(map(len, waiting.values()))


def _deliver_all(alert: Alert, waiting: list[Kept], record: Record, folder: Path) -> Undelivered | None:
    """Takes the messages that arrive out of the list and the record; why the first that does not stays there."""
    while waiting:
        kept = waiting[0]
        try:
            deliver(alert, kept.message, folder)
        except Undelivered as failure:
            waiting[0] = replace(kept, attempts=kept.attempts + 1, failure=str(failure))
            record.failed(kept.message.id, kept.attempts + 1, str(failure))
            return failure
        record.gone(kept.message.id)
        del waiting[0]
    return None


def _pruned(
    alerts: Sequence[Alert], record: Record, say: Callable[[str], None], now: datetime
) -> dict[str, list[Kept]]:
    """What is kept, by alert, without what is given up; that is said."""
    names = {alert.name for alert in alerts}
    by_alert: dict[str, list[Kept]] = {}
    for kept in record.kept():
        by_alert.setdefault(kept.message.alert, []).append(kept)
    waiting: dict[str, list[Kept]] = {}
    for name, messages in by_alert.items():
        old = [kept for kept in messages if name not in names or now - kept.since > KEPT_FOR]
        fresh = [kept for kept in messages if kept not in old]
        old, fresh = old + fresh[:-MOST_KEPT], fresh[-MOST_KEPT:]
        for kept in old:
            record.gone(kept.message.id)
        if old:
            why = f"older than {KEPT_FOR.days} days, or more than {MOST_KEPT}" if name in names else "no longer there"
            say(f"{plural(len(old), 'message')} of the alert {name} given up ({why})")
        if fresh:
            waiting[name] = fresh
    return waiting


def deliver(alert: Alert, message: Message, folder: Path) -> None:
    """One attempt, which takes `alert.timeout` seconds at most. A command runs in `folder`. Raises Undelivered."""
    try:
        if alert.kind == "command":
            from qidsql.operations.alerts import command

            command.run(alert, message, folder)
        elif alert.kind == "email":
            from qidsql.operations.alerts import mail

            within(alert.timeout, lambda: mail.send(alert, message))
        else:
            from qidsql.operations.alerts import webhook

            within(alert.timeout, lambda: webhook.post(alert, message))
    except SecretMissing as missing:
        raise Undelivered(str(missing), passing=False) from None


def trial(alert: Alert, now: datetime) -> Message:
    """A message that tells of nothing, to try an alert with."""
    id = f"test-{now:%Y%m%dT%H%M%S}/{alert.name}"
    return Message(id=id, alert=alert.name, run="test", started=now, changes=())
