"""One small column set that meets a criterion, greedily; and the naive greedy baseline."""

from collections.abc import Sequence
from math import ceil, log

from qidsql.core.tables import positions
from qidsql.errors import Stopped
from qidsql.measures.criteria import Criterion
from qidsql.measures.profiles import ClassProfile, Profiler
from qidsql.search.column_weights import checked_weights, gain
from qidsql.search.result import Found, SearchResult


def greedy(profiler: Profiler, criterion: Criterion, weights: Sequence[int] | None = None) -> SearchResult:
    """One column set of small weight that meets the criterion; none if all columns together do not meet it.

    Adds the column with the greatest `progress` per weight, the first of equals, until the criterion is met. For a key
    of n rows, or a separation quasi-identifier, the set weighs at most 1 + 2 ln n times the lightest one; for the other
    criteria, and with entities, there is no guarantee. Needs the profile of all columns, then one profile per step and
    remaining column, all columns of a step at once; columns that the chosen ones determine are skipped. The set need
    not be minimal. If stopped, it returns none. Raises UsageError.

    [Motwani & Xu, 2.2: Greedy Minimum Key; weights: section 7]
    """
    cost = checked_weights(weights, profiler.columns)
    left = (1 << profiler.columns) - 1
    chosen = 0
    try:
        [profile] = profiler.profiles([left]) if left else [None]
        if profile is None or not criterion.met_by(profile):
            return SearchResult(criterion, "greedy", (), True, profiler.columns)
        profile = profile.undivided
        while left and not (chosen and criterion.met_by(profile)):
            places = list(positions(left))
            profiles = profiler.profiles([chosen | 1 << place for place in places])
            options = dict(zip(places, profiles, strict=True))
            best = _best(criterion, profile, options, cost)
            left &= ~sum(1 << p for p in places if _divides_nothing(profile, options[p]) or p == best)
            chosen, profile = chosen | 1 << best, options[best]
    except Stopped as stop:
        return SearchResult(criterion, "greedy", (), False, 0, stop)
    covers = criterion.covers_pairs and not profile.entities
    guarantee = cover_guarantee(profile.rows * profile.rows, criterion.name) if covers else ""
    return SearchResult(criterion, "greedy", (Found(chosen, profile),), False, 0, minimal=False, guarantee=guarantee)


def cover_guarantee(pairs: int, lightest: str) -> str:
    """What greedy guarantees of its set's weight, if so many pairs have to be separated. [Motwani & Xu, 2.2]"""
    factor = ceil(100 * (1 + log(max(1, pairs)))) / 100
    return f"at most {factor} times the weight of the lightest {lightest} [Motwani & Xu, 2.2]"


def _divides_nothing(profile: ClassProfile, with_column: ClassProfile) -> bool:
    """True if a column separates no rows that agree: then it never will. Pairs of entities alone do not show that, as
    one entity can be in several classes."""
    return (with_column.classes, with_column.colliding_pairs) == (profile.classes, profile.colliding_pairs)


def _best(criterion: Criterion, present: ClassProfile, options: dict[int, ClassProfile], cost: Sequence[int]) -> int:
    before = criterion.progress(present)
    return max(
        options,
        key=lambda place: (*gain(before, criterion.progress(options[place]), cost[place]), -cost[place], -place),
    )


def naive_greedy(profiler: Profiler, criterion: Criterion, weights: Sequence[int] | None = None) -> SearchResult:
    """The columns that are best alone, as many as needed; none if all together do not meet the criterion.

    Correlated columns are taken together although one would suffice, so the set can be larger than the smallest one by
    any factor: a baseline, not a tool. Needs one profile per column, the whole set's, and about log2(columns) more,
    since bisection finds the first columns that suffice. If stopped, it returns none. Raises UsageError.

    [Motwani & Xu, 2.2: the naive greedy algorithm]
    """
    cost = checked_weights(weights, profiler.columns)
    try:
        singles = dict(enumerate(profiler.profiles([1 << place for place in range(profiler.columns)])))
        prefixes, mask = [], 0
        while singles:
            # the gain over no column at all is the column's own ratio, per weight
            best = _best(criterion, singles[min(singles)].undivided, singles, cost)
            del singles[best]
            mask |= 1 << best
            prefixes.append(mask)
        few, enough = 0, len(prefixes)
        if not prefixes or not criterion.met_by(profiler.profiles([mask])[0]):
            return SearchResult(criterion, "naive greedy", (), True, profiler.columns)
        while enough - few > 1:
            middle = (few + enough) // 2
            met = criterion.met_by(profiler.profiles([prefixes[middle - 1]])[0])
            few, enough = (few, middle) if met else (middle, enough)
        [profile] = profiler.profiles([prefixes[enough - 1]])
    except Stopped as stop:
        return SearchResult(criterion, "naive greedy", (), False, 0, stop)
    return SearchResult(criterion, "naive greedy", (Found(prefixes[enough - 1], profile),), False, 0, minimal=False)
