"""Runs in a store: recorded once and never changed, read back as the documents that they were."""

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from qidsql.core.policy import question
from qidsql.core.wording import plural
from qidsql.engines.store import Store, Transaction
from qidsql.errors import StoreError, UnknownName, UsageError
from qidsql.operations.document import Document, TrendPoint
from qidsql.operations.packed_tables import Packed, packed, unpacked
from qidsql.operations.references import FORMAT as DOCUMENT_FORMAT
from qidsql.sql.statements import Row, integer

FORMAT = 2  # of the tables and the documents in them; in 1 the documents were of format 1, which are read as well
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
)
HISTORY = (
    *("number", "run", "started", "verdict", "reason", "rows", "k", "k_asked", "share_at_risk", "complete"),
    "question",  # of its policy: figures compare where it is the same
)
TREND = 30  # earlier runs of a table that its trend tells


@dataclass(frozen=True, slots=True)
class RunHead:
    """A recorded run, without its tables."""

    number: int
    run: str
    started: str  # UTC, ISO 8601
    seconds: float
    verdict: str
    reason: str
    complete: bool
    tables: int
    statements: int
    baseline: str | None

    def to_dict(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Past:
    """A table in the run that it is compared with (None where there is none), and in the last runs, oldest first."""

    run: str | None = None
    document: dict[str, Any] | None = None
    trend: tuple[TrendPoint, ...] = ()


@dataclass(frozen=True, slots=True)
class LastColumns:
    """The types of a table's columns in the run that audited it last."""

    run: str
    types: dict[str, str]


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A table that a run has audited and not recorded."""

    run: str
    source: str
    table: str
    question: str
    token: str


class History:
    """Recorded runs. Every call is a transaction of its own, and raises StoreError."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._there: set[str] = set()  # tables that are known to be there: none goes away again

    @property
    def label(self) -> str:
        return self.store.label

    def alone(self) -> AbstractContextManager[None]:
        """While it lasts no other process gets past here. Raises Held, StoreError on entering."""
        return self.store.alone()

    # writing

    def prepare(self) -> None:
        """Makes the tables where they are missing; says now, not after hours of work, that it cannot be written."""
        with self.writing():
            pass

    def record(self, document: Document) -> bool:
        """Keeps a run document, all of it or nothing; False where a run of that id is there already."""
        head = {key: value for key, value in document.items() if key != "tables"}
        run = document["run"]
        with self.writing() as store:
            if integer(store.ask("run_known", run=run)[0][0]):
                return False
            number = integer(store.ask("next_number")[0][0])
            config = document["config"] or {}
            store.ask(
                "add_run",
                **{name: document[name] for name in ("run", "seconds", "verdict", "reason", "complete")},
                number=number,
                started=_moment(document["started"]),
                finished=_moment(document["finished"]),
                config_path=config.get("path"),
                config_hash=config.get("hash"),
                qidsql=document["qidsql"],
                fail_on=document["fail_on"],
                baseline=(document["baseline"] or {}).get("run"),
                statements=document["statements"],
                tables=len(document["tables"]),
                document=json.dumps(head, ensure_ascii=False),
            )
            for place, table in enumerate(document["tables"]):
                store.add("add_table_audit", [_audit_row(run, place, table)])
                store.add("add_profile", _profile_rows(run, place, table))
                store.add("add_finding", _finding_rows(run, place, table))
                if document["complete"]:
                    store.ask("forget_unfinished", source=table["source_label"], table_name=table["table"])
        return True

    def keep_unfinished(self, entry: Unfinished, document: Document) -> None:
        """Keeps a table's part of a run that goes on, to be resumed from."""
        with self.writing() as store:
            store.ask(
                "add_unfinished",
                run=entry.run,
                source=entry.source,
                table_name=entry.table,
                question=entry.question,
                token=entry.token,
                kept=datetime.now(UTC).replace(tzinfo=None),
                document=packed(document),
            )

    # reading

    def runs(self) -> list[RunHead]:
        """All runs, newest first."""
        with self.reading() as store:
            rows = store.ask("runs") if store else []
        return [
            RunHead(
                number=integer(number),
                run=str(run),
                started=_text(started),
                seconds=float(str(seconds)),
                verdict=str(verdict),
                reason=str(reason),
                complete=bool(complete),
                tables=integer(tables),
                statements=integer(statements),
                baseline=None if baseline is None else str(baseline),
            )
            for number, run, started, seconds, verdict, reason, complete, tables, statements, baseline in rows
        ]

    def last_complete(self) -> RunHead | None:
        return next((head for head in self.runs() if head.complete), None)

    def find(self, typed: str) -> RunHead:
        """The run that is meant: its id, a beginning of it that no other has, last, last~1 ... Raises UnknownName."""
        heads = self.runs()
        back = typed.removeprefix("last").removeprefix("~") if typed.startswith("last") else ""
        if typed == "last" or (typed.startswith("last~") and back.isdecimal()):
            if int(back or 0) < len(heads):
                return heads[int(back or 0)]
            raise UsageError(f"{self.label} holds {plural(len(heads), 'run')}, so there is no {typed}")
        found = [head for head in heads if head.run == typed] or [h for h in heads if typed and h.run.startswith(typed)]
        if len(found) == 1:
            return found[0]
        if found:
            raise UsageError(f"{typed} begins the ids of {len(found)} runs, such as {found[0].run}; write more of it")
        hint = "" if heads else "it is empty"
        raise UnknownName("run", [typed], self.label, [head.run for head in heads], hint=hint)

    def document(self, run: str) -> dict[str, Any]:
        """The document of the run of that id, as it was recorded, its tables packed. Raises UnknownName."""
        with self.reading() as store:
            heads = store.ask("run_document", run=run) if store else []
            tables = store.ask("table_documents", run=run) if store else []
        if not heads:
            raise UnknownName("run", [run], self.label, [])
        head = json.loads(str(heads[0][0]))
        return {"only": [], "coverage": None, **head, "format": DOCUMENT_FORMAT, "tables": Packed(map(_bytes, tables))}

    def past(self, source: str, table: str, run: str | None = None) -> Past:
        """What there is of a table: in that run, or in the last complete one that came to pass or violation on it."""
        with self.reading() as store:
            if store is None:
                return Past()
            if run is None:
                found = store.ask("last_audited", source=source, table_name=table)
                run = str(found[0][0]) if found else None
            documents = store.ask("table_document", run=run, source=source, table_name=table) if run else []
            newest = store.ask("table_history", source=source, table_name=table)[:TREND]
        told = ("run", "started", "verdict", "rows", "k", "share_at_risk", "question")
        points = map(_table_head, reversed(newest))
        trend = tuple(TrendPoint(**{name: point[name] for name in told}) for point in points)
        if not documents:
            return Past(trend=trend)
        return Past(run, _document(documents[0][0]), trend)

    def audited_tables(self, run: str) -> list[tuple[str, str]]:
        """Source and name of every table of a run."""
        with self.reading() as store:
            rows = store.ask("audited_tables", run=run) if store else []
        return [(str(source), str(table)) for source, table in rows]

    def last_tables(self) -> dict[tuple[str, str], str]:
        """The tables of the last complete run on the whole policy file, and of those with --only since then: by source
        and name, each with the last of these runs."""
        found: dict[tuple[str, str], str] = {}
        for head in self.runs():
            if head.complete:
                found = {**dict.fromkeys(self.audited_tables(head.run), head.run), **found}
                with self.reading() as store:
                    heads = store.ask("run_document", run=head.run) if store else []
                if heads and not json.loads(str(heads[0][0])).get("only"):
                    break
        return found

    def last_coverage(self, named: RunHead | None = None) -> dict[str, Any] | None:
        """The coverage of that run, or else of the last complete one on a whole policy file that has one."""
        for head in [named] if named else self.runs():
            if head.complete or named:
                with self.reading() as store:
                    heads = store.ask("run_document", run=head.run) if store else []
                found = json.loads(str(heads[0][0])).get("coverage") if heads else None
                if found and (named or not found["part"]):
                    return dict(found)
        return None

    def last_columns(self) -> dict[tuple[str, str], LastColumns]:
        """The columns of each table when it was last audited, by source and table."""
        with self.reading() as store:
            rows = store.ask("last_columns") if store else []
        found: dict[tuple[str, str], LastColumns] = {}
        for source, table, run, column, kind in rows:
            seen = found.setdefault((str(source), str(table)), LastColumns(str(run), {}))
            seen.types[str(column)] = str(kind)
        return found

    def tables(self) -> list[tuple[str, str]]:
        """Source and name of every table ever audited."""
        with self.reading() as store:
            rows = store.ask("tables") if store else []
        return [(str(source), str(table)) for source, table in rows]

    def table_history(self, source: str, table: str) -> list[dict[str, Any]]:
        """A table in all runs, newest first."""
        with self.reading() as store:
            rows = store.ask("table_history", source=source, table_name=table) if store else []
        return [_table_head(row) for row in rows]

    def unfinished(self) -> list[Unfinished]:
        """What could be resumed, newest last."""
        with self.reading() as store:
            rows = store.ask("unfinished") if store else []
        return [Unfinished(*map(str, row)) for row in rows]

    def unfinished_document(self, entry: Unfinished) -> dict[str, Any] | None:
        """What was kept of a table; None where it is gone by now."""
        with self.reading() as store:
            given = {"run": entry.run, "source": entry.source, "table_name": entry.table, "question": entry.question}
            rows = store.ask("unfinished_document", **given) if store else []
        return _document(rows[-1][0]) if rows else None

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """A transaction that writes; the tables are there."""
        with self.store.transaction(writing=True) as store:
            there = self._tables(store)
            for name in TABLES:
                if name not in there:  # who may write into them need not be one who may make them
                    store.ask(f"make_{name}")
            if self._format(store) < FORMAT:
                store.ask("add_format", format=FORMAT)
            yield store

    @contextmanager
    def reading(self) -> Iterator[Transaction | None]:
        """A transaction that reads; None where nothing was ever written."""
        if not self.store.can_be_opened():
            yield None
            return
        with self.store.transaction(writing=False) as store:
            if not self.holds(store, TABLES[0]):
                yield None  # a run that was killed can leave a file without any
                return
            self._format(store)
            yield store

    def holds(self, store: Transaction, table: str) -> bool:
        """Whether the table is there; one that a later qidsql brought is made by its first transaction that writes."""
        return table in self._tables(store)

    def _tables(self, store: Transaction) -> set[str]:
        """The tables that are there; asked until all of them are, since catalogs answer slowly."""
        if not self._there >= set(TABLES):
            self._there = {str(name) for (name,) in store.ask("tables_there", schema=self.store.schema)}
        return self._there

    def _format(self, store: Transaction) -> int:
        """The format of what was written; 0 before anything was. Raises StoreError where it is not known here."""
        written = integer(store.ask("format")[0][0] or 0)
        if written > FORMAT:
            raise StoreError(f"{self.label} was written by a newer qidsql; upgrade this one, or name another history")
        return written


def _audit_row(run: str, place: int, table: Document) -> dict[str, Any]:
    audit = table["audit"] or {}
    profile, policy = audit.get("profile") or {}, audit.get("policy") or {}
    return {
        "run": run,
        "place": place,
        **{name: table[name] for name in ("source", "source_label", "owner", "verdict", "reason", "error", "resumed")},
        "table_name": table["table"],
        **{name: audit.get(name) for name in ("engine", "snapshot", "seconds", "statements", "entities")},
        "started": _moment(audit["started"]) if audit else None,
        "row_count": audit.get("rows"),
        "k": profile.get("smallest"),
        "k_asked": policy.get("k"),
        "rows_at_risk": profile.get("rows_at_risk"),
        "share_at_risk": profile.get("share_at_risk"),
        "policy": json.dumps(policy, ensure_ascii=False) if policy else None,
        "document": packed(table),
    }


def _profile_rows(run: str, place: int, table: Document) -> list[dict[str, Any]]:
    measured = ("classes", "rows_at_risk", "distinct_ratio", "separation_ratio")
    return [
        {
            "run": run,
            "place": place,
            "column_name": column["name"],
            "column_type": column["type"],
            "role": column["role"],
            "nulls": column["nulls"],
            "k": (column["profile"] or {}).get("smallest"),
            **{name: (column["profile"] or {}).get(name) for name in measured},
        }
        for column in (table["audit"] or {}).get("columns", [])
    ]


def _finding_rows(run: str, place: int, table: Document) -> list[dict[str, Any]]:
    return [
        {
            "run": run,
            "place": place,
            "finding": finding["id"],
            "kind": finding["kind"],
            "column_set": json.dumps(finding["columns"], ensure_ascii=False),
            "state": finding["state"],
            **{name: finding["measures"].get(name) for name in ("k", "rows_at_risk", "share_at_risk")},
            "exception": (finding["exception"] or {}).get("reason"),
        }
        for finding in table["findings"]
    ]


def _table_head(row: Row) -> dict[str, Any]:
    """A table in one run, without its findings."""
    *cells, policy = row
    asked = None if policy is None else question(json.loads(str(policy)))
    return {**dict(zip(HISTORY, (*cells, asked), strict=True)), "started": _text(row[2])}


def _moment(text: str) -> datetime:
    """A moment as the tables hold it: in UTC, without its zone."""
    return datetime.fromisoformat(text).astimezone(UTC).replace(tzinfo=None)


def _bytes(row: Any) -> bytes:
    return bytes(row[0])


def _document(cell: Any) -> dict[str, Any]:
    return unpacked(bytes(cell))


def _text(moment: Any) -> str:
    return str(moment.replace(tzinfo=UTC).isoformat(timespec="seconds"))
