"""The likely role of a column in an audit, and why: from labels, then its name, then its type and counts of its values.

Labels take precedence over names. Names give the meaning of a column, counts correct them: a column of three values is
no telephone number. Without any evidence the column is proposed as a quasi-identifier, since leaving it out could hide
a risk, and is marked for a person to check.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Annotated

from qidsql.column_roles import names
from qidsql.column_roles.names import (
    DIRECT,
    OTHER,
    QUASI,
    SENSITIVE,
    Label,
    is_subject,
    person,
    recognised_label,
    words,
)
from qidsql.core.tables import (
    Attribute,
    Catalog,
    CatalogColumn,
    CatalogTable,
    PolicyRole,
    Table,
    TableName,
    ValueKind,
    identifies,
)
from qidsql.declarations.results import UNWRITTEN, reported
from qidsql.engines.base import Engine
from qidsql.errors import AccessError, StatementError
from qidsql.linkage.joinable import names_agree, names_in_joins
from qidsql.measures.profiles import ClassProfile
from qidsql.wording.texts import plural

# The proposed roles of columns and tables, each with its reason.


OR_ROWS = 'or is each row another person ("row")?'  # of a proposed entity


@dataclass(frozen=True, slots=True)
class Proposal:
    """The proposed role of a column."""

    column: str
    type: str
    role: PolicyRole
    reason: str
    doubt: Annotated[str, "why a person should check it first; empty without doubt"] = ""
    readable: bool = True


@dataclass(frozen=True, slots=True)
class TableProposal:
    """The proposal for a table."""

    table: TableName
    kind: str
    rows: Annotated[int | None, "counted; null if not counted"]
    columns: tuple[Proposal, ...]
    entity: Annotated[str | None, "the column that identifies persons"] = None
    entity_reason: Annotated[str, "why it does, or which columns could"] = ""
    of_things: Annotated[bool, "nothing in it is about a person, judging by names"] = False
    entity_doubt: Annotated[str, UNWRITTEN] = OR_ROWS  # empty once a person has confirmed it

    @property
    def doubtful(self) -> list[Proposal]:
        """The columns that a person should check, with their doubts."""
        every = [
            replace(each, doubt=self.entity_doubt) if each.column == self.entity else each for each in self.columns
        ]
        return [each for each in every if each.doubt]

    @reported
    def auditable(self) -> Annotated[bool, "it is about persons, and a column is left to audit"]:
        return not self.of_things and any(
            each.role is PolicyRole.QUASI_IDENTIFIER and each.readable and each.column != self.entity
            for each in self.columns
        )


VALUES_OF_CODES = 20  # values; a direct identifier has more, in a table of HUNDRED rows
HUNDRED = 100
ROWS_SHARING_NUMBER = 10  # rows that share a number on average, when it identifies hardly any of them
BOOLEAN = r"(?i)bool.*|bit\(1\)|bit"
DEVICE = r"(?i)inet|cidr|macaddr8?"
BINARY = r"(?i)bytea|blob|binary.*|varbinary.*"
UNIQUE_BY_MAKING = r"(?i)uuid"
MOMENT = r"(?i)date|timestamp.*|datetime.*"
MEASURES = r"(?i)double.*|real|float.*|money|(decimal|numeric)\(\d+, *[1-9]\d*\)"  # with decimal places
NUMBERS = r"(?i)(u?(tiny|small|big|huge)?int(eger|[0-9]+)?|decimal.*|numeric.*|double.*|real|float.*|money)"


@dataclass(frozen=True, slots=True)
class ValueCounts:
    """The counts of a column: its profile by values, and its NULLs."""

    profile: ClassProfile
    nulls: int

    @property
    def values(self) -> int:
        return self.profile.classes - (1 if self.nulls else 0)

    @property
    def identifying(self) -> bool:
        """Nearly every row that has a value is the only row with it."""
        return identifies(self.profile, self.nulls, None)

    @property
    def repeated(self) -> bool:
        """Some value occurs in more than one row."""
        return self.values < self.profile.rows - self.nulls

    def __str__(self) -> str:
        rows, values = self.profile.rows, self.values
        if not rows:
            return "no rows"
        if not values:
            return "NULL in every row"
        if values == rows:
            return f"a different value in each of {plural(rows, 'row')}"
        return f"{plural(values, 'value')} in {plural(rows - self.nulls, 'row')}" + (
            f", {plural(self.nulls, 'NULL')}" if self.nulls else ""
        )


@dataclass(frozen=True, slots=True)
class TableEvidence:
    """A table with the evidence about it besides its names.

    `references` are the tables that single columns refer to: by foreign keys, or, if `undeclared`, by being named
    like another table's key. The rows of `personal` tables belong to one person each.
    """

    listed: CatalogTable
    references: Mapping[str, TableName] = field(default_factory=dict)
    undeclared: frozenset[str] = frozenset()
    personal: frozenset[TableName] = frozenset()
    labels: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)  # in addition to the catalog's
    measured: Mapping[str, ValueCounts] = field(default_factory=dict)

    @property
    def words(self) -> tuple[str, ...]:
        return names.words(self.listed.name.name)

    def labels_of(self, column: CatalogColumn) -> list[tuple[str, str]]:
        """The labels of a column, those of dbt first."""
        return [*self.labels.get(column.name, ()), *column.labels]

    @property
    def person(self) -> str | None:
        """The word for the persons that the table lists, one per row."""
        return names.person(self.words)


@dataclass(frozen=True, slots=True)
class _Idea:
    """A role that one kind of evidence suggests."""

    role: PolicyRole
    reason: str
    doubt: str = ""
    firm: bool = True  # counts of distinct values do not change it
    labelled: bool = False  # the column has a label


def propose(table: TableEvidence, column: CatalogColumn) -> Proposal:
    """The proposed role of one column. Sends no statement."""
    measured = table.measured.get(column.name)
    label = recognised_label(table.labels_of(column))
    named = _by_name(table, column, measured)
    idea = (named or _by_type(column, measured)) if label is None else _by_label(label, named)
    idea = _by_counts(idea, measured)
    reason = idea.reason if measured is None else f"{idea.reason}; {measured}"
    return Proposal(column.name, column.type, idea.role, reason, idea.doubt)


def lists_things(table: TableEvidence) -> bool:
    """Whether no name in the table is about a person: hospitals, drugs, codes, that other tables refer to."""
    if table.person is not None or table.references:
        return False
    for column in table.listed.columns:
        parts = names.words(column.name)
        hit = names.find(parts)
        personal = hit is not None and not hit.concept.of_things and hit.concept.role is not SENSITIVE
        if personal or names.person(parts, anywhere=True) or recognised_label(table.labels_of(column)):
            return False
    return True


def _by_label(label: Label, named: _Idea | None) -> _Idea:
    """The role given by a label; if it only says `personal`, the name decides which role that is."""
    if label.role is None:
        if named is not None and named.role is not OTHER:
            return _Idea(named.role, f"{label.source}: personal; {named.reason}", named.doubt)
        return _Idea(DIRECT, f"{label.source}: personal", "personal, but which role?")
    doubt = "" if label.sure else "the label does not state it clearly"
    if label.role is OTHER and named is not None and named.role is not OTHER:
        doubt = f"{named.reason}, yet labelled as not personal"
    reason = label.source if ":" in label.source else f"{label.source}: {label.role}"
    return _Idea(label.role, reason, doubt, labelled=True)


def _by_name(table: TableEvidence, column: CatalogColumn, measured: ValueCounts | None) -> _Idea | None:
    """The role suggested by the name, within its table; None if there is none."""
    parts = names.words(column.name)
    if not parts:
        return None
    if (code := names.find_whole(column.name)) is not None:
        return _of_concept(parts, names.Hit(code, 0, len(parts)), column)
    hit = names.find(parts)
    if hit is not None and hit.exact and hit.last == len(parts) and hit.concept.role is DIRECT:
        return _of_concept(parts, hit, column)  # account number, before: the number of an account
    if table.person is not None and names.is_part_of_name(parts):
        return _Idea(DIRECT, "name: a person's name", firm=False)
    if (who := whose_number(table, column.name)) is not None:
        return _Idea(DIRECT, f"name: the number of a person ({who})", firm=False)
    if column.name in table.references:
        refers = "named like the key of" if column.name in table.undeclared else "refers to"
        referenced = table.references[column.name]
        if referenced in table.personal and _shared_by_few(measured):
            return _Idea(DIRECT, f"{refers} a table whose rows belong to one person each", firm=False)
        return _by_reference(referenced, refers)
    numbered = names.without_number(parts)
    if numbered is not None and (not numbered or set(numbered) <= {*table.words, *_singulars(table.words)}):
        if table.person is not None:
            return _Idea(DIRECT, f"name: the number of a person ({table.person})", firm=False)
        return _Idea(DIRECT, "name: the number of the row", firm=False)
    if names.is_name(parts) and (hit is None or not (hit.exact and hit.last == len(parts))):
        return _named_thing(table, parts)
    if hit is not None:
        idea = _of_concept(parts, hit, column)
        return idea if numbered is None else _shared_number(idea, measured)
    if who := names.person(parts):
        return _Idea(DIRECT, f"name: a person ({who})", "a name, a number, or another sign?", firm=False)
    if (column.name,) in table.listed.unique:
        whose = "the row" if table.person is None else f"a person ({table.person})"
        return _Idea(DIRECT, f"declared key: the number of {whose}", firm=False)
    if numbered is not None and measured is not None:
        if measured.identifying:
            return _Idea(DIRECT, "name: a number", "whose number?")
        return _Idea(QUASI, "name: a number of something that several rows share", "of what?")
    return None


def _of_concept(parts: tuple[str, ...], hit: names.Hit, column: CatalogColumn) -> _Idea:
    concept, doubt = hit.concept, hit.concept.doubt
    if not hit.exact:
        doubt = doubt or "recognised by a part of its name"
    identifying = concept.role is DIRECT
    if identifying and (names.is_aspect(parts, hit) or re.fullmatch(BOOLEAN, column.type)):
        return _Idea(QUASI, f"name: something about {concept.meaning}", "or does it contain the thing itself?")
    if concept.role is SENSITIVE and re.fullmatch(MOMENT, column.base or column.type):
        return _Idea(QUASI, f"name and type: when ({concept.meaning})", doubt, firm=False)
    if concept.meaning == "money" and names.without_number(parts) is not None:
        return _Idea(QUASI, "name: the number of a payment, a contract or an account", "whose number?")
    if names.is_not_the_amount(parts, hit):
        return _Idea(QUASI, "name: how or when money is paid", "or does it say how much?")
    if concept.meaning == "free text" and re.fullmatch(NUMBERS, column.type):
        return _Idea(SENSITIVE, "name: a grade, since it is a number", "or what else?")
    return _Idea(concept.role, f"name: {concept.meaning}", doubt, firm=not identifying)


def _by_reference(table: TableName, refers: str) -> _Idea:
    """A column that refers to a table without persons has the role of that table's subject."""
    parts = names.words(table.name)
    hit = names.find(parts)
    if hit is not None and hit.exact and hit.concept.role is not OTHER:
        return _Idea(hit.concept.role, f"{refers} a table: {hit.concept.meaning}", hit.concept.doubt, firm=False)
    return _Idea(QUASI, f"{refers} another table's rows", "what does that say of a person?", firm=False)


