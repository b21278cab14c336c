"""What searches for keys and maskings find out, as frozen values. Reports and programs see nothing else."""

from collections import Counter
from dataclasses import asdict, dataclass
from enum import StrEnum

from qidsql.core.criterion_options import Wanted
from qidsql.core.results import Work, head
from qidsql.measures.profiles import ClassProfile, decimal
from qidsql.search.result import Certificate


class Outcome(StrEnum):
    FINISHED = "finished"
    VIOLATION = "violation"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class SearchWork(Work):
    """What was searched, and what it took."""

    entities: int | None
    columns: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]  # column and reason
    weights: dict[str, int]  # of the columns that weigh more than 1

    def to_dict(self) -> dict[str, object]:
        return {
            **Work.to_dict(self),
            "entities": self.entities,
            "columns": list(self.columns),
            "left_out": [{"name": name, "reason": reason} for name, reason in self.left_out],
            "weights": self.weights,
        }


@dataclass(frozen=True, slots=True)
class FoundSet:
    """A column set that was found. `profile` is the full table's, and `meets` what it says of the criterion; both are
    None where only a sample was asked."""

    columns: tuple[str, ...]
    weight: int
    profile: ClassProfile | None
    meets: bool | None

    def to_dict(self) -> dict[str, object]:
        measures = {} if self.profile is None else self.profile.to_dict()
        return {"columns": list(self.columns), "weight": self.weight, "meets": self.meets, **measures}


@dataclass(frozen=True, slots=True)
class KeysResult:
    """The column sets that meet a criterion, smallest first; a report is rendered from nothing else.

    `minimal`: no set can do without one of its columns. `cost` is the weight of the one set that was asked for, and
    `lower_bound` what every set weighs at least, as far as is proved. `impossible` says why there can be
    none. `profile` is that of all columns together.
    """

    outcome: Outcome
    reason: str  # the answer, in one sentence
    criterion: str
    wanted: Wanted
    algorithm: str
    column_sets: tuple[FoundSet, ...]
    minimal: bool
    complete: bool
    complete_to_size: int
    cost: int | None
    lower_bound: int | None
    impossible: str
    certificate: Certificate | None
    profile: ClassProfile | None
    shown: int  # how many sets a report for people lists
    work: SearchWork

    @property
    def optimal(self) -> bool:
        """True when no set can weigh less, by the proved bound."""
        return self.cost is not None and self.cost == self.lower_bound

    @property
    def by_size(self) -> dict[int, int]:
        """How many sets there are of each size."""
        return dict(sorted(Counter(len(found.columns) for found in self.column_sets).items()))

    def to_dict(self) -> dict[str, object]:
        """Plain lists, dicts, strings and numbers, ready for JSON. `format` changes when a key changes its meaning."""
        return {
            **head(self.outcome, self.reason, self.work),
            "criterion": self.criterion,
            "wanted": str(self.wanted),
            "algorithm": self.algorithm,
            "column_sets": [found.to_dict() for found in self.column_sets],
            "by_size": {str(size): number for size, number in self.by_size.items()},
            "minimal": self.minimal,
            "complete": self.complete,
            "complete_to_size": self.complete_to_size,
            "cost": self.cost,
            "optimal": self.optimal,
            "lower_bound": self.lower_bound,
            "impossible": self.impossible,
            "certificate": _certificate(self.certificate),
            "profile": self.profile and self.profile.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class MaskResult:
    """Which columns can be published together; a report is rendered from nothing else.

    `weight` is that of the published columns, and no choice at all weighs more than `bound` (None: the columns are not
    known). `safe`: the full table shows that the criterion is not met; None where only a sample was asked. `script`
    would carry it out.
    """

    outcome: Outcome
    reason: str  # the answer, in one sentence
    criterion: str
    algorithm: str
    published: tuple[str, ...]
    withheld: tuple[str, ...]
    weight: int
    bound: int | None
    safe: bool | None
    profile: ClassProfile | None  # of the published columns, on the full table
    certificate: Certificate | None
    script: tuple[str, ...]
    work: SearchWork

    @property
    def optimal(self) -> bool:
        """True when no choice can publish more, by the proved bound."""
        return self.safe is True and self.weight == self.bound

    def to_dict(self) -> dict[str, object]:
        """Plain lists, dicts, strings and numbers, ready for JSON. `format` changes when a key changes its meaning."""
        return {
            **head(self.outcome, self.reason, self.work),
            "criterion": self.criterion,
            "algorithm": self.algorithm,
            "published": list(self.published),
            "withheld": list(self.withheld),
            "weight": self.weight,
            "bound": self.bound,
            "optimal": self.optimal,
            "safe": self.safe,
            "profile": self.profile and self.profile.to_dict(),
            "certificate": _certificate(self.certificate),
            "script": list(self.script),
        }


def _certificate(certificate: Certificate | None) -> dict[str, object] | None:
    if certificate is None:
        return None
    ratios = {"delta": decimal(certificate.delta), "epsilon": certificate.epsilon and decimal(certificate.epsilon)}
    return {**asdict(certificate), "sizes": list(certificate.sizes), **ratios}
