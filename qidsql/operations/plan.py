"""The plan of a run: the tables that the policy file names, and those of the catalogs that match its patterns."""

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property

from qidsql.commands.init.draft import spellings
from qidsql.core.policy import Policy
from qidsql.core.tables import Catalog, Table, TableName
from qidsql.declarations.results import plain
from qidsql.engines.base import Engine
from qidsql.errors import (
    AccessError,
    BudgetSpent,
    Interrupted,
    QidsqlError,
    StatementError,
    StoreError,
    UnknownName,
    UsageError,
)
from qidsql.operations.current_source import CurrentSource
from qidsql.operations.history.records import History, UnfinishedTable
from qidsql.operations.policy_entries import SourceEntry
from qidsql.operations.policy_file import PolicyFile, TableEntry
from qidsql.operations.table_run import TableRun
from qidsql.operations.unchanged import asked_of
from qidsql.sql.relation import table_node
from qidsql.wording.texts import few


@dataclass(frozen=True, slots=True)
class PlannedTable:
    """A table to audit; `error` if it cannot be found or reached."""

    entry: TableEntry
    label: str  # the source, without secrets
    table: str  # its name, or as written in the policy file
    typed: str | None = None  # the name to look up in the engine; None: its only table
    error: str | None = None
    name: TableName | None = None  # None if it was not found


class TableIndex:
    """The tables of a catalog by every spelling of their names; resolves entries without querying the engine."""

    def __init__(self, tables: Iterable[TableName]) -> None:
        self._tables = list(tables)

    def about(self, entry: TableEntry) -> list[TableName]:
        """The tables that an entry refers to: those that match its pattern or bear its name."""
        if entry.table is None:
            return self._tables
        if entry.is_pattern:
            return [name for name in self._tables if entry.matches(str(name))]
        return self._by_spelling.get(entry.table.casefold(), [])

    def left_out(self, entry: TableEntry) -> list[TableName]:
        """The tables that an entry leaves out. If several bear its name, only the one that it names with its schema."""
        found = self.about(entry)
        if entry.is_pattern or len(found) == 1:
            return found
        return [name for name in found if str(name) == entry.table]

    @cached_property
    def _by_spelling(self) -> dict[str, list[TableName]]:
        found: dict[str, list[TableName]] = {}
        for name in self._tables:
            for spelling in spellings(name):
                found.setdefault(spelling, []).append(name)
        return found


@dataclass
class SourcePlan:
    """A source of the policy file, with its catalog and the tables that its entries refer to."""

    source: SourceEntry
    entries: list[TableEntry]
    label: str
    catalog: Catalog | None = None
    error: str | None = None  # why the catalog could not be read
    index: TableIndex = field(default_factory=lambda: TableIndex(()))
    tables: list[PlannedTable] = field(default_factory=list)
    left_out: dict[TableName, TableEntry] = field(default_factory=dict)  # known, but not audited


def plan(
    file: PolicyFile, current: CurrentSource, stage: Callable[[str], None] = lambda words: None
) -> list[SourcePlan]:
    """Reads the catalog of every source of the file. A source that cannot be reached has an `error`."""
    plans = []
    for name, source in file.sources.items():
        found = SourcePlan(source, [entry for entry in file.tables if entry.source == name], name)
        plans.append(found)
        stage(f"{name}: reading the catalog")
        try:
            with current.engine(source) as engine:
                found.label = engine.label
                _read(engine, found)
                _fill(engine, found)
        except (BudgetSpent, Interrupted):
            raise
        except QidsqlError as error:
            found.error = str(error)
            found.tables = [
                PlannedTable(entry, found.label, entry.label, entry.table, str(error))
                for entry in found.entries
                if entry.audit
            ]
    return plans


def tables_of(plans: Iterable[SourcePlan], file: PolicyFile) -> list[PlannedTable]:
    """The tables to audit, in the order of the policy file."""
    places = {id(entry): place for place, entry in enumerate(file.tables)}
    return sorted((each for plan in plans for each in plan.tables), key=lambda each: places[id(each.entry)])


def selected(planned: list[PlannedTable], only: Sequence[str], file: PolicyFile) -> list[PlannedTable]:
    """The tables selected by `only`: a table, a source, source.table or a pattern. Raises UnknownName."""
    if not only:
        return planned
    unknown = [wanted for wanted in only if not any(_matches(wanted, each) for each in planned)]
    if unknown:
        raise UnknownName("table", unknown, str(file.path), sorted({each.table for each in planned}))
    return [each for each in planned if any(_matches(wanted, each) for wanted in only)]


def of_models(
    planned: list[PlannedTable], models: Sequence[TableName], plans: Iterable[SourcePlan]
) -> list[PlannedTable]:
    """Those of the planned tables that dbt's selection means. Raises UsageError if it means one in no entry: what the
    policy does not know must not pass."""

    def spelt(name: TableName) -> tuple[str, str]:
        return name.schema.casefold(), name.name.casefold()

    known = {spelt(each.name) for each in planned if each.name}
    left_out = {spelt(name) for plan in plans for name in plan.left_out}
    if missing := [str(each) for each in models if spelt(each) not in known | left_out]:
        raise UsageError(
            f"--select means {few(missing)}, which the policy file does not list, or the source does not have; add it "
            f"with qidsql init SOURCE --update, or leave it out there with audit = false"
        )
    wanted = {spelt(each) for each in models}
    return [each for each in planned if each.name and spelt(each.name) in wanted]


