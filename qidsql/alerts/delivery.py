"""From a run to messages that arrive.

A message is written into the record, in one step with the verdicts that it tells, before the first attempt to deliver
it, and taken out when it arrived: a message can come twice (with the same id), but none gets lost, whenever the process
is killed. What could not be delivered is tried again with the next run.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

from qidsql.alerts.changes import changes
from qidsql.alerts.message import Message
from qidsql.alerts.settings import Alert, SecretMissing
from qidsql.alerts.undelivered import Undelivered, within
from qidsql.figures import plural

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

    def told(self, alert: str) -> Mapping[tuple[str, str], str]:
        """The verdict that the alert told last, by source and table."""
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
        self._told: dict[tuple[str, str, str], str] = {}
        self._kept: dict[str, Kept] = {}

    def told(self, alert: str) -> Mapping[tuple[str, str], str]:
        return {(source, table): now for (name, source, table), now in self._told.items() if name == alert}

    def put(self, message: Message, since: datetime) -> None:
        self._kept[message.id] = Kept(message, since)
        self._told |= {(message.alert, *change.subject): change.now for change in message.changes}

    def kept(self) -> Sequence[Kept]:
        return list(self._kept.values())

    def failed(self, message: str, attempts: int, failure: str) -> None:
        kept = self._kept[message]
        self._kept[message] = Kept(kept.message, kept.since, attempts, failure)

    def gone(self, message: str) -> None:
        self._kept.pop(message, None)


def tell(
    document: Mapping[str, Any],
    alerts: Sequence[Alert],
    record: Record,
    say: Callable[[str], None],
    folder: Path,
    *,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    sleep: Callable[[float], None] = time.sleep,
) -> int:
    """Tells what changed with this run to whom it concerns, after what earlier runs could not deliver.

    Returns how many messages are kept because they could not be delivered; each alert that failed is said. `document`
    is a run's; `folder` that of the policy file. After an interrupted run there is one attempt and no more: whoever
    stopped it does not wait. Raises QidsqlError when the record cannot be read or written.
    """
    interrupted = document["interrupted"]
    for alert in alerts:
        found = changes(alert, document, record.told(alert.name), now().date())
        if found:
            run = str(document["run"])
            message = Message(f"{run}/{alert.name}", alert.name, run, str(document["started"]), tuple(found))
            record.put(message, now())
    return deliver_kept(alerts, record, say, folder, attempts=1 if interrupted else None, now=now, sleep=sleep)


def deliver_kept(
    alerts: Sequence[Alert],
    record: Record,
    say: Callable[[str], None],
    folder: Path,
    *,
    attempts: int | None = None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    sleep: Callable[[float], None] = time.sleep,
) -> int:
    """Delivers the messages of the record, each alert's in their order; returns how many are still kept.

    When one of an alert does not arrive, its later ones are not tried: they are kept for the next run. `attempts`
    bounds the attempts of an alert further than it does itself.
    """
    waiting = _pruned(alerts, record, say, now())
    for alert in alerts:
        mine = waiting.pop(alert.name, [])
        for place, kept in enumerate(mine):
            try:
                _attempt(alert, kept, record, folder, min(alert.attempts, attempts or alert.attempts), sleep)
            except Undelivered as failure:
                waiting[alert.name] = mine[place:]
                many = plural(len(mine) - place, "message")
                say(f"the alert {alert.name} was not delivered: {failure}; {many} kept for the next run")
                break
            record.gone(kept.message.id)
    return sum(map(len, waiting.values()))


def _attempt(
    alert: Alert, kept: Kept, record: Record, folder: Path, attempts: int, sleep: Callable[[float], None]
) -> None:
    """Raises Undelivered when none of the attempts succeeds, which is noted in the record."""
    for attempt in range(1, attempts + 1):
        try:
            deliver(alert, kept.message, folder)
        except Undelivered as failure:
            record.failed(kept.message.id, kept.attempts + attempt, str(failure))
            if attempt == attempts or not failure.passing:
                raise
            sleep(BACKOFF * 2 ** (attempt - 1))
        else:
            return


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
            from qidsql.alerts import command

            command.run(alert, message, folder)
        elif alert.kind == "email":
            from qidsql.alerts import mail

            within(alert.timeout, lambda: mail.send(alert, message))
        else:
            from qidsql.alerts import webhook

            within(alert.timeout, lambda: webhook.post(alert, message))
    except SecretMissing as missing:
        raise Undelivered(str(missing), passing=False) from None


def trial(alert: Alert, now: datetime) -> Message:
    """A message that tells of nothing, to try an alert with."""
    return Message(f"test-{now:%Y%m%dT%H%M%S}/{alert.name}", alert.name, "test", now.isoformat(timespec="seconds"), ())
