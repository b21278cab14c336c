"""The releases in the history: what left, for whom, until when. Each method is a transaction; raises StoreError."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, date, datetime
from functools import cached_property
from typing import Annotated

from qidsql.commands.release.command import EarlierRelease, Predicate, ReleaseResult, SourceState, judged
from qidsql.core.results import Verdict
from qidsql.core.tables import PolicyRole, fits
from qidsql.declarations.results import loaded, plain
from qidsql.errors import UsageError
from qidsql.operations.coverage import Coverage, GapKind
from qidsql.operations.history.records import History, LastColumns, RunSummary
from qidsql.operations.policy_file import PolicyFile
from qidsql.wording.texts import count, few, plural

TABLE = "releases"
COLUMNS = ("recorded", "source_columns", "document", "place", "keyed")


@dataclass(frozen=True, slots=True)
class RecordedRelease:
    """A release in the history."""

    recorded: datetime
    table: Annotated[str, "of the policy"]
    name: str
    verdict: Verdict
    reason: str
    recipient: str
    until: Annotated[str, "a day, or empty"]
    due: Annotated[tuple[str, ...], "why it has to be checked again"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedReleases:
    """The recorded releases, newest first."""

    format: int = field(default=1, init=False)
    kind: str = field(default="releases", init=False)
    history: str
    releases: tuple[RecordedRelease, ...]


class ReleaseLedger:
    """What left, in the order in which it was recorded."""

    def __init__(self, history: History) -> None:
        self._history = history

    def of_table(self, table: str) -> tuple[EarlierRelease, ...] | None:
        """The recorded releases of a table of the policy, or of all that fit a pattern, and those that they name, of
        which the record may be gone. None without a history: what left before is not known."""
        with self._history.reading() as store:
            if store is None:
                return None
        found: dict[str, EarlierRelease] = {}
        for each in self._rows():
            if any(_is_one(table, name) for name in (each.told.of_table, each.stated.of)):
                for named in (*(each.stated.earlier or ()), each.earlier):
                    found[json.dumps(plain(named.digest)) if named.digest else each.document] = named
        return tuple(found.values())

    # What the runs found, read once for all releases.

    @cached_property
    def _runs(self) -> Sequence[RunSummary]:
        return self._history.runs()

    @cached_property
    def _coverage(self) -> Coverage | None:
        return self._history.last_coverage()

    @cached_property
    def _columns(self) -> Mapping[tuple[str, str], LastColumns]:
        return self._history.last_columns()

    @cached_property
    def _first_audits(self) -> Sequence[tuple[object, ...]]:
        with self._history.reading() as store:
            return store.query("history/first_audits") if store else []

    def source_of(self, table: str) -> SourceState | None:
        """The table of the policy in the last complete run that audited it; None without one, or with several such."""
        named = [each for each in self._history.tables() if _is_one(table, each[1])]
        runs = [each for each in self._history.table_history(*named[0]) if each.complete] if len(named) == 1 else []
        if not runs:
            return None
        types = self._columns.get(named[0])
        hashed = hashlib.sha256(json.dumps(types.types if types else {}, sort_keys=True).encode()).hexdigest()
        last = runs[0]
        return SourceState(last.run, last.started, last.rows, last.k, last.smallest, last.share_below_k, hashed)

    def _new_since(self, each: "_Recorded") -> list[str]:
        """Tables that were first audited after a release, and have one of its quasi-identifiers by name."""
        new = {
            (str(source), str(table))
            for source, table, started in self._first_audits
            if str(started)[:19] > each.recorded[:19]
        }
        quasi = {it.name.lower() for it in each.stated.columns if it.role is PolicyRole.QUASI_IDENTIFIER}
        return [
            table
            for (source, table), found in self._columns.items()
            if (source, table) in new and quasi & {name.lower() for name in found.types}
        ]

    def _unlisted_since(self, each: "_Recorded") -> list[str]:
        """Tables that the last run found in no entry of the policy, with a column by which people are known, and the
        last one before the release did not."""
        recorded = datetime.fromisoformat(each.recorded).replace(tzinfo=UTC)
        earlier = [run for run in self._runs if run.started < recorded]
        earlier += [
            run for run in reversed(self._runs) if run.started == recorded
        ]  # by seconds: it may have been the next one
        coverages = (self._history.last_coverage(run) for run in earlier)
        before = next((found for found in coverages if found and not found.part), None)
        now = self._coverage
        if before is None or now is None:
            return []
        return [table for table in _unlisted(now) if table not in _unlisted(before)]

    def _rows(self) -> list["_Recorded"]:
        """All records, in order, each with a statement as qidsql writes it. Raises StoreError."""
        with self._history.reading() as store:
            there = store is not None and self._history.has_table(store, TABLE)
            columns = (*COLUMNS, *(each.name for each in fields(Told)))
            rows = store.find(TABLE, columns, ("recorded",)) if store and there else []
            texts = ([str(cell) for cell in row] for row in rows)
            found = (_Recorded(Told(*row[len(COLUMNS) :]), *row[: len(COLUMNS)]) for row in texts)
            return [each for each in found if each.statement]  # read before it ends

    def all(self, file: PolicyFile | None, today: date) -> RecordedReleases:
        """All releases, each with the reasons why it is due again by the policy, the last audits and the day."""
        columns = [(table, each.types) for (_, table), each in self._columns.items()]
        releases = [
            RecordedRelease(
                recorded=datetime.fromisoformat(each.recorded).replace(tzinfo=UTC),
                table=each.stated.of,
                name=each.statement.title,
                verdict=each.statement.verdict,
                reason=each.statement.reason,
                recipient=each.stated.declared.recipient or "",
                until=each.stated.declared.until or "",
                due=(
                    *_due(
                        each, next((types for name, types in columns if _is_one(each.stated.of, name)), {}), file, today
                    ),
                    *_drifted(each.stated.source, self.source_of(each.stated.of)),
                    *(f"a new table that can be joined: {name}" for name in self._new_since(each)),
                    *(f"a new table that the policy does not list: {name}" for name in self._unlisted_since(each)),
                ),
            )
            for each in reversed(self._rows())
        ]
        return RecordedReleases(history=self._history.label, releases=tuple(releases))

    def add(self, released: ReleaseResult, place: str, keyed: str, signature: str) -> bool:
        """Records a release; False if this statement is recorded already, with all of this.

        Raises UsageError if it is recorded with another place, copy or signature: a record is not changed.
        """
        document, stated = released.canonical_json(), released.predicate
        columns = [each.types for (_, table), each in self._history.last_columns().items() if _is_one(stated.of, table)]
        kept = {"place": place, "keyed": keyed, "signature": signature}
        with self._history.writing() as store:
            recorded = store.find(TABLE, tuple(kept), document=document)
            if not recorded:
                row = {
                    "recorded": datetime.now(UTC).replace(tzinfo=None, microsecond=0),
                    **asdict(Told.of(released)),
                    **kept,
                    "source_columns": json.dumps(columns[0]) if columns else "",
                    "document": document,
                }
                store.add(TABLE, [row])
        for found in recorded:
            other = [name for (name, given), there in zip(kept.items(), found, strict=True) if str(there) != given]
            if other:
                raise UsageError(
                    f"{released.title} is recorded already with another {few(other)}, and a record is not changed: "
                    "check the release again, sign that statement, and record it"
                )
        return not recorded


@dataclass(frozen=True)
class Told:
    """What a record tells of its statement, for whoever reads the table by SQL."""

    of_table: str
    name: str
    digest: str
    verdict: str
    recipient: str
    valid_until: str

    @classmethod
    def of(cls, released: ReleaseResult) -> "Told":
        stated = released.predicate
        return cls(
            stated.of,
            released.title,
            json.dumps(plain(released.subject[0].digest)),
            str(released.verdict),
            stated.declared.recipient or "",
            stated.declared.until or "",
        )


@dataclass(frozen=True)
class _Recorded:
    """A record, with the statement in it."""

    told: Told
    recorded: str
    source_columns: str
    document: str
    place: str
    keyed: str

    @cached_property
    def statement(self) -> ReleaseResult:
        found: ReleaseResult = loaded(ReleaseResult, json.loads(self.document))
        return found

    @property
    def stated(self) -> Predicate:
        return self.statement.predicate

    @cached_property
    def is_whole(self) -> bool:
        """Whether the statement is a canonical one whose verdict follows from its lines, and the record says the same.

        Only a signature protects what is changed in all of these alike.
        """
        return (
            judged(self.statement) == self.statement
            and self.statement.canonical_json() == self.document
            and Told.of(self.statement) == self.told
        )

    @property
    def earlier(self) -> EarlierRelease:
        """To compare with; without a digest, which nothing agrees with, if the record was changed."""
        sensitive = (each.name for each in self.stated.columns if each.role is PolicyRole.SENSITIVE)
        digest = self.statement.subject[0].digest if self.is_whole else {}
        return EarlierRelease(self.statement.title, digest, self.place, self.keyed, tuple(sensitive))


def _is_one(table: str, other: str) -> bool:
    """Whether two names are of one table, with its schema or without, or one is a pattern that the other fits."""
    return fits(table, other) or fits(other, table)


def _unlisted(found: Coverage) -> list[str]:
    """The tables of the sources that are in no entry, and have a column by which people may be known."""
    known = {str(PolicyRole.QUASI_IDENTIFIER), str(PolicyRole.DIRECT_IDENTIFIER)}
    return [
        gap.table
        for gap in found.gaps
        if gap.column is None and gap.change is GapKind.UNKNOWN and known.intersection(gap.roles)
    ]


def _drifted(before: SourceState | None, now: SourceState | None) -> Iterator[str]:
    """What changed in the source since a release was checked."""
    if before is None or now is None:
        return
    if before.rows is not None and now.rows is not None and 10 * abs(now.rows - before.rows) > before.rows:
        yield f"the source has {plural(now.rows, 'row')}, {count(before.rows)} before"
    if before.smallest and now.smallest and now.smallest < before.smallest:
        yield f"the smallest class of the source has {count(now.smallest)}, {count(before.smallest)} before"


def _due(each: _Recorded, columns: Mapping[str, str], file: PolicyFile | None, today: date) -> Iterator[str]:
    """Why a release has to be checked again: comparisons of what was recorded with what is known now."""
    stated, before = each.stated, json.loads(each.source_columns or "{}")
    if not each.is_whole:
        yield "the record was changed after it was written"
    if stated.declared.until and stated.declared.until < today.isoformat():
        yield f"valid until {stated.declared.until}"
    expired = [each for each in stated.declared.exceptions or () if each.expires < today.isoformat()]
    if expired:
        yield f"exceptions expired: {few([each.line for each in expired])}"
    if file is not None and file.hash != stated.policy_hash:
        yield "the policy file changed"
        entry = next((each for each in file.tables if each.table == stated.of), None)
        roles = {name.lower(): role for name, role in entry.roles.items()} if entry else {}
        moved = [each.name for each in stated.columns if each.role and roles.get(each.name.lower()) != each.role]
        if moved:
            yield f"other roles: {few(moved)}"
    if before and columns:
        for words, names in (
            ("new columns in the source", [name for name in columns if name not in before]),
            ("columns gone from the source", [name for name in before if name not in columns]),
            (
                "other types in the source",
                [name for name in columns if before.get(name, columns[name]) != columns[name]],
            ),
        ):
            if names:
                yield f"{words}: {few(names)}"
