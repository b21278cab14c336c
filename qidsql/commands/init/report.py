"""The init report: counts per role, the columns to check first, the next step; and what a person is asked."""

import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

from qidsql.column_roles.proposal import OR_ROWS, Proposal, TableProposal
from qidsql.commands.init.command import InitResult
from qidsql.core.policy import EACH_ROW
from qidsql.core.tables import PolicyRole, TableName
from qidsql.report.blocks import Fields, Grid, Head, Next, Report, Sentence
from qidsql.wording.texts import count, few, plural, seconds

SHOWN_DOUBTS = 12  # doubtful columns


def report(result: InitResult) -> Report:
    """The report."""
    columns = sum(len(table.columns) for table in result.tables)
    facts = Fields()
    facts.add("Source", f"{result.source}; {result.engine}")
    facts.add("Tables", f"{count(len(result.tables))} with {plural(columns, 'column')}")
    for role, number in result.roles.items():
        facts.add(f"  {role}", count(number))
    if result.doubts:
        facts.add("  to check", f"{count(len(result.doubts))}: not settled by names and counts")
    for why, of_things in (("no column would be left", False), ("nothing in it is about a person", True)):
        found = [str(t.table) for t in result.tables if not t.auditable and t.of_things == of_things]
        if found:
            facts.add("Not audited", f"{few(found)}: {why}; in the file with audit = false")
    for table in result.tables:
        if table.entity:
            facts.add("Entity", f"{table.table}: {table.entity} {table.entity_reason}")
    for reason, names in _grouped(result).items():
        facts.add("Left out", f"{few(names, 6)}: {reason}")
    for text in (*result.unfinished, *result.notes):
        facts.add("Note", text)
    yield facts
    if result.doubts:
        yield from _doubts(result)
    worked = f"{plural(result.statements, 'statement')}, {seconds(result.seconds)}"
    yield Sentence(f"{worked}; only counted, no cell value left the engine.")
    if result.added is not None:
        added = few(result.added) or "nothing, it is up to date"
        yield Sentence(f"Added to {result.output}: {added}", close=True)
    for gone, action, why in (
        (result.retired, "commented out in", ""),
        (result.gone, "remove from", ""),
        (result.unfound_entities, "and kept in", ", as persons are counted by it"),
    ):
        if gone:
            yield Sentence(f"No longer in the source, {action} {result.output}{why}: {few(gone)}", close=True)
    if result.added is None and result.output is not None:
        yield Sentence(f"Written: {result.output}", close=True)
    if result.output is not None:
        if not any(table.auditable for table in result.tables):
            nothing = "Nothing would be audited yet: remove an audit = false, or give columns other roles."
            yield Sentence(nothing, close=True)
        run = "qidsql run" + ("" if result.output == "qidsql.toml" else f" {shlex.quote(result.output)}")
        yield Next([], f"read {result.output}, correct the roles, then: {run}")


def _grouped(result: InitResult) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for each in result.left_out:
        found.setdefault(each.reason, []).append(str(each.table))
    return found


def _doubts(result: InitResult) -> Report:
    doubts = result.doubts
    heads = [Head(words, text=True) for words in ("Check first", "Proposed", "Why")]
    rows = [
        (f"{table.table}: {column.column}", str(column.role), f"{column.doubt}  ({column.reason})")
        for table, column in doubts[:SHOWN_DOUBTS]
    ]
    yield Grid(heads, rows)
    if len(doubts) > SHOWN_DOUBTS:
        yield Sentence(f"... and {count(len(doubts) - SHOWN_DOUBTS)} more, marked CHECK in the file", close=True)


def opening(result: InitResult) -> str:
    """What was found, in words for people who sign."""
    columns, doubts = sum(len(table.columns) for table in result.tables), len(result.doubts)
    return (
        f"A role is proposed for {plural(columns, 'column')} of {plural(len(result.tables), 'table')}; a person must "
        f"decide on {count(doubts)} of them before an audit counts."
    )


# What a person is asked about proposed roles: once for all columns of a name that names and counts do not settle.


STOP = "."
ROLES = {role.value[0]: role for role in PolicyRole}  # by the letter to type
PERSONS, ROWS = "p", "r"


@dataclass(frozen=True, slots=True)
class Question:
    """Whether the columns of one name have the role that is proposed for them; or whose persons they are."""

    column: str
    role: PolicyRole
    tables: tuple[TableName, ...]
    why: str
    of_persons: bool

    @property
    def text(self) -> str:
        """The question, and what can be answered."""
        where = (
            str(self.tables[0])
            if len(self.tables) == 1
            else f"{len(self.tables)} tables: {few(list(map(str, self.tables)), 4)}"
        )
        if self.of_persons:
            choices = f"{PERSONS} = each value is a person, {ROWS} = each row is another person"
            return f"{self.column}, in {where}: are persons counted by it? {self.why}\n  {choices}"
        choices = ", ".join(f"{letter} = {role}" for letter, role in ROLES.items())
        return f"{self.column}, in {where}: {self.role}? {self.why}\n  {choices}"

    @property
    def answers(self) -> tuple[str, ...]:
        return (PERSONS, ROWS) if self.of_persons else tuple(ROLES)


Answers: TypeAlias = dict[tuple[TableName, str], str]  # a letter for a column of a table


def questions(result: InitResult) -> list[Question]:
    """The questions on doubtful columns, those about most tables first."""
    groups: dict[tuple[str, PolicyRole, bool], list[tuple[TableProposal, Proposal]]] = {}
    for table, column in result.doubts:
        key = (column.column.casefold(), column.role, column.column == table.entity)
        groups.setdefault(key, []).append((table, column))
    found = []
    for (_, role, of_persons), each in groups.items():
        (table, first), *_ = each
        why = table.entity_reason if of_persons else f"{first.doubt.rstrip('?')}? ({first.reason})"
        found.append(Question(first.column, role, tuple(t.table for t, _ in each), why, of_persons))
    return sorted(found, key=lambda question: -len(question.tables))


def reviewed(result: InitResult, asked: Iterable[Question], ask: Callable[[str, tuple[str, ...]], str]) -> InitResult:
    """The proposals with a person's answers: one of the letters, nothing to leave it marked CHECK, or STOP."""
    answers: Answers = {}
    answered = 0
    for question in asked:
        if (answer := ask(question.text, question.answers)) == STOP:
            break
        answered += bool(answer)
        answers |= {(table, question.column.casefold()): answer for table in question.tables if answer}
    note = f"{plural(answered, 'answer')} settled {plural(len(answers), 'column')}"
    return replace(
        result,
        tables=tuple(_answered(table, answers) for table in result.tables),
        notes=(*result.notes, note),
    )


def _answered(table: TableProposal, answers: Answers) -> TableProposal:
    entity, doubt = table.entity, OR_ROWS
    of_persons = answers.get((table.table, str(entity).casefold()), "") if entity else ""
    if of_persons:
        entity, doubt = (EACH_ROW if of_persons == ROWS else entity), ""
    columns = []
    for column in table.columns:
        role = ROLES.get(answers.get((table.table, column.column.casefold()), ""))
        if role is not None and column.column != table.entity:
            column = replace(column, role=role, doubt="", reason=f"by review ({column.reason})")
        columns.append(column)
    return replace(table, entity=entity, entity_doubt=doubt, columns=tuple(columns))
