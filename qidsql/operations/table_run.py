"""One table of a run: its audit, its findings, and its trend over earlier runs."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import date, datetime
from enum import StrEnum
from typing import Annotated, Any

from qidsql.commands.audit.command import AuditResult
from qidsql.core.requirements import LIMITS
from qidsql.core.results import Verdict
from qidsql.declarations.hidden import SHOWN, Shown, Total
from qidsql.declarations.results import OMITTED
from qidsql.measures.profiles import ClassProfile
from qidsql.operations.hidden_counts import HiddenAudit
from qidsql.wording.texts import plural


def passes_with(exceptions: int) -> str:
    """How something passes of which exceptions accept findings, in words; empty if there are none."""
    return f"passes with {plural(exceptions, 'exception')}" if exceptions else ""


class FindingKind(StrEnum):
    """The kinds of findings."""

    K_ANONYMITY = "k-anonymity"  # all audited columns together are below k
    BELOW_K = "below-k"  # a minimal column set below k
    BELOW_K_BY_KNOWN_ROWS = "below-k-by-known-rows"  # a minimal one, by several rows of a person
    KEY = "key"  # a minimal column set that distinguishes all rows
    DISTINCT = "distinct"  # a minimal column set that reaches the distinct ratio
    SEPARATION = "separation"
    ROWS_BELOW_K = "rows-below-k"
    # minimal column sets that disclose more of a sensitive column than a limit allows, by that limit
    vars().update({name.upper(): limit.kind.finding for name, limit in LIMITS.items()})
    DIRECT_IDENTIFIER = "direct-identifier"  # a column recognised as one but not declared


class FindingState(StrEnum):
    """The change of a finding since the baseline."""

    NEW = "new"
    WORSE = "worse"
    BETTER = "better"
    UNCHANGED = "unchanged"
    GONE = "gone"
    EXCEPTED = "excepted"  # accepted by an exception of the policy file
    POLICY_CHANGED = "policy changed"  # not compared: the policy differs


CLOSED = (FindingState.GONE, FindingState.EXCEPTED)  # findings that need no action
# Why a table fails, not requirements of the policy.
CAUSES = (FindingKind.BELOW_K, FindingKind.BELOW_K_BY_KNOWN_ROWS, FindingKind.KEY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """The figures of a finding's columns; none if the finding is gone, or they are unknown or hidden.

    With an entity, `entities` is set instead of `rows`, and the ratios have no meaning.
    """

    smallest: int | None = None  # the smallest class
    rows: int | None = None
    entities: int | None = None
    rows_below_k: int | None = None
    share_below_k: float | None = None
    unique_rows: int | None = None
    distinct_ratio: float | None = None
    separation_ratio: float | None = None

    @classmethod
    def of(cls, profile: ClassProfile | None) -> "Measures":
        """The measures of a class profile: exact counts, and ratios for display."""
        return cls() if profile is None else cls.of_plain(plain_measures(profile.to_plain()))

    @property
    def total(self) -> int | None:
        """The number of rows or entities."""
        return self.rows if self.entities is None else self.entities

    def to_plain(self) -> dict[str, Any]:
        """All keys, or none."""
        if self == Measures():
            return {}
        unit = "entities" if self.rows is None else "rows"
        names = ("smallest", unit, "rows_below_k", "share_below_k", "unique_rows", "distinct_ratio", "separation_ratio")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def of_plain(cls, written: Mapping[str, Any]) -> "Measures":
        return cls(**written)

    @classmethod
    def plain_schema(cls, definitions: Mapping[str, Any]) -> dict[str, Any]:
        kinds = {field.name: "number" if field.type == float | None else "integer" for field in fields(cls)}
        return {
            "type": "object",
            "description": "the smallest class, rows below k and ratios; those that apply",
            "properties": {name: {"type": [kind, "null"], "minimum": 0} for name, kind in kinds.items()},
            "required": [],
        }


MEASURED = (
    *("smallest", "entities", "rows", "rows_below_k", "share_below_k", "unique_rows"),
    *("distinct_ratio", "separation_ratio"),
)


def plain_measures(profile: Mapping[str, Any]) -> dict[str, Any]:
    """The measures of a finding in plain form, from a class profile in plain form."""
    return {name: profile[name] for name in MEASURED if name in profile}


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Why a finding is accepted, and until when (null: without end)."""

    reason: str
    expires: date | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One finding on a table."""

    id: Annotated[
        str, "the same in every run: source, table, kind, columns, and the sensitive column of a limit", SHOWN
    ]
    kind: Shown[FindingKind]
    columns: Shown[tuple[str, ...]]
    measures: Measures
    text: Annotated[str, "one sentence"]
    state: Shown[FindingState] = FindingState.NEW
    was: Annotated[Measures | None, "its measures in the baseline"] = None
    exception: Shown[Acceptance | None] = None

    @property
    def is_open(self) -> bool:
        """Whether the finding exists and no exception accepts it."""
        return self.state not in CLOSED


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendPoint:
    """The table in an earlier run."""

    run: Shown[str]
    started: Shown[datetime]
    verdict: Shown[Verdict]
    rows: Total
    smallest: int | None
    share_below_k: float | None
    question: Annotated[str | None, "a fingerprint of the policy: figures are comparable where it is equal", SHOWN] = (
        None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Unchanged:
    """The audit of an earlier run whose verdict stands, as one scan showed that the table is the same."""

    run: str
    started: datetime

    @property
    def text(self) -> str:
        return f"unchanged since {self.started:%Y-%m-%d}, checked by one scan"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRun:
    """One table of a run. Its audit is null if the table could not be audited (see `error`)."""

    source: Annotated[str, "its name in the policy file", SHOWN]
    source_label: Annotated[str, "the source, without secrets", SHOWN]
    table: Shown[str]
    line: Annotated[int | None, "its line in the policy file", SHOWN] = None
    owner: Shown[str | None] = None
    verdict: Shown[Verdict]
    reason: Shown[str]
    error: Shown[str | None] = None
    resumed: Annotated[bool, "taken from an interrupted run, since the source is unchanged", SHOWN] = False
    fingerprint: Annotated[
        str | None, OMITTED, "of all that was read, and how: where it is the same again, the verdict stands"
    ] = None
    file_fingerprint: Annotated[str | None, OMITTED, "the same by all bytes of the files that hold the table"] = None
    unchanged: Annotated[Unchanged | None, OMITTED, "the audit whose verdict stands", SHOWN] = None
    spared: Annotated[
        int, "statements of the last audit by this policy that knew of no earlier one, less those of this run", SHOWN
    ] = 0
    audit: AuditResult | HiddenAudit | None = None
    findings: tuple[Finding, ...] = ()
    trend: Annotated[tuple[TrendPoint, ...], "oldest first"] = ()
    policy_changed: Annotated[
        tuple[str, ...],
        "the settings of the policy that differ from the baseline, such as k 5 -> 2; findings are compared only if "
        "there are none",
        SHOWN,
    ] = ()

    @property
    def from_nothing(self) -> int:
        """The statements of the last audit that knew of no earlier one."""
        return self.spared + (self.audit.account.statements if isinstance(self.audit, AuditResult) else 0)

    @property
    def open_findings(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.is_open]

    @property
    def waived(self) -> str:
        """How a table passes whose findings exceptions accept, in words; empty for every other."""
        return passes_with(self.accepted)

    @property
    def accepted(self) -> int:
        """The findings that exceptions accept, if it passes."""
        return sum(each.state is FindingState.EXCEPTED for each in self.findings if self.verdict is Verdict.PASS)

    @property
    def place(self) -> str:
        """Source and table in one text."""
        return f"{self.source}: {self.table}"

    @property
    def sentence(self) -> str:
        """The reason for the verdict; the error if the audit failed."""
        return self.error or self.reason
