"""Which column sets are keys or quasi-identifiers: the smallest one, one minimal one, or all of them."""

from collections.abc import Callable, Sequence
from functools import partial

from qidsql.commands import gate
from qidsql.commands.keys.algorithms import ALGORITHMS
from qidsql.commands.keys.request import WORDS, KeysRequest
from qidsql.commands.keys.result import FoundSet, KeysResult
from qidsql.commands.table_search import TableSearch, interruptible, one_answer
from qidsql.core.policy import Policy
from qidsql.core.results import Verdict
from qidsql.core.sampling import Wanted
from qidsql.core.tables import positions
from qidsql.engines.base import Engine
from qidsql.errors import Stopped
from qidsql.measures.criteria import Criterion
from qidsql.measures.profiles import ClassProfile
from qidsql.search.result import Found, SearchResult, ignore_found
from qidsql.search.sampled import NOTHING
from qidsql.wording.numbers import count, decimal, plural


@one_answer
def keys(engine: Engine, request: KeysRequest, on_stage: Callable[[str], None] = lambda stage: None) -> KeysResult:
    """The requested column sets of one table, measured on the full table, with what is proved of them.

    Unless only a sample is requested, all columns together are profiled first: if they do not meet the criterion, no
    set does, and no search is needed. `on_found` of the request is called with each set once, as soon as it is known to
    be in the answer. A stop (budget, lost connection, Ctrl-C, a statement that fails after earlier ones succeeded)
    makes the verdict inconclusive; facts proved by then remain valid. Raises UsageError, UnknownName, AccessError,
    StatementError.
    """
    on_stage("reading the catalog")
    search = TableSearch(engine, request.table, request.policy, request.column_weights)
    name, wanted, criterion = request.search, request.wanted, request.criterion
    result = SearchResult(criterion, name, (), False, 0)
    whole: ClassProfile | None = None
    impossible, unfinished = "", ""
    found_sets = None if request.on_found is None else _FoundSets(search, request.on_found)
    try:
        with interruptible():
            search.use_workspace(on_stage)
            search.measure(criterion)
            profiler = search.profiler
            if name != "sampled":
                on_stage("profiling all columns together")
                whole = profiler.whole()
                profiler.rows, criterion = whole.rows, criterion.of_whole(whole)
                if whole.rows and not criterion.met_by(whole):
                    impossible = criterion.impossible(whole)
            if whole is None or (whole.rows and not impossible):
                stage = f"searching {WORDS[wanted]} ({criterion.name}) by {name}"
                on_stage(stage)
                search.on_bounds = lambda best, bound: on_stage(f"{stage}: {_bounds(best, bound, search.weights)}")
                found = ALGORITHMS[name].run(
                    search, criterion, request, partial(found_sets.add, criterion) if found_sets else ignore_found
                )
                result = gate.column_sets(found, search.profiler, search.weights, request.limit)
                unfinished = str(result.stopped or "")
    except Stopped as stop:
        unfinished = str(stop)
    if impossible:
        result = SearchResult(criterion, "profile of all columns", (), True, search.profiler.columns)
    if found_sets:
        found_sets.finish(result)
    sets = tuple(_set(found, result, search) for found in sorted(result.found, key=_order))
    rows = whole.rows if whole is not None else next((s.profile.rows for s in sets if s.profile is not None), None)
    empty = rows == 0
    weight = sets[0].weight if wanted is Wanted.MINIMUM and sets else None
    return KeysResult(
        verdict=Verdict.INCONCLUSIVE if unfinished or empty else Verdict.FINISHED,
        reason=_nothing(request.policy) if empty else impossible or _reason(result, sets, wanted, search.weights),
        criterion=result.criterion.name,
        options=result.criterion.options.strip(),
        wanted=wanted,
        algorithm=result.algorithm if impossible else name,
        column_sets=sets,
        minimal=result.minimal and bool(sets),
        complete=result.complete,
        complete_to_size=result.complete_to_size,
        cost=weight,
        lower_bound=result.lower_bound,
        guarantee=result.guarantee if sets else "",
        impossible=impossible,
        failing=search.proof(result.failing),
        certificate=result.certificate,
        profile=whole,
        shown=request.limit,
        account=search.account(rows, [unfinished] if unfinished else []),
    )


