"""What a run is to audit: the tables that the policy file names, and those of the catalogs that fit its patterns."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from qidsql.commands.init.draft import spellings
from qidsql.core.catalog import Catalog
from qidsql.core.tables import TableName
from qidsql.engines.base import Engine
from qidsql.engines.connect import connect
from qidsql.errors import AccessError, BudgetSpent, Interrupted, QidsqlError, StatementError, UnknownName
from qidsql.operations.policy_file import PolicyFile, Source, TableEntry
from qidsql.sql.relation import table_node


@dataclass(frozen=True, slots=True)
class Planned:
    """A table that a run is to audit; one that cannot be found or reached has an `error`."""

    entry: TableEntry
    label: str  # the source as people may see it
    table: str  # its name, or what the policy file says
    typed: str | None = None  # what the engine is asked for; None: its only table
    error: str | None = None
    name: TableName | None = None  # None where it was not found


class Written:
    """The tables of a catalog by the ways to write their names, for entries that no engine is asked about."""

    def __init__(self, tables: Iterable[TableName]) -> None:
        self._tables = list(tables)

    def about(self, entry: TableEntry) -> list[TableName]:
        """The tables that an entry means: those of its pattern, or those that are called so."""
        if entry.table is None:
            return self._tables
        if entry.is_pattern:
            return [name for name in self._tables if entry.matches(str(name))]
        return self._by_spelling.get(entry.table.casefold(), [])

    def left_out(self, entry: TableEntry) -> list[TableName]:
        """Those that an entry leaves out: of several that are called so, the one that it writes with its schema."""
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
    """A source of the policy file: its catalog, and what the entries of the file mean there."""

    source: Source
    entries: list[TableEntry]
    label: str
    catalog: Catalog | None = None
    error: str | None = None  # why the catalog could not be read
    written: Written = field(default_factory=lambda: Written(()))
    tables: list[Planned] = field(default_factory=list)
    left_out: dict[TableName, TableEntry] = field(default_factory=dict)  # known, and not to be audited


def plan(file: PolicyFile, stage: Callable[[str], None] = lambda words: None) -> list[SourcePlan]:
    """Every source of the file with its catalog; one connection each. One that cannot be reached has an error."""
    plans = []
    for name, source in file.sources.items():
        found = SourcePlan(source, [entry for entry in file.tables if entry.source == name], name)
        plans.append(found)
        stage(f"{name}: reading the catalog")
        try:
            with connect(source.url, workers=1, snapshot=source.snapshot, gentle=source.gentle) as engine:
                found.label = engine.label
                _read(engine, found)
                _fill(engine, found)
        except (BudgetSpent, Interrupted):
            raise
        except QidsqlError as error:
            found.error = str(error)
            found.tables = [
                Planned(entry, found.label, entry.label, entry.table, str(error))
                for entry in found.entries
                if entry.audit
            ]
    return plans


def tables_of(plans: Iterable[SourcePlan], file: PolicyFile) -> list[Planned]:
    """What is to be audited, in the order of the policy file."""
    places = {id(entry): place for place, entry in enumerate(file.tables)}
    return sorted((each for plan in plans for each in plan.tables), key=lambda each: places[id(each.entry)])


def chosen(planned: list[Planned], only: Sequence[str], file: PolicyFile) -> list[Planned]:
    """Those that are asked for: by table, source, source.table or a pattern. Raises UnknownName."""
    if not only:
        return planned
    unknown = [wish for wish in only if not any(_is_meant(wish, each) for each in planned)]
    if unknown:
        raise UnknownName("table", unknown, str(file.path), sorted({each.table for each in planned}))
    return [each for each in planned if any(_is_meant(wish, each) for wish in only)]


def _read(engine: Engine, plan: SourcePlan) -> None:
    """The catalog; one that cannot be read keeps no table from being audited."""
    try:
        plan.catalog = engine.catalog()
        plan.written = Written(table.name for table in plan.catalog.tables)
    except (StatementError, AccessError) as error:
        plan.error = str(error)


def _fill(engine: Engine, plan: SourcePlan) -> None:
    """The tables that the entries mean. One that is named goes with its own entry, not with a pattern's."""
    known: dict[str, TableName | None] = {}
    for table in engine.table_names():
        known[str(table)] = None if str(table) in known else table  # None: two that are written alike
    taken: set[str] = set()
    for entry in sorted(plan.entries, key=lambda entry: entry.is_pattern):
        if not entry.audit:
            left_out = {table: entry for table in plan.written.left_out(entry) if str(table) not in taken}
            plan.left_out |= left_out
            taken.update(map(str, left_out))
        elif not entry.is_pattern or entry.table in known:
            plan.tables.append(_named(engine, entry, known, taken))
        else:
            matching = [name for name in known if entry.matches(name)]
            if not matching:
                nothing = f"no table of {engine.label} that this user may read fits {entry.table}"
                plan.tables.append(Planned(entry, engine.label, entry.label, None, nothing))
            for name in matching:
                if name not in taken:
                    exact = known[name]
                    typed = name if exact is None else table_node(exact).sql(engine.dialect.name)
                    plan.tables.append(Planned(entry, engine.label, name, typed, name=exact))
            taken.update(matching)


def _named(engine: Engine, entry: TableEntry, known: Mapping[str, TableName | None], taken: set[str]) -> Planned:
    """The table that an entry names; the engine is asked where it is not written as the catalog has it."""
    try:
        name = (known.get(entry.table) if entry.table else None) or engine.describe(entry.table).name
    except (BudgetSpent, Interrupted):
        raise
    except QidsqlError as error:
        return Planned(entry, engine.label, entry.label, entry.table, str(error))
    again = "another entry of the policy file names this table too" if str(name) in taken else None
    taken.add(str(name))
    return Planned(entry, engine.label, str(name), entry.table, again, name)


def _is_meant(wish: str, planned: Planned) -> bool:
    names = {planned.table, f"{planned.entry.source}.{planned.table}", planned.entry.source, planned.entry.table}
    return wish in names or replace(planned.entry, table=wish).matches(planned.table)
