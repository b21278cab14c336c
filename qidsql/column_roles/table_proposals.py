"""The proposed roles of the columns of a source's tables: written by init, and compared with new columns by a run."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from qidsql.column_roles.names import is_subject, person, words
from qidsql.column_roles.persons import entity
from qidsql.column_roles.proposal import TableEvidence, ValueCounts, lists_things, propose
from qidsql.column_roles.proposals import TableProposal
from qidsql.core.catalog import Attribute, Catalog, CatalogTable
from qidsql.core.tables import TableName
from qidsql.core.value_kinds import ValueKind
from qidsql.linkage.names import names_agree, names_in_joins

Labels = Mapping[str, Sequence[tuple[str, str]]]  # of columns: labels from outside the catalog


class TableProposals:
    """Proposes roles from names, keys and types in a catalog, and from counts if given. Sends no statement."""

    def __init__(self, catalog: Catalog) -> None:
        declared, called = _references(catalog), _called_like_keys(catalog)
        self._references = {name: {**called.get(name, {}), **declared.get(name, {})} for name in {*declared, *called}}
        self._undeclared = {name: frozenset(called[name]) - set(declared.get(name, {})) for name in called}
        self._referred = {other for columns in self._references.values() for other in columns.values()}
        self._personal = _personal(catalog, self._references)

    def of(
        self, listed: CatalogTable, labels: Labels | None = None, measured: Mapping[str, ValueCounts] | None = None
    ) -> TableProposal:
        """The proposal for a table; `labels` are those outside the catalog."""
        name = listed.name
        undeclared = self._undeclared.get(name, frozenset())
        table = TableEvidence(
            listed, self._references.get(name, {}), undeclared, self._personal, labels or {}, measured or {}
        )
        columns = [replace(propose(table, column), readable=column.readable) for column in listed.columns]
        entity_column, reason = entity(table, {each.column: each.role for each in columns})
        rows = next((each.profile.rows for each in table.measured.values()), None)
        things = name in self._referred and lists_things(table)
        return TableProposal(name, listed.kind, rows, tuple(columns), entity_column, reason, things)


def _references(catalog: Catalog) -> dict[TableName, dict[str, TableName]]:
    """The table that a column refers to, for columns that are a foreign key alone or part of one."""
    found: dict[TableName, dict[str, TableName]] = {}
    for key in catalog.foreign_keys:
        for own, referenced in zip(key.columns, key.referenced, strict=True):
            found.setdefault(own.table, {}).setdefault(own.column, referenced.table)
    return found


def _called_like_keys(catalog: Catalog) -> dict[TableName, dict[str, TableName]]:
    """The table whose declared key a column is named like, for columns where this is only one table."""
    keys: dict[tuple[tuple[str, ...], ValueKind | None], list[Attribute]] = {}  # by names they can appear under
    others: list[tuple[Attribute, ValueKind | None]] = []
    for table in catalog.tables:
        for column in table.columns:
            attribute, kind = Attribute(table.name, column.name), column.kind
            if (column.name,) not in table.unique:
                others.append((attribute, kind))
                continue
            for name in names_in_joins(attribute):
                keys.setdefault((name, kind), []).append(attribute)
    found: dict[TableName, dict[str, TableName]] = {}
    for own, kind in others:
        near = [key for name in names_in_joins(own) for key in keys.get((name, kind), ())]
        like = {key.table for key in near if key.table != own.table and names_agree(own, key)}
        if len(like) == 1:
            found.setdefault(own.table, {})[own.column] = like.pop()
    return found


def _personal(catalog: Catalog, references: Mapping[TableName, Mapping[str, TableName]]) -> frozenset[TableName]:
    """The tables whose rows belong to one person each: tables of persons, and tables that refer to one."""
    found = {table.name for table in catalog.tables if is_subject(person(words(table.name.name)) or "")}
    while more := {name for name, others in references.items() if found & set(others.values())} - found:
        found |= more
    return frozenset(found)
