"""The proposed roles of the columns of a source's tables: written by init, and compared with new columns by a run."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import IntEnum

from qidsql.column_roles import names
from qidsql.column_roles.names import is_subject, person, words
from qidsql.column_roles.proposal import (
    BOOLEAN,
    Proposal,
    TableEvidence,
    TableProposal,
    ValueCounts,
    lists_things,
    propose,
    whose_number,
)
from qidsql.core.catalog import Attribute, Catalog, CatalogColumn, CatalogTable
from qidsql.core.tables import PolicyRole, Table, TableName, ValueKind
from qidsql.engines.base import Engine
from qidsql.errors import AccessError, StatementError
from qidsql.linkage.joinable import names_agree, names_in_joins

# The columns that may identify the persons of a table in which one has several rows: by their names, and by counts.
#
# That values repeat does not tell what they count: most columns that repeat as persons do are firms, countries or days.
# A column is taken for the persons by its name, and counts say only whether it repeats.


SIGNS = 5  # values: a person without a number (subject, member) has more; with fewer it is a sign, a member or not


class Likely(IntEnum):
    """How a column identifies the persons, the likeliest first."""

    NUMBER = 0  # of a person that tables are about: patient_id
    GIVEN = 1  # the number of an insurance or of a study: ssn, usubjid
    ALONE = 2  # a person without a number: subject
    EMPLOYED = 3
    HELD = 4  # of what a person has: a card, a device
    BARE = 5  # id, which is not the number of the row if it repeats
    SERVING = 6  # the number of a doctor or a teacher, in a table about those whom they serve


MEANINGS = {
    "a number given to one person": Likely.GIVEN,
    "a number of an account or card": Likely.HELD,
    "a vehicle or device": Likely.HELD,
}


def entity(table: TableEvidence, roles: Mapping[str, PolicyRole]) -> tuple[str | None, str]:
    """The column that identifies persons in a table where one can have several rows, and the reason.

    None if there is none, or if several could be meant: the reason then names them.
    """
    found = persons(table, roles)
    if len(found) != 1:
        return None, ", ".join(found)
    [(name, who)] = found.items()
    more = "" if table.measured.get(name) is None else ", seen more than once"
    return name, f"identifies the persons ({who}{more})"


def persons(table: TableEvidence, roles: Mapping[str, PolicyRole]) -> dict[str, str]:
    """The columns that are named like the persons and repeat, each with a word for these: only the likeliest.

    None if the rows are persons, since their number is unique. `roles` are those of columns, as far as they are known.
    """
    found: dict[Likely, dict[str, str]] = {}
    unique: set[Likely] = set()
    for column in table.listed.columns:
        likely, who = named_like(table, column)
        if likely is None or not column.readable:
            continue
        counts = table.measured.get(column.name)
        if (column.name,) in table.listed.unique or (counts is not None and not counts.repeated):
            unique.add(likely)
        elif _repeats(table, column.name, likely) and roles.get(column.name) not in (
            PolicyRole.SENSITIVE,
            PolicyRole.OTHER,
        ):
            found.setdefault(likely, {})[column.name] = who
    if Likely.NUMBER in unique:
        return {}
    if Likely.BARE in unique:  # the number of the row; in a table of persons that of a person
        listed = (Likely.EMPLOYED, Likely.HELD) if table.person is not None else ()
        found = {each: columns for each, columns in found.items() if each not in (Likely.SERVING, *listed)}
    return found[min(found)] if found else {}


def named_like(table: TableEvidence, column: CatalogColumn) -> tuple[Likely | None, str]:
    """How the name of a column says that it identifies persons, and the word for them."""
    who, parts = whose_number(table, column.name), names.words(column.name)
    if who is not None:
        if names.is_subject(who):
            return Likely.NUMBER, who
        return (Likely.EMPLOYED if names.is_employed(who) else Likely.SERVING), who
    hit = names.find(parts)
    if names.is_number_in_studies(parts):
        return Likely.GIVEN, column.name
    if hit is not None and hit.exact and hit.last - hit.first == len(parts) and hit.concept.meaning in MEANINGS:
        return MEANINGS[hit.concept.meaning], hit.concept.meaning
    if names.is_one_person(parts) and not re.fullmatch(BOOLEAN, column.base or column.type):
        return Likely.ALONE, parts[0]
    return (Likely.BARE, "a number") if names.is_bare_number(parts) else (None, "")


def _repeats(table: TableEvidence, column: str, likely: Likely) -> bool:
    """Whether the column has fewer values than rows. Without counts, what the names of column and table suggest."""
    counts = table.measured.get(column)
    if counts is not None:
        return likely is not Likely.ALONE or counts.values > SIGNS
    numbered = likely in (Likely.NUMBER, Likely.EMPLOYED, Likely.SERVING)
    return numbered and (table.person is None or column in table.references)


Labels = Mapping[str, Sequence[tuple[str, str]]]  # of columns: labels from outside the catalog


class TableProposals:
    """Proposes roles from names, keys and types in a catalog, and from counts if given. Sends no statement."""

    def __init__(self, catalog: Catalog) -> None:
        declared, called = _references(catalog), _called_like_keys(catalog)
        self._references = {name: {**called.get(name, {}), **declared.get(name, {})} for name in {*declared, *called}}
        self._undeclared = {name: frozenset(called[name]) - set(declared.get(name, {})) for name in called}
        self._referred = {other for columns in self._references.values() for other in columns.values()}
        self._personal = _personal(catalog, self._references)

    def referred(self, table: TableName) -> frozenset[TableName]:
        """The tables to which its columns refer, by foreign keys or by being named like another table's key."""
        return frozenset(self._references.get(table, {}).values())

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
    for attribute, kind in _columns(catalog, keys=True):
        for name in names_in_joins(attribute):
            keys.setdefault((name, kind), []).append(attribute)
    found: dict[TableName, dict[str, TableName]] = {}
    for own, kind in _columns(catalog, keys=False) if keys else ():
        near = [key for name in names_in_joins(own) for key in keys.get((name, kind), ())]
        like = {key.table for key in near if key.table != own.table and names_agree(own, key)}
        if len(like) == 1:
            found.setdefault(own.table, {})[own.column] = like.pop()
    return found


