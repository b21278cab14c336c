"""Postgres: read-only sessions on one exported snapshot, which do not wait for locks and see every row or fail."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NoReturn, TypeVar, cast

import psycopg
from sqlglot import exp

from qidsql.core.budget import earlier, limit
from qidsql.core.results import Examination
from qidsql.core.tables import (
    Attribute,
    Catalog,
    CatalogColumn,
    CatalogTable,
    Column,
    Comparison,
    Condition,
    ForeignKey,
    Table,
    TableName,
    find_schema,
    kind_of,
)
from qidsql.engines.base import Engine
from qidsql.engines.condition import Dependences, checked
from qidsql.engines.kind import ConnectOptions
from qidsql.engines.postgres.condition import parse_condition
from qidsql.engines.postgres.costs import COSTS
from qidsql.engines.postgres.dialect import PATTERNS, POSTGRES
from qidsql.engines.postgres.doctor import examine
from qidsql.engines.postgres.errors import CATALOG, KINDS, OBSTACLES, answered, translate, understood
from qidsql.engines.postgres.lock_watch import LockWatch
from qidsql.engines.postgres.server import Server, connection_parameters, parameters_label
from qidsql.engines.postgres.session import (
    PostgresSession,
    RetryStatement,
    Snapshot,
    about_backends,
    catalog_statement,
    relation_names,
    statement_text,
)
from qidsql.engines.runner import TableBytes
from qidsql.engines.table_names import find_table, no_schema
from qidsql.engines.workers import Batch, Session, Work, Worker, end_sessions
from qidsql.errors import (
    AccessError,
    BudgetSpent,
    QidsqlError,
    SnapshotLost,
    SourceError,
    Stopped,
    UnknownName,
    UsageError,
)
from qidsql.sql.relation import name_text, relation
from qidsql.sql.templates import Filling, Row, Statement, fill, integer, put_together
from qidsql.wording.texts import count, few, setting

Answer = TypeVar("Answer")

logging.getLogger("psycopg").addHandler(logging.NullHandler())  # else its warnings go to stderr, with texts of servers

IMPORTED = "qidsql_received"  # a temporary table
WORKING_COPY = TableName("qidsql_workspace", "pg_temp")
UNDECLARED = ", or declare your function STABLE or IMMUTABLE, if it is (a new one is VOLATILE)"
FURTHER = 5.0  # seconds to wait for the sessions after the first, without which an audit only takes longer
RETRIES = 5  # of a statement, at most
HOLDING_ROWS = ("table", "materialized view", "partitioned table")
NOTES = {
    "materialized view": "a materialized view shows the data of its last refresh",
    "foreign table": "a foreign table: every scan transfers its rows to this server, and no snapshot covers them",
}
HIDING = (
    "the session has {setting} = on, with which Postgres leaves out rows of damaged pages without an error; take it "
    "out of the source's options, or run: ALTER ROLE {role} RESET {setting}"
)
SECONDS_OF_SLOW_AUDIT, MANY_SCANS = 60, 20  # and scans of a view, above which a copy of it pays (of a table not)
UNESTIMATED_ROWS = 1000  # rows, below which no estimate is held against the count


class PostgresEngine(Engine):
    """A Postgres database. The first session exports its snapshot, the others import it."""

    dialect = POSTGRES
    costs = COSTS
    export_format = "csv"

    labelled = True

    def __init__(self, server: Server, workers: int) -> None:
        super().__init__(workers)
        self._views = False  # whether one was described
        self.writable = server.writable
        self.label = parameters_label(server.parameters)
        self._server = server
        self._one_snapshot = server.snapshot
        self._grouped: set[tuple[str, str, Comparison]] = set()  # types of columns that this role can group by
        self._verified: set[int] = set()  # oids of tables that were not rewritten since this snapshot
        self._lock_watch = LockWatch(self, server.watching if server.watched else None)
        self.snapshot = "one snapshot for all statements" if server.snapshot else "each statement sees its own snapshot"
        try:
            version, role, zone, hiding, standby, *self._temporary = self._catalog("session")[0]
            if hiding:
                raise SourceError(HIDING.format(setting=hiding, role=POSTGRES.identifier(str(role))))
        except BaseException:
            self.close()
            raise
        self.role, self.time_zone = str(role), str(zone)
        self._standby = bool(standby)
        self.version = f"PostgreSQL {version}"
        if self._standby and self._one_snapshot:
            self.snapshot = "one snapshot of a standby server for all statements"
        self._of_snapshot = self.snapshot

    def _open(self, deadline: float | None) -> list[Worker]:
        """Opens sessions on the snapshot of the remaining ones, or on a new one if there are none."""
        self._lock_watch.wait(deadline)
        exported = self._exported(deadline)
        new: list[Worker] = []
        try:
            if not self._sessions:
                new.append(self._worker())
                self._begin(new[0].opened(deadline))
                if self._one_snapshot and self.workers > 1:
                    exported = self._export(new[0], deadline)
            more = [self._worker(exported) for _ in range(self.workers - len(self._sessions) - len(new))]
            new += more
            end = time.monotonic() + FURTHER
            for worker in more:  # no free connection, or a pooler's other server without this snapshot
                with suppress(psycopg.Error):
                    try:
                        worker.opened(earlier(deadline, end))
                    except BudgetSpent:
                        if deadline is not None and deadline <= end:
                            raise
                        worker.dismiss()  # it waits for a pooler, whose only connection the first session has
        except BaseException as error:
            for worker in new:
                worker.dismiss()
            if isinstance(error, psycopg.Error):
                raise self._server.not_connected(error) from None
            raise
        new = [worker for worker in new if worker.is_open and not worker.dismissed]
        self.workers = len(self._sessions) + len(new)
        return new

    def _worker(self, exported: str | None = None) -> Worker:
        worker = Worker(partial(self._server.session, exported), self._server.gentle)
        worker.start()
        return worker

    def _begin(self, session: Session) -> None:
        """Records that the first session of a snapshot is open."""
        self.label = self._server.label(session)
        self.warning = self._server.warning(session)
        if not self._one_snapshot:
            return
        if isinstance(self._state, Snapshot):
            since = datetime.now(UTC)
            self.snapshot = f"{self._of_snapshot}, a new one since {since:%H:%M:%S} UTC"
        self._state = Snapshot()
        self._verified = set()

    def doubts(self, table: Table, rows: int) -> tuple[str, ...]:
        if table.condition is not None or table.kind not in ("table", "partitioned table"):
            return ()
        if (table.estimated_rows or 0) < max(UNESTIMATED_ROWS, 2 * rows):
            return ()
        [(found, deleted)] = self._catalog("rows_as_analyzed", schema=table.name.schema, relation=table.name.name)
        if found is None or integer(found) - integer(deleted) < max(UNESTIMATED_ROWS, 2 * rows):
            return ()
        return (
            f"{count(rows)} rows were counted where the last ANALYZE found about {count(integer(found))}, and the "
            f"server counted few deletions since: if there were no others, pages of the table were lost; look into the "
            f"server's log, and try pg_amcheck",
        )

    def _exported(self, deadline: float | None) -> str | None:
        """The snapshot of the remaining sessions, exported by the first one still alive; None if there is none."""
        for worker in list(self._sessions) if self._one_snapshot else ():
            with suppress(psycopg.Error):
                return self._export(worker, deadline)
        return None

    def _export(self, worker: Worker, deadline: float | None) -> str:
        """The name of a session's snapshot. Raises psycopg.Error, BudgetSpent."""
        return str(self._on(worker, statement_text("export_snapshot"), deadline)[0][0])

    def _renew_sessions(self) -> bool:
        """Ends the transactions of all sessions, and begins others on a new snapshot."""
        if not self._one_snapshot:
            return True
        sessions = list(self._sessions)
        if not sessions:
            return False
        first, *others = sessions
        try:
            self._work_on(first, PostgresSession.begin_again, limit())
            self._state, self._verified, self.snapshot = Snapshot(), set(), self._of_snapshot
            exported = self._export(first, limit()) if others else None
            for worker in others:
                self._work_on(worker, partial(PostgresSession.begin_again, snapshot=exported), limit())
        except (psycopg.Error, SnapshotLost):  # a lost connection, a pooler's other server, others wait for locks
            return False
        return True

    def _on(self, worker: Worker, sql: str, deadline: float | None) -> list[Row]:
        """The rows of a statement on one session. Raises psycopg.Error, BudgetSpent."""
        return self._work_on(worker, lambda session: session.execute(sql), deadline)

    def _work_on(self, worker: Worker, work: Callable[[PostgresSession], Answer], deadline: float | None) -> Answer:
        """The result of a work on one session. Raises psycopg.Error, BudgetSpent."""
        batch: Batch[Answer] = Batch({0: lambda session: work(cast(PostgresSession, session))})
        self._batches.add(batch)
        try:
            if worker.dismissed:
                raise psycopg.OperationalError
            batch.start([worker])
            batch.wait(deadline)
        except BaseException:  # it is still busy, or its transaction has failed
            self._end_sessions([worker])
            raise
        finally:
            self._batches.discard(batch)
        return batch.taken()[0]

    def _run_works(
        self,
        works: Mapping[int, Work[Answer]],
        answers: dict[int, Answer],
        deadline: float | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        """Without a snapshot, statements that met a change of their table are repeated afterwards."""
        for again in reversed(range(1 + RETRIES)):
            try:
                super()._run_works(works, answers, deadline, check)
            except RetryStatement as error:
                if not again:
                    self._answer.stopped_by = SnapshotLost(str(error))
                    raise self._answer.stopped_by from None
            else:
                return

    def _check_snapshot(self) -> None:
        """A table that was rewritten after the snapshot, before a first statement locked it, looks empty."""
        if not self._one_snapshot:
            return
        sessions, backends = list(self._sessions), self.backends()
        if not sessions:
            raise self._lost(self._answer.state)
        try:
            with understood(CATALOG):
                read = {integer(oid) for (oid,) in self._on(sessions[0], about_backends("locked", backends), limit())}
            if read <= self._verified:
                return
            with understood(CATALOG):
                changed = relation_names(self._on(sessions[0], about_backends("changed_since", backends), limit()))
        except psycopg.Error as error:
            raise self.translate(error, "check for changed tables") from None
        if changed:
            self._give_up(SnapshotLost(f"{changed} was altered, truncated or refreshed after the snapshot was taken"))
            raise self._lost(self._answer.state)
        self._verified |= read

    @property
    def _checks_snapshot(self) -> bool:
        """Without a snapshot each statement checks itself, in its own transaction."""
        return self._one_snapshot

    def _lost(self, state: object) -> Stopped:
        return (isinstance(state, Snapshot) and state.lost) or super()._lost(state)

    def backends(self) -> list[int]:
        """The ids of the server processes of the sessions."""
        sessions = (cast(PostgresSession, worker.session) for worker in list(self._sessions) if worker.is_open)
        return [session.backend for session in sessions if session.backend is not None]

    def release_locks(self) -> None:
        """Ends the sessions, since others wait for their locks. Called by another thread."""
        self._give_up(
            SnapshotLost("another session (ALTER TABLE?) waited for a lock of this one, which gave up its snapshot")
            if self._one_snapshot
            else RetryStatement("another session waited for a lock of this one")
        )

    def _give_up(self, reason: QidsqlError) -> None:
        """Ends all sessions; their running statements fail with `reason`."""
        if isinstance(self._state, Snapshot) and isinstance(reason, Stopped):
            self._state.lost = reason
        with self._lock:
            sessions, self._sessions = self._sessions, []
        for batch in list(self._batches):  # includes every batch that can use one of these sessions
            batch.fail(reason)
        end_sessions(sessions, self.costs.cancel_seconds)

    def translate(self, error: Exception, purpose: str) -> QidsqlError:
        return translate(error, purpose)

    def _run_on(self, statement: Statement[Answer], session: Session) -> Answer:
        return super()._run_on(replace(statement, read=understood(statement.purpose)(statement.read)), session)

    def state_token(self, table: Table) -> str | None:
        """The snapshot itself: equal snapshots see the same rows, since every write has a transaction id."""
        if not self._one_snapshot:
            return None
        rows = self._catalog("state_token", schema=table.name.schema, relation=table.name.name)
        return " ".join(str(cell) for cell in rows[0]) if rows else None

    def sees_one_state(self, table: Table) -> bool:
        """Unless some of its rows are elsewhere. Hashes of whole rows are known to Postgres 14."""
        return self._one_snapshot and not table.fenced and table.kind != "foreign table" and not self._is_old

    @property
    def _is_old(self) -> bool:
        return self.version.startswith(("PostgreSQL 12", "PostgreSQL 13"))

    def import_file(self, path: Path, columns: Mapping[str, str]) -> exp.Expr:
        """Copies the file into a temporary table, which is dropped with the transaction."""
        table = exp.to_table(IMPORTED)
        definitions = [
            exp.ColumnDef(this=exp.to_identifier(name, quoted=True), kind=exp.DataType.build(kind))
            for name, kind in columns.items()
        ]
        made = fill("postgres/received_table", table=exp.Schema(this=table, expressions=definitions))
        for sql, out_of in (
            (self.dialect.render(made), None),
            (f"COPY {IMPORTED} FROM STDIN (FORMAT csv, HEADER)", path),
            (f"ANALYZE {IMPORTED}", None),  # otherwise the planner would assume a small table
        ):
            self.run(Statement(sql, "sending of the plan", lambda rows: None, out_of=out_of))
        return table

    def existing_kind(self, name: TableName, replace: bool) -> str | None:
        [(has_schema, may_create, temporary, kind, owned)] = self._catalog(
            "place", schema=name.schema, relation=name.name
        )
        if not has_schema:
            raise UsageError(no_schema(name, self.label))
        if self._standby:
            raise UsageError(f"{self.label} is a standby server, which cannot create tables; name its primary")
        if not (may_create and temporary and (kind is None or owned or not replace)):
            schema = POSTGRES.identifier(name.schema)
            raise AccessError(
                f"the role {self.role} may not create {name}; it needs CREATE on schema {schema} and TEMPORARY on the "
                f"database, and must own what --replace removes. Without them: --sql table prints the statement to run"
            )
        return None if kind is None else KINDS.get(str(kind), "relation")

    def working_copy_name(self) -> TableName:
        """A temporary table of the only session, in a transaction that is never committed."""
        allowed, database = self._temporary
        if self._standby:
            raise AccessError(
                "a standby server cannot create temporary tables; leave out --workspace, or use its primary"
            )
        if not allowed:
            quoted = POSTGRES.identifier(str(database))
            raise AccessError(
                f"--workspace needs temporary tables, which the role {self.role} may not create; run: GRANT TEMPORARY "
                f"ON DATABASE {quoted} TO {self.role}, or leave it out"
            )
        return WORKING_COPY

    def finish_working_copy(self, name: TableName) -> int:
        """Also makes the transaction read-only."""
        table = name_text(POSTGRES, name)

        def settle(session: Session) -> list[Row]:
            session.execute(f"ANALYZE {table}")
            session.execute("SET TRANSACTION READ ONLY")
            return session.execute(self.dialect.render(fill("postgres/workspace_size", table=table)))

        try:
            rows = self._on_one_session(settle)
        except (psycopg.Error, UnicodeError) as error:
            raise self.translate(error, "making of the working copy") from None
        with understood(CATALOG):
            [[size]] = rows
            return integer(size)

    @property
    def remarks(self) -> tuple[str, ...]:
        said = [self.warning] if self.warning else []
        if self._views and not self.workspace and self.seconds > SECONDS_OF_SLOW_AUDIT and self.scans > MANY_SCANS:
            said.append(
                f"{count(self.scans)} scans of a view took {count(round(self.seconds))} s: {setting('workspace')} "
                f"(audit, keys) reads it once, into a temporary table of codes, if the role may make one"
            )
        return tuple(said)

    def release(self) -> None:
        self._lock_watch.stop()

    def table_bytes(self, table: TableName) -> TableBytes | None:
        """All its pages: a row store reads the whole rows, whatever columns a statement names. Long values are read on
        their own, where a statement needs them."""
        [(pages, long)] = self._catalog("table_bytes", table=name_text(POSTGRES, table))
        return None if pages is None else TableBytes(integer(pages) + integer(long), exact=not integer(long))

    def table_names(self) -> list[TableName]:
        return [_name(row) for row in self._catalog("tables") if row[5] is None]

    def describe(self, table: str | None) -> Table:
        rows = {_name(row): row for row in self._catalog("tables")}
        name = self._find(table, rows)
        oid, _, _, kind, estimate, *_, fenced, calls = rows[name]
        columns = tuple(
            Column(str(column), str(kind), bool(nullable), bool(readable), Comparison(str(comparison)), base=str(base))
            for column, kind, nullable, readable, comparison, _, base in self._catalog("columns", oids=[integer(oid)])
        )
        rows_about = None if estimate is None else integer(estimate)
        return self._table(name, KINDS[str(kind)], columns, rows_about, bool(fenced), bool(calls))

    def describe_listed(self, listed: CatalogTable) -> Table:
        """One statement to the planner for each type of a column that no table before had, one for each view."""
        if listed.obstacle is not None:
            raise AccessError(listed.obstacle)
        columns = (Column(c.name, c.type, c.nullable, c.readable, c.comparison, base=c.base) for c in listed.columns)
        return self._table(listed.name, listed.kind, tuple(columns), listed.estimated_rows, listed.fenced, listed.calls)

    def _table(
        self, name: TableName, kind: str, columns: tuple[Column, ...], rows: int | None, fenced: bool, calls: bool
    ) -> Table:
        if not columns:
            raise UsageError(f"{name} has no columns, so there is nothing to audit")
        self._views = self._views or kind == "view"
        if calls:
            self._refuse_planned_calls(name)
        return self._groupable(
            self._checked(
                Table(
                    name=name,
                    kind=kind,
                    columns=columns,
                    estimated_rows=rows,
                    notes=(NOTES[kind],) if kind in NOTES else (),
                    row_address=("tableoid", "ctid") if kind in HOLDING_ROWS and not fenced else (),
                    fenced=fenced,
                )
            )
        )

    def _checked(self, table: Table) -> Table:
        """The table. A view takes one statement. Raises UsageError if its values depend on more than rows and time."""
        if table.kind != "view":
            return table
        rows = self._catalog("dependences", schema=table.name.schema, relation=table.name.name, names="")
        verdicts = {verdict for _, verdict, _ in rows}
        changing, session, settings = (
            frozenset(str(name) for name, verdict, _ in rows if verdict == each)
            for each in ("changes", "session", "setting")
        )
        found = Dependences(changing, session, "zone" in verdicts, "time" in verdicts, settings, "order" in verdicts)
        changed = ", ".join(str(name) for (name,) in self._catalog("changed_settings")) if "style" in verdicts else ""
        if changed:  # the role's own are not used: values that are compared as texts have to be exact
            raise UsageError(
                f"the view {table.name} turns values into texts, and the audit's {changed} is not that of {self.role}, "
                f"so it would see other texts; audit a copy: CREATE TABLE ... AS SELECT * FROM {table.name}"
            )
        undeclared = any(own for _, verdict, own in rows if verdict == "changes")
        return checked(table, found, self.time_zone, UNDECLARED if undeclared else "")

    def _refuse_planned_calls(self, name: TableName) -> None:
        """Raises UsageError if the planner may run functions of the table's owner that could change the session."""
        rows = self._catalog("dependences", schema=name.schema, relation=name.name, names="")
        found = {str(name) for name, verdict, _ in rows if verdict == "changes" or name in ("execute", "u&")}
        if found:
            raise UsageError(
                f"functions in an index, CHECK, partition key or statistics of {name} use {few(sorted(found))}, and "
                f"the planner may run them as {self.role}, whom they could mislead; audit a copy, made by their owner: "
                f"CREATE TABLE ... AS SELECT * FROM {name}"
            )

    def parse_condition(self, table: Table, where: str) -> Condition:
        return parse_condition(self._catalog, self._bind, self.translate, table, where)

    def _freeze_time(self) -> None:
        """Without a snapshot each statement has its own time, and the report says so."""
        if self._one_snapshot:
            super()._freeze_time()

    def catalog(self, schema: str | None = None) -> Catalog:
        """A few statements to the system catalog. Omits partitions, and temporary tables of other sessions."""
        rows = {_name(row): row for row in self._catalog("tables") if row[5] != "temporary" and not row[6]}
        schema = find_schema(schema, rows, self.label)
        names = {integer(row[0]): name for name, row in rows.items() if schema is None or name.schema == schema}
        if not names:
            return Catalog(())
        oids = [*names]
        columns = self._catalog("columns", oids=oids)
        labels: dict[tuple[int, object], list[tuple[str, str]]] = {}
        for oid, column, kind, text in self._catalog("catalog_labels", oids=oids):
            labels.setdefault((integer(oid), column), []).append((str(kind), str(text)))
        unique: dict[int, list[tuple[str, ...]]] = {}
        for oid, key in self._catalog("catalog_keys", oids=oids):
            unique.setdefault(integer(oid), []).append(tuple(key))  # type: ignore[arg-type]
        by_table: dict[int, list[CatalogColumn]] = {}
        for name, data_type, nullable, readable, comparison, oid, base in columns:
            by_table.setdefault(integer(oid), []).append(
                CatalogColumn(
                    name=str(name),
                    type=str(data_type),
                    nullable=bool(nullable),
                    labels=tuple(labels.get((integer(oid), name), ())),
                    readable=bool(readable),
                    comparison=Comparison(str(comparison)),
                    base=str(base),
                    kind=kind_of(str(base), PATTERNS),
                )
            )
        definitions = self._definitions([oid for oid, name in names.items() if rows[name][3] in ("v", "m")])
        return Catalog(
            tables=tuple(
                CatalogTable(
                    name=name,
                    kind=KINDS[str(rows[name][3])],
                    columns=tuple(by_table.get(oid, ())),
                    estimated_rows=None if rows[name][4] is None else integer(rows[name][4]),
                    definition=definitions.get(oid),
                    unique=tuple(dict.fromkeys(unique.get(oid, ()))),
                    labels=tuple(labels.get((oid, None), ())),
                    obstacle=None if rows[name][5] is None else self._obstacle(name, str(rows[name][5])),
                    fenced=bool(rows[name][7]),
                    calls=bool(rows[name][8]),
                )
                for oid, name in names.items()
            ),
            foreign_keys=tuple(
                ForeignKey(
                    tuple(Attribute(names[integer(oid)], each) for each in own),  # type: ignore[attr-defined]
                    tuple(Attribute(names[integer(other)], each) for each in referenced),  # type: ignore[attr-defined]
                )
                for oid, own, other, referenced in self._catalog("catalog_foreign_keys", oids=oids)
                if {oid, other} <= names.keys()
            ),
        )

    def examine(self, schema: str | None = None, role: str | None = None) -> Examination:
        """Three statements to the system catalog."""
        older = self.version if self._is_old else ""
        return examine(self._catalog, self._server.role_path, self.workers, self.snapshot, schema, role, older)

    def _definitions(self, oids: Sequence[int]) -> dict[int, str]:
        """The queries of views, in which every name has its schema."""
        if not oids:
            return {}
        rows = self._catalog("catalog_views", oids=oids)
        return {integer(oid): str(text).strip().removesuffix(";") for oid, text in rows}

    def _obstacle(self, name: TableName, obstacle: str) -> str:
        """The message why a table cannot be read, with the remedy."""
        return OBSTACLES[obstacle].format(
            name=name,
            schema=name.schema,
            quoted=name_text(POSTGRES, name),
            quoted_schema=POSTGRES.identifier(name.schema),
            role=self.role,
        )

    def _find(self, typed: str | None, rows: dict[TableName, Row]) -> TableName:
        """The table that the text names. One that cannot be audited is an error, unless another one matches."""
        path = self._server.role_path
        obstacles = {name: row[5] for name, row in rows.items() if row[5] is not None}
        try:
            return find_table(typed, [name for name in rows if name not in obstacles], "postgres", path, self.label)
        except UnknownName:
            try:
                name = find_table(typed, list(obstacles), "postgres", path, self.label)
            except UsageError:
                name = None
            if name is None:
                raise
        raise AccessError(self._obstacle(name, str(obstacles[name])))

    def _groupable(self, table: Table) -> Table:
        """The table, whose columns this role can group by. One statement to the planner, which holds a lock on a table
        until the snapshot ends; none where other tables of the same types were grouped."""
        types = {(column.type, column.base, column.comparison) for column in table.columns if column.readable}
        if table.kind == "table" and types <= self._grouped:
            return table
        source = relation(self.dialect, table, [column for column in table.columns if column.readable])
        names = ", ".join(source.column_text(POSTGRES, column.name) for column in table.columns if column.readable)
        parts = {"relation": source.text(POSTGRES), "columns": names}
        try:
            self._attempt(put_together(catalog_statement(POSTGRES, "groupable", *parts), parts))
        except (psycopg.Error, UnicodeError) as error:
            raise self.translate(error, f"description of {table.name}") from None
        self._grouped |= types
        return table

    def _catalog(self, template: str, **holes: Filling | Sequence[int]) -> list[Row]:
        """Rows of a catalog query. What is made of them afterwards is ours, and so are its faults."""
        try:
            rows = self._attempt(statement_text(template, **holes))
        except (psycopg.Error, UnicodeError) as error:
            raise self.translate(error, CATALOG) from None
        return answered(template, rows)

    def _attempt(self, sql: str) -> list[Row]:
        """`PostgresSession.attempt` on one of the sessions. Raises psycopg.Error, UnicodeError."""
        return self._tried(lambda session: session.attempt(sql))

    def _bind(self, *statements: str) -> None:
        """`PostgresSession.bind` on one of the sessions. Raises psycopg.Error, UnicodeError."""
        self._tried(lambda session: session.bind(*statements))

    def _tried(self, work: Callable[[PostgresSession], Answer]) -> Answer:
        """The result of a work on one session. An error that leaves the session usable does not end it."""

        def tried(session: Session) -> Callable[[], Answer]:
            try:
                answer = work(cast(PostgresSession, session))
            except (psycopg.Error, UnicodeError) as error:
                if not cast(PostgresSession, session).usable:
                    raise
                return partial(_raise, error)
            return lambda: answer

        return self._on_one_session(tried)()


def connect(source: str, options: ConnectOptions) -> PostgresEngine:
    """An engine on a libpq URL or connection string; it has fewer workers if the server has too few connections.

    For writing, with a workspace, and for a gentle audit there is one session. A writing session always has one
    snapshot. Another connection checks every second or two whether other sessions wait for locks of these.
    Raises SourceError, StatementError, UsageError, Interrupted, BudgetSpent.
    """
    if options.workspace and not options.snapshot:
        raise UsageError("--workspace needs one snapshot; leave out --no-snapshot")
    parameters = connection_parameters(source)
    alone = options.writable or options.workspace
    server = Server(
        source,
        parameters,
        options.statement_seconds,
        options.snapshot or alone,
        options.writable,
        options.workspace,
        options.gentle,
    )
    return PostgresEngine(server, 1 if alone or options.gentle else options.workers)


def _raise(error: Exception) -> NoReturn:
    raise error


def _name(row: Row) -> TableName:
    return TableName(name=str(row[2]), schema=str(row[1]))