def _read(engine: Engine, plan: SourcePlan) -> None:
    """Reads the catalog. Tables are audited even if it cannot be read."""
    try:
        plan.catalog = engine.catalog()
        plan.index = TableIndex(table.name for table in plan.catalog.tables)
    except (StatementError, AccessError) as error:
        plan.error = str(error)


def _fill(engine: Engine, plan: SourcePlan) -> None:
    """Finds the tables of each entry. An entry that names a table takes precedence over a pattern."""
    known: dict[str, TableName | None] = {}
    for table in engine.table_names():
        known[str(table)] = None if str(table) in known else table  # None: two tables are written alike
    taken: set[str] = set()
    for entry in sorted(plan.entries, key=lambda entry: entry.is_pattern):
        if not entry.audit:
            left_out = {table: entry for table in plan.index.left_out(entry) if str(table) not in taken}
            plan.left_out |= left_out
            taken.update(map(str, left_out))
        elif not entry.is_pattern or entry.table in known:
            plan.tables.append(_named(engine, entry, known, taken))
        else:
            matching = [name for name in known if entry.matches(name)]
            if not matching:
                named = _named(engine, entry, known, taken)  # files of a server: /lake/visits/*.parquet
                error = f"no table of {engine.label} that this user may read matches {entry.label}"
                unknown = PlannedTable(entry, engine.label, entry.label, None, error)
                plan.tables.append(named if named.error is None else unknown)
            for name in matching:
                if name not in taken:
                    exact = known[name]
                    typed = name if exact is None else table_node(exact).sql(engine.dialect.name)
                    plan.tables.append(PlannedTable(entry, engine.label, name, typed, name=exact))
            taken.update(matching)
    unread = {each.name: each.obstacle for each in plan.catalog.tables} if plan.catalog else {}
    plan.tables = [
        replace(each, error=each.error or (unread.get(each.name) if each.name else None)) for each in plan.tables
    ]


def _named(engine: Engine, entry: TableEntry, known: Mapping[str, TableName | None], taken: set[str]) -> PlannedTable:
    """The table that an entry names; looked up in the engine unless it is written as in the catalog."""
    try:
        name = (known.get(entry.table) if entry.table else None) or engine.describe(entry.table).name
    except (BudgetSpent, Interrupted):
        raise
    except QidsqlError as error:
        return PlannedTable(entry, engine.label, entry.label, entry.table, str(error))
    again = "another entry of the policy file names this table too" if str(name) in taken else None
    taken.add(str(name))
    return PlannedTable(entry, engine.label, str(name), entry.table, again, name)


def _matches(wanted: str, planned: PlannedTable) -> bool:
    names = {planned.table, f"{planned.entry.source}.{planned.table}", planned.entry.source, planned.entry.table}
    return wanted in names or replace(planned.entry, table=wanted).matches(planned.table)


# Resuming an interrupted run: its finished tables are stored in the history until a complete run is recorded.


# Seconds between two writes: a killed run loses the tables of so many seconds, and the one in progress.
KEEP_EVERY = 2.0


class Resumption:
    """The tables that this run can take over from interrupted ones, and those that it stores itself.

    `notes` receives what the user should know. If the history fails, the run goes on without it.
    """

    def __init__(self, run: str, history: History | None, unfinished: Sequence[UnfinishedTable], notes: list[str]):
        self._run = run
        self._history = history
        self._unfinished = unfinished
        self._notes = notes
        self._waiting: list[tuple[UnfinishedTable, bytes]] = []
        self._written = time.monotonic()

    def key(
        self, entry: TableEntry, engine: Engine, table: Table, policy: Policy, today: date
    ) -> UnfinishedTable | None:
        """The key to store a table under; None if its data could change unnoticed."""
        time_dependent = table.condition is not None and table.condition.time_dependent
        token = None if self._history is None or time_dependent else engine.state_token(table)
        if token is None:
            return None
        inputs = [
            asked_of(engine, policy, entry.all_weights, entry.options.get("hierarchies")),
            plain(policy),
            entry.exemptions,
            today,
        ]
        asked = hashlib.sha256(json.dumps(inputs, default=str).encode()).hexdigest()
        return UnfinishedTable(self._run, engine.label, str(table.name), asked, token)

    def resumed(self, key: UnfinishedTable) -> TableRun | None:
        """The table from an interrupted run, if it is still valid; a note reports if it is not."""
        same = [each for each in self._unfinished if (each.source, each.table) == (key.source, key.table)]
        if self._history is None or not same:
            return None
        for each in reversed(same):
            if (each.question, each.token) == (key.question, key.token):
                try:
                    return self._history.unfinished_table(each)
                except StoreError as error:
                    self._give_up(f"this run resumes no further table: {error}")
                    return None
        changed = "policy" if same[-1].token == key.token else "source"
        self._notes.append(f"{key.table}: audited again, since the {changed} has changed since run {same[-1].run}")
        return None

    def keep(self, key: UnfinishedTable, packed: bytes) -> None:
        """Stores a finished table, packed, together with others once in KEEP_EVERY seconds."""
        if self._history is not None:
            self._waiting.append((key, packed))
            if time.monotonic() >= self._written + KEEP_EVERY:
                self.write()

    def write(self) -> None:
        """Stores the tables that wait for it; a failure is only noted."""
        waiting, self._waiting = self._waiting, []
        try:
            if self._history is not None and waiting:
                self._history.keep_unfinished(waiting)
        except StoreError as error:
            self._give_up(f"this run cannot be resumed: {error}")
        self._written = time.monotonic()

    def _give_up(self, note: str) -> None:
        self._notes.append(note)
        self._history = None  # each further attempt could take as long to fail
