"""All minimal column sets, bottom up, one size after the other."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice
from types import MappingProxyType
from typing import TypeAlias

from qidsql.core.options import DELTA
from qidsql.core.tables import positions
from qidsql.errors import BudgetSpent, Stopped, UsageError
from qidsql.measures.criteria import Criterion, Unit
from qidsql.measures.profiles import ClassProfile, Profiler, Sampler
from qidsql.search.borders import borders
from qidsql.search.result import Certificate, Found, OnFound, SearchResult, ignore_found
from qidsql.search.smallest import Foresight

CHUNK = 512  # column sets profiled at a time; findings so far survive an early end
CANDIDATES_OF_A_SIZE = 20_000  # of one size

Enough: TypeAlias = Callable[[int, Sequence[int]], str]
"""Why a size is not started whose column sets are these, when so many sets are found; empty: it is."""


def levelwise(
    profiler: Profiler,
    criterion: Criterion,
    max_size: int | None = None,
    max_candidates: int = CANDIDATES_OF_A_SIZE,
    on_found: OnFound = ignore_found,
    breadth: int = 0,
    known: Mapping[int, ClassProfile] = MappingProxyType({}),
    enough: Enough = lambda found, candidates: "",
) -> SearchResult:
    """All minimal non-empty column sets that meet the criterion, of at most `max_size` columns.

    Size by size, each set whose subsets all fail is profiled once: a superset of a set that meets the criterion is not
    minimal. Needs as many profiles as there are minimal sets plus failing sets, in a batch for each size; with a
    `breadth` up to so many of the next sizes with them, as if no set met the criterion. A size with more than
    `max_candidates` sets is not started, nor one of which `enough` says why not. If stopped, it returns what is proved
    so far, by the profiles `known` by then too: a view of those that the profiler has.

    [Motwani & Xu, 3.1: the levelwise algorithm]

    >>> from qidsql.measures.criteria import Key
    >>> [found.mask for found in levelwise(people, Key()).found]
    [7]
    """
    found: list[Found] = []
    last = profiler.columns if max_size is None else min(max_size, profiler.columns)
    candidates = [1 << place for place in range(profiler.columns)]
    border: list[int] = []
    done = 0
    stopped: Stopped | None = None
    foresight = Foresight(profiler, breadth)
    while candidates and done < last and stopped is None:
        try:
            if done and breadth > len(candidates):  # single columns first, as most sets are excluded by these
                foresight.profiles(candidates, _larger(candidates, last - done - 1))
            failing = sift(foresight, criterion, candidates, found, on_found, known)
        except Stopped as stop:
            stopped = stop
            break
        done += 1
        border += failing
        candidates = sorted(islice(_next_level(failing), max_candidates + 1))  # those of the same few columns together
        if done < last and candidates:
            many = len(candidates) > max_candidates
            why_not = more_than(max_candidates, done + 1) if many else enough(len(found), candidates)
            stopped = BudgetSpent(why_not) if why_not else None
    complete = not candidates
    size = profiler.columns if complete else done
    return SearchResult(criterion, "levelwise", tuple(found), complete, size, stopped, failing=tuple(border))


def more_than(most: int, size: int) -> str:
    """Why a size with more column sets is not started.

    >>> more_than(1_000, 3)
    'more than 1,000 column sets of 3 columns would have to be profiled'
    """
    return f"more than {most:,} column sets of {size} columns would have to be profiled"


def _larger(candidates: Sequence[int], sizes: int) -> Iterator[int]:
    """The candidates of the next sizes, if all of these fail."""
    for _ in range(sizes):
        level = []
        for mask in _next_level(candidates):
            level.append(mask)
            yield mask
        candidates = level


def sift(
    profiler: Profiler,
    criterion: Criterion,
    masks: Sequence[int],
    found: list[Found],
    on_found: OnFound = ignore_found,
    known: Mapping[int, ClassProfile] = MappingProxyType({}),
) -> list[int]:
    """Append the column sets that meet the criterion to `found`, report them, and return those that fail.

    Works in chunks, with what becomes `known` at once, as more sets share statements then: when it raises Stopped,
    `found` has what was found by then.

    >>> from qidsql.measures.criteria import Key
    >>> found = []
    >>> sift(people, Key(), [0b011, 0b101, 0b111], found)
    [3, 5]
    >>> [each.mask for each in found]
    [7]
    """
    failing: list[int] = []
    width = len(masks) if known else CHUNK
    for start in range(0, len(masks), max(1, width)):
        chunk = masks[start : start + width]
        before = len(found)
        try:
            for mask, profile in zip(chunk, profiler.profiles(chunk), strict=True):
                if criterion.met_by(profile):
                    found.append(Found(mask, profile))
                else:
                    failing.append(mask)
        except Stopped:
            found += [Found(mask, known[mask]) for mask in chunk if mask in known and criterion.met_by(known[mask])]
            raise
        finally:
            on_found(found[before:])
    return failing


def _next_level(failing: Sequence[int]) -> Iterator[int]:
    """The sets of one more column whose subsets of the present size all failed."""
    known = set(failing)
    by_prefix: dict[int, list[int]] = {}
    for mask in failing:
        top = 1 << (mask.bit_length() - 1)
        by_prefix.setdefault(mask ^ top, []).append(top)
    for prefix, tops in by_prefix.items():
        tops.sort()
        for index, low in enumerate(tops):
            for high in tops[index + 1 :]:
                mask = prefix | low | high
                if all(mask ^ (1 << place) in known for place in positions(prefix)):
                    yield mask


# All minimal column sets, with random sub-tables searched first, so that fewer sets are profiled on the full table.


SHARES = (100, 10)  # sub-tables of one in so many rows [Motwani & Xu, 5.3]
LEAST_ROWS = 100  # rows or pairs in a sub-table


def pruned(
    profiler: Profiler,
    criterion: Criterion,
    sampler: Sampler,
    size: int | None = None,
    delta: Fraction = DELTA,
    max_size: int | None = None,
    max_candidates: int = 20_000,
    on_found: OnFound = ignore_found,
) -> SearchResult:
    """All minimal column sets that meet the criterion, with one sub-table: `iterative` with a single size.

    [Motwani & Xu, 3.1 - 3.3: pruning with one sub-table]

    >>> from qidsql.measures.criteria import Distinct
    >>> [found.mask for found in pruned(people, Distinct(Fraction(3, 4)), sampler, 3).found]
    [3, 5, 6]
    """
    sizes = _sizes(sampler, SHARES[1:]) if size is None else (size,)
    return _search("pruned", profiler, criterion, sampler, sizes, delta, max_size, max_candidates, on_found)


def iterative(
    profiler: Profiler,
    criterion: Criterion,
    sampler: Sampler,
    sizes: Sequence[int] | None = None,
    delta: Fraction = DELTA,
    max_size: int | None = None,
    max_candidates: int = 20_000,
    on_found: OnFound = ignore_found,
) -> SearchResult:
    """All minimal non-empty column sets that meet the criterion, of at most `max_size` columns.

    The minimal sets of a small sub-table are the border above which the next larger one, and finally the full table,
    is searched; `sizes` (ascending; default: 1 % and 10 % of the rows, 100 at least) are those of the sub-tables.
    Every set found was measured on the full table. For `Key` and `Determines` the list is proved complete: a set that
    is no key of a sub-table is none of the table. For `Separation` and `Distinct` the sub-tables require less than beta
    (`sure_ratio`, on pairs and on rows), so that with probability 1 - delta nothing is missing and each set is
    minimal; `complete` is False then, and the certificate says this. Needs profiles of the full table for the minimal
    sets, and the failing sets above the border. If stopped, it returns what is found so far. Raises UsageError for
    other criteria: a sub-table has no information on small classes.

    [Motwani & Xu, 3.1 - 3.3: iterative pruning, Lemmas 9 and 10; they search the first sub-table levelwise, here it is
    searched by `borders`, with the same result from a fraction of the profiles]

    >>> from qidsql.measures.criteria import Distinct
    >>> [found.mask for found in iterative(people, Distinct(Fraction(3, 4)), sampler, [2, 3]).found]
    [3, 5, 6]
    """
    chosen = _sizes(sampler, SHARES) if sizes is None else tuple(sizes)
    return _search("iterative", profiler, criterion, sampler, chosen, delta, max_size, max_candidates, on_found)


def _search(
    algorithm: str,
    profiler: Profiler,
    criterion: Criterion,
    sampler: Sampler,
    sizes: Sequence[int],
    delta: Fraction,
    max_size: int | None,
    max_candidates: int,
    on_found: OnFound,
) -> SearchResult:
    if not criterion.tested_on_samples:
        raise UsageError(f"sub-tables cannot prune the search for a {criterion.name}; use another algorithm")
    border = [1 << place for place in range(profiler.columns)]
    refuted: list[int] = []  # sets that fail on a sub-table
    last = profiler.columns if max_size is None else min(max_size, profiler.columns)
    try:
        if criterion.unit is Unit.ROWS:
            sizes = [size for size in sizes if size < sampler.rows()]
        proved = criterion.sure_on_samples or not sizes
        for size in sizes:
            table = sampler.of_rows(size) if criterion.unit is Unit.ROWS else sampler.of_pairs(size)
            necessary = criterion.on_sample(table, size, delta / len(sizes))
            # There is no border below the first sub-table, so it is searched from both sides, not bottom up.
            first = size == sizes[0]
            result = borders(table, necessary, last) if first else above(table, necessary, border, last, max_candidates)
            if result.stopped is not None:
                return SearchResult(criterion, algorithm, (), False, 0, result.stopped)
            border = [found.mask for found in result.found]
            refuted += result.failing
    except Stopped as stop:
        return SearchResult(criterion, algorithm, (), False, 0, stop)
    result = above(profiler, criterion, border, last, max_candidates, on_found)
    whole = proved and result.stopped is None and last == profiler.columns
    certificate = None
    if not proved:
        promise = "no set is missing, and every set is minimal"
        certificate = Certificate(
            promise, criterion.unit, tuple(sizes), sampler.seed, delta, "Hoeffding 1963, Theorems 1 and 4"
        )
    to_size = result.complete_to_size if proved else 0
    failing = (*refuted, *result.failing) if proved else ()
    return SearchResult(
        criterion,
        algorithm,
        result.found,
        whole,
        to_size,
        result.stopped,
        minimal=proved,
        certificate=certificate,
        failing=failing,
    )


def above(
    profiler: Profiler,
    criterion: Criterion,
    border: Sequence[int],
    last: int,
    max_candidates: int,
    on_found: OnFound = ignore_found,
) -> SearchResult:
    """The minimal column sets that meet the criterion, of at most `last` columns, if all of them contain a set of the
    border: size by size, upwards from there.

    >>> from qidsql.measures.criteria import Key
    >>> [found.mask for found in above(people, Key(), [0b001], 3, 100).found]
    [7]
    """
    found: list[Found] = []
    waiting: dict[int, set[int]] = {}
    for mask in border:
        waiting.setdefault(mask.bit_count(), set()).add(mask)
    below: list[int] = []
    done = 0
    stopped: Stopped | None = None
    for size in range(1, last + 1):
        met = [item.mask for item in found]
        candidates = sorted(mask for mask in waiting.pop(size, ()) if not any(mask & one == one for one in met))
        if len(candidates) > max_candidates:
            stopped = BudgetSpent(
                f"more than {max_candidates:,} column sets of {size} columns would have to be profiled"
            )
            break
        try:
            failing = sift(profiler, criterion, candidates, found, on_found)
        except Stopped as stop:
            stopped = stop
            break
        done = size
        below += failing
        everything = (1 << profiler.columns) - 1
        waiting.setdefault(size + 1, set()).update(
            mask | 1 << place for mask in failing for place in positions(everything ^ mask)
        )
    return SearchResult(criterion, "above a border", tuple(found), stopped is None, done, stopped, failing=tuple(below))


def _sizes(sampler: Sampler, shares: Sequence[int]) -> tuple[int, ...]:
    return tuple(max(LEAST_ROWS, sampler.rows() // share) for share in shares)
