"""Which tables and columns of its sources a policy covers: part of a run's verdict, so that no table is overlooked."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated

from qidsql.core.results import Verdict
from qidsql.declarations.results import reported
from qidsql.wording.texts import count, few, plural

GAPS_IN_SENTENCE = 6  # gaps listed in a sentence
COLUMNS_IN_LINE = 40  # unconfirmed columns of a table listed in one line
RENAMED = "A renamed table or column is listed twice: the old name as vanished, the new one as unknown."


class GapKind(StrEnum):
    """How a catalog and a policy differ."""

    UNKNOWN = "unknown"  # in the source, but in no entry of the policy
    VANISHED = "vanished"  # named by the policy or audited last time, but not in the source
    RETYPED = "retyped"  # its type differs from that at the last audit
    UNDECIDED = "undecided"  # marked CHECK: init proposed its role, and nobody has confirmed it
    UNREADABLE = "unreadable"  # the policy audits it, but this user may not read it


class Severity(StrEnum):
    """Whether a gap counts against the policy."""

    VIOLATION = "violation"
    WARNING = "warning"


class GapState(StrEnum):
    """Whether the baseline run had the gap too."""

    NEW = "new"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Gap:
    """A table or column on which the policy and the source disagree."""

    source: str
    table: str
    column: Annotated[str | None, "null: the table as a whole"]
    change: GapKind
    text: Annotated[str, "one sentence"]
    severity: Severity = Severity.WARNING
    roles: Annotated[tuple[str, ...], "proposed for an unknown table or column"] = ()
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
    """The number of tables and columns of a source, and how many of them the policy covers.

    A table is covered if it has an entry without a CHECK mark, and is readable or left out of the audit. A column is
    covered if its table is, its role is confirmed or equal to the proposed one, and it is readable or left out.
    """

    source: str
    label: Annotated[str, "the source, without secrets"]
    tables: int = 0
    tables_covered: int = 0
    columns: Annotated[int, "of these tables"] = 0
    columns_covered: int = 0
    out_of_scope: Annotated[int, "tables outside the scope of the policy file"] = 0
    mend: Annotated[str, "the command that adds unknown tables and columns to the policy file"] = ""
    error: Annotated[str | None, "why its catalog could not be read"] = None


@dataclass(frozen=True, slots=True)
class Coverage:
    """Which tables and columns of the sources the policy covers: part of the verdict."""

    sources: tuple[SourceCoverage, ...]
    gaps: tuple[Gap, ...] = ()
    part: Annotated[bool, "only the tables selected by --only were considered"] = False

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
    def verdict_on_new(self) -> Verdict:
        """The verdict; a violation without a new gap passes."""
        fresh = any(gap.state is GapState.NEW for gap in self.violations)
        return Verdict.PASS if self.verdict is Verdict.VIOLATION and not fresh else self.verdict

    @property
    def violations(self) -> list[Gap]:
        return [gap for gap in self.gaps if gap.severity is Severity.VIOLATION]

    @property
    def by_severity(self) -> list[Gap]:
        """For reading: violations before warnings, new before others; a table's unconfirmed columns are one."""
        groups: dict[object, list[Gap]] = {}
        for place, gap in enumerate(self.gaps):
            unconfirmed = gap.change is GapKind.UNDECIDED and gap.column is not None
            shared = (gap.source, gap.table, gap.severity, gap.state)
            groups.setdefault(shared if unconfirmed else place, []).append(gap)
        found = [_together(group) if len(group) > 1 else group[0] for group in groups.values()]
        return sorted(found, key=lambda gap: (gap.severity is Severity.WARNING, gap.state is not GapState.NEW))

    @reported
    def text(self) -> Annotated[str, "34 of 36 tables, 212 of 219 columns covered; not in the policy: public.people"]:
        text = (
            f"{count(self.tables_covered)} of {plural(self.tables, 'table')}, "
            f"{count(self.columns_covered)} of {plural(self.columns, 'column')} covered"
        )
        if not self.tables and not any(source.error for source in self.sources):
            text = "no table is in sight: has a right been revoked?"
        text += " (of the tables selected by --only)" if self.part else ""
        if self.violations:
            text += f"; not in the policy: {few([gap.subject for gap in self.violations], GAPS_IN_SENTENCE)}"
        unread = [source.source for source in self.sources if source.error]
        return text + (f"; the catalog of {few(unread)} could not be read" if unread else "")

    @property
    def may_be_renamed(self) -> bool:
        """Whether there are both vanished and unknown names, as after a rename."""
        return {GapKind.VANISHED, GapKind.UNKNOWN} <= {gap.change for gap in self.gaps}

    @property
    def update_commands(self) -> list[str]:
        """The commands that add unknown tables and columns to the policy file."""
        lacking = {gap.source for gap in self.gaps if gap.change is GapKind.UNKNOWN}
        return [source.mend for source in self.sources if source.source in lacking]

    def with_states(self, known: Collection[str]) -> "Coverage":
        """The coverage with the state of each gap; `known` are the ids of the gaps of the baseline."""
        gaps = [replace(gap, state=GapState.UNCHANGED if gap.id in known else GapState.NEW) for gap in self.gaps]
        return replace(self, gaps=tuple(gaps))

    def with_gaps(self, more: Iterable[Gap]) -> "Coverage":
        """The coverage with more gaps, without duplicates, in the order of sources, tables and columns."""
        every = {gap.id: gap for gap in (*more, *self.gaps)}
        places = {source.source: place for place, source in enumerate(self.sources)}
        ordered = sorted(every.values(), key=lambda gap: (places.get(gap.source, 0), gap.table, gap.column or ""))
        return replace(self, gaps=tuple(ordered))


def _together(gaps: Sequence[Gap]) -> Gap:
    """The unconfirmed columns of a table as one gap, for reading."""
    columns = few([gap.column or "" for gap in gaps], COLUMNS_IN_LINE)
    return replace(gaps[0], column=None, text=f"{gaps[0].table}: not confirmed (CHECK): {columns}", roles=())
