"""What qidsql finds out, as frozen values. Reports, histories and programs see nothing else."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from qidsql.core.policy import Policy
from qidsql.core.results import Work, head
from qidsql.core.tables import Role
from qidsql.measures.profiles import ClassProfile, SizeBin
from qidsql.operations.references import FORMAT
from qidsql.version import __version__


class Verdict(StrEnum):
    PASS = "pass"
    VIOLATION = "violation"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class ColumnFinding:
    """One column: what it is to the audit and why, and its own profile where it was measured."""

    name: str
    type: str
    role: Role
    reason: str  # empty for an audited column
    profile: ClassProfile | None
    nulls: int | None
    without: ClassProfile | None = None  # of the other audited columns together: what withholding this one would leave
    recognised: bool = False  # a direct identifier that nobody declared

    @property
    def audited(self) -> bool:
        return self.role is Role.QUASI_IDENTIFIER

    def to_dict(self) -> dict[str, object]:
        return {
            "name": self.name,
            "type": self.type,
            "role": str(self.role),
            "audited": self.audited,
            "recognised": self.recognised,
            "reason": self.reason,
            "nulls": self.nulls,
            "profile": self.profile and self.profile.to_dict(),
            "without": self.without and self.without.to_dict(),
        }

    @classmethod
    def from_dict(cls, written: Mapping[str, Any]) -> "ColumnFinding":
        return cls(
            **{name: written[name] for name in ("name", "type", "reason", "nulls", "recognised")},
            role=Role(written["role"]),
            profile=_profile(written["profile"]),
            without=_profile(written["without"]),
        )


@dataclass(frozen=True, slots=True)
class ColumnSetFinding:
    """A column set with its measures."""

    columns: tuple[str, ...]
    profile: ClassProfile

    def to_dict(self) -> dict[str, object]:
        return {"columns": list(self.columns), **self.profile.to_dict()}

    @classmethod
    def from_dict(cls, written: Mapping[str, Any]) -> "ColumnSetFinding":
        return cls(tuple(written["columns"]), ClassProfile.from_dict(written))


@dataclass(frozen=True, slots=True)
class SearchFinding:
    """The minimal column sets that meet one criterion, smallest first, then those that put most rows at risk.

    `impossible` says why there can be none (and no search was needed); `unfinished` why the list is not whole.
    """

    criterion: str
    column_sets: tuple[ColumnSetFinding, ...]
    complete: bool
    complete_to_size: int
    algorithm: str
    impossible: str = ""
    unfinished: str = ""

    def to_dict(self) -> dict[str, object]:
        return {
            "criterion": self.criterion,
            "complete": self.complete,
            "complete_to_size": self.complete_to_size,
            "algorithm": self.algorithm,
            "impossible": self.impossible,
            "unfinished": self.unfinished,
        }

    @classmethod
    def from_dict(cls, written: Mapping[str, Any], column_sets: Iterable[Mapping[str, Any]]) -> "SearchFinding":
        mine = (found for found in column_sets if found["criterion"] == written["criterion"])
        return cls(**{**written, "column_sets": tuple(map(ColumnSetFinding.from_dict, mine))})


@dataclass(frozen=True, slots=True)
class Withheld:
    """What would be left when these columns were not published.

    `passes`: the policy would be met then. `still`: what would stand in the way, in words.
    """

    columns: tuple[str, ...]
    profile: ClassProfile
    passes: bool
    still: str

    def to_dict(self) -> dict[str, object]:
        return {"columns": list(self.columns), "passes": self.passes, "still": self.still, **self.profile.to_dict()}

    @classmethod
    def from_dict(cls, written: Mapping[str, Any]) -> "Withheld":
        return cls(tuple(written["columns"]), ClassProfile.from_dict(written), written["passes"], written["still"])


@dataclass(frozen=True, slots=True)
class LeastWithheld:
    """The fewest columns to withhold so that the others reach k: one choice of them, and the proved least number."""

    columns: tuple[str, ...]
    at_least: int

    def to_dict(self) -> dict[str, object]:
        return {"columns": list(self.columns), "at_least": self.at_least}


@dataclass(frozen=True, slots=True)
class AuditResult:
    """All that an audit found out; a report is rendered from nothing else."""

    verdict: Verdict
    reason: str  # why, in one sentence
    entities: int | None
    columns: tuple[ColumnFinding, ...]
    profile: ClassProfile | None  # of all audited columns together
    class_sizes: tuple[SizeBin, ...]
    searches: tuple[SearchFinding, ...]
    withheld: tuple[Withheld, ...]
    least_withheld: LeastWithheld | None
    assumptions: tuple[str, ...]  # what the verdict takes for granted
    work: Work
    interrupted: bool = False  # the user asked to stop

    def to_dict(self) -> dict[str, object]:
        """Plain lists, dicts, strings and numbers, ready for JSON; the column sets stand beside their searches."""
        return {
            **head(self.verdict, self.reason, self.work),
            "format": FORMAT,
            "entities": self.entities,
            "columns": [column.to_dict() for column in self.columns],
            "profile": self.profile and self.profile.to_dict(),
            "class_sizes": [asdict(size) for size in self.class_sizes],
            "column_sets": [
                {"criterion": search.criterion, **found.to_dict()}
                for search in self.searches
                for found in search.column_sets
            ],
            "complete": not self.work.unfinished and all(search.complete for search in self.searches),
            "searches": [search.to_dict() for search in self.searches],
            "withheld": [option.to_dict() for option in self.withheld],
            "least_withheld": self.least_withheld and self.least_withheld.to_dict(),
            "assumptions": list(self.assumptions),
        }

    @classmethod
    def from_dict(cls, written: Mapping[str, Any]) -> "AuditResult":
        """The result of which `to_dict` made this. Raises KeyError, TypeError, UsageError, ValueError for others."""
        least = written["least_withheld"]
        return cls(
            verdict=Verdict(written["verdict"]),
            reason=written["reason"],
            entities=written["entities"],
            columns=tuple(ColumnFinding.from_dict(column) for column in written["columns"]),
            profile=_profile(written["profile"]),
            class_sizes=tuple(SizeBin(**size) for size in written["class_sizes"]),
            searches=tuple(SearchFinding.from_dict(search, written["column_sets"]) for search in written["searches"]),
            withheld=tuple(Withheld.from_dict(option) for option in written["withheld"]),
            least_withheld=least and LeastWithheld(tuple(least["columns"]), least["at_least"]),
            assumptions=tuple(written["assumptions"]),
            work=Work.from_dict(written),
        )


def _profile(written: Mapping[str, Any] | None) -> ClassProfile | None:
    return None if written is None else ClassProfile.from_dict(written)


@dataclass(frozen=True, slots=True)
class ProfileResult:
    """The measures of one column set; a report is rendered from nothing else."""

    source: str
    engine: str
    table: str
    kind: str
    policy: Policy
    columns: tuple[str, ...]
    profile: ClassProfile
    class_sizes: tuple[SizeBin, ...]
    statements: int
    seconds: float
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, object]:
        """Plain lists, dicts, strings and numbers, ready for JSON."""
        return {
            "format": 1,
            "qidsql": __version__,
            "source": self.source,
            "engine": self.engine,
            "table": self.table,
            "kind": self.kind,
            "policy": self.policy.to_dict(),
            "rows": self.profile.rows,
            "column_sets": [{"columns": list(self.columns), **self.profile.to_dict()}],
            "class_sizes": [asdict(size) for size in self.class_sizes],
            "statements": self.statements,
            "seconds": round(self.seconds, 3),
            "unfinished": [],
            "notes": list(self.notes),
        }