def _columns(catalog: Catalog, *, keys: bool) -> Iterator[tuple[Attribute, ValueKind | None]]:
    """The columns that are a declared key alone, or all others."""
    for table in catalog.tables:
        for column in table.columns:
            if ((column.name,) in table.unique) == keys:
                yield Attribute(table.name, column.name), column.kind


def _personal(catalog: Catalog, references: Mapping[TableName, Mapping[str, TableName]]) -> frozenset[TableName]:
    """The tables whose rows belong to one person each: tables of persons, and tables that refer to one."""
    found = {table.name for table in catalog.tables if is_subject(person(words(table.name.name)) or "")}
    while more := {name for name, others in references.items() if found & set(others.values())} - found:
        found |= more
    return frozenset(found)


# The proposed roles of the columns of one table, as `init` would propose them: from its catalog, names and counts.


def proposed_roles(
    engine: Engine, table: Table, measured: Mapping[str, ValueCounts] | None = None
) -> dict[str, Proposal]:
    """The proposals by column. Labels, comments and keys count where the engine's catalog has them.

    Queries only the system catalog; where that fails, names alone count. Raises Stopped.
    """
    catalog = _catalog(engine, table)
    listed = next(each for each in catalog.tables if each.name == table.name)
    return {each.column: each for each in TableProposals(catalog).of(listed, measured=measured).columns}


def _catalog(engine: Engine, table: Table) -> Catalog:
    """The catalog of the table's schema; one of the described table alone if the engine has no more to say."""
    described = tuple(CatalogColumn(column.name, column.type) for column in table.columns)
    alone = Catalog((CatalogTable(table.name, table.kind, described),))
    if not engine.labelled:
        return alone
    try:
        found = engine.catalog(table.name.schema or None)
    except (StatementError, AccessError):
        return alone
    return found if any(each.name == table.name for each in found.tables) else alone
