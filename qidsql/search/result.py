"""The result of every search."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from qidsql.errors import Interrupted, StatementError, Stopped, UsageError
from qidsql.measures.criteria import Criterion, Progress
from qidsql.measures.profiles import ClassProfile

ENDINGS = (Stopped, StatementError, KeyboardInterrupt)  # they end a search early; facts proved by then remain valid


@dataclass(frozen=True, slots=True)
class Found:
    """A column set that meets the criterion, with its profile."""

    mask: int
    profile: ClassProfile

    @property
    def size(self) -> int:
        return self.mask.bit_count()


OnFound: TypeAlias = Callable[[Sequence[Found]], None]  # called with sets as soon as they are known to be in the result


OnBounds: TypeAlias = Callable[[int, int], None]  # the weight of the best set seen, and at least of any: at each change


def ignore_found(found: Sequence[Found]) -> None:
    """The default for `on_found`: does nothing.

    >>> ignore_found([])
    """


def ignore_bounds(best: int, bound: int) -> None:
    """The default for `on_bounds`: does nothing.

    >>> ignore_bounds(3, 2)
    """


@dataclass(frozen=True, slots=True)
class Certificate:
    """The guarantee of a result found on a sample.

    With a probability of 1 - delta over the choice of the sample, the result keeps the `promise`, by the `theorem`. If
    `verified`, its profile was measured on the full table as well, else on the sample.
    """

    promise: str
    unit: str  # "rows", drawn without replacement, or "pairs of rows", drawn independently
    sizes: tuple[int, ...]  # of the samples, nested where there are several
    seed: int
    delta: Fraction
    theorem: str
    epsilon: Fraction | None = None
    verified: bool = True


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The minimal column sets that were found, smallest first.

    Every set in `found` is minimal, unless `minimal` is False: then it meets the criterion, and may have superfluous
    columns. `complete` means that there is no other; `complete_to_size` that there is no other of at most so many
    columns. `stopped` is why the search ended early, if it did. A `certificate` is set if the result depends on chance.

    `failing` are column sets that do not meet the criterion; minimality, completeness and the lower bound follow from
    them: every set that meets the criterion contains a column outside each of them.

    A search for one smallest set gives its `cost` (the sum of the columns' weights) and the `lower_bound` that is
    proved for the cost of every such set; a greedy one what it guarantees of the weight, as a `guarantee` in words.
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
    guarantee: str = ""

    @property
    def optimal(self) -> bool:
        """True if the proved bound shows that no set can cost less."""
        return self.cost is not None and self.cost == self.lower_bound


def stopped_by(ending: Stopped | StatementError | KeyboardInterrupt) -> Stopped | StatementError:
    """Why a search ended early: Ctrl-C between two statements counts like Ctrl-C during one.

    >>> stopped_by(KeyboardInterrupt())
    Interrupted('interrupted')
    """
    return Interrupted("interrupted") if isinstance(ending, KeyboardInterrupt) else ending


# Column weights: validation, and the gain of a column per weight.


def gain(before: Progress, after: Progress, weight: int) -> tuple[Fraction, Fraction]:
    """The progress that a column of that weight adds, per weight.

    >>> gain((Fraction(0), Fraction(1)), (Fraction(3), Fraction(1)), weight=2)
    (Fraction(3, 2), Fraction(0, 1))
    """
    return Fraction(after[0] - before[0], weight), Fraction(after[1] - before[1], weight)


def checked_weights(weights: Sequence[int] | None, columns: int) -> tuple[int, ...]:
    """The weights, 1 each if none are given. Raises UsageError.

    >>> checked_weights(None, 3)
    (1, 1, 1)
    """
    if weights is None:
        return (1,) * columns
    if len(weights) != columns or any(weight < 1 for weight in weights):
        raise UsageError(f"expected one positive whole weight for each of the {columns} columns, got {list(weights)}")
    return tuple(weights)
