"""Confidence intervals of weighted proportions, from sums of weights."""

from dataclasses import dataclass
from math import sqrt

Z = 1.959963984540054  # 95 % of the normal distribution is within so many standard deviations


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval."""

    low: float
    high: float

    def overlaps(self, other: "Interval") -> bool:
        return self.low <= other.high and other.low <= self.high


def interval(weight: float, squares: float, total_weight: float, total_squares: float) -> Interval:
    """The 95 % confidence interval of a proportion in a sample whose rows have weights.

    `weight` and `squares` are the sums of the weights of the rows that count, and of their squares; the totals are
    those of all rows, with a total weight above 0. It is Wilson's score interval (E. B. Wilson 1927), which stays
    within 0 and 1 and has a width at 0 and 1 too, on the effective sample size p (1 - p) / v (C. Franco et al.,
    Comparative study of confidence intervals for proportions in complex sample surveys, JSSAM 7, 2019). The variance
    v is Taylor's linearization of the ratio, sum of w^2 (y - p)^2 / (sum of w)^2, as in R's svymean without strata
    and clusters. At 0 and 1 it is undefined, and Kish's (sum of w)^2 / sum of w^2 is used. With equal weights both
    sizes are the number of rows.
    """
    share = min(1.0, weight / total_weight)
    size = total_weight**2 / total_squares
    if 0 < share < 1:
        variance = ((1 - share) ** 2 * squares + share**2 * max(0.0, total_squares - squares)) / total_weight**2
        size = share * (1 - share) / variance
    scale = 1 + Z**2 / size
    middle = (share + Z**2 / (2 * size)) / scale
    half = Z / scale * sqrt(share * (1 - share) / size + (Z / (2 * size)) ** 2)
    return Interval(max(0.0, middle - half), min(1.0, middle + half))