class _FoundSets:
    """Passes each set on once, as the search finds it, and at the end those not passed on yet."""

    def __init__(self, search: TableSearch, on_found: Callable[[FoundSet], None]) -> None:
        self._search, self._on_found = search, on_found
        self._passed_on: set[int] = set()

    def add(self, criterion: Criterion, found: Sequence[Found]) -> None:
        self.finish(SearchResult(criterion, "", tuple(found), False, 0))

    def finish(self, result: SearchResult) -> None:
        new = [found for found in result.found if found.mask not in self._passed_on]
        self._passed_on.update(found.mask for found in new)
        for found in new:
            self._on_found(_set(found, result, self._search))


# The reason in words


def _order(found: Found) -> tuple[int, int, int]:
    return found.size, -found.profile.rows_below_k, -found.profile.classes


def _set(found: Found, result: SearchResult, search: TableSearch) -> FoundSet:
    """A set with its measures, if they are those of the full table."""
    weight = sum(search.weights[place] for place in positions(found.mask))
    measured = result.algorithm != "sampled" or (result.certificate is not None and result.certificate.verified)
    if not measured:
        return FoundSet(search.names(found.mask), weight, None, None)
    return FoundSet(search.names(found.mask), weight, result.criterion.met_by(found.profile), found.profile)


def _nothing(policy: Policy) -> str:
    which = "no row meets the where condition" if policy.where else "the table is empty"
    return f"there is nothing to search: {which}"


def _reason(result: SearchResult, sets: tuple[FoundSet, ...], wanted: Wanted, weights: tuple[int, ...]) -> str:
    name = result.criterion.name
    if wanted is Wanted.ALL:
        return _list_reason(result, sets)
    if not sets:
        bound = result.lower_bound
        least = f"; proved: each has at least {_weight(bound, weights)}" if bound else ""
        return f"no {name} was found before the search ended{least}" if result.stopped else f"no {name} was found"
    if result.algorithm == "sampled":
        return _sampled_reason(result, sets[0])
    size = plural(len(sets[0].columns), "column")
    if wanted is Wanted.MINIMAL:
        return f"a {name} of {size}, none of which can be left out; a smaller one may exist"
    if result.optimal:
        return f"a smallest {name} has {_weight(sets[0].weight, weights)}; proved: none has less"
    if result.lower_bound:
        least = _weight(result.lower_bound, weights)
        return f"a {name} of {_weight(sets[0].weight, weights)}; proved: each has at least {least}"
    return f"a {name} of {size}, picked greedily; a smaller one may exist"


def _bounds(best: int, bound: int, weights: tuple[int, ...]) -> str:
    return f"found {_weight(best, weights)}; proved: each has at least {_weight(bound, weights)}"


def _weight(weight: int, weights: tuple[int, ...]) -> str:
    return plural(weight, "column") if all(each == 1 for each in weights) else f"the weight {count(weight)}"


def _list_reason(result: SearchResult, sets: tuple[FoundSet, ...]) -> str:
    found = f"{plural(len(sets), 'minimal set')} ({result.criterion.name})"
    if result.complete:
        return f"{found}; the list is proved complete"
    if result.certificate is not None:
        missing = f"but for a chance of {decimal(result.certificate.delta)}, none is missing"
        return f"{found}; {missing}" if result.stopped is None else f"{found}; the search did not finish"
    known = f"the list is complete up to {plural(result.complete_to_size, 'column')}"
    if result.stopped is not None and sets and len(sets[0].columns) > result.complete_to_size:
        return f"{found}, the smallest found so far; there may be far more than can be listed; {known}: none that small"
    return f"{found}; {known}"


def _sampled_reason(result: SearchResult, found: FoundSet) -> str:
    certificate = result.certificate
    assert certificate is not None
    size = plural(len(found.columns), "column")
    name = result.criterion.name
    if found.meets:
        return f"a {name} of {size}: found on a sample, measured on the full table"
    if certificate.promise == NOTHING:
        kept = "" if found.meets is None else "; on the full table the set is none"
        return f"no {name} can be guaranteed: the sample contains duplicate rows{kept}"
    if found.meets is None:
        return f"a {name} of {size}, but for a chance of {decimal(certificate.delta)}; not measured on the full table"
    return f"the {size} found on a sample are no {name} of the full table: the error of probability delta occurred"
