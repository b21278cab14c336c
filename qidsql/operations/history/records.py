"""The history: runs recorded in a store, never changed, and read back as results."""

import json
import secrets
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Annotated, Any, cast

from qidsql.core.budget import check_time, limit
from qidsql.core.policy import Policy, question
from qidsql.core.results import Verdict
from qidsql.declarations.results import OMITTED, loaded, plain
from qidsql.engines.store import Store, Transaction
from qidsql.errors import StoreError, UnknownName, UsageError
from qidsql.operations.coverage import Coverage
from qidsql.operations.document import DAMAGED, NOT_WRITTEN, PackedTables, RunResult, unpack
from qidsql.operations.table_run import TableRun, TrendPoint
from qidsql.sql.templates import Row, integer
from qidsql.wording.texts import plural

HISTORY_FORMAT = 4  # of the tables and the documents in them
TABLES = (
    "history_format",
    "runs",
    "table_audits",
    "profiles",
    "findings",
    "unfinished",
    "alert_states",
    "alert_findings",
    "alert_questions",
    "deliveries",
    "releases",
    "secrets",
)
TREND = 30  # earlier runs in the trend of a table


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A recorded run, without its tables."""

    number: int
    run: str
    started: datetime
    seconds: float
    verdict: Verdict
    reason: str
    complete: bool
    tables: int
    statements: int
    baseline: str | None
    accepted: Annotated[int, "findings that exceptions accept, in tables that pass"] = 0


@dataclass(frozen=True, slots=True)
class RecordedTable:
    """A recorded table of one run."""

    number: int
    run: str
    started: datetime
    verdict: Verdict
    reason: str
    rows: int | None
    k: Annotated[int | None, "the k that the policy required"]
    smallest: Annotated[int | None, "the smallest class of all audited columns together"]
    share_below_k: float | None
    complete: bool
    accepted: Annotated[int, "findings that exceptions accept, if it passes"]
    question: Annotated[str | None, "a fingerprint of the policy: figures are comparable where it is equal"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRuns:
    """The recorded runs, newest first, of all tables or of one."""

    format: int = field(default=2, init=False)
    kind: str = field(default="history", init=False)
    history: str
    source: Annotated[str | None, OMITTED] = None
    table: Annotated[str | None, OMITTED] = None
    runs: tuple[RunSummary | RecordedTable, ...]


@dataclass(frozen=True, slots=True)
class PastTable:
    """A table in the run that it is compared with (None if there is none), and its trend, oldest first."""

    run: str | None = None
    document: bytes | None = None  # packed: the audits of all tables together may not fit into memory
    trend: tuple[TrendPoint, ...] = ()

    @property
    def table(self) -> TableRun | None:
        return None if self.document is None else unpack(self.document)


@dataclass(frozen=True, slots=True)
class LastColumns:
    """The column types of a table in the last run that audited it."""

    run: str
    types: dict[str, str]


@dataclass(frozen=True, slots=True)
class UnfinishedTable:
    """A table audited by a run that has not been recorded yet."""

    run: str
    source: str
    table: str
    question: str
    token: str


class History:
    """Recorded runs. Each method is one transaction and raises StoreError."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._existing: set[str] = set()  # tables known to exist; none is ever dropped

    @property
    def label(self) -> str:
        return self.store.label

    def exclusive(self) -> AbstractContextManager[None]:
        """A lock that only one process can have. Raises LockHeld, StoreError on entering."""
        return self.store.exclusive()

    # writing

    def prepare(self) -> str:
        """Creates missing tables, so that a history that cannot be written fails now and not after hours of work.

        Returns its secret: a text that no other history has, and that is in no output.
        """
        with self.writing() as store:
            if not (rows := store.find("secrets", ("secret",))):
                rows = [(secrets.token_hex(32),)]
                store.add("secrets", [{"secret": rows[0][0]}])
            return str(rows[0][0])

    def record(self, result: RunResult) -> bool:
        """Records a run completely or not at all; returns False if a run with this id is already recorded."""
        with self.writing() as store:
            if store.find("runs", ("run",), run=result.run):
                return False
            number = integer(store.query("history/next_number")[0][0])
            head = {
                key: value for key, value in plain(replace(result, tables=PackedTables())).items() if key != "tables"
            }
            row = {
                "run": result.run,
                "seconds": result.seconds,
                "verdict": str(result.verdict),
                "reason": result.reason,
                "complete": result.complete,
                "number": number,
                "started": _moment(result.started),
                "finished": _moment(result.finished),
                "config_path": result.config and result.config.path,
                "config_hash": result.config and result.config.hash,
                "qidsql": result.qidsql,
                "fail_on": str(result.fail_on),
                "baseline": result.baseline and result.baseline.run,
                "statements": result.statements,
                "tables": len(result.tables),
                "document": json.dumps(head, ensure_ascii=False),
            }
            store.add("runs", [row])
            audits, profiles, found = list[dict[str, Any]](), list[dict[str, Any]](), list[dict[str, Any]]()
            for place, table in enumerate(result.tables):
                row = {"run": result.run, "place": place}
                audits.append({**row, **_audit_row(table), "document": result.tables.packed[place]})
                profiles += ({**row, **each} for each in _profile_rows(table))
                found += ({**row, **each} for each in _finding_rows(table))
                if result.complete:
                    store.remove("unfinished", source=table.source_label, table_name=table.table)
            for name, rows in {"table_audits": audits, "profiles": profiles, "findings": found}.items():
                store.add(name, rows)
        return True

    def keep_unfinished(self, tables: Iterable[tuple[UnfinishedTable, bytes]]) -> None:
        """Stores packed tables of a run in progress, so that the run can be resumed."""
        rows = [
            {
                "run": entry.run,
                "source": entry.source,
                "table_name": entry.table,
                "question": entry.question,
                "token": entry.token,
                "kept": _moment(datetime.now(UTC)),
                "document": packed,
            }
            for entry, packed in tables
        ]
        with self.writing() as store:
            store.add("unfinished", rows)

    # reading

    def runs(self) -> list[RunSummary]:
        """All runs, newest first."""
        with self.reading() as store:
            return [_run_summary(row) for row in (store.query("history/runs") if store else [])]

    def last_complete(self) -> RunSummary | None:
        return next((head for head in self.runs() if head.complete), None)

    def find(self, typed: str) -> RunSummary:
        """The run with this name: its id, a unique prefix of it, last, last~1 ... Raises UnknownName."""
        runs = self.runs()
        back = typed.removeprefix("last").removeprefix("~") if typed.startswith("last") else ""
        if typed == "last" or (typed.startswith("last~") and back.isdecimal()):
            if int(back or 0) < len(runs):
                return runs[int(back or 0)]
            raise UsageError(f"{self.label} has {plural(len(runs), 'run')}, so there is no {typed}")
        found = [each for each in runs if each.run == typed]
        found = found or [each for each in runs if typed and each.run.startswith(typed)]
        if len(found) == 1:
            return found[0]
        if found:
            raise UsageError(
                f"{typed} is a prefix of {len(found)} run ids, such as {found[0].run}; give more characters"
            )
        hint = "" if runs else "it is empty"
        raise UnknownName("run", [typed], self.label, [each.run for each in runs], hint=hint)

    def result(self, run: str) -> RunResult:
        """The recorded run with this id. Raises UnknownName."""
        with self.reading() as store:
            head = self._head(store, run)
            tables = store.find("table_audits", ("document",), ("place",), run=run) if store else []
        if head is None:
            raise UnknownName("run", [run], self.label, [])
        return replace(head, tables=PackedTables(map(_bytes, tables), recorded=True))

    def _head(self, store: Transaction | None, run: str) -> RunResult | None:
        """A recorded run without its tables."""
        rows = store.find("runs", ("document",), run=run) if store else []
        return loaded(RunResult, {**json.loads(str(rows[0][0])), "tables": []}) if rows else None

    def past_tables(
        self, tables: Iterable[tuple[str, str]], run: str | None = None
    ) -> dict[tuple[str, str], PastTable]:
        """Tables (source and name) in this run; by default each in the last complete run in which it passed or was in
        violation. Raises BudgetSpent."""
        found, known = {}, defaultdict[tuple[str, str], list[Row]](list)
        with self.reading() as store:
            for source, table, *row in store.query("history/past_tables", newest=TREND) if store else []:
                known[str(source), str(table)].append(tuple(row))
            for each in tables:
                check_time(limit())
                if store and each in known:
                    found[each] = _past_table(store, *each, known[each], run)
        return found

    def audited_tables(self, run: str) -> list[tuple[str, str]]:
        """Source and name of each table of a run; without those that could not be audited, as by a wrong name."""
        with self.reading() as store:
            rows = store.find("table_audits", ("source", "table_name", "verdict"), ("place",), run=run) if store else []
        return [(str(source), str(table)) for source, table, verdict in rows if verdict != "error"]

    def last_tables(self) -> dict[tuple[str, str], str]:
        """The tables of the last complete run on the whole policy file, and of later ones with --only. Maps source and
        name to the last of these runs."""
        found: dict[tuple[str, str], str] = {}
        for head in self.runs():
            if head.complete:
                found = {**dict.fromkeys(self.audited_tables(head.run), head.run), **found}
                with self.reading() as store:
                    whole = self._head(store, head.run)
                if whole and not whole.only:
                    break
        return found

    def last_coverage(self, named: RunSummary | None = None) -> Coverage | None:
        """The coverage of this run; by default of the last complete run on the whole policy file."""
        for head in [named] if named else self.runs():
            if head.complete or named:
                with self.reading() as store:
                    found = self._head(store, head.run)
                if found and found.coverage and (named or not found.coverage.part):
                    return found.coverage
        return None

    def last_columns(self) -> dict[tuple[str, str], LastColumns]:
        """The columns of each table at its last audit, by source and table."""
        with self.reading() as store:
            rows = store.query("history/last_columns") if store else []
        found: dict[tuple[str, str], LastColumns] = {}
        for source, table, run, column, kind in rows:
            seen = found.setdefault((str(source), str(table)), LastColumns(str(run), {}))
            seen.types[str(column)] = str(kind)
        return found

    def tables(self) -> list[tuple[str, str]]:
        """Source and name of each table ever audited."""
        with self.reading() as store:
            rows = store.query("history/tables") if store else []
        return [(str(source), str(table)) for source, table in rows]

    def table_history(self, source: str, table: str) -> list[RecordedTable]:
        """A table in all runs, newest first."""
        with self.reading() as store:
            rows = store.query("history/table_history", source=source, table_name=table) if store else []
            return [_recorded_table(row) for row in rows]

    def unfinished(self) -> list[UnfinishedTable]:
        """The tables that a run can resume from, newest last."""
        with self.reading() as store:
            columns = ("run", "source", "table_name", "question", "token")
            rows = store.find("unfinished", columns, ("kept", "run")) if store else []
        return [UnfinishedTable(*map(str, row)) for row in rows]

    def unfinished_table(self, entry: UnfinishedTable) -> TableRun | None:
        """The stored table; None if it no longer exists."""
        with self.reading() as store:
            given = {"run": entry.run, "source": entry.source, "table_name": entry.table, "question": entry.question}
            rows = store.find("unfinished", ("document",), **given) if store else []
            return unpack(_bytes(rows[-1])) if rows else None

    @contextmanager
    def _read_back(self) -> Iterator[None]:
        """Raises StoreError if something in the history is not what qidsql writes."""
        try:
            yield
        except NOT_WRITTEN as error:
            raise StoreError(f"a record in {self.label} {DAMAGED}") from error

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """A write transaction; creates missing tables."""
        with self._read_back(), self.store.transaction(writing=True) as store:
            existing = self._tables(store)
            for name in TABLES:
                if name not in existing:  # the user may have no right to create tables
                    store.query(f"history/make_{name}")
            if not self._format(store):
                store.add("history_format", [{"format": HISTORY_FORMAT}])
            yield store

    @contextmanager
    def reading(self) -> Iterator[Transaction | None]:
        """A read transaction; None if the history does not exist yet. What is read is understood before it ends."""
        if not self.store.can_be_opened():
            yield None
            return
        with self._read_back(), self.store.transaction(writing=False) as store:
            if not self.has_table(store, TABLES[0]):
                yield None  # a killed run can leave a file without tables
                return
            self._format(store)
            yield store

    def has_table(self, store: Transaction, table: str) -> bool:
        """Whether the table exists; tables added by later versions are created by their first write transaction."""
        return table in self._tables(store)

    def _tables(self, store: Transaction) -> set[str]:
        """The existing tables; queried only until all exist, since catalogs are slow."""
        if not self._existing >= set(TABLES):
            there = {
                str(name): bool(table) for name, table in store.query("history/tables_there", schema=self.store.schema)
            }
            if other := next((name for name in TABLES if not there.get(name, True)), None):
                raise StoreError(f"{self.label} is not a history: {other} in it is no table; name another")
            self._existing = set(there)
        return self._existing

    def _format(self, store: Transaction) -> int:
        """The format of the history, 0 if it is empty. Raises StoreError if this version cannot read it."""
        written = integer(store.query("history/format")[0][0] or 0)
        if written not in (0, HISTORY_FORMAT):
            other, remedy = (
                ("a newer", "upgrade this one, or name") if written > HISTORY_FORMAT else ("an older", "name")
            )
            raise StoreError(f"{self.label} was written by {other} qidsql; {remedy} another history")
        return written


