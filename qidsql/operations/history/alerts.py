"""What alerts remember from run to run, in the history. Each method is one transaction and raises StoreError."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from qidsql.core.results import Verdict
from qidsql.declarations.results import loaded, plain
from qidsql.engines.store import Transaction
from qidsql.operations.alerts.changes import Told
from qidsql.operations.alerts.delivery import Kept
from qidsql.operations.alerts.message import Message
from qidsql.operations.changes import Standing
from qidsql.operations.history.records import History
from qidsql.sql.statements import Row, integer

TABLE = ("source", "table_name")  # the columns that name a table


class AlertRecord:
    """The verdicts that each alert told last, and the messages that have not arrived yet."""

    def __init__(self, history: History) -> None:
        self._history = history

    def told(self, alert: str) -> Mapping[tuple[str, str], Told]:
        """What the alert told last, by source and table."""
        with self._history.reading() as store:
            states = self._found(store, "alert_states", (*TABLE, "verdict"), alert=alert)
            findings = self._found(store, "alert_findings", (*TABLE, "finding", *Standing._fields), alert=alert)
            questions = self._found(store, "alert_questions", (*TABLE, "question"), alert=alert)
        broken: dict[tuple[str, str], dict[str, Standing]] = {}
        for source, table, finding, *figures in findings:
            broken.setdefault((str(source), str(table)), {})[str(finding)] = Standing(*map(integer, figures))
        subjects = {(str(source), str(table)): Verdict(str(verdict)) for source, table, verdict in states}
        asked = {(str(source), str(table)): str(question) for source, table, question in questions}
        return {
            subject: Told(verdict, broken.get(subject, {}), asked.get(subject)) for subject, verdict in subjects.items()
        }

    def put(self, message: Message, since: datetime) -> None:
        """Keeps the message, and its changes as told."""
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
                **standing._asdict(),
            }
            for change in message.changes
            for finding, standing in change.broken.items()
        ]
        questions: list[dict[str, Any]] = [
            {"alert": message.alert, "source": each.source, "table_name": each.table, "question": each.question}
            for each in message.changes
            if each.question is not None
        ]
        with self._history.writing() as store:
            for state in states:
                told = {name: state[name] for name in ("alert", "source", "table_name")}
                for table in ("alert_states", "alert_findings", "alert_questions"):
                    store.remove(table, **told)
            store.add("alert_states", states)
            store.add("alert_findings", broken)
            store.add("alert_questions", questions)
            store.remove("deliveries", message=message.id)
            store.add("deliveries", [_row(message, since, 0, "")])

    def kept(self) -> Sequence[Kept]:
        """The messages that have not arrived, oldest first."""
        with self._history.reading() as store:
            columns, order = ("since", "attempts", "failure", "document"), ("since", "message")
            rows = self._found(store, "deliveries", columns, order)
        return [
            Kept(loaded(Message, json.loads(str(document))), _moment(since), integer(attempts), str(failure))
            for since, attempts, failure, document in rows
        ]

    def _found(
        self, store: Transaction | None, table: str, columns: Sequence[str], order: Sequence[str] = (), **where: Any
    ) -> list[Row]:
        """The rows found in a table; none where no qidsql that has such a table has run yet."""
        return store.find(table, columns, order, **where) if store and self._history.holds(store, table) else []

    def failed(self, message: str, attempts: int, failure: str) -> None:
        """Notes how often the message was tried in all, and why the last attempt failed."""
        with self._history.writing() as store:
            for since, document in store.find("deliveries", ("since", "document"), message=message):
                store.remove("deliveries", message=message)
                written = loaded(Message, json.loads(str(document)))
                store.add("deliveries", [_row(written, _moment(since), attempts, failure)])

    def gone(self, message: str) -> None:
        """Lets go of the message: it arrived, or is given up."""
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
    """As the tables hold it: in UTC, without its zone."""
    return moment.astimezone(UTC).replace(tzinfo=None)


def _moment(cell: Any) -> datetime:
    return datetime.fromisoformat(str(cell)).replace(tzinfo=UTC)
