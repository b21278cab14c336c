"""How much of its sources a policy knows: part of a run's verdict, so that no table goes unaudited unseen."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated

from qidsql.core.results import Verdict
from qidsql.declarations.results import reported
from qidsql.wording.numbers import count, plural, some

NAMED = 6  # gaps named in a sentence
RENAMED = "A renamed table or column is one that vanished and one that is new."


class Change(StrEnum):
    """How a catalog and a policy differ."""

    UNKNOWN = "unknown"  # in the source, and named by no entry
    VANISHED = "vanished"  # named by the policy, or audited last time, and not in the source
    RETYPED = "retyped"  # of another type than when it was last audited
    UNDECIDED = "undecided"  # marked CHECK: init has proposed its role, and nobody has decided
    UNREADABLE = "unreadable"  # to be audited, and this user may not read it


class Severity(StrEnum):
    """Whether a gap counts against the policy."""

    VIOLATION = "violation"
    WARNING = "warning"


class GapState(StrEnum):
    """Whether a gap was there in the run compared with."""

    NEW = "new"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Gap:
    """A table, or a column of one, that the policy and the source do not agree about."""

    source: str
    table: str
    column: Annotated[str | None, "null: the table itself"]
    change: Change
    text: Annotated[str, "one sentence"]
    severity: Severity = Severity.WARNING
    roles: Annotated[tuple[str, ...], "proposed for what is unknown"] = ()
    owner: str | None = None
    state: GapState = GapState.NEW

    @reported
    def id(self) -> Annotated[str, "the same in every run: clinic/main.orders/unknown/email"]:
        parts = (self.source, self.table, str(self.change), *([] if self.column is None else [self.column]))
        return "/".join("".join(f"%{ord(sign):02X}" if sign in "%/" else sign for sign in part) for part in parts)

    @property
    def subject(self) -> str:
        return self.table if self.column is None else f"{self.table}.{self.column}"


@dataclass(frozen=True, slots=True)
class SourceCoverage:
    """How many tables and columns of a source there are, and how many of them the policy covers.

    A table is covered when an entry is about it that somebody has decided, and this user may read it or it is left out.
    A column is covered when its table is, its role is decided or it is audited as what is proposed for it, and it can
    be read or is left out.
    """

    source: str
    label: Annotated[str, "the source as people may see it"]
    tables: int = 0
    tables_covered: int = 0
    columns: Annotated[int, "of these tables"] = 0
    columns_covered: int = 0
    out_of_scope: Annotated[int, "tables that the policy file does not answer for"] = 0
    mend: Annotated[str, "the command that adds what is unknown to the policy file"] = ""
    error: Annotated[str | None, "why its catalog could not be read"] = None


@dataclass(frozen=True, slots=True)
class Coverage:
    """Which tables and columns of the sources the policy covers: part of the verdict."""

    sources: tuple[SourceCoverage, ...]
    gaps: tuple[Gap, ...] = ()
    part: Annotated[bool, "only the tables that --only asks for were looked at"] = False

    @reported
    def verdict(self) -> Verdict:
        if any(source.error for source in self.sources):
            return Verdict.ERROR
        return Verdict.VIOLATION if self.violations else Verdict.PASS

    @reported
    def tables(self) -> int:
        return sum(source.tables for source in self.sources)

    @reported
    def tables_covered(self) -> int:
        return sum(source.tables_covered for source in self.sources)

    @reported
    def columns(self) -> Annotated[int, "of these tables"]:
        return sum(source.columns for source in self.sources)

    @reported
    def columns_covered(self) -> int:
        return sum(source.columns_covered for source in self.sources)

    @property
    def known_apart(self) -> Verdict:
        """The verdict; a violation of which nothing is new passes."""
        fresh = any(gap.state is GapState.NEW for gap in self.violations)
        return Verdict.PASS if self.verdict is Verdict.VIOLATION and not fresh else self.verdict

    @property
    def violations(self) -> list[Gap]:
        return [gap for gap in self.gaps if gap.severity is Severity.VIOLATION]

    @property
    def gravest_first(self) -> list[Gap]:
        """The gaps, violations before warnings and new ones before others."""
        return sorted(self.gaps, key=lambda gap: (gap.severity is Severity.WARNING, gap.state is not GapState.NEW))

    @reported
    def text(self) -> Annotated[str, "34 of 36 tables, 212 of 219 columns covered; not in the policy: public.people"]:
        said = (
            f"{count(self.tables_covered)} of {plural(self.tables, 'table')}, "
            f"{count(self.columns_covered)} of {plural(self.columns, 'column')} covered"
        )
        said += ", of those asked for" if self.part else ""
        if self.violations:
            said += f"; not in the policy: {some([gap.subject for gap in self.violations], NAMED)}"
        unread = [source.source for source in self.sources if source.error]
        return said + (f"; the catalog of {some(unread)} could not be read" if unread else "")

    @property
    def may_be_renamed(self) -> bool:
        """Whether something vanished and something is new: a rename looks like that."""
        return {Change.VANISHED, Change.UNKNOWN} <= {gap.change for gap in self.gaps}

    @property
    def mending(self) -> list[str]:
        """The commands that add what is unknown to the policy file."""
        lacking = {gap.source for gap in self.gaps if gap.change is Change.UNKNOWN}
        return [source.mend for source in self.sources if source.source in lacking]

    def compared(self, known: Collection[str]) -> "Coverage":
        """With the state of each gap; `known` are the ids of those in the run compared with."""
        gaps = [replace(gap, state=GapState.UNCHANGED if gap.id in known else GapState.NEW) for gap in self.gaps]
        return replace(self, gaps=tuple(gaps))

    def with_gaps(self, more: Iterable[Gap]) -> "Coverage":
        """With more gaps, each once, in the order of sources, tables and columns."""
        every = {gap.id: gap for gap in (*more, *self.gaps)}
        places = {source.source: place for place, source in enumerate(self.sources)}
        ordered = sorted(every.values(), key=lambda gap: (places.get(gap.source, 0), gap.table, gap.column or ""))
        return replace(self, gaps=tuple(ordered))
