"""Small quasi-identifiers of large tables, found on samples: wrong by at most epsilon, with probability 1 - delta."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from qidsql.core.options import DELTA
from qidsql.core.tables import positions
from qidsql.errors import Stopped
from qidsql.measures.criteria import Criterion, Key, Ratio, Separation, Unit
from qidsql.measures.profiles import ClassProfile, Profiler, Sampler
from qidsql.measures.sampling import antichain, beta_pairs
from qidsql.search.greedy import cover_guarantee, greedy
from qidsql.search.hitting_sets import transposed
from qidsql.search.result import Certificate, Found, SearchResult

NOTHING = "nothing: the sample contains duplicate rows, so that no column set is a key"


def sampled_key(
    profiler: Profiler,
    criterion: Ratio,
    sampler: Sampler,
    delta: Fraction = DELTA,
    weights: Sequence[int] | None = None,
    verify: bool = True,
) -> SearchResult:
    """A column set that is almost a key: with probability 1 - delta it meets the criterion, `Separation(1 - epsilon)`
    or `Distinct(1 - epsilon)`.

    It is the greedy key of a sample, of pairs of rows for separation and of rows for the distinct ratio, and weighs at
    most 1 + ln k (1 + 2 ln k) times the lightest key of the table, k being the sample's size. If the sample contains
    duplicate rows, the table has no key: then the set separates whatever all columns do in the sample, without a
    guarantee. The sample takes one statement for pairs, and one per step for rows; verification takes one more, on the
    full table. `found` has the set even if the full table refutes it, as its profile then shows.

    [Motwani & Xu, 2.3: Theorem 5, and 2.4: Theorem 7]

    >>> from qidsql.measures.criteria import Separation
    >>> result = sampled_key(people, Separation(Fraction(9, 10)), sampler)
    >>> [found.mask for found in result.found], result.certificate.promise
    ([7], '0.9-separation quasi-identifier')
    """
    try:
        size = criterion.sample_size(sampler.rows, delta, profiler.columns)
        sample = sampler.of_pairs(size) if criterion.unit is Unit.PAIRS else sampler.of_rows(size)
        [whole] = sample.profiles([(1 << profiler.columns) - 1])
        is_key = Key().met_by(whole)
        goal: Criterion = Key() if is_key else criterion.all_of(whole)
        found = greedy(sample, goal, weights)
    except Stopped as stop:
        return SearchResult(criterion, "sampled", (), False, 0, stop)
    promise = criterion.name if is_key else NOTHING
    pairs = criterion.unit is Unit.PAIRS
    theorem = f"Motwani & Xu, Theorem {5 if pairs else 7}"
    certificate = Certificate(promise, criterion.unit, (size,), sampler.seed, delta, theorem, 1 - criterion.beta)
    guarantee = cover_guarantee(size if pairs else size * size, "key of the table") if is_key else ""
    found = replace(found, guarantee=guarantee)
    return _measured(found, criterion, profiler, certificate, verify)


def sampled_separation(
    profiler: Profiler,
    criterion: Separation,
    sampler: Sampler,
    epsilon: Fraction,
    delta: Fraction = DELTA,
    weights: Sequence[int] | None = None,
    verify: bool = True,
) -> SearchResult:
    """A small column set that nearly meets `Separation(beta)`: it separates (1 - epsilon) beta of all pairs of rows.

    With probability 1 - delta that holds, and it weighs at most 1 + ln(c k) times the lightest set that
    separates beta of all pairs, where c of the k sampled pairs have to be separated. One statement for the sample,
    one to verify. `sampled_key` searches for almost a key; this requires no more than beta.

    [Motwani & Xu, 2.5: Theorem 8]

    >>> from qidsql.measures.criteria import Separation
    >>> result = sampled_separation(people, Separation(Fraction(1, 2)), sampler, Fraction(1, 10))
    >>> [found.mask for found in result.found], result.certificate.promise
    ([1], '0.45-separation quasi-identifier')
    """
    pairs, passing = beta_pairs(criterion.beta, epsilon, delta, antichain(profiler.columns) + 1)
    promise = Separation((1 - epsilon) * criterion.beta)
    try:
        found = greedy(sampler.of_pairs(pairs), Separation(Fraction(passing, pairs)), weights)
    except Stopped as stop:
        return SearchResult(criterion, "sampled", (), False, 0, stop)
    certificate = Certificate(
        promise.name, Unit.PAIRS, (pairs,), sampler.seed, delta, "Motwani & Xu, Theorem 8", epsilon
    )
    found = replace(found, guarantee=f"{cover_guarantee(passing, criterion.name)}, but for delta")
    return _measured(found, promise, profiler, certificate, verify)


def _measured(
    on_sample: SearchResult, criterion: Criterion, profiler: Profiler, certificate: Certificate, verify: bool
) -> SearchResult:
    """The sample's result as one about the full table, measured there if requested."""
    found = on_sample.found
    certificate = replace(certificate, verified=verify and bool(found))
    stopped = on_sample.stopped
    if certificate.verified:
        try:
            found = tuple(Found(f.mask, profiler.profiles([f.mask])[0]) for f in found)
        except Stopped as stop:
            stopped, certificate = stop, replace(certificate, verified=False)
    return SearchResult(
        criterion,
        "sampled",
        found,
        False,
        0,
        stopped,
        minimal=False,
        certificate=certificate,
        guarantee=on_sample.guarantee,
    )


# A profiler of random pairs of rows, by the columns in which they differ. Sends no statement.


@dataclass(frozen=True, slots=True)
class PairProfile(ClassProfile):
    """The effect of a column set on sampled pairs: `colliding_pairs` of `pairs` agree on it.

    Pairs do not show classes: the other counts are 0, and only `Key` and `Separation` can be tested on it.
    """

    pairs: int = 0

    @property
    def separation_ratio(self) -> Fraction:
        return 1 - Fraction(self.colliding_pairs, self.pairs) if self.pairs else Fraction(1)

    @property
    def divides(self) -> bool:
        return self.colliding_pairs < self.pairs

    @property
    def undivided(self) -> "PairProfile":
        return replace(self, colliding_pairs=self.pairs)

    @property
    def distinct_ratio(self) -> Fraction:
        raise ValueError("a sample of pairs has no distinct ratio")

    @property
    def share_below_k(self) -> Fraction:
        raise ValueError("a sample of pairs has no rows below k")


class PairSample:
    """Column sets in, separated pairs out. Stores only {mask of differing columns: number of pairs}.

    This is the set cover instance of Motwani & Xu, 2.3: a pair is an element, a column the set of pairs it separates.
    """

    def __init__(self, masks: Mapping[int, int], columns: int) -> None:
        self.columns = columns
        self.masks = masks
        self._pairs = sum(masks.values())
        self._separating = transposed(list(masks), columns)  # by column the masks that contain it, as bits
        # The counts in binary, digit by digit: the masks that have the digit. A sum is then a few bit counts.
        self._digits = transposed(list(masks.values()), max(masks.values(), default=0).bit_length())

    def profiles(self, masks: Sequence[int]) -> list[ClassProfile]:
        """A PairProfile for each column set. Costs a few operations on long integers, no statement."""
        return [self._profile(mask) for mask in masks]

    def _profile(self, mask: int) -> PairProfile:
        together = (1 << len(self.masks)) - 1
        for place in positions(mask):
            together &= ~self._separating[place]
        count = sum((together & digit).bit_count() << place for place, digit in enumerate(self._digits))
        return PairProfile(0, 0, 0, 0, 0, 0, 0, 0, count, pairs=self._pairs)
