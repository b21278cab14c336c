"""What `init` proposes: the role of each column of a source, with the reason."""

from collections import Counter
from dataclasses import dataclass
from typing import Annotated, Literal

from qidsql.column_roles.proposals import Proposal, TableProposal
from qidsql.core.results import Result, Verdict
from qidsql.core.tables import PolicyRole, TableName
from qidsql.declarations.results import UNWRITTEN, Rounded, reported

NO_COLUMNS = "it has no columns"


@dataclass(frozen=True, slots=True)
class SkippedTable:
    """A table that nothing is proposed for."""

    table: TableName
    reason: str
    certain: Annotated[bool, UNWRITTEN] = True  # that it is left out is no matter to decide


@dataclass(frozen=True, kw_only=True, repr=False)
class InitResult(Result):
    """The proposals for a source, and what became of the file."""

    verdict: Annotated[Verdict, UNWRITTEN] = Verdict.FINISHED
    reason: Annotated[str, UNWRITTEN] = ""
    kind: Literal["init"] = "init"
    source: str
    engine: str
    tables: tuple[TableProposal, ...]
    left_out: tuple[SkippedTable, ...]
    statements: int
    seconds: Annotated[float, Rounded(3)]
    unfinished: tuple[str, ...]
    notes: tuple[str, ...] = ()
    output: Annotated[str | None, "the file, once it is written"] = None
    added: Annotated[tuple[str, ...] | None, "by --update: tables and columns that were new to it"] = None
    retired: Annotated[tuple[str, ...], "what the source no longer has, now behind a # in the file"] = ()
    gone: Annotated[tuple[str, ...], "what else it no longer has, for a person to take out"] = ()
    url: Annotated[str, UNWRITTEN] = ""  # of the source, as the file names it
    name: Annotated[str, UNWRITTEN] = ""  # of the source in the file
    there: Annotated[tuple[tuple[TableName, tuple[str, ...]], ...], UNWRITTEN] = ()  # all tables, all columns
    scope: Annotated[tuple[str, ...], UNWRITTEN] = ()  # patterns of the tables that were looked at; none: all
    aside: Annotated[
        tuple[TableProposal, ...], UNWRITTEN
    ] = ()  # for views left out, without counts: a file can name them

    @reported
    def roles(self) -> Annotated[dict[str, int], "how many columns each role is proposed for"]:
        found = Counter(column.role for table in self.tables for column in table.columns)
        return {str(role): found[role] for role in PolicyRole}

    @property
    def doubts(self) -> list[tuple[TableProposal, Proposal]]:
        """The columns that a person should look at first, those left out of the audit before the others."""
        doubtful = [(table, column) for table in self.tables for column in table.columns if column.doubt]
        return sorted(doubtful, key=lambda each: each[1].role is PolicyRole.QUASI_IDENTIFIER)
