"""Compares the catalogs of the sources with the policy file: which tables and columns it covers.

A table is known if an entry names it or its pattern matches it, whether the entry audits it or leaves it out
(`audit = false`); a partition belongs to its table. Which columns are known depends on the entry:

- An entry that names no columns audits all of them, new ones too, or leaves out the whole table: all are known.
- An entry that names a quasi-identifier lists the columns, as init does; so does one with `audit = false` that names
  any column. Columns that are not listed are unknown.
- An entry that names other roles only says what to leave out. The audit treats the rest as quasi-identifiers, so a
  column is known if quasi-identifier is the role proposed for it.
"""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from qidsql.column_roles.proposal import Proposal, TableProposal, TableProposals
from qidsql.core.tables import Catalog, CatalogColumn, CatalogTable, PolicyRole, TableName
from qidsql.operations.coverage import Coverage, Gap, GapKind, Severity, SourceCoverage
from qidsql.operations.history.records import TABLES as HISTORY_TABLES
from qidsql.operations.history.records import LastColumns
from qidsql.operations.plan import PlannedTable, SourcePlan
from qidsql.operations.policy_file import PolicyFile, TableEntry
from qidsql.operations.policy_lookup import DEFAULT_NAME

IDENTIFYING = (PolicyRole.DIRECT_IDENTIFIER, PolicyRole.QUASI_IDENTIFIER)
LISTING = "quasi-identifier"  # an entry with this role lists all its columns


def coverage(plans: Sequence[SourcePlan], file: PolicyFile, selected: Sequence[PlannedTable] | None = None) -> Coverage:
    """Compares the catalogs of the sources with the policy file; runs no statement.

    `selected` are the tables chosen by `--only`; the coverage is then limited to them.
    """
    names = None if selected is None else {(each.entry.source, each.name) for each in selected}
    surveys = [
        _Survey(plan, file, names)
        for plan in plans
        if names is None or any(source == plan.source.name for source, _ in names)
    ]
    found = [(survey.counted(), survey.gaps) for survey in surveys]
    every = Coverage(tuple(counted for counted, _ in found), part=names is not None)
    return every.with_gaps(gap for _, gaps in found for gap in gaps)