def _audit_row(table: TableRun) -> dict[str, Any]:
    assert table.audit is None or not table.audit.hidden, "a history has exact counts"
    account, profile = (table.audit.account, table.audit.profile) if table.audit else (None, None)
    return {
        **{name: getattr(table, name) for name in ("source", "source_label", "owner", "reason", "error", "resumed")},
        "verdict": str(table.verdict),
        "table_name": table.table,
        **{name: account and getattr(account, name) for name in ("engine", "snapshot", "statements")},
        "seconds": account and round(account.seconds, 3),
        "entities": table.audit and table.audit.entities,
        "started": account and _moment(account.started),
        "row_count": account and account.rows,
        "k": account and account.policy.k,
        "smallest": profile and profile.smallest,
        "rows_below_k": profile and profile.rows_below_k,
        "share_below_k": profile and float(profile.share_below_k),
        "policy": account and json.dumps(plain(account.policy), ensure_ascii=False),
    }


def _profile_rows(table: TableRun) -> list[dict[str, Any]]:
    measured = ("smallest", "classes", "rows_below_k", "distinct_ratio", "separation_ratio")
    rows = []
    for column in table.audit.columns if table.audit else ():
        profile = column.profile.to_plain() if column.profile else {}
        rows.append(
            {
                "column_name": column.name,
                "column_type": column.type,
                "role": str(column.role),
                "nulls": column.nulls,
                **{name: profile.get(name) for name in measured},
            }
        )
    return rows


