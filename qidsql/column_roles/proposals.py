"""The proposed roles of columns and tables, each with its reason."""

from dataclasses import dataclass, replace
from typing import Annotated

from qidsql.core.tables import PolicyRole, TableName
from qidsql.declarations.results import reported

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

    @property
    def doubtful(self) -> list[Proposal]:
        """The columns that a person should check, with their doubts."""
        every = [replace(each, doubt=OR_ROWS) if each.column == self.entity else each for each in self.columns]
        return [each for each in every if each.doubt]

    @reported
    def auditable(self) -> Annotated[bool, "it is about persons, and a column is left to audit"]:
        return not self.of_things and any(
            each.role is PolicyRole.QUASI_IDENTIFIER and each.readable and each.column != self.entity
            for each in self.columns
        )
