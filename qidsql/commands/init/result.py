"""What `init` proposes: the role of every column, with the reason."""

from collections import Counter
from dataclasses import dataclass

from qidsql.core.tables import Role, TableName
from qidsql.version import __version__

NO_COLUMNS = "it has no columns"
WORDS = {Role.EXCLUDED: "other"}  # roles that the file calls by another word
ROLES = (Role.DIRECT_IDENTIFIER, Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.EXCLUDED)


def word(role: Role) -> str:
    """The role as `qidsql.toml` calls it."""
    return WORDS.get(role, str(role))


@dataclass(frozen=True, slots=True)
class Proposal:
    """The proposed role of a column, the reason, and why a person should look at it first (empty: no doubt)."""

    column: str
    type: str
    role: Role
    reason: str
    doubt: str = ""
    readable: bool = True

    def to_dict(self) -> dict[str, object]:
        return {
            "column": self.column,
            "type": self.type,
            "role": word(self.role),
            "reason": self.reason,
            "doubt": self.doubt,
            "readable": self.readable,
        }


@dataclass(frozen=True, slots=True)
class TableProposal:
    """What is proposed for a table. `entity` tells the persons apart; `entity_reason` says why, or which could."""

    table: TableName
    kind: str
    rows: int | None  # counted; None where nothing was
    columns: tuple[Proposal, ...]
    entity: str | None = None
    entity_reason: str = ""
    of_things: bool = False  # nothing in it is about a person, as far as names tell, and other tables refer to it

    @property
    def auditable(self) -> bool:
        """Whether there is something to audit: a column is left, and the table is about persons."""
        return not self.of_things and any(
            c.role is Role.QUASI_IDENTIFIER and c.readable and c.column != self.entity for c in self.columns
        )

    def to_dict(self) -> dict[str, object]:
        return {
            "table": str(self.table),
            "kind": self.kind,
            "rows": self.rows,
            "auditable": self.auditable,
            "of_things": self.of_things,
            "entity": self.entity,
            "entity_reason": self.entity_reason,
            "columns": [column.to_dict() for column in self.columns],
        }


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A table that nothing is proposed for. `certain`: that it is left out is no matter to decide."""

    table: TableName
    reason: str
    certain: bool = True


@dataclass(frozen=True, slots=True)
class InitResult:
    """The proposals for a source, and what became of the file. `left_out` are tables with the reason, `scope` the
    patterns of those that were looked at (empty: all)."""

    source: str  # as people may see it
    url: str  # as the file names it
    name: str  # what the file calls it
    engine: str
    tables: tuple[TableProposal, ...]
    left_out: tuple[LeftOut, ...]
    statements: int
    seconds: float
    unfinished: tuple[str, ...]
    notes: tuple[str, ...] = ()
    output: str | None = None  # the file, once it is written
    added: tuple[str, ...] | None = None  # by --update: tables and columns that were new to it
    retired: tuple[str, ...] = ()  # tables and columns that the source no longer has, now behind a # in the file
    gone: tuple[str, ...] = ()  # others, for a person to take out of the file
    there: tuple[tuple[TableName, tuple[str, ...]], ...] = ()  # all tables and columns that were looked at
    schema: str | None = None  # the only one that was looked at
    scope: tuple[str, ...] = ()
    aside: tuple[
        TableProposal, ...
    ] = ()  # without counts, of views that are left out: a file can have them all the same

    @property
    def counts(self) -> dict[str, int]:
        """How many columns each role is proposed for."""
        found = Counter(column.role for table in self.tables for column in table.columns)
        return {word(role): found[role] for role in ROLES}

    @property
    def doubts(self) -> list[tuple[TableProposal, Proposal]]:
        """The columns that a person should look at first, those left out of the audit before the others."""
        doubtful = [(table, column) for table in self.tables for column in table.columns if column.doubt]
        return sorted(doubtful, key=lambda each: each[1].role is Role.QUASI_IDENTIFIER)

    def to_dict(self) -> dict[str, object]:
        """Plain lists, dicts, strings and numbers, ready for JSON."""
        return {
            "format": 1,
            "qidsql": __version__,
            "kind": "init",
            "source": self.source,
            "engine": self.engine,
            "roles": self.counts,
            "tables": [table.to_dict() for table in self.tables],
            "left_out": [{"table": str(each.table), "reason": each.reason} for each in self.left_out],
            "statements": self.statements,
            "seconds": round(self.seconds, 3),
            "unfinished": list(self.unfinished),
            "notes": list(self.notes),
            "output": self.output,
            "added": None if self.added is None else list(self.added),
            "retired": list(self.retired),
            "gone": list(self.gone),
        }
