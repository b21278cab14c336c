"""The result of `init`: a proposed role for each column of a source, with the reason."""

from collections import Counter
from dataclasses import dataclass
from typing import Annotated, Literal

from qidsql.column_roles.proposal import Proposal, TableProposal
from qidsql.core.results import Result, Verdict
from qidsql.core.tables import PolicyRole, TableName
from qidsql.declarations.results import UNWRITTEN, Rounded, reported

NO_COLUMNS = "it has no columns"


@dataclass(frozen=True, slots=True)
class SkippedTable:
    """A table without proposals."""

    table: TableName
    reason: str
    certain: Annotated[bool, UNWRITTEN] = True  # leaving it out needs no decision


@dataclass(frozen=True, kw_only=True, repr=False)
class InitResult(Result):
    """The proposals for a source, and the changes to the file."""

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
    retired: Annotated[tuple[str, ...], "entries that the source no longer has, commented out in the file"] = ()
    gone: Annotated[tuple[str, ...], "other entries that it no longer has, for a person to remove"] = ()
    url: Annotated[str, UNWRITTEN] = ""  # of the source, as written in the file
    name: Annotated[str, UNWRITTEN] = ""  # of the source in the file
    there: Annotated[tuple[tuple[TableName, tuple[str, ...]], ...], UNWRITTEN] = ()  # all tables, all columns
    scope: Annotated[tuple[str, ...], UNWRITTEN] = ()  # patterns of the examined tables; none: all
    marked: Annotated[frozenset[tuple[TableName, str]] | None, UNWRITTEN] = None  # CHECK in a file that was updated
    aside: Annotated[
        tuple[TableProposal, ...], UNWRITTEN
    ] = ()  # for views left out, without counts: a file can name them

    @reported
    def roles(self) -> Annotated[dict[str, int], "how many columns each role is proposed for"]:
        found = Counter(column.role for table in self.tables for column in table.columns)
        return {str(role): found[role] for role in PolicyRole}

    @property
    def doubts(self) -> list[tuple[TableProposal, Proposal]]:
        """The columns that a person should check first, those left out of the audit before the others: of a file that
        was updated, those that it still marks."""
        doubtful = [
            (table, column)
            for table in self.tables
            for column in table.doubtful
            if self.marked is None or (table.table, column.column) in self.marked
        ]
        return sorted(doubtful, key=lambda each: each[1].role is PolicyRole.QUASI_IDENTIFIER)
