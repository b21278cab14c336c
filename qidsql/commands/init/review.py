"""What a person is asked about proposed roles: once for all columns of a name that names and counts do not settle."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

from qidsql.column_roles.proposal import OR_ROWS, Proposal, TableProposal
from qidsql.commands.init.command import InitResult
from qidsql.core.policy import EACH_ROW
from qidsql.core.tables import PolicyRole, TableName
from qidsql.wording.texts import few, plural

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
