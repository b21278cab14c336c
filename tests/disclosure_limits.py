"""One limit on disclosure of every model, for tests that are parametrized by them."""

from fractions import Fraction

from qidsql.measures.disclosure_limits import (
    AnyDifference,
    DisclosureLimit,
    Distant,
    DistantInOrder,
    FewValues,
    Frequent,
    LowEntropy,
    MoreFrequent,
    MoreFrequentEnhanced,
    Recursive,
)

SENSITIVE = "s"
LIMITS: list[DisclosureLimit] = [
    FewValues(SENSITIVE, Fraction(2)),
    FewValues(SENSITIVE, Fraction(3)),
    LowEntropy(SENSITIVE, Fraction(2)),
    LowEntropy(SENSITIVE, Fraction(5, 2)),
    Recursive(SENSITIVE, Fraction(1), 2),
    Recursive(SENSITIVE, Fraction(3, 2), 3),
    Frequent(SENSITIVE, Fraction(1, 2)),
    Distant(SENSITIVE, Fraction(1, 3)),
    Distant(SENSITIVE, Fraction(1, 2)),
    DistantInOrder(SENSITIVE, Fraction(1, 4)),
    MoreFrequent(SENSITIVE, Fraction(1)),
    MoreFrequentEnhanced(SENSITIVE, Fraction(2)),
    AnyDifference(SENSITIVE, Fraction(1)),
]


def value_of(limit: DisclosureLimit) -> Fraction | tuple[Fraction, int]:
    """The limit as `tests.definitions.exceeds` takes it."""
    return (limit.limit, limit.rank) if isinstance(limit, Recursive) else limit.limit