class _Survey:
    """Compares one source with its entries."""

    def __init__(self, plan: SourcePlan, file: PolicyFile, names: "set[tuple[str, TableName | None]] | None") -> None:
        self.plan, self.file, self.names = plan, file, names
        self.gaps: list[Gap] = []
        self._proposals: TableProposals | None = None

    def counted(self) -> SourceCoverage:
        """Returns the counts; fills `gaps`."""
        plan, name = self.plan, self.plan.source.name
        if plan.catalog is None:
            return SourceCoverage(name, plan.label, error=plan.error)
        entries, ours = _entries(plan, plan.catalog), self._history_tables(plan.catalog)
        tables = [table for table in plan.catalog.tables if _may_have_columns(table) and table.name not in ours]
        within = [each for each in tables if each.name in entries or plan.source.in_scope(str(each.name))]
        chosen = [table for table in within if self._is_selected(table.name)]
        known = [self._table(table, entries.get(table.name)) for table in chosen]
        self._vanished({table.name: table for table in plan.catalog.tables if table.columns})
        return SourceCoverage(
            source=name,
            label=plan.label,
            tables=len(chosen),
            tables_covered=sum(columns is not None for columns in known),
            columns=sum(len(table.columns) for table in chosen),
            columns_covered=sum(columns or 0 for columns in known),
            out_of_scope=len(tables) - len(within),
            mend=self._mend(),
        )

    def _is_selected(self, table: TableName) -> bool:
        return self.names is None or (self.plan.source.name, table) in self.names

    def _history_tables(self, catalog: Catalog) -> set[TableName]:
        """The tables of the history, if it is in a schema of this source."""
        within = {table.name for table in catalog.tables if table.name.schema == self.file.history_schema}
        named = {name for name in within if name.name in HISTORY_TABLES}
        return named if HISTORY_TABLES[0] in {name.name for name in named} else set()

    def _mend(self) -> str:
        url = self.plan.source.url if self.plan.source.url.startswith("env:") else self.plan.label
        output = "" if str(self.file.path) == DEFAULT_NAME else f" --output {shlex.quote(str(self.file.path))}"
        return f"qidsql init {shlex.quote(url)} --update{output}"

    def _table(self, table: CatalogTable, entry: TableEntry | None) -> int | None:
        """The number of covered columns of a table; None if the table itself is not covered."""
        name = table.name
        if entry is None:
            self._unknown_table(table, "is not in the policy and not audited")
        elif not (entry.decided or entry.roles or table.obstacle):  # as init writes it where it may not read a table
            self._unknown_table(table, "could not be read by init, is not audited, and can be read now")
        elif not entry.decided:
            why = f": {table.obstacle}" if table.obstacle else ""
            self._add(GapKind.UNDECIDED, f"{name} is marked CHECK, and nobody has confirmed it{why}", entry, name)
        elif entry.audit and table.obstacle is not None:
            self._add(GapKind.UNREADABLE, f"{name} is not audited: {table.obstacle}", entry, name)
        else:
            known = _KnownColumns(entry, table)
            return sum(self._covers(known, column) for column in table.columns)
        return None

    def _unknown_table(self, table: CatalogTable, how: str) -> None:
        proposal = self._proposed(table)
        text = f"{table.name} {how}"
        text += f"; proposed: {_roles(proposal.columns)}" if table.columns else ""
        text += f"; {table.obstacle}" if table.obstacle else ""
        self._add_new(text, proposal, proposal.columns, None, table.name)

    def _covers(self, known: "_KnownColumns", column: CatalogColumn) -> bool:
        """Whether a column of a known table is covered."""
        entry, table, name = known.entry, known.table.name, column.name
        if entry.audit and not column.readable and known.roles.get(name) in (None, LISTING):
            self._add(GapKind.UNREADABLE, f"{table}.{name} may not be read by this user", entry, table, name)
            return False
        if name in known.undecided:
            text = f"{table}.{name}: nobody has confirmed its proposed role, {known.roles.get(name, 'entity')} (CHECK)"
            self._add(GapKind.UNDECIDED, text, entry, table, name)
            return False
        if name in known.named or not known.names_any:
            return True
        whole = self._proposed(known.table)
        proposal = next(each for each in whole.columns if each.column == name)
        if not known.lists and proposal.role is PolicyRole.QUASI_IDENTIFIER:
            return True
        how = "audited as a quasi-identifier" if entry.audit else "left out with its table"
        text = f"{table}.{name} is not in the policy, and {how}; proposed: {proposal.role} ({proposal.reason})"
        self._add_new(text, whole, [proposal], entry, table, name)
        return False

    def _vanished(self, tables: Mapping[TableName, CatalogTable]) -> None:
        """Adds the tables and columns that entries name but the source does not have."""
        planned = {id(each.entry): each.name for each in self.plan.tables if each.name is not None}
        for entry in self.plan.entries:
            if entry.table is None or (entry.is_pattern and entry.audit):
                continue  # a pattern without a matching table is an error of the run
            name = planned.get(id(entry))
            about = self.plan.index.about(entry) if name is None else [name]
            if not about and self.names is None:
                self._add(GapKind.VANISHED, f"{entry.label} is in the policy but not in the source", entry)
            if len(about) == 1 and not entry.is_pattern and about[0] in tables and self._is_selected(about[0]):
                for gone in _KnownColumns(entry, tables[about[0]]).vanished:
                    text = f"{about[0]}.{gone} is in the policy but not in the table"
                    self._add(GapKind.VANISHED, text, entry, about[0], gone)

    def _proposed(self, table: CatalogTable) -> TableProposal:
        if self._proposals is None:
            assert self.plan.catalog is not None
            self._proposals = TableProposals(self.plan.catalog)
        return self._proposals.of(table)

    def _add_new(
        self,
        text: str,
        whole: TableProposal,
        proposed: Sequence[Proposal],
        entry: TableEntry | None,
        table: TableName,
        column: str | None = None,
    ) -> None:
        """Adds an unknown table or column; `on_new` sets its severity, by default the proposed roles."""
        on_new = self.file.on_new if entry is None else entry.on_new
        about_persons = not proposed or any(each.role in IDENTIFYING for each in proposed)  # its columns are unknown
        identifying = about_persons and not whole.of_things
        if on_new != "ignore":
            violates = identifying if on_new is None else on_new == "violation"
            severity = Severity.VIOLATION if violates else Severity.WARNING
            roles = tuple(dict.fromkeys(str(each.role) for each in proposed))
            self._add(GapKind.UNKNOWN, text, entry, table, column, severity=severity, roles=roles)

    def _add(
        self,
        change: GapKind,
        text: str,
        entry: TableEntry | None,
        table: TableName | None = None,
        column: str | None = None,
        **more: Any,
    ) -> None:
        """Adds a gap of the table, or of the entry if there is none."""
        named = entry.label if table is None and entry is not None else str(table)
        owner = self.file.owner if entry is None else entry.owner
        self.gaps.append(Gap(self.plan.source.name, named, column, change, text, owner=owner, **more))


