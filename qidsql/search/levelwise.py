"""All minimal column sets, bottom up, one size after the other."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import TypeAlias

from qidsql.core.tables import positions
from qidsql.errors import BudgetSpent, Stopped
from qidsql.measures.criteria import Criterion
from qidsql.measures.profiles import ClassProfile, Profiler
from qidsql.search.foresight import Foresight
from qidsql.search.result import Found, OnFound, SearchResult, ignore_found

CHUNK = 512  # column sets profiled at a time; findings so far survive an early end
CANDIDATES = 20_000  # of one size

Enough: TypeAlias = Callable[[int, Sequence[int]], str]
"""Why a size is not started whose column sets are these, when so many sets are found; empty: it is."""


def levelwise(
    profiler: Profiler,
    criterion: Criterion,
    max_size: int | None = None,
    max_candidates: int = CANDIDATES,
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
    """Why a size with more column sets is not started."""
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
