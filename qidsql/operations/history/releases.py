"""The releases in the history: what left, for whom, until when. Each method is a transaction; raises StoreError."""

import json
from datetime import UTC, datetime

from qidsql.commands.release.command import EarlierRelease, ReleaseResult
from qidsql.core.tables import PolicyRole
from qidsql.declarations.results import loaded, plain
from qidsql.operations.history.records import History

TABLE = "releases"
COLUMNS = ("name", "place", "keyed", "document")


class ReleaseLedger:
    """What left, in the order in which it was recorded."""

    def __init__(self, history: History) -> None:
        self._history = history

    def of_table(self, table: str) -> tuple[EarlierRelease, ...]:
        """The recorded releases of a table of the policy."""
        with self._history.reading() as store:
            there = store is not None and self._history.has_table(store, TABLE)
            rows = store.find(TABLE, COLUMNS, ("recorded",), of_table=table) if store and there else []
            return tuple(_earlier(*map(str, row)) for row in rows)

    def add(self, released: ReleaseResult, place: str, keyed: str, signature: str) -> bool:
        """Records a release; False if this statement is recorded already."""
        document, stated = released.canonical_json(), released.predicate
        with self._history.writing() as store:
            if store.find(TABLE, ("name",), document=document):
                return False
            row = {
                "recorded": datetime.now(UTC).replace(tzinfo=None, microsecond=0),
                "of_table": stated.of,
                "name": released.title,
                "place": place,
                "keyed": keyed,
                "digest": json.dumps(plain(released.subject[0].digest)),
                "verdict": str(released.verdict),
                "recipient": stated.declared.recipient or "",
                "valid_until": stated.declared.until or "",
                "signature": signature,
                "document": document,
            }
            store.add(TABLE, [row])
        return True


def _earlier(name: str, place: str, keyed: str, document: str) -> EarlierRelease:
    released: ReleaseResult = loaded(ReleaseResult, json.loads(document))
    sensitive = (each.name for each in released.predicate.columns if each.role is PolicyRole.SENSITIVE)
    return EarlierRelease(name, released.subject[0].digest, place, keyed, tuple(sensitive))
