"""Figures of all classes from a random sample of them, each with all its rows, and how far they may be off.

One class in `share` is in the sample, independently of the others. A sum over the classes of something that is at most
`largest` in each is estimated by the sampled sum times the share. The interval around it is Chernoff's bound for
Poisson trials (M. Mitzenmacher, E. Upfal: *Probability and Computing*, section 4.2), which by convexity holds for
independent variables between 0 and 1: the sum lies within it with a probability of 99 % or more, whatever the classes
are. A normal distribution would promise too much where few classes are small. No float decides a verdict: a sampled
class is a class of the table, with its exact size.
"""

from dataclasses import dataclass
from math import ceil, floor, log
from typing import Annotated

from qidsql.measures.profiles import ClassProfile

CONFIDENCE = 0.99
SURE = log(2 / (1 - CONFIDENCE))  # for both ends
STEPS = 100  # halvings of an interval


@dataclass(frozen=True, slots=True)
class EstimatedCount:
    """An estimate, and the ends between which the truth is with a probability of 99 % or more."""

    low: int
    about: int
    high: int

    @property
    def ends(self) -> tuple[int, int, int]:
        return self.low, self.about, self.high


@dataclass(frozen=True, kw_only=True, slots=True)
class ClassEstimate:
    """The classes of a column set by a sample of them. `smallest`: the least size seen, exact; 0 if none was."""

    rows: int
    k: int
    share: Annotated[int, "one class in so many is in the sample"]
    sampled_classes: int
    sampled_rows: int
    smallest: Annotated[int, "rows of the smallest class in the sample, exact; 0 if the sample is empty"]
    classes: EstimatedCount
    rows_below_k: Annotated[EstimatedCount, "rows in classes below k"]

    @classmethod
    def of(cls, sample: ClassProfile, share: int, rows: int) -> "ClassEstimate":
        """The estimate from the profile of a sample of the classes of so many rows."""
        return cls(
            rows=rows,
            k=sample.k,
            share=share,
            sampled_classes=sample.classes,
            sampled_rows=sample.rows,
            smallest=sample.smallest,
            classes=estimated_count(sample.classes, share, 1, rows - sample.rows + sample.classes),
            rows_below_k=estimated_count(
                sample.rows_below_k, share, sample.k - 1, rows - sample.rows + sample.rows_below_k
            ),
        )


def estimated_count(sampled: int, share: int, largest: int, most: int) -> EstimatedCount:
    """The sum over all classes, which is at least the sampled one and at most `most`."""
    low, high = _means(sampled / largest)
    scale = share * largest
    lowest = max(sampled, floor(low * scale))
    return EstimatedCount(lowest, max(lowest, min(most, sampled * share)), max(lowest, min(most, ceil(high * scale))))


def share_for(rows: int, k: int, error: float) -> int:
    """The largest share with which the rows below k are estimated to `error` of the rows, upwards, in any table."""

    def off(share: int) -> float:
        scale = share * (k - 1)
        return (_means(rows / scale)[1] - rows / scale) * scale

    low, high = 1, max(2, rows)
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (middle, high) if off(middle) <= error * rows else (low, middle)
    return low


def _means(found: float) -> tuple[float, float]:
    """The least and the greatest mean of a sum of variables between 0 and 1 whose value is not unlikely."""
    low, high = _edge(found, 0.0, found), _edge(found, found + 2 * SURE + (2 * SURE * (found + SURE)) ** 0.5, found)
    return low, high


def _edge(found: float, outside: float, inside: float) -> float:
    """Where a mean begins to be unlikely, between one that is and one that is not."""
    for _ in range(STEPS):
        middle = (outside + inside) / 2
        unlikely = _exponent(found, middle) > SURE
        outside, inside = (middle, inside) if unlikely else (outside, middle)
    return outside


def _exponent(found: float, mean: float) -> float:
    """The bound: a sum as far from its mean has a probability of at most exp(-exponent)."""
    return mean - found + (found * log(found / mean) if found else 0.0) if mean else (0.0 if not found else SURE + 1)
