"""Masking: which columns can be published together so that they contain no quasi-identifier."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from operator import or_

from qidsql.core.options import DELTA
from qidsql.core.tables import positions, weight_of
from qidsql.errors import BudgetSpent, StatementError, Stopped, UsageError
from qidsql.measures.criteria import Criterion, Unit
from qidsql.measures.profiles import ClassProfile, Profiler, Sampler
from qidsql.search.borders import FailingSets
from qidsql.search.greedy import minimal_inside
from qidsql.search.hitting_sets import minimum_hitting_set
from qidsql.search.result import Certificate, checked_weights, gain, stopped_by
from qidsql.search.smallest import Foresight, Lightest, Witnesses, later_steps

EXACT = "implicit hitting set"
SAMPLE_ROWS, SAMPLE_PAIRS = 30_000, 50_000  # [Motwani & Xu, Tables 2 and 3]


@dataclass(frozen=True, slots=True)
class MaskingPlan:
    """Which columns to publish. Applies nothing.

    `published` and `withheld` are column sets, `weight` that of the published one, and no plan at all publishes more
    than `bound`: the plan is optimal if they are equal. `profile` is the published set's (None if it is empty or was
    not measured). `safe`: the full table shows no quasi-identifier in it; None if only a sample was profiled, whose
    `certificate` then gives the guarantee. `stopped` is why the search ended early, if it did. The bound of an exact
    plan follows from the quasi-identifiers `met`: every plan withholds a column of each.
    """

    criterion: Criterion
    algorithm: str
    published: int
    withheld: int
    weight: int
    bound: int
    profile: ClassProfile | None
    safe: bool | None
    stopped: Stopped | StatementError | None = None
    certificate: Certificate | None = None
    met: tuple[int, ...] = ()

    @property
    def optimal(self) -> bool:
        return self.weight == self.bound and self.safe is True

    @property
    def gap(self) -> int:
        """The additional weight that a better plan might publish."""
        return self.bound - self.weight


def greedy_masking(
    profiler: Profiler, criterion: Criterion, weights: Sequence[int] | None = None, breadth: int = 0
) -> MaskingPlan:
    """Columns that can be published without a quasi-identifier, picked one by one.

    Each time it adds the column with the least progress towards the criterion per weight, the heaviest and then the
    first of equals, among those that leave it unmet; a column that would meet it is dropped, since it would later as
    well. At the end no column can be added. `criterion` must not be met (`Criterion.forbidden`). Not optimal in
    general: the bound only excludes the columns that meet the criterion alone. Needs one profile per step and remaining
    column, all columns of a step at once; with a `breadth` so many of later steps with them, as if columns were
    added in the order of their present progress. If stopped, it publishes what is known to be safe. Raises UsageError.

    [Motwani & Xu, 4.1 and 4.2]
    """
    cost = checked_weights(weights, profiler.columns)
    left = (1 << profiler.columns) - 1
    bound, chosen = sum(cost), 0
    profile: ClassProfile | None = None
    stopped = None
    foresight = Foresight(profiler, breadth)
    guessed: list[int] = []  # the columns that may still be added, in the order expected
    try:
        while left:
            places = list(positions(left))
            profiles = foresight.profiles([chosen | 1 << place for place in places], later_steps(chosen, guessed))
            before = criterion.progress(profile or profiles[0].undivided)
            options = {p: option for p, option in zip(places, profiles, strict=True) if not criterion.met_by(option)}
            if not chosen:
                bound = sum(cost[place] for place in options)
            if not options:
                break
            steps = {p: (gain(before, criterion.progress(options[p]), cost[p]), -cost[p], p) for p in options}
            best, *guessed = sorted(options, key=lambda place: steps[place])
            chosen, profile = chosen | 1 << best, options[best]
            left = sum(1 << place for place in guessed)
    except Stopped as stop:
        stopped = stop
    return _plan(criterion, "greedy", chosen, cost, bound, profile, stopped)


def sampled_masking(
    profiler: Profiler,
    criterion: Criterion,
    sampler: Sampler,
    size: int | None = None,
    delta: Fraction = DELTA,
    weights: Sequence[int] | None = None,
    verify: bool = True,
) -> MaskingPlan:
    """Columns published greedily on a sample: with probability 1 - delta they contain no quasi-identifier.

    A set that reaches beta on the full table reaches beta' (`sure_ratio`) on the sample, so the greedy search stays
    below beta' there: on `size` pairs of rows for `Separation` (default 50,000), on rows for `Distinct` (30,000).
    Fewer columns are published than the full table would allow, the fewer the smaller the sample. With `verify` the
    published set is measured on the full table, one more profile; `safe` is its result. Raises UsageError for other
    criteria: a sample has no information on small classes.

    [Motwani & Xu, 4: Theorems 11 and 12]
    """
    cost = checked_weights(weights, profiler.columns)
    if not criterion.tested_on_samples:
        raise UsageError(f"a sample cannot rule out a {criterion.name}; mask on the full table")
    pairs = criterion.unit is Unit.PAIRS
    try:
        drawn = size or SAMPLE_PAIRS if pairs else min(size or SAMPLE_ROWS, sampler.rows())
        table = sampler.of_pairs(drawn) if pairs else sampler.of_rows(drawn)
        whole = not pairs and drawn == sampler.rows()
        on_sample = criterion if whole else criterion.on_sample(table, drawn, delta)
        plan = greedy_masking(table, on_sample, weights)
        stopped, safe, profile = plan.stopped, None, plan.profile
    except Stopped as stop:
        return _plan(criterion, "sampled", 0, cost, sum(cost), None, stop)
    certificate = Certificate(
        f"no {criterion.name}",
        criterion.unit,
        (drawn,),
        sampler.seed,
        delta,
        "Motwani & Xu, Theorems 11 and 12",
        verified=verify,
    )
    if verify and plan.published:
        try:
            [profile] = profiler.profiles([plan.published])
            safe = not criterion.met_by(profile)
        except Stopped as stop:
            stopped, certificate = stop, replace(certificate, verified=False)
    return MaskingPlan(
        criterion,
        "sampled",
        plan.published,
        plan.withheld,
        plan.weight,
        sum(cost),
        profile,
        True if not plan.published else safe,
        stopped,
        certificate,
    )


def exact_masking(
    profiler: Profiler,
    criterion: Criterion,
    weights: Sequence[int] | None = None,
    witnesses: Witnesses | None = None,
    breadth: int = 0,
) -> MaskingPlan:
    """The most weight that can be published without a quasi-identifier, proved.

    The withheld columns must hit every minimal quasi-identifier, so the optimum withholds their lightest hitting set.
    They are found as needed: withhold the lightest hitting set of the known ones, profile the rest; if that meets the
    criterion it contains unknown quasi-identifiers, and disjoint ones are removed from it until the rest is safe; else
    it is the optimum, for every plan has to hit the known ones. Starts from the greedy plan, which gives a first
    answer. Each quasi-identifier needs one profile and those of the descent, about size * log2(columns / size),
    without those whose result follows from a set that was safe, or from `witnesses`. With a `breadth` about as many
    profiles, in few rounds: see `Lightest`. If stopped, it returns the best plan known to be safe and the proved bound.
    Raises UsageError.

    [Motwani & Xu, 4: the problem is NP-hard (Theorem 15); implicit hitting sets: Moreno-Centeno & Karp 2013]
    """
    cost = checked_weights(weights, profiler.columns)
    everything = (1 << profiler.columns) - 1
    best = greedy_masking(profiler, criterion, weights, breadth)
    if breadth and best.stopped is None and best.weight < best.bound:
        return _exact_in_rounds(profiler, criterion, cost, best, breadth)
    bound, stopped = best.bound, best.stopped
    known: list[int] = []
    safe: list[int] = []

    def meets(mask: int) -> bool:
        nonlocal best
        if any(mask & ~other == 0 for other in safe):
            return False
        if witnesses is not None and witnesses.prove(mask):
            return True
        [profile] = profiler.profiles([mask])
        if criterion.met_by(profile):
            return True
        safe.append(mask)
        if weight_of(mask, cost) > best.weight:
            best = _plan(criterion, best.algorithm, mask, cost, bound, profile, None)
        return False

    try:
        if stopped is None and everything:
            columns = [1 << place for place in range(profiler.columns)]
            singles = profiler.profiles(columns)  # known from the greedy plan: no cost
            known = [mask for mask, single in zip(columns, singles, strict=True) if criterion.met_by(single)]
        while stopped is None and best.weight < bound:
            least = minimum_hitting_set(known, cost, tick=lambda: profiler.profiles([]))
            bound = min(bound, sum(cost) - least.lower_bound)
            if least.stopped is not None:
                raise least.stopped
            if best.weight >= bound:
                break
            published, learned = everything & ~least.mask, len(known)
            while published and meets(published):
                known.append(minimal_inside(positions(published), meets))
                published &= ~known[-1]
            if len(known) == learned and not least.optimal:
                raise BudgetSpent("the solver could not prove its smallest hitting set")
    except (Stopped, KeyboardInterrupt) as stop:
        stopped = stopped_by(stop)
    plan = _plan(criterion, EXACT, best.published, cost, bound, best.profile, stopped)
    return replace(plan, met=tuple(known))


def _exact_in_rounds(
    profiler: Profiler, criterion: Criterion, cost: Sequence[int], best: MaskingPlan, breadth: int
) -> MaskingPlan:
    """Columns to withhold by another search: withheld columns are enough if the rest does not meet the criterion, and
    so are more of them; a lightest set that is enough is searched as a lightest quasi-identifier is.
    """
    everything = (1 << profiler.columns) - 1
    enough = FailingSets(_WithoutColumns(profiler), lambda rest: not criterion.met_by(rest), at_once=True)
    search = Lightest(enough, cost, breadth, lambda: profiler.profiles([]))
    stopped: Stopped | StatementError | None = None
    enough.learn({best.withheld: best.profile} if best.profile is not None else {})
    try:
        singles = profiler.profiles([1 << place for place in range(profiler.columns)])  # known from the greedy plan
        enough.meeting[everything] = singles[0].undivided
        enough.learn({everything ^ 1 << place: single for place, single in enumerate(singles)})
        telling = sorted(range(profiler.columns), key=lambda place: criterion.progress(singles[place]), reverse=True)
        search.run(list(accumulate((1 << place for place in telling), or_)))
    except (Stopped, KeyboardInterrupt) as stop:
        stopped = stopped_by(stop)
    withheld = search.best if enough.meeting else everything
    profile = enough.meeting[withheld] if withheld != everything else None
    bound = min(best.bound, sum(cost) - search.bound)
    plan = _plan(criterion, EXACT, everything ^ withheld, cost, bound, profile, stopped)
    return replace(plan, met=tuple(enough.complements))


class _WithoutColumns:
    """A profiler of what is left of all columns without those of a set."""

    def __init__(self, profiler: Profiler) -> None:
        self.columns = profiler.columns
        self._profiler, self._everything = profiler, (1 << profiler.columns) - 1

    def profiles(self, masks: Sequence[int]) -> list[ClassProfile]:
        return self._profiler.profiles([self._everything ^ mask for mask in masks])


def _plan(
    criterion: Criterion,
    algorithm: str,
    published: int,
    cost: Sequence[int],
    bound: int,
    profile: ClassProfile | None,
    stopped: Stopped | StatementError | None,
) -> MaskingPlan:
    everything = (1 << len(cost)) - 1
    weight = weight_of(published, cost)
    return MaskingPlan(criterion, algorithm, published, everything & ~published, weight, bound, profile, True, stopped)
