"""What every search returns."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from qidsql.errors import Interrupted, StatementError, Stopped
from qidsql.measures.criteria import Criterion
from qidsql.measures.profiles import ClassProfile

ENDINGS = (Stopped, StatementError, KeyboardInterrupt)  # what ends a search before its end; what is proved stands


@dataclass(frozen=True, slots=True)
class Found:
    """A column set that meets the criterion, with its profile."""

    mask: int
    profile: ClassProfile

    @property
    def size(self) -> int:
        return self.mask.bit_count()


Tell: TypeAlias = Callable[[Sequence[Found]], None]  # is handed sets as soon as they are known to be in the answer


def unheard(found: Sequence[Found]) -> None:
    """Where nobody listens."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """What an answer found on a sample rests on.

    With a probability of 1 - delta over the choice of the sample, the answer keeps the `promise`. When `verified`, its
    profile was measured on the full table as well, else on the sample.
    """

    promise: str
    unit: str  # "rows", drawn without replacement, or "pairs of rows", drawn independently
    sizes: tuple[int, ...]  # of the samples, nested where there are several
    seed: int
    delta: Fraction
    epsilon: Fraction | None = None
    verified: bool = True


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The minimal column sets that were found, smallest first.

    Every set in `found` is minimal, unless `minimal` is False: then it meets the criterion, and may hold a column too
    many. `complete` means that there is no other; `complete_to_size` that there is no other of at most so many
    columns. `stopped` says why the search ended early, if it did. `certificate` stands where chance enters.

    `failing` are column sets that do not meet the criterion; what is said of minimal sets, of completeness and of a
    lower bound follows from them: every set that meets it holds a column outside each of them.

    A search for one smallest set gives its `cost` (the sum of the columns' weights) and the `lower_bound` that is
    proved for the cost of every such set.
    """

    criterion: Criterion
    algorithm: str
    found: tuple[Found, ...]
    complete: bool
    complete_to_size: int
    stopped: Stopped | StatementError | None = None
    minimal: bool = True
    certificate: Certificate | None = None
    cost: int | None = None
    lower_bound: int | None = None
    failing: tuple[int, ...] = ()

    @property
    def optimal(self) -> bool:
        """True when no set can cost less: the proved bound says so, and nothing else can."""
        return self.cost is not None and self.cost == self.lower_bound


def stopped_by(ending: Stopped | StatementError | KeyboardInterrupt) -> Stopped | StatementError:
    """Why a search ended early: Ctrl-C between two statements is no other than during one."""
    return Interrupted("interrupted") if isinstance(ending, KeyboardInterrupt) else ending
