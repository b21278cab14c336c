"""The likely role of a column in an audit, and why: from labels, then its name, then its type and counts of its values.

Labels take precedence over names. Names give the meaning of a column, counts correct them: a column of three values is
no telephone number. Without any evidence the column is proposed as a quasi-identifier, since leaving it out could hide
a risk, and is marked for a person to check.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

from qidsql.column_roles import names
from qidsql.column_roles.names import DIRECT, OTHER, QUASI, SENSITIVE, Label, recognised_label
from qidsql.core.catalog import CatalogColumn, CatalogTable
from qidsql.core.tables import PolicyRole, TableName, identifies
from qidsql.declarations.results import UNWRITTEN, reported
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
