"""Which column sets are keys or quasi-identifiers: the smallest one, one minimal one, or all of them."""

import logging
from collections.abc import Callable, Sequence
from functools import partial

from qidsql.commands import gate
from qidsql.commands.keys.algorithms import ALGORITHMS
from qidsql.commands.keys.command import WORDS, FoundSet, KeysRequest, KeysResult, judged
from qidsql.commands.keys.earlier import by_earlier, read_earlier, spared
from qidsql.commands.table_search import TableSearch, interruptible, one_answer
from qidsql.core.options import Wanted
from qidsql.core.results import Verdict
from qidsql.core.tables import positions
from qidsql.engines.base import Engine
from qidsql.errors import Stopped
from qidsql.measures.criteria import Criterion
from qidsql.measures.profiles import ClassProfile
from qidsql.search.result import Found, SearchResult, ignore_found
from qidsql.wording.texts import weighing

LOG = logging.getLogger(__name__)


@one_answer
def keys(engine: Engine, request: KeysRequest, on_stage: Callable[[str], None] = lambda stage: None) -> KeysResult:
    """The requested column sets of one table, measured on the full table, with what is proved of them.

    Unless only a sample is requested, all columns together are profiled first: if they do not meet the criterion, no
    set does, and no search is needed. The list of an earlier search (`since`) is measured before any search, which
    begins from what was measured where the list no longer holds. `on_found` of the request is called with each set
    once, as soon as it is known to be in the answer. A stop (budget, lost connection, Ctrl-C, a statement that fails
    after earlier ones succeeded) makes the verdict inconclusive; facts proved by then remain valid. Raises UsageError,
    UnknownName, AccessError, StatementError.
    """
    earlier = read_earlier(request.since)
    on_stage("reading the catalog")
    search = TableSearch(engine, request.table, request.policy, request.column_weights)
    name, wanted, criterion = request.search, request.wanted, request.criterion
    result, by_list = SearchResult(criterion, name, (), False, 0), False
    whole: ClassProfile | None = None
    impossible, unfinished = "", ""
    found_sets = None if request.on_found is None else _FoundSets(search, request.on_found)
    try:
        with interruptible():
            search.use_workspace(on_stage)
            search.confirm_persons()
            search.measure(criterion)
            profiler = search.profiler
            if name != "sampled":
                on_stage("profiling all columns together")
                whole = profiler.whole()
                profiler.rows, criterion = whole.rows, criterion.of_whole(whole)
                if whole.rows and not criterion.met_by(whole):
                    impossible = criterion.impossible(whole)
            if impossible:
                LOG.info("no search of %s: all columns together decide it", criterion.name)
            if whole is None or (whole.rows and not impossible):
                found: SearchResult | None = None
                if earlier is not None:
                    on_stage("measuring the earlier list")
                    found = by_earlier(search, criterion, earlier, pairs=ALGORITHMS[name].pairs)
                    by_list = found is not None
                stage = f"searching {WORDS[wanted]} ({criterion.name}) by {name}"
                if found is None:
                    LOG.info("%s of %s by %s: %s", WORDS[wanted], criterion.name, name, request.why)
                    on_stage(stage)
                    search.on_bounds = lambda best, bound: on_stage(f"{stage}: {_bounds(best, bound, search.weights)}")
                    found = ALGORITHMS[name].run(
                        search, criterion, request, partial(found_sets.add, criterion) if found_sets else ignore_found
                    )
                result = gate.column_sets(found, search.profiler, search.weights, request.limit)
                unfinished = str(result.stopped or "")
            if not unfinished:
                search.note_persons()
    except Stopped as stop:
        unfinished = str(stop)
    if impossible:
        result = SearchResult(criterion, "profile of all columns", (), True, search.profiler.columns)
    if found_sets:
        found_sets.finish(result)
    sets = tuple(_set(found, result, search) for found in sorted(result.found, key=_order))
    rows = whole.rows if whole is not None else next((s.profile.rows for s in sets if s.profile is not None), None)
    weight = sets[0].weight if wanted is Wanted.MINIMUM and sets else None
    account = search.account(rows, [unfinished] if unfinished else [])
    answer = KeysResult(
        verdict=Verdict.INCONCLUSIVE,
        reason="",
        criterion=result.criterion.name,
        options=result.criterion.options.strip(),
        wanted=wanted,
        algorithm=result.algorithm if impossible or by_list else name,
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
        spared=None if earlier is None else spared(earlier, account.statements),
        account=account,
    )
    return judged(answer)


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


def _order(found: Found) -> tuple[int, int, int]:
    return found.size, -found.profile.rows_below_k, -found.profile.classes


def _set(found: Found, result: SearchResult, search: TableSearch) -> FoundSet:
    """A set with its measures, if they are those of the full table."""
    weight = sum(search.weights[place] for place in positions(found.mask))
    measured = result.algorithm != "sampled" or (result.certificate is not None and result.certificate.verified)
    if not measured:
        return FoundSet(search.names(found.mask), weight, None, None)
    return FoundSet(search.names(found.mask), weight, result.criterion.met_by(found.profile), found.profile)


def _bounds(best: int, bound: int, weights: tuple[int, ...]) -> str:
    proved = weighing(bound, weights, "column")
    return f"found {weighing(best, weights, 'column')}; proved: each has at least {proved}"
