"""Which tables and columns of its sources a policy file knows.

A table is known when an entry names it, or fits it, whether to audit it or to leave it out (`audit = false`); a
partition goes with its table. What an entry knows of columns:

- An entry that names no column of a table audits all of them, new ones too, or leaves the table out as it is: all are
  known.
- One that names a quasi-identifier lists the columns, as init does; so does one with `audit = false` that names any.
  What it does not name is unknown.
- One that names others only says what to leave out. The audit takes the rest for quasi-identifiers; known is what is
  proposed as that.
"""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from qidsql.column_roles.proposals import Proposal, TableProposal
from qidsql.column_roles.table_proposals import TableProposals
from qidsql.core.catalog import Catalog, CatalogColumn, CatalogTable
from qidsql.core.tables import PolicyRole, TableName
from qidsql.operations.coverage import Change, Coverage, Gap, Severity, SourceCoverage
from qidsql.operations.history.records import TABLES as OF_THE_HISTORY
from qidsql.operations.history.records import LastColumns
from qidsql.operations.plan import Planned, SourcePlan
from qidsql.operations.policy_file import DEFAULT_NAME, PolicyFile, TableEntry

IDENTIFYING = (PolicyRole.DIRECT_IDENTIFIER, PolicyRole.QUASI_IDENTIFIER)
LISTING = "quasi-identifier"  # an entry that names one lists its columns


def coverage(plans: Sequence[SourcePlan], file: PolicyFile, asked_for: Sequence[Planned] | None = None) -> Coverage:
    """How the catalogs of the sources and the policy file agree; no statement is asked.

    `asked_for` are the tables that `--only` chose: then only these are looked at.
    """
    names = None if asked_for is None else {(each.entry.source, each.name) for each in asked_for}
    surveys = [
        _Survey(plan, file, names)
        for plan in plans
        if names is None or any(source == plan.source.name for source, _ in names)
    ]
    found = [(survey.counted(), survey.gaps) for survey in surveys]
    every = Coverage(tuple(counted for counted, _ in found), part=names is not None)
    return every.with_gaps(gap for _, gaps in found for gap in gaps)