def _named_thing(table: TableEvidence, parts: tuple[str, ...]) -> _Idea:
    """A column named like a name: a person's, if the name or the table says so."""
    if who := names.person(parts[:-1], anywhere=True) or (table.person if len(parts) == 1 else None):
        return _Idea(DIRECT, f"name: the name of a person ({who})", firm=False)
    owner = parts[:-1] or table.words
    hit = names.find(owner)
    if hit is not None and hit.exact and hit.concept.role is not DIRECT:
        return _Idea(hit.concept.role, f"name: {hit.concept.meaning}", hit.concept.doubt, firm=False)
    return _Idea(DIRECT, "name: a name", "of a person, or of a thing?", firm=False)


def _shared_number(idea: _Idea, measured: ValueCounts | None) -> _Idea:
    """A number that few rows share leads to a record elsewhere, and so to a person."""
    if idea.role is not QUASI or measured is None or not _shared_by_few(measured):
        return idea
    return _Idea(DIRECT, "name: a number that few rows share", "whose number?")


def _shared_by_few(measured: ValueCounts | None) -> bool:
    return measured is None or (
        measured.values > VALUES_OF_CODES and ROWS_SHARING_NUMBER * measured.values >= measured.profile.rows
    )


def _by_type(column: CatalogColumn, measured: ValueCounts | None) -> _Idea:
    """The role suggested by type and counts where the name suggests none."""
    kind = column.base or column.type
    unknown = "its name is not recognised"
    if re.fullmatch(DEVICE, kind):
        return _Idea(DIRECT, f"type {kind}: an address on the net", firm=False)
    if re.fullmatch(BINARY, kind):
        return _Idea(DIRECT, "type: binary data", "a picture, a document, a key?", firm=False)
    if re.fullmatch(MOMENT, kind):
        return _Idea(QUASI, "type: a date", "of what?")
    if measured is not None and measured.identifying and re.fullmatch(MEASURES, kind):
        return _Idea(QUASI, unknown, "what does it measure? nearly every row has a distinct value")
    if measured is not None and measured.identifying:
        return _Idea(DIRECT, unknown, "nearly every row has a distinct value")
    if re.fullmatch(UNIQUE_BY_MAKING, kind):
        return _Idea(DIRECT, f"type {kind.lower()}: the number of something", "whose number?", firm=False)
    if measured is not None and measured.profile.rows and not measured.repeated and not measured.values:
        return _Idea(OTHER, unknown)
    return _Idea(QUASI, unknown, "what does it contain?")


