"""The request of `init`: the tables to propose roles for, the counting, and the file to write."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from qidsql.column_roles.proposal import Proposal, TableProposal
from qidsql.core.options import BUDGET, Schema, names
from qidsql.core.results import Result, Verdict
from qidsql.core.tables import PolicyRole, TableName
from qidsql.declarations.options import Command, FileName, Names, Option
from qidsql.declarations.results import OMITTED, UNWRITTEN, Rounded, reported
from qidsql.errors import UsageError
from qidsql.wording.texts import setting

DEFAULT = Path("qidsql.toml")
THE_FILE = "The file"


@dataclass(frozen=True, kw_only=True)
class InitRequest:
    """Propose a role for every column, and write qidsql.toml for a person to correct.

    Existing labels (dbt, security labels of PostgreSQL Anonymizer, comments) take precedence over names; names are
    looked up in a vocabulary in English, German, French and Spanish; types and counts of values correct them. The
    reason is written beside each role. No cell value is read. The summary goes to stdout (to stderr with --output -).
    """

    schema: Schema = None
    tables: Annotated[
        Names, Option("only tables with these names, such as visits_* (repeat)", "PATTERN", ("--table",))
    ] = ()
    views: Annotated[bool, Option("propose roles for views too")] = False
    dbt: Annotated[
        FileName, Option("labels from dbt: a manifest.json or schema.yml with meta or tags on columns", "FILE")
    ] = None
    statistics: Annotated[
        bool, Option("count values, or read only the catalog", flags=("--statistics/--no-statistics",))
    ] = True
    output: Annotated[
        FileName, Option(f"the file to write; - is stdout; default: {DEFAULT}", "FILE", ("-o", "--output"), THE_FILE)
    ] = None
    force: Annotated[bool, Option("overwrite the file", panel=THE_FILE)] = False
    update: Annotated[
        bool, Option("add new entries to the file, and leave existing ones unchanged", panel=THE_FILE)
    ] = False
    review: Annotated[
        bool, Option("ask at this terminal about roles in doubt, once for all columns of a name", panel=THE_FILE)
    ] = False
    max_statements: Annotated[int, Option("statements that count values, at most", "N", panel=BUDGET)] = 2000
    max_seconds: Annotated[float, Option("seconds to count values, at most", "N", panel=BUDGET)] = 120

    def __post_init__(self) -> None:
        for name in ("max_statements", "max_seconds"):
            if getattr(self, name) <= 0:
                raise UsageError(f"{setting(name)} must be more than 0; --no-statistics sends no statement")
        if self.force and self.update:
            raise UsageError("--force overwrites the file, --update keeps its entries; choose one")
        if self.update and self.review:
            raise UsageError(
                "--review asks about a file that is not written yet, --update keeps its entries; choose one"
            )

    @property
    def patterns(self) -> tuple[str, ...]:
        """The names of the tables to examine; none: all."""
        return names(self.tables)

    @property
    def file(self) -> Path | None:
        """The file to write."""
        return None if self.output is None else Path(self.output)

    def check_file(self) -> None:
        """Check that the file can be written as requested. Raises UsageError."""
        file = self.file
        if file is None:
            if self.update:
                raise UsageError("--update adds to a file; name it with --output")
            return
        if file.is_dir() or not file.absolute().parent.is_dir():
            raise UsageError(f"{file} cannot be written: its folder must exist, and it must name a file")
        if self.update and not file.exists():
            raise UsageError(f"there is no {file} to update; omit --update to write it")
        if file.exists() and not (self.force or self.update):
            raise UsageError(f"{file} exists already; --update adds new entries to it, --force overwrites it")


COMMAND = Command(
    InitRequest,
    examples=(
        "qidsql init clinic.duckdb   (then: qidsql run)",
        "qidsql init clinic.duckdb --review --format dbt > models/roles.yml",
    ),
    exit_codes="0 finished, 2 error",
    formats=("terminal", "json", "html", "markdown", "dbt"),
    opens=True,
    without=("output", "dry_run", "workers", "snapshot"),
)


# The result of `init`: a proposed role for each column of a source, with the reason.


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
    unfound_entities: Annotated[
        tuple[str, ...], OMITTED, "columns of persons that it no longer has: they stay, and audits of their tables fail"
    ] = ()
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
