"""How much of its sources a policy knows: part of a run's verdict, so that no table goes unaudited unseen."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from qidsql.core.wording import count, plural, some

NAMED = 6  # gaps named in a sentence


class Change(StrEnum):
    """How a catalog and a policy differ."""

    UNKNOWN = "unknown"  # in the source, and named by no entry
    VANISHED = "vanished"  # named by the policy, or audited last time, and not in the source
    RETYPED = "retyped"  # of another type than when it was last audited
    UNDECIDED = "undecided"  # marked CHECK: init has proposed its role, and nobody has decided
    UNREADABLE = "unreadable"  # to be audited, and this user may not read it


@dataclass(frozen=True, slots=True)
class Gap:
    """A table, or a column of one, that the policy and the source do not agree about. `text` says it in a sentence."""

    source: str
    table: str
    column: str | None
    change: Change
    text: str
    violates: bool = False  # else a warning
    roles: tuple[str, ...] = ()  # proposed for what is unknown
    owner: str | None = None
    state: str = "new"  # or "unchanged": it was a gap in the run compared with too

    @property
    def id(self) -> str:
        """The same in every run: clinic/main.orders/unknown/email."""
        parts = (self.source, self.table, str(self.change), *([] if self.column is None else [self.column]))
        return "/".join("".join(f"%{ord(sign):02X}" if sign in "%/" else sign for sign in part) for part in parts)

    @property
    def subject(self) -> str:
        return self.table if self.column is None else f"{self.table}.{self.column}"

    def to_dict(self) -> dict[str, object]:
        return {
            "id": self.id,
            "source": self.source,
            "table": self.table,
            "column": self.column,
            "change": str(self.change),
            "severity": "violation" if self.violates else "warning",
            "state": self.state,
            "roles": list(self.roles),
            "owner": self.owner,
            "text": self.text,
        }


@dataclass(frozen=True, slots=True)
class SourceCoverage:
    """How many tables and columns of a source there are, and how many of them the policy covers.

    A table is covered when an entry is about it that somebody has decided, and this user may read it or it is left out.
    A column is covered when its table is, its role is decided or it is audited as what is proposed for it, and it can
    be read or is left out.
    """

    source: str
    label: str  # the source as people may see it
    tables: int = 0
    tables_covered: int = 0
    columns: int = 0
    columns_covered: int = 0
    out_of_scope: int = 0  # tables that the file does not answer for
    mend: str = ""  # the command that adds what is unknown to the policy file
    error: str | None = None  # why the catalog could not be read

    def to_dict(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Coverage:
    """What a run says about all its sources. `part`: only the tables that `--only` asks for were looked at."""

    sources: tuple[SourceCoverage, ...]
    gaps: tuple[Gap, ...] = ()
    part: bool = False

    @property
    def verdict(self) -> str:
        if any(source.error for source in self.sources):
            return "error"
        return "violation" if self.violations else "pass"

    @property
    def known_apart(self) -> str:
        """The verdict; a violation of which nothing is new passes."""
        fresh = any(gap.state == "new" for gap in self.violations)
        return "pass" if self.verdict == "violation" and not fresh else self.verdict

    @property
    def violations(self) -> list[Gap]:
        return [gap for gap in self.gaps if gap.violates]

    @property
    def text(self) -> str:
        """34 of 36 tables, 212 of 219 columns covered; not in the policy: public.people, public.orders.email"""
        tables, columns = self._sum("tables"), self._sum("columns")
        said = (
            f"{count(self._sum('tables_covered'))} of {plural(tables, 'table')}, "
            f"{count(self._sum('columns_covered'))} of {plural(columns, 'column')} covered"
        )
        said += ", of those asked for" if self.part else ""
        if self.violations:
            said += f"; not in the policy: {some([gap.subject for gap in self.violations], NAMED)}"
        unread = [source.source for source in self.sources if source.error]
        return said + (f"; the catalog of {some(unread)} could not be read" if unread else "")

    def compared(self, known: Collection[str]) -> "Coverage":
        """With the state of each gap; `known` are the ids of those in the run compared with."""
        gaps = [replace(gap, state="unchanged" if gap.id in known else "new") for gap in self.gaps]
        return replace(self, gaps=tuple(gaps))

    def with_gaps(self, more: Iterable[Gap]) -> "Coverage":
        """With more gaps, each once, in the order of sources, tables and columns."""
        every = {gap.id: gap for gap in (*more, *self.gaps)}
        places = {source.source: place for place, source in enumerate(self.sources)}
        ordered = sorted(every.values(), key=lambda gap: (places.get(gap.source, 0), gap.table, gap.column or ""))
        return replace(self, gaps=tuple(ordered))

    def to_dict(self) -> dict[str, Any]:
        return {
            "text": self.text,
            "verdict": self.verdict,
            **{name: self._sum(name) for name in ("tables", "tables_covered", "columns", "columns_covered")},
            "part": self.part,
            "sources": [source.to_dict() for source in self.sources],
            "gaps": [gap.to_dict() for gap in self.gaps],
        }

    def _sum(self, name: str) -> int:
        return sum(getattr(source, name) for source in self.sources)


def gap_ids(document: Mapping[str, Any] | None) -> set[str]:
    """The ids of the gaps in the `to_dict` of a coverage."""
    return {gap["id"] for gap in document["gaps"]} if document else set()