def _by_counts(idea: _Idea, measured: ValueCounts | None) -> _Idea:
    """The idea, corrected by counts that contradict it."""
    if measured is None or not measured.profile.rows:
        return idea
    few = measured.profile.rows >= HUNDRED and measured.values <= VALUES_OF_CODES
    if measured.values == 1 and not measured.nulls and measured.profile.rows > 1 and not idea.labelled:
        return _Idea(OTHER, "the same value in every row")
    if idea.role is DIRECT and not idea.firm and few:
        return _Idea(QUASI, idea.reason, f"only {plural(measured.values, 'value')}: hardly one per person")
    if idea.role is OTHER and measured.identifying:
        return _Idea(DIRECT, idea.reason, "yet nearly every row has a distinct value")
    if idea.role is QUASI and not idea.firm and measured.identifying:
        return _Idea(DIRECT, idea.reason, "nearly every row has a distinct value")
    return idea


def whose_number(table: TableEvidence, column: str) -> str | None:
    """The word for the person whose number a column contains: by the table it refers to, or by its name."""
    referenced = table.references.get(column)
    if referenced is not None:
        return names.person(names.words(referenced.name))
    return names.numbered_person(names.words(column))


def _singulars(words: Sequence[str]) -> list[str]:
    return [word.removesuffix("s") for word in words] + [word.removesuffix("e") for word in words]


# The proposed roles of the columns of a source's tables: written by init, and compared with new columns by a run.


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