def _finding_rows(table: TableRun) -> list[dict[str, Any]]:
    return [
        {
            "finding": finding.id,
            "kind": str(finding.kind),
            "column_set": json.dumps(finding.columns, ensure_ascii=False),
            "state": str(finding.state),
            **{name: getattr(finding.measures, name) for name in ("smallest", "rows_below_k", "share_below_k")},
            "exception": finding.exception and finding.exception.reason,
        }
        for finding in table.findings
    ]


def _past_table(store: Transaction, source: str, table: str, rows: Sequence[Row], run: str | None) -> PastTable:
    """`rows`: whether it is compared with this run, whether the run is one of its newest, and what `_recorded_table`
    takes."""
    if run is None:
        run = next((str(recorded[1]) for is_compared, _, *recorded in rows if is_compared), None)
    where: dict[str, Any] = {"run": run, "source": source, "table_name": table}
    documents = store.find("table_audits", ("document",), **where) if run else []
    trend = tuple(_trend_point(_recorded_table(tuple(recorded))) for _, is_newest, *recorded in rows if is_newest)
    return PastTable(run, _bytes(documents[0]), trend) if documents else PastTable(trend=trend)


def _bytes(row: Any) -> bytes:
    """The only cell of a row; drivers return different types of bytes."""
    return bytes(row[0])