class _Survey:
    """One source held against its entries."""

    def __init__(self, plan: SourcePlan, file: PolicyFile, names: "set[tuple[str, TableName | None]] | None") -> None:
        self.plan, self.file, self.names = plan, file, names
        self.gaps: list[Gap] = []
        self._proposals: TableProposals | None = None

    def counted(self) -> SourceCoverage:
        """The numbers; the gaps are there afterwards."""
        plan, name = self.plan, self.plan.source.name
        if plan.catalog is None:
            return SourceCoverage(name, plan.label, error=plan.error)
        entries, ours = _entries(plan, plan.catalog), self._of_the_history(plan.catalog)
        tables = [table for table in plan.catalog.tables if table.columns and table.name not in ours]
        within = [each for each in tables if each.name in entries or plan.source.answers_for(str(each.name))]
        looked_at = [table for table in within if self._is_looked_at(table.name)]
        known = [self._table(table, entries.get(table.name)) for table in looked_at]
        self._vanished({table.name: table for table in plan.catalog.tables})
        return SourceCoverage(
            source=name,
            label=plan.label,
            tables=len(looked_at),
            tables_covered=sum(columns is not None for columns in known),
            columns=sum(len(table.columns) for table in looked_at),
            columns_covered=sum(columns or 0 for columns in known),
            out_of_scope=len(tables) - len(within),
            mend=self._mend(),
        )

    def _is_looked_at(self, table: TableName) -> bool:
        return self.names is None or (self.plan.source.name, table) in self.names

    def _of_the_history(self, catalog: Catalog) -> set[TableName]:
        """The tables of the history, where a schema of the source holds it."""
        within = {table.name for table in catalog.tables if table.name.schema == self.file.history_schema}
        named = {name for name in within if name.name in OF_THE_HISTORY}
        return named if OF_THE_HISTORY[0] in {name.name for name in named} else set()

    def _mend(self) -> str:
        url = self.plan.source.url if self.plan.source.url.startswith("env:") else self.plan.label
        output = "" if str(self.file.path) == DEFAULT_NAME else f" --output {shlex.quote(str(self.file.path))}"
        return f"qidsql init {shlex.quote(url)} --update{output}"

    def _table(self, table: CatalogTable, entry: TableEntry | None) -> int | None:
        """How many columns of a table are covered; None where the table itself is not."""
        name = table.name
        if entry is None:
            self._unknown_table(table)
        elif not entry.decided:
            why = f": {table.obstacle}" if table.obstacle else ""
            self._add(Change.UNDECIDED, f"{name} is marked CHECK, and nobody has decided{why}", entry, name)
        elif entry.audit and table.obstacle is not None:
            self._add(Change.UNREADABLE, f"{name} is not audited: {table.obstacle}", entry, name)
        else:
            known = _KnownColumns(entry, table)
            return sum(self._covers(known, column) for column in table.columns)
        return None

    def _unknown_table(self, table: CatalogTable) -> None:
        proposal = self._proposed(table)
        told = f"{table.name} is not in the policy, and not audited; proposed: {_roles(proposal.columns)}"
        told += f"; {table.obstacle}" if table.obstacle else ""
        self._add_new(told, proposal, proposal.columns, None, table.name)

    def _covers(self, known: "_KnownColumns", column: CatalogColumn) -> bool:
        """Whether a column of a known table is covered."""
        entry, table, name = known.entry, known.table.name, column.name
        if entry.audit and not column.readable and known.roles.get(name) in (None, LISTING):
            self._add(Change.UNREADABLE, f"{table}.{name} may not be read by this user", entry, table, name)
            return False
        if name in known.undecided:
            told = f"{table}.{name}: its role is proposed (CHECK), and nobody has decided"
            self._add(Change.UNDECIDED, told, entry, table, name)
            return False
        if name in known.named or not known.names_any:
            return True
        whole = self._proposed(known.table)
        proposal = next(each for each in whole.columns if each.column == name)
        if not known.lists and proposal.role is PolicyRole.QUASI_IDENTIFIER:
            return True
        how = "audited as a quasi-identifier" if entry.audit else "left out with its table"
        told = f"{table}.{name} is not in the policy, and {how}; proposed: {proposal.role} ({proposal.reason})"
        self._add_new(told, whole, [proposal], entry, table, name)
        return False

    def _vanished(self, tables: Mapping[TableName, CatalogTable]) -> None:
        """Adds what entries name, and the source does not have."""
        planned = {id(each.entry): each.name for each in self.plan.tables if each.name is not None}
        for entry in self.plan.entries:
            if entry.table is None or (entry.is_pattern and entry.audit):
                continue  # a pattern that no table fits is an error of the run
            name = planned.get(id(entry))
            about = self.plan.written.about(entry) if name is None else [name]
            if not about and self.names is None:
                self._add(Change.VANISHED, f"{entry.table}, which the policy names, is not in the source", entry)
            if len(about) == 1 and not entry.is_pattern and about[0] in tables and self._is_looked_at(about[0]):
                for gone in _KnownColumns(entry, tables[about[0]]).vanished:
                    told = f"{about[0]}.{gone}, which the policy names, is not in the table"
                    self._add(Change.VANISHED, told, entry, about[0], gone)

    def _proposed(self, table: CatalogTable) -> TableProposal:
        if self._proposals is None:
            assert self.plan.catalog is not None
            self._proposals = TableProposals(self.plan.catalog)
        return self._proposals.of(table)

    def _add_new(
        self,
        told: str,
        whole: TableProposal,
        proposed: Sequence[Proposal],
        entry: TableEntry | None,
        table: TableName,
        column: str | None = None,
    ) -> None:
        """Adds what is unknown, as grave as the policy has it, else as the roles proposed for it."""
        on_new = self.file.on_new if entry is None else entry.on_new
        identifying = any(each.role in IDENTIFYING for each in proposed) and not whole.of_things
        if on_new != "ignore":
            violates = identifying if on_new is None else on_new == "violation"
            severity = Severity.VIOLATION if violates else Severity.WARNING
            roles = tuple(dict.fromkeys(str(each.role) for each in proposed))
            self._add(Change.UNKNOWN, told, entry, table, column, severity=severity, roles=roles)

    def _add(
        self,
        change: Change,
        text: str,
        entry: TableEntry | None,
        table: TableName | None = None,
        column: str | None = None,
        **more: Any,
    ) -> None:
        """Adds a gap; without a table it is about what the entry names."""
        named = entry.label if table is None and entry is not None else str(table)
        owner = self.file.owner if entry is None else entry.owner
        self.gaps.append(Gap(self.plan.source.name, named, column, change, text, owner=owner, **more))


