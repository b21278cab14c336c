"""An audit with hidden counts: the fields that `--min-count` keeps, and no others.

The keys are those of `AuditResult`; `qidsql.formats.min_count` explains the rule.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, ClassVar, TypeAlias

from qidsql.commands.audit.command import LeastWithheld, SearchFinding
from qidsql.core.policy import Policy
from qidsql.core.results import Verdict
from qidsql.core.tables import Role
from qidsql.declarations.results import FLAT, OMITTED, Rounded, described
from qidsql.measures.profiles import COUNTS, RATIOS


@dataclass(frozen=True, slots=True)
class Range:
    """The number of rows of a small table, as a range."""

    at_least: int
    at_most: int


Total: TypeAlias = int | Range | None


@dataclass(frozen=True, slots=True)
class HiddenProfile:
    """A class profile that shows only the number of rows (or entities)."""

    rows: Total
    k: int
    entities: bool

    classes: ClassVar[None] = None
    smallest: ClassVar[None] = None
    rows_below_k: ClassVar[None] = None
    colliding_pairs: ClassVar[None] = None
    share_below_k: ClassVar[None] = None

    def to_plain(self) -> dict[str, Any]:
        rows = {"at_least": self.rows.at_least, "at_most": self.rows.at_most} if isinstance(self.rows, Range) else None
        whole = {"entities" if self.entities else "rows": rows or self.rows}
        return {**whole, **dict.fromkeys((*COUNTS, *RATIOS)), "k": self.k}

    @classmethod
    def of_plain(cls, written: Mapping[str, Any]) -> "HiddenProfile":
        entities = "entities" in written
        rows = written["entities" if entities else "rows"]
        return cls(Range(**rows) if isinstance(rows, Mapping) else rows, written["k"], entities)

    @classmethod
    def plain_schema(cls, definitions: dict[str, Any]) -> dict[str, Any]:
        rows = described(Total, definitions)
        hidden: dict[str, Any] = {name: {"type": "null"} for name in (*COUNTS, *RATIOS)}
        return {
            "type": "object",
            "description": "a class profile that shows only the number of rows (or entities)",
            "properties": {"rows": rows, "entities": rows, **hidden, "k": {"type": "integer", "minimum": 2}},
            "required": [*COUNTS, *RATIOS],
        }


@dataclass(frozen=True, slots=True)
class HiddenPersons:
    """A column that may identify the persons."""

    column: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenColumn:
    """A column with its role in the audit and the reason for it."""

    name: str
    type: str
    role: Role
    audited: bool
    recognised: bool
    proposed: bool
    reason: str
    nulls: None = None
    profile: HiddenProfile | None
    without: HiddenProfile | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenSet:
    """A minimal column set that meets a criterion."""

    criterion: str
    columns: tuple[str, ...]
    profile: Annotated[HiddenProfile, FLAT]


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenWithheld:
    """Columns to withhold, and whether the policy is met without them."""

    columns: tuple[str, ...]
    passes: bool
    still: str
    profile: Annotated[HiddenProfile, FLAT]


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenAccount:
    """Source, table, options, and the cost of the audit."""

    source: str
    engine: str
    reader: str | None
    time_zone: str | None
    table: str
    kind: str
    snapshot: str
    started: datetime
    seconds: Annotated[float, Rounded(3)]
    policy: Policy
    rows: Total
    statements: int
    rounds: int
    scans: int
    sets_profiled: int
    unfinished: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenAudit:
    """The result of an audit, without counts of rows."""

    format: int
    qidsql: str
    verdict: Verdict
    reason: str
    account: Annotated[HiddenAccount, FLAT]
    entities: Total
    columns: tuple[HiddenColumn, ...]
    profile: HiddenProfile | None
    profile_with_proposed: Annotated[HiddenProfile | None, OMITTED] = None
    persons: Annotated[tuple[HiddenPersons, ...] | None, OMITTED] = None
    class_sizes: tuple[None, ...] = ()
    disclosed: tuple[None, ...] = ()
    column_sets: Annotated[tuple[HiddenSet, ...], "in the order of their names"]
    searches: tuple[SearchFinding, ...]
    withheld: tuple[HiddenWithheld, ...]
    least_withheld: LeastWithheld | None
    assumptions: tuple[str, ...]
    complete: bool

    @property
    def helpful(self) -> tuple[HiddenWithheld, ...]:
        """All options: which of them help is a count."""
        return self.withheld

    def found_by(self, search: SearchFinding) -> tuple[HiddenSet, ...]:
        """The column sets of one search."""
        return tuple(found for found in self.column_sets if found.criterion == search.criterion)
