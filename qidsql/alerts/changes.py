"""What is to be told: the tables whose verdict is another than the one told last.

Each alert has its own memory of what it told. So whoever hears of violations only hears once of each, a table that
flickers between inconclusive and violation is told as often as the alert listens to, and what changed during a snooze
is told when it ends and still holds.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

from qidsql.alerts.settings import Alert

PASS = "pass"
WHOLE_RUN = ("", "")  # what is not about one table: a pattern that no table meets, a source that has none
ORDER = ("error", "violation", "inconclusive", PASS)  # the worst first, as for the exit code


@dataclass(frozen=True, slots=True)
class Change:
    """A table whose verdict is another than the one told last."""

    source: str
    table: str
    owner: str | None
    was: str
    now: str
    reason: str

    @property
    def subject(self) -> tuple[str, str]:
        return self.source, self.table

    @property
    def name(self) -> str:
        """What people call it."""
        if self.subject == WHOLE_RUN:
            return "the run"
        return f"{self.table} ({self.source})" if self.source else self.table

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def changes(
    alert: Alert, document: Mapping[str, Any], told: Mapping[tuple[str, str], str], today: date
) -> list[Change]:
    """What this alert has to tell of a run, the worst first; `told` is the verdict told last, by source and table.

    A table that was never told counts as passing. When the run was interrupted, a table that came out
    inconclusive is left as it was: that is no news of the table. A budget that is spent is no interruption.
    """
    interrupted = document["interrupted"]
    found = []
    for change in _verdicts(document):
        was = told.get(change.subject, PASS)
        heard = change.now == PASS or change.now in alert.on
        if change.now == was or not heard or (interrupted and change.now == "inconclusive"):
            continue
        if change.subject != WHOLE_RUN:
            if not alert.concerns(change.source, change.table, change.owner):
                continue
            if alert.snoozed(change.source, change.table, today):
                continue
        found.append(Change(change.source, change.table, change.owner, was, change.now, change.reason))
    return sorted(found, key=lambda change: ORDER.index(change.now))


def _verdicts(document: Mapping[str, Any]) -> list[Change]:
    """The verdict of each table of a run document, and of the run where the tables do not account for it."""
    tables = [
        Change(
            source=str(table.get("source") or ""),
            table=str(table["table"]),
            owner=table.get("owner"),
            was="",
            now=str(table["verdict"]),
            reason=str(table.get("error") or table.get("reason") or ""),
        )
        for table in document["tables"]
    ]
    worst = min((change.now for change in tables), key=ORDER.index, default=PASS)
    verdict = str(document["verdict"])
    accounted = ORDER.index(verdict) >= ORDER.index(worst)
    whole = Change(*WHOLE_RUN, None, "", PASS if accounted else verdict, str(document.get("reason") or ""))
    return [*tables, whole]