def _entries(plan: SourcePlan, catalog: Catalog) -> dict[TableName, TableEntry]:
    """The entry of each table. A table that this user may not read is in no plan; it is matched by its name."""
    found = {each.name: each.entry for each in plan.tables if each.name is not None} | plan.left_out
    unreadable = {table.name for table in catalog.tables if table.obstacle is not None}
    for entry in sorted(plan.entries, key=lambda entry: entry.is_pattern) if unreadable else ():
        for name in plan.index.about(entry):
            if name in unreadable:
                found.setdefault(name, entry)
    return found


def _may_have_columns(table: CatalogTable) -> bool:
    """Whether the table is one to audit: it has columns, or cannot be read, so that they are not known."""
    return bool(table.columns) or table.obstacle is not None


class _KnownColumns:
    """The columns of a table that its entry mentions, by role."""

    def __init__(self, entry: TableEntry, table: CatalogTable) -> None:
        self.entry, self.table = entry, table
        self._folded: dict[str, list[str]] = {}
        for column in table.columns:
            self._folded.setdefault(column.name.lower(), []).append(column.name)
        own = [*entry.roles, *([entry.entity] if entry.entity else [])]
        defaults = entry.default_roles_of(column.name for column in table.columns)
        self.roles = self._resolved({**defaults, **entry.roles})
        self.named = self._resolved(dict.fromkeys([*own, *self.roles], ""))
        self.undecided = self._resolved(dict.fromkeys(entry.undecided, ""))
        self.vanished = [name for name in dict.fromkeys(own) if not self._resolved({name: ""})]
        given = {*entry.roles.values(), *self.roles.values()}  # also of columns that no longer exist
        self.names_any = bool(given)
        self.lists = LISTING in given or not entry.audit

    def _resolved(self, names: Mapping[str, str]) -> dict[str, str]:
        """The values by column: names match exactly, else in another letter case if that is unambiguous."""
        found: dict[str, str] = {}
        for name, meaning in names.items():
            near = self._folded.get(name.lower(), [])
            if name in near or len(near) == 1:
                found[name if name in near else near[0]] = meaning
        return found


def changed_columns(plans: Sequence[SourcePlan], last: Mapping[tuple[str, str], LastColumns]) -> list[Gap]:
    """The columns that vanished or changed their type since their table was last audited."""
    gaps: list[Gap] = []
    for plan in plans:
        there = {} if plan.catalog is None else {table.name: table for table in plan.catalog.tables if table.columns}
        for planned in plan.tables:
            seen = last.get((plan.source.name, planned.table))
            if planned.name in there and seen is not None:
                gaps += _changed(planned, there[planned.name], seen)
    return gaps


def _changed(planned: PlannedTable, table: CatalogTable, seen: LastColumns) -> Iterator[Gap]:
    entry, types = planned.entry, {column.name: column.type for column in table.columns}
    for name, kind in seen.types.items():
        if name not in types:
            text = f"{table.name}.{name} was there in run {seen.run}, but is no longer in the table"
            yield Gap(entry.source, planned.table, name, GapKind.VANISHED, text, owner=entry.owner)
        elif kind != types[name]:
            text = f"{table.name}.{name} is {types[name]}; it was {kind} in run {seen.run}"
            yield Gap(entry.source, planned.table, name, GapKind.RETYPED, text, owner=entry.owner)


def _roles(columns: Iterable[Proposal]) -> str:
    """id, name direct identifier; birth_date quasi-identifier"""
    by_role: dict[str, list[str]] = {}
    for each in columns:
        by_role.setdefault(str(each.role), []).append(each.column)
    return "; ".join(f"{', '.join(names)} {role}" for role, names in by_role.items())
