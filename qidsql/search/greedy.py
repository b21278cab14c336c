"""One small column set that meets a criterion, greedily; and the naive greedy baseline."""

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from math import ceil, log

from qidsql.core.tables import positions
from qidsql.errors import Stopped
from qidsql.measures.criteria import Criterion
from qidsql.measures.profiles import ClassProfile, Profiler
from qidsql.search.result import Found, SearchResult, checked_weights, gain
from qidsql.search.smallest import Foresight


def greedy(profiler: Profiler, criterion: Criterion, weights: Sequence[int] | None = None) -> SearchResult:
    """One column set of small weight that meets the criterion; none if all columns together do not meet it.

    Adds the column with the greatest `progress` per weight, the first of equals, until the criterion is met. For a key
    of n rows, or a separation quasi-identifier, the set weighs at most 1 + 2 ln n times the lightest one; for the other
    criteria, and with entities, there is no guarantee. Needs the profile of all columns, then one profile per step and
    remaining column, all columns of a step at once; columns that the chosen ones determine are skipped. The set need
    not be minimal. If stopped, it returns none. Raises UsageError.

    [Motwani & Xu, 2.2: Greedy Minimum Key; weights: section 7]

    >>> from qidsql.measures.criteria import Distinct
    >>> [found.mask for found in greedy(people, Distinct(Fraction(3, 4))).found]
    [3]
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
    """What greedy guarantees of its set's weight, if so many pairs have to be separated. [Motwani & Xu, 2.2]

    >>> cover_guarantee(6, 'key')
    'at most 2.8 times the weight of the lightest key [Motwani & Xu, 2.2]'
    """
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

    >>> from qidsql.measures.criteria import Distinct
    >>> [found.mask for found in naive_greedy(people, Distinct(Fraction(3, 4))).found]
    [3]
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


# One minimal column set by removing columns in an order.


ALGORITHM = "greedy-minimal"
COLUMNS_REMOVED_TOGETHER = 32  # columns left to try, of which several are removed at once


def greedy_minimal(
    profiler: Profiler, criterion: Criterion, order: Sequence[int] | None = None, breadth: int = 0
) -> SearchResult:
    """One minimal column set that meets the criterion; none if the whole column set does not meet it.

    Columns are tried in `order` (positions; default: last column first, as in the paper), and each is removed if the
    rest still meets the criterion. One pass is enough: a column that could not be removed once never can be later,
    since the criterion is monotone. Needs columns + 1 profiles, where the paper's loop starts again after each success.
    While many columns are left to try, the next one that cannot be removed is found by removing 1, 2, 4, ... at once,
    and by halving: about 2 log(columns) profiles for each column of the set. With a `breadth` some profiles are asked
    ahead, as if every column could be removed. Minimal, not minimum: another order may give a smaller set. If stopped,
    it returns none.

    [Yuan & Wang, Algorithm 5.1]

    >>> from qidsql.measures.criteria import Distinct
    >>> [found.mask for found in greedy_minimal(people, Distinct(Fraction(3, 4))).found]
    [3]
    """
    kept = (1 << profiler.columns) - 1
    failing: list[int] = []
    try:
        [profile] = profiler.profiles([kept])
        if not criterion.met_by(profile):
            return SearchResult(criterion, ALGORITHM, (), True, profiler.columns)
        left = list(order if order is not None else reversed(range(profiler.columns)))
        foresight = Foresight(profiler, breadth)
        while left:
            rests = list(accumulate(left, lambda rest, place: rest & ~(1 << place), initial=kept))
            removed, step = 0, 1  # so many columns can be removed
            needed = len(rests) if rests[-1] else len(left)  # and so many not
            while needed - removed > 1:
                tried = removed + step if removed + step < needed else (removed + needed) // 2
                [without] = foresight.profiles([rests[tried]], filter(None, rests[tried + 1 : needed]))
                if criterion.met_by(without):
                    kept, profile, removed = rests[tried], without, tried
                    step = 2 * step if len(left) > COLUMNS_REMOVED_TOGETHER else 1
                else:
                    failing.append(rests[tried])
                    needed = tried
            del left[:needed]
    except Stopped as stop:
        return SearchResult(criterion, ALGORITHM, (), False, 0, stop)
    return SearchResult(criterion, ALGORITHM, (Found(kept, profile),), False, 0, failing=tuple(failing))


# One minimal column set inside a given one, by removing blocks of columns.


def minimal_inside(columns: Iterable[int], meets: Callable[[int], bool]) -> int:
    """A minimal set of some of the columns (places, tried in order) that meets a monotone test, which all of them meet.

    Blocks of columns are removed, halved when they are needed and doubled when they are not. Tests about
    size * log2(columns / size) sets, never the empty one. Raises what `meets` raises.

    >>> bin(minimal_inside(range(4), lambda mask: mask & 0b1010 == 0b1010))
    '0b1010'
    """
    open_ = list(columns)
    needed, block = 0, max(1, len(open_) // 2)
    while open_:
        rest = needed | sum(1 << place for place in open_[block:])
        if rest and meets(rest):
            del open_[:block]
            block = min(2 * block, max(1, len(open_) - 1))
        elif block == 1:
            needed |= 1 << open_.pop(0)
        else:
            block = max(1, block // 2)
    return needed
