"""The state of the alerts, stored in the history. Each method is one transaction and raises StoreError."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from qidsql.core.results import Verdict
from qidsql.declarations.results import loaded, plain
from qidsql.engines.store import Transaction
from qidsql.operations.alerts.delivery import PendingMessage
from qidsql.operations.alerts.message import LastSent, Message
from qidsql.operations.changes import Extent
from qidsql.operations.history.records import History
from qidsql.sql.templates import Row, integer

TABLE = ("source", "table_name")  # the columns that identify a table


class AlertRecord:
    """The last verdicts that each alert sent, and the messages not yet delivered."""

    def __init__(self, history: History) -> None:
        self._history = history

    def last_sent(self, alert: str) -> Mapping[tuple[str, str], LastSent]:
        """The last verdict that the alert sent of each table, by source and table."""
        with self._history.reading() as store:
            states = self._rows(store, "alert_states", (*TABLE, "verdict"), alert=alert)
            findings = self._rows(store, "alert_findings", (*TABLE, "finding", *Extent._fields), alert=alert)
            questions = self._rows(store, "alert_questions", (*TABLE, "question"), alert=alert)
            broken: dict[tuple[str, str], dict[str, Extent]] = {}
            for source, table, finding, *figures in findings:
                broken.setdefault((str(source), str(table)), {})[str(finding)] = Extent(*map(integer, figures))
            subjects = {(str(source), str(table)): Verdict(str(verdict)) for source, table, verdict in states}
            policies = {(str(source), str(table)): str(question) for source, table, question in questions}
            return {
                subject: LastSent(verdict, broken.get(subject, {}), policies.get(subject))
                for subject, verdict in subjects.items()
            }

    def add(self, message: Message, since: datetime) -> None:
        """Stores the message as pending, and its changes as sent."""
        states: list[dict[str, Any]] = [
            {
                "alert": message.alert,
                "source": change.source,
                "table_name": change.table,
                "verdict": str(change.now),
                "run": message.run,
                "told": _plain(since),
            }
            for change in message.changes
        ]
        broken: list[dict[str, Any]] = [
            {
                "alert": message.alert,
                "source": change.source,
                "table_name": change.table,
                "finding": finding,
                **extent._asdict(),
            }
            for change in message.changes
            for finding, extent in change.broken.items()
        ]
        questions: list[dict[str, Any]] = [
            {"alert": message.alert, "source": each.source, "table_name": each.table, "question": each.question}
            for each in message.changes
            if each.question is not None
        ]
        with self._history.writing() as store:
            for state in states:
                subject = {name: state[name] for name in ("alert", "source", "table_name")}
                for table in ("alert_states", "alert_findings", "alert_questions"):
                    store.remove(table, **subject)
            store.add("alert_states", states)
            store.add("alert_findings", broken)
            store.add("alert_questions", questions)
            store.remove("deliveries", message=message.id)
            store.add("deliveries", [_row(message, since, 0, "")])

    def pending(self) -> Sequence[PendingMessage]:
        """The messages that have not been delivered, oldest first."""
        with self._history.reading() as store:
            columns, order = ("since", "attempts", "failure", "document"), ("since", "message")
            rows = self._rows(store, "deliveries", columns, order)
            return [
                PendingMessage(
                    loaded(Message, json.loads(str(document))), _moment(since), integer(attempts), str(failure)
                )
                for since, attempts, failure, document in rows
            ]

    def _rows(
        self, store: Transaction | None, table: str, columns: Sequence[str], order: Sequence[str] = (), **where: Any
    ) -> list[Row]:
        """Rows of a table; none if the history does not have the table yet."""
        return store.find(table, columns, order, **where) if store and self._history.has_table(store, table) else []

    def record_failure(self, message: str, attempts: int, failure: str) -> None:
        """Stores the total number of attempts, and why the last one failed."""
        with self._history.writing() as store:
            for since, document in store.find("deliveries", ("since", "document"), message=message):
                store.remove("deliveries", message=message)
                written = loaded(Message, json.loads(str(document)))
                store.add("deliveries", [_row(written, _moment(since), attempts, failure)])

    def remove(self, message: str) -> None:
        """Deletes the message: it was delivered, or delivery was abandoned."""
        with self._history.writing() as store:
            store.remove("deliveries", message=message)


def _row(message: Message, since: datetime, attempts: int, failure: str) -> dict[str, Any]:
    return {
        "message": message.id,
        "alert": message.alert,
        "run": message.run,
        "since": _plain(since),
        "attempts": attempts,
        "failure": failure,
        "document": json.dumps(plain(message), ensure_ascii=False),
    }


def _plain(moment: datetime) -> datetime:
    """The moment in UTC without a time zone, as stored."""
    return moment.astimezone(UTC).replace(tzinfo=None)


def _moment(cell: Any) -> datetime:
    return datetime.fromisoformat(str(cell)).replace(tzinfo=UTC)
