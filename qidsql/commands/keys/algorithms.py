"""The algorithms of `keys` by name: the kind of sets each finds, and its call. A new search is an entry here."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol, TypeAlias

from qidsql.core.options import DELTA, Sampling, Wanted
from qidsql.measures.criteria import Criterion, Unit
from qidsql.search.borders import borders
from qidsql.search.greedy import greedy, greedy_minimal, naive_greedy
from qidsql.search.lattice import iterative, levelwise, pruned
from qidsql.search.minimal_keys import minimal_keys
from qidsql.search.result import Found, OnFound, SearchResult, ignore_found
from qidsql.search.sampled import sampled_key, sampled_separation
from qidsql.search.smallest import minimum

if TYPE_CHECKING:
    from qidsql.commands.table_search import TableSearch

HINT_PAIRS = 50_000  # random pairs of rows that guide a search: one statement, and half as many statements after it


class SearchOptions(Protocol):
    """The options of a request that searches use."""

    @property
    def sampling(self) -> Sampling: ...

    @property
    def max_size(self) -> int | None: ...


Run: TypeAlias = "Callable[[TableSearch, Criterion, SearchOptions, OnFound], SearchResult]"


@dataclass(frozen=True, slots=True)
class Algorithm:
    """`samples`: it draws samples. `pairs`: it needs a criterion that pairs of rows decide."""

    wanted: Wanted
    run: Run
    samples: bool = False
    pairs: bool = False


def _sampled(search: "TableSearch", criterion: Criterion, request: SearchOptions, on_found: OnFound) -> SearchResult:
    sampling, profiler, weights = request.sampling, search.profiler, search.weights
    epsilon, delta = sampling.epsilon or Fraction(0), sampling.delta or DELTA
    sampler = search.sampler(sampling.seed or 0)
    part = criterion.part_of_pairs
    if part is not None:
        return sampled_separation(profiler, part, sampler, epsilon, delta, weights, sampling.verify)
    return sampled_key(profiler, criterion.almost(epsilon), sampler, delta, weights, sampling.verify)


def _pruned(search: "TableSearch", criterion: Criterion, request: SearchOptions, on_found: OnFound) -> SearchResult:
    sampler, delta = search.sampler(request.sampling.seed or 0), request.sampling.delta or DELTA
    size = request.sampling.sizes[0] if request.sampling.sizes else None
    return pruned(search.profiler, criterion, sampler, size, delta, request.max_size, on_found=on_found)


def _iterative(search: "TableSearch", criterion: Criterion, request: SearchOptions, on_found: OnFound) -> SearchResult:
    sampler, delta = search.sampler(request.sampling.seed or 0), request.sampling.delta or DELTA
    sizes = request.sampling.sizes or None
    return iterative(search.profiler, criterion, sampler, sizes, delta, request.max_size, on_found=on_found)


def _minimal_keys(
    search: "TableSearch", criterion: Criterion, request: SearchOptions, on_found: OnFound
) -> SearchResult:
    pairs, profiler = search.row_pairs, search.profiler
    assert pairs is not None  # the request was refused otherwise
    if not criterion.distinct_decide:
        return minimal_keys(profiler, pairs, request.max_size, on_found=on_found, known=profiler.measured)
    from qidsql.profiling.samples import PairsThatAgree

    whole = profiler.whole()
    if whole.colliding_pairs:
        profiler = profiler.of_different_rows(whole.classes)

    def of_table(keys: Sequence[Found]) -> tuple[Found, ...]:
        return tuple(Found(key.mask, whole) for key in keys)  # a key of the different rows has the classes of all

    def report(keys: Sequence[Found]) -> None:
        on_found(of_table(keys))

    reported = on_found if on_found is ignore_found else report
    found = minimal_keys(profiler, PairsThatAgree(profiler), request.max_size, on_found=reported)
    return replace(found, criterion=criterion, found=of_table(found.found))


def _borders(search: "TableSearch", criterion: Criterion, request: SearchOptions, on_found: OnFound) -> SearchResult:
    # Pairs of rows measure some criteria without bias: a sample of them guides the search.
    hinted = search.row_pairs is not None and criterion.unit is Unit.PAIRS
    hints = search.sampler(0).of_pairs(HINT_PAIRS) if hinted else None
    profiler = search.profiler
    return borders(
        profiler,
        criterion,
        request.max_size,
        hints,
        on_found=on_found,
        breadth=profiler.breadth,
        known=profiler.measured,
    )


ALGORITHMS: Mapping[str, Algorithm] = {
    "implicit-hitting-set": Algorithm(
        Wanted.MINIMUM,
        lambda search, criterion, request, on_found: minimum(
            search.profiler, criterion, search.row_pairs, search.weights, search.profiler.breadth, search.on_bounds
        ),
    ),
    "greedy": Algorithm(
        Wanted.MINIMUM, lambda search, criterion, request, on_found: greedy(search.profiler, criterion, search.weights)
    ),
    "naive-greedy": Algorithm(
        Wanted.MINIMUM,
        lambda search, criterion, request, on_found: naive_greedy(search.profiler, criterion, search.weights),
    ),
    "sampled": Algorithm(Wanted.MINIMUM, _sampled, samples=True),
    "greedy-minimal": Algorithm(
        Wanted.MINIMAL,
        lambda search, criterion, request, on_found: greedy_minimal(
            search.profiler, criterion, breadth=search.profiler.breadth
        ),
    ),
    "hitting-sets": Algorithm(Wanted.ALL, _minimal_keys, pairs=True),
    "borders": Algorithm(Wanted.ALL, _borders),
    "levelwise": Algorithm(
        Wanted.ALL,
        lambda search, criterion, request, on_found: levelwise(
            search.profiler,
            criterion,
            request.max_size,
            on_found=on_found,
            breadth=search.profiler.breadth,
            known=search.profiler.measured,
        ),
    ),
    "pruned": Algorithm(Wanted.ALL, _pruned, samples=True),
    "iterative": Algorithm(Wanted.ALL, _iterative, samples=True),
}
