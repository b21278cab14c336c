"""The minimal column sets to blame for a violation, and the fewest columns to withhold that follow from them."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import takewhile
from math import comb

from qidsql.commands import gate
from qidsql.commands.audit.command import ColumnFinding, ColumnSetFinding, LeastWithheld, SearchFinding, Withheld
from qidsql.commands.audit.facts import AuditFacts, AuditWork, Stage
from qidsql.commands.audit.verdict import obstacles
from qidsql.core.policy import Policy
from qidsql.core.tables import Nulls, masks_of, names_of, positions
from qidsql.errors import BudgetSpent, StatementError, UsageError
from qidsql.measures.criteria import Criterion
from qidsql.measures.histories import KnownRows
from qidsql.measures.profiles import ClassProfile
from qidsql.profiling.disclosing import disclosing
from qidsql.profiling.knowledge import at_most
from qidsql.profiling.known_rows import linking
from qidsql.profiling.profiler import TableProfiler
from qidsql.profiling.samples import PairsThatAgree, Regions, regions_of, why_no_regions
from qidsql.search.borders import borders
from qidsql.search.certified import certified, largest_without
from qidsql.search.decided import decided
from qidsql.search.difference_masks import AgreeingPairs
from qidsql.search.greedy import greedy_minimal
from qidsql.search.hitting_sets import minimum_hitting_set
from qidsql.search.lattice import Enough, levelwise, more_than
from qidsql.search.minimal_keys import minimal_keys
from qidsql.search.result import Found, SearchResult
from qidsql.search.smallest import Foresight, later_steps
from qidsql.wording.texts import plural, setting

LOG = logging.getLogger(__name__)

COARSER = "coarser values and blank cells"
MAX_SETS = 1000  # minimal sets listed by one search; qidsql keys --all lists them all
MORE_ROWS = 2_000_000_000  # scanned for one more size of column sets if so many are listed: rows x sets
MAX_STATEMENTS = 5_000  # of each search and of the remedies, unless the policy has a budget of statements
MAX_VALUES = 12_000_000_000  # read by a search, unless the policy has one: rows x columns of each scan
SCANS_OF_LARGE_TABLE = 20  # scans of all columns that read as much, at most, of a large table
WIDE = 32  # columns; keys of more columns are searched up to a size with at most ...
MOST_SETS_OF_SIZE = 10_000_000  # ... so many sets
MASKS_OF_AUDIT = 20_000  # difference masks that one statement returns
PAIRS_PER_ROW_OF_AUDIT = 2  # that it compares, if rows are packed or many
MAX_VALUES_FOR_PAIRS = 4_000_000_000  # the same where pairs of rows are compared, which takes longer
COMPARISONS = 4  # statements that compare rows; with fewer no key is found, as a rule


def allow(profiler: TableProfiler, policy: Policy, criterion: Criterion | None = None) -> None:
    """Give the next part its default budget: a search for that criterion, or the remedies if there is none."""
    if policy.max_statements is None:
        pairs = criterion is not None and criterion.pairs_decide
        profiler.allow(MAX_STATEMENTS, MAX_VALUES_FOR_PAIRS if pairs else MAX_VALUES)


def explaining(policy: Policy) -> list[Stage]:
    """The stages that tell why a table fails: the minimal column sets to blame, and the effects of withholding columns;
    the remedies follow."""

    def fails(work: AuditWork, facts: AuditFacts) -> bool:
        return facts.fails(policy)

    stopped = (StatementError,)  # the verdict is proved; only the reasons stay incomplete
    searches = [
        Stage(partial(_blamed, criterion=each), f"minimal sets: {each.name}", fails, True, stopped, told=True)
        for each in policy.explaining
    ]
    return [
        *searches,
        Stage(
            _withheld,
            "the effects of withholding columns",
            fails,
            explains=True,
            ends_with=(*stopped, BudgetSpent),
            said="withholding columns: ",
            told=True,
        ),
        Stage(
            _remedies,
            COARSER,
            fails,
            explains=True,
            ends_with=(*stopped, BudgetSpent, UsageError),  # such as too many values for codes
            said=f"{COARSER}: ",
        ),
    ]


def _blamed(work: AuditWork, facts: AuditFacts, criterion: Criterion) -> Iterator[AuditFacts]:
    """The minimal column sets that meet one criterion. Raises Stopped if no more statements can be sent."""
    audited = facts.audited
    assert audited is not None
    work.on_stage(f"violation found; looking for each minimal {criterion.name}")
    allow(audited, work.policy, criterion)
    profiler = linking(disclosing(audited, work.table, [criterion]), criterion.linked, facts.histories)
    yield from search(profiler, criterion, profiler.profile(profiler.everything), work, facts)


def _withheld(work: AuditWork, facts: AuditFacts) -> Iterator[AuditFacts]:
    """The effects of withholding columns."""
    assert facts.audited is not None and facts.limited is not None
    work.on_stage("violation found; measuring the effects of withholding columns")
    allow(facts.audited, work.policy)
    limited = linking(facts.limited, work.policy.below_k.linked, facts.histories)
    yield from withhold(limited, work.policy, facts)


def _remedies(work: AuditWork, facts: AuditFacts) -> Iterator[AuditFacts]:
    """The effects of coarser values and of blank cells."""
    from qidsql.commands.audit.remedies import compare_remedies  # where a table fails, so that loading stays fast

    work.on_stage(f"violation found; measuring {COARSER}")
    yield from compare_remedies(work, facts)


def search(
    profiler: TableProfiler, criterion: Criterion, whole: ClassProfile, work: AuditWork, facts: AuditFacts
) -> Iterator[AuditFacts]:
    """The findings of one search. Raises Stopped if no more statements can be sent."""
    policy = work.policy
    if not criterion.met_by(whole):
        nothing = SearchFinding(
            criterion=criterion.name,
            complete=True,
            complete_to_size=profiler.columns,
            algorithm="profile of all columns",
            impossible=criterion.impossible(whole),
        )
        yield replace(facts, searches=(*facts.searches, nothing))
        return
    by_pairs = criterion.pairs_decide and profiler.entity is None and profiler.nulls is Nulls.EQUAL
    find = _minimal_keys if by_pairs else _minimal_sets
    result, early = find(profiler, criterion, work)
    result = gate.column_sets(result, profiler, [1] * profiler.columns)
    if by_pairs:
        profiler.learn_keys([found.mask for found in result.found])
    known = {found.mask for found in result.found}
    sets = sorted((*result.found, *(found for found in early if found.mask not in known)), key=_shown_first)
    blamed = (
        ColumnSetFinding(criterion=criterion.name, columns=names_of(each.mask, profiler.names), profile=each.profile)
        for each in sets
    )
    searches = (*facts.searches, _finding(result, policy))
    facts = replace(facts, searches=searches, column_sets=(*facts.column_sets, *blamed))
    yield facts
    if criterion == policy.below_k and result.complete:
        facts = replace(facts, least_withheld=_least_withheld(profiler, criterion, result, work))
        yield facts
    if result.stopped is not None:
        why = f"{criterion.name}: {result.stopped}"
        yield replace(facts, unfinished=(*facts.unfinished, why)).ended_by(result.stopped)
        if profiler.spent:
            raise result.stopped


def _shown_first(found: Found) -> tuple[int, int, int, tuple[int, ...]]:
    """The order of a list, the same for every search."""
    return found.size, -found.profile.rows_below_k, -found.profile.classes, tuple(positions(found.mask))


def _minimal_keys(
    profiler: TableProfiler, criterion: Criterion, work: AuditWork
) -> tuple[SearchResult, tuple[Found, ...]]:
    """All minimal keys; of a wide table those of so few columns that memory does not grow with their number.

    By the list of an earlier audit, where all that certifies it is measured already; else by pairs of rows.
    """
    policy = work.policy
    if result := _certified(profiler, criterion, work, measured=True):
        return result, ()
    limited = policy.max_statements is None
    few = limited and COMPARISONS * 2 * (profiler.rows or 0) * profiler.columns > MAX_VALUES_FOR_PAIRS
    if few or not limited or profiler.columns <= WIDE:
        pairs = _NotCompared(profiler) if few else PairsThatAgree(profiler)
        return minimal_keys(profiler, pairs, policy.max_size, MAX_SETS, known=profiler.measured), ()
    last = min(policy.max_size or profiler.columns, largest_size(profiler.columns))
    pairs = PairsThatAgree(profiler, max_masks=MASKS_OF_AUDIT, pairs_per_row=PAIRS_PER_ROW_OF_AUDIT)
    result = minimal_keys(profiler, pairs, last, MAX_SETS, together=1)  # as most tables have no key of so few columns
    if result.stopped is None and not result.complete and last != policy.max_size:
        wide = f"{profiler.columns} columns have too many larger sets to list; qidsql keys finds a smallest key"
        result = replace(result, stopped=BudgetSpent(wide))
    return result, ()


class _NotCompared(PairsThatAgree):
    """Pairs of the rows of a table so large that the budget allows a comparison or two, from which no key follows."""

    def agreeing(self, sets: Sequence[int]) -> list[AgreeingPairs]:
        raise BudgetSpent(f"{at_most(MAX_VALUES_FOR_PAIRS)}, too few to compare the rows; qidsql keys compares them")


def largest_size(columns: int) -> int:
    """The largest size of which, and below which, so many columns have few enough sets to be searched."""
    sizes = takewhile(lambda size: comb(columns, size) <= MOST_SETS_OF_SIZE, range(1, columns + 1))
    return max(sizes, default=1)


def _minimal_sets(
    profiler: TableProfiler, criterion: Criterion, work: AuditWork
) -> tuple[SearchResult, tuple[Found, ...]]:
    """All minimal sets, and one found in another way if their list may not become complete.

    By the list of an earlier audit, where it still holds; else level by level where they are small, as those below k
    are, or by the two borders.
    """
    policy = work.policy
    if result := _certified(profiler, criterion, work):
        LOG.info("minimal sets of %s: those of the last audit, which still hold", criterion.name)
        return result, ()
    if criterion.few_columns:
        result, why = _decided(profiler, criterion, policy)
        if result:
            LOG.info(
                "minimal sets of %s by regions: a set costs a scan each, regions decide many in one", criterion.name
            )
            return result, ()
        LOG.info("minimal sets of %s level by level: they have few columns; no regions, as %s", criterion.name, why)
        breadth, known, enough = profiler.breadth, profiler.measured, _enough(profiler, policy)
        result = levelwise(profiler, criterion, policy.max_size, breadth=breadth, known=known, enough=enough)
        if result.found or result.stopped is None or profiler.spent:
            return result, ()
        return result, greedy_minimal(profiler, criterion, _weakest_first(profiler), profiler.breadth).found
    early: tuple[Found, ...] = ()
    if not any(criterion.met_by(profile) for profile in profiler.singles()):
        one = greedy_minimal(profiler, criterion, _weakest_first(profiler), profiler.breadth)
        if one.stopped is not None:
            return one, ()
        early = one.found
    LOG.info("minimal sets of %s by the borders: they may have many columns", criterion.name)
    return borders(profiler, criterion, policy.max_size, limit=MAX_SETS, breadth=profiler.breadth), early


def _certified(
    profiler: TableProfiler, criterion: Criterion, work: AuditWork, measured: bool = False
) -> SearchResult | None:
    """All minimal sets, where they are about those of an earlier audit; None where they are not, or there was none.

    `measured`: None also where a statement would be needed to tell.
    """
    policy, earlier = work.policy, work.earlier.lists.get(criterion.name, ())
    masks = masks_of(earlier, profiler.names)
    if policy.max_size is not None or len(masks) < len(earlier):
        return None
    if measured and not (masks and all(map(profiler.settles, [*masks, *largest_without(masks, profiler.columns)]))):
        return None
    found = certified(profiler, criterion, masks)
    if found is None:
        allow(profiler, policy, criterion)  # as much for a search as without an earlier list
    return found


def _decided(profiler: TableProfiler, criterion: Criterion, policy: Policy) -> tuple[SearchResult | None, str]:
    """All minimal sets, where parts of the rows decide most of them; else None, and why."""
    if criterion.linked is not KnownRows.ONE or criterion.proved_below is None:
        return None, "a small class proves nothing of it"
    if (regions := regions_of(profiler)) is None:
        return None, why_no_regions(profiler.by_row or profiler)
    if policy.max_size is not None or policy.max_statements is not None:
        return None, f"{setting('max_size')} or {setting('max_statements')} is set"
    try:
        return decided(profiler, regions, criterion, profiler.measured), ""
    except StatementError:  # such as hashes that an old server lacks
        return None, "a statement about them failed"


def _enough(profiler: TableProfiler, policy: Policy) -> Enough:
    """After which sizes of column sets the search ends, unless the policy says how far to search.

    A long list is long enough. Of a large table a size that the budget cannot finish is not begun, once there is a set.
    """

    def why_not(found: int, candidates: Sequence[int]) -> str:
        if policy.max_size is not None or policy.max_statements is not None:
            return ""
        rows, size = max(1, profiler.rows or 0), candidates[0].bit_count()
        most = MORE_ROWS // rows
        if found >= MAX_SETS and len(candidates) > most:
            further = f"{MAX_SETS:,} sets or more are found: {setting('max_size')} says how far to search"
            return f"{more_than(most, size)}, and {further}"
        if found and rows * profiler.columns * SCANS_OF_LARGE_TABLE >= MAX_VALUES and not profiler.affords(candidates):
            sets = f"{plural(len(candidates), 'column set')} of {size} columns"
            return f"{at_most(MAX_VALUES)}, and those of {sets} are more"
        return ""

    return why_not


def _least_withheld(
    profiler: TableProfiler, criterion: Criterion, result: SearchResult, work: AuditWork
) -> LeastWithheld:
    """Every column set below k contains a minimal one, so the withheld columns have to hit each of these."""
    weights = work.request.column_weights
    each = [weights.get(name, 1) for name in profiler.names]
    one = sum(each) + 1  # more than all together: first the number of withheld columns counts, then their weights
    least = minimum_hitting_set([found.mask for found in result.found], [one + weight for weight in each])
    fewest = least.lower_bound // one  # a set of that weight has so many columns at least
    gate.withheld(least.mask, criterion, profiler)
    return LeastWithheld(columns=names_of(least.mask, profiler.names), at_least=fewest)


def _weakest_first(profiler: TableProfiler) -> list[int]:
    """Columns in the order in which greedy descent tries to remove them: fewest classes first."""
    singles = profiler.singles()
    return sorted(
        range(profiler.columns), key=lambda place: (singles[place].classes, -singles[place].colliding_pairs, -place)
    )


def _finding(result: SearchResult, policy: Policy) -> SearchFinding:
    unfinished = ""
    if not result.complete:
        unfinished = f"complete up to {plural(result.complete_to_size, 'column')}"
        unfinished += f" ({setting('max_size')} {policy.max_size})" if result.stopped is None else f": {result.stopped}"
    return SearchFinding(
        criterion=result.criterion.name,
        complete=result.complete,
        complete_to_size=result.complete_to_size,
        algorithm=result.algorithm,
        unfinished=unfinished,
    )


# The effects of withholding columns: ranked on samples of classes where they are large, the best measured in full.


MOST_WITHHELD = 3  # columns withheld at most
MANY_COLUMNS = 100  # columns; of more, only some are tried at the first step:
TRIED = 50  # those with the most values
CHOICE = 8  # columns tried at the later steps: those that helped most at the first
CLASSES_PER_SAMPLED = 64  # one class in so many is sampled, unless these are fewer than ENOUGH or more than PLENTY
ENOUGH, PLENTY = 5_000, 50_000  # classes in a sample
SAMPLED_ROWS = 500_000  # rows; of fewer, a sample is not much cheaper than a profile
RANKED_ROWS = 100  # rows below k in a sample, below which it does not rank options
CLOSE = 4  # options measured in full at most, where the sample does not rank them


@dataclass(frozen=True, slots=True)
class _Option:
    """The columns left, and their profile: measured, or of one class in `share`."""

    left: int
    profile: ClassProfile
    share: int = 1

    def below_k(self, rows: int) -> int:
        """The rows below k of so many; of a sample an estimate, from the smaller part of it, which is more accurate."""
        if self.share == 1:
            return self.profile.rows_below_k
        safe = self.profile.rows - self.profile.rows_below_k
        few = self.profile.rows_below_k < safe
        return min(rows, self.profile.rows_below_k * self.share) if few else max(0, rows - safe * self.share)


def withhold(profiler: TableProfiler, policy: Policy, facts: AuditFacts) -> Iterator[AuditFacts]:
    """Profile the table without each column, then without the best two, then three.

    Columns + 2 * CHOICE profiles at most; of a wide table TRIED + 2 * CHOICE. Of a large table, samples of classes rank
    the columns, and only the best of each step is profiled, with those that the sample does not tell from it. Of equal
    columns the one with the most values is first. Raises Stopped.
    """
    singles, whole = profiler.singles(), facts.profile
    assert whole is not None
    left, choice = profiler.everything, sorted(positions(profiler.everything), key=lambda p: -singles[p].classes)
    choice = choice[:TRIED] if len(choice) > MANY_COLUMNS else choice
    regions = regions_of(profiler)
    sampler: Regions | TableProfiler | None = regions or (profiler if profiler.samples_classes() else None)
    share = 1 if sampler is None else _share(whole, SAMPLED_ROWS if regions is None else 0)
    share = share if regions is None else 1 << share.bit_length() - 1
    foresight = Foresight(profiler, profiler.breadth)
    while left & (left - 1) and len(facts.withheld) < MOST_WITHHELD:
        sets = [left & ~(1 << place) for place in choice if left >> place & 1]
        if share == 1:
            guessed = [place for place in choice if left >> place & 1]
            removed = later_steps(profiler.everything ^ left, guessed, MOST_WITHHELD - 1 - len(facts.withheld))
            foresight.profiles(sets, (profiler.everything ^ mask for mask in removed if mask != profiler.everything))
        options = _ranked(profiler, sampler, sets, share, whole.rows)
        if not facts.withheld:
            facts = replace(facts, columns=_with_effects(profiler, options, whole.rows, facts.columns))
            yield facts
            choice = [(left ^ option.left).bit_length() - 1 for option in options[:CHOICE]]
        left, profile = options[0].left, options[0].profile
        still = obstacles(policy, profile, facts.columns, facts.unnamed)
        names = names_of(profiler.everything ^ left, profiler.names)
        found = Withheld(columns=names, passes=not still, still=still, profile=profile)
        facts = replace(facts, withheld=(*facts.withheld, found))
        yield facts
        if not any(criterion.met_by(profile) for criterion in (policy.below_k, *policy.criteria)):
            return


def _share(whole: ClassProfile, least: int) -> int:
    """One class in so many is sampled; 1 if all are measured."""
    if whole.rows < least or whole.disclosing:
        return 1
    return max(1, min(whole.classes // ENOUGH, max(CLASSES_PER_SAMPLED, whole.classes // PLENTY)))


def _ranked(
    profiler: TableProfiler, sampler: Regions | TableProfiler | None, sets: Sequence[int], share: int, rows: int
) -> list[_Option]:
    """The sets of columns left, the best first, which is measured in full."""

    def rank(option: _Option) -> tuple[int, int, int, int]:
        disclosing = sum(each.rows for each in option.profile.disclosing)
        linked = option.profile.histories.persons_below_k if option.profile.histories else 0
        return option.below_k(rows) + disclosing, linked, -option.profile.smallest, -option.profile.colliding_pairs

    if sampler is None or share == 1:
        return sorted(_measured(profiler, sets), key=rank)
    settled = dict.fromkeys(left for left in sets if profiler.settles(left))
    unknown = [left for left in sets if left not in settled]
    sampled = zip(unknown, sampler.sampled(unknown, share), strict=True)
    found = [*_measured(profiler, [*settled]), *(_Option(left, profile, share) for left, profile in sampled)]
    options = sorted(found, key=rank)
    unsure = [option for option in options[1:CLOSE] if option.profile.rows_below_k < RANKED_ROWS]
    best = [options[0], *unsure]
    measured = sorted(_measured(profiler, [option.left for option in best]), key=rank)
    return [*measured, *options[len(best) :]]


def _measured(profiler: TableProfiler, sets: Sequence[int]) -> list[_Option]:
    return [_Option(left, profile) for left, profile in zip(sets, profiler.profiles(sets), strict=True)]


def _with_effects(
    profiler: TableProfiler, options: Sequence[_Option], rows: int, columns: Sequence[ColumnFinding]
) -> tuple[ColumnFinding, ...]:
    """The columns with the effect of each: its profile if it was measured, else an estimate of the share below k."""
    by_name = {profiler.names[(profiler.everything ^ each.left).bit_length() - 1]: each for each in options}

    def with_effect(finding: ColumnFinding) -> ColumnFinding:
        option = by_name.get(finding.name)
        if option is None:
            return finding
        if option.share == 1:
            return replace(finding, without=option.profile)
        return replace(finding, without_about=Fraction(option.below_k(rows), max(1, rows)))

    return tuple(map(with_effect, columns))