def _entries(plan: SourcePlan, catalog: Catalog) -> dict[TableName, TableEntry]:
    """The entry about each table. One that this user may not read is in no plan, and goes by its name."""
    found = {each.name: each.entry for each in plan.tables if each.name is not None} | plan.left_out
    unreadable = {table.name for table in catalog.tables if table.obstacle is not None}
    for entry in sorted(plan.entries, key=lambda entry: entry.is_pattern) if unreadable else ():
        for name in plan.written.about(entry):
            if name in unreadable:
                found.setdefault(name, entry)
    return found


class _KnownColumns:
    """What an entry says of the columns of one of its tables."""

    def __init__(self, entry: TableEntry, table: CatalogTable) -> None:
        self.entry, self.table = entry, table
        self._folded: dict[str, list[str]] = {}
        for column in table.columns:
            self._folded.setdefault(column.name.lower(), []).append(column.name)
        entity = entry.options.get("entity")
        own = [*entry.roles, *([str(entity)] if entity else [])]
        self.roles = self._resolved({**entry.default_roles, **entry.roles})
        self.named = self._resolved(dict.fromkeys([*own, *self.roles], ""))
        self.undecided = self._resolved(dict.fromkeys(entry.undecided, ""))
        self.vanished = [name for name in dict.fromkeys(own) if not self._resolved({name: ""})]
        given = {*entry.roles.values(), *self.roles.values()}  # an entry whose columns are all gone names columns still
        self.names_any = bool(given)
        self.lists = LISTING in given or not entry.audit

    def _resolved(self, names: Mapping[str, str]) -> dict[str, str]:
        """The columns that are meant by these names, with what the names stand for: exactly, else in other letter case
        where that is unambiguous."""
        found: dict[str, str] = {}
        for name, meaning in names.items():
            near = self._folded.get(name.lower(), [])
            if name in near or len(near) == 1:
                found[name if name in near else near[0]] = meaning
        return found


def changed_columns(plans: Sequence[SourcePlan], last: Mapping[tuple[str, str], LastColumns]) -> list[Gap]:
    """What became of the columns of the tables to audit since each was last audited; new ones are not told."""
    gaps: list[Gap] = []
    for plan in plans:
        there = {} if plan.catalog is None else {table.name: table for table in plan.catalog.tables}
        for planned in plan.tables:
            seen = last.get((plan.source.name, planned.table))
            if planned.name in there and seen is not None:
                gaps += _changed(planned, there[planned.name], seen)
    return gaps


def _changed(planned: Planned, table: CatalogTable, seen: LastColumns) -> Iterator[Gap]:
    entry, types = planned.entry, {column.name: column.type for column in table.columns}
    for name, kind in seen.types.items():
        if name not in types:
            told = f"{table.name}.{name} was there in run {seen.run}, and is not in the table"
            yield Gap(entry.source, planned.table, name, Change.VANISHED, told, owner=entry.owner)
        elif kind != types[name]:
            told = f"{table.name}.{name} is {types[name]}, and was {kind} in run {seen.run}"
            yield Gap(entry.source, planned.table, name, Change.RETYPED, told, owner=entry.owner)


def _roles(columns: Iterable[Proposal]) -> str:
    """id, name direct identifier; birth_date quasi-identifier"""
    by_role: dict[str, list[str]] = {}
    for each in columns:
        by_role.setdefault(str(each.role), []).append(each.column)
    return "; ".join(f"{', '.join(names)} {role}" for role, names in by_role.items())