def _run_summary(row: Row) -> RunSummary:
    number, run, started, seconds, verdict, reason, complete, tables, statements, baseline, accepted = row
    return RunSummary(
        number=integer(number),
        run=str(run),
        started=_in_utc(started),
        seconds=float(str(seconds)),
        verdict=Verdict(str(verdict)),
        reason=str(reason),
        complete=bool(complete),
        tables=integer(tables),
        statements=integer(statements),
        baseline=None if baseline is None else str(baseline),
        accepted=integer(accepted),
    )


def _recorded_table(row: Row) -> RecordedTable:
    """A table of one run, without its findings."""
    number, run, started, verdict, *figures, policy = row
    fingerprint = None if policy is None else _question(str(policy))
    cells: list[Any] = [number, run, _in_utc(started), Verdict(str(verdict)), *figures, fingerprint]
    return RecordedTable(*cells)


@lru_cache(maxsize=256)  # the same policy, night after night
def _question(policy: str) -> str:
    return question(loaded(Policy, json.loads(policy)))


def _trend_point(table: RecordedTable) -> TrendPoint:
    return TrendPoint(**{each.name: getattr(table, each.name) for each in fields(TrendPoint)})


def _moment(moment: datetime) -> datetime:
    """A moment in UTC without a time zone, as stored."""
    return moment.astimezone(UTC).replace(tzinfo=None, microsecond=0)


def _in_utc(cell: Any) -> datetime:
    """A stored moment, with its time zone."""
    return cast(datetime, cell).replace(tzinfo=UTC, microsecond=0)
