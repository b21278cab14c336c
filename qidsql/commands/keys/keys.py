"""Which column sets are keys or quasi-identifiers: the smallest one, one minimal one, or all of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from qidsql.commands import gate
from qidsql.commands.keys.result import FoundSet, KeysResult, Outcome
from qidsql.commands.table_search import Searching, interruptible, one_answer
from qidsql.core.criterion_options import DELTA, Sampling, Wanted
from qidsql.core.policy import Policy
from qidsql.core.tables import Nulls, positions
from qidsql.core.wording import count, percent, plural, ratio
from qidsql.engines.base import Engine
from qidsql.errors import Stopped, UnknownName, UsageError
from qidsql.measures.profiles import (
    ClassProfile,
    Criterion,
    Distinct,
    Key,
    RowsAtRisk,
    Separation,
    Violates,
    decimal,
)
from qidsql.profiling.row_pairs import DifferenceMasks
from qidsql.search.borders import borders
from qidsql.search.greedy import greedy, naive_greedy
from qidsql.search.greedy_minimal import greedy_minimal
from qidsql.search.levelwise import levelwise
from qidsql.search.minimal_keys import minimal_keys
from qidsql.search.minimum import minimum
from qidsql.search.pruned import iterative, pruned
from qidsql.search.result import Found, SearchResult, Tell, unheard
from qidsql.search.sampled import NOTHING, sampled_key, sampled_separation

SHOWN = 10
HINT_PAIRS = 50_000  # random pairs of rows that tell a search where to look: one statement, for half of the questions


@dataclass(frozen=True, slots=True)
class KeysQuestion:
    """Which column sets to look for. Raises UsageError when the options contradict each other.

    `wanted` and `algorithm` may be left to the tool. `shown` bounds what a report for people lists.
    """

    policy: Policy
    criterion: Criterion = field(default_factory=Key)
    wanted: Wanted | None = None
    algorithm: str | None = None
    weights: Mapping[str, int] = field(default_factory=dict)
    sampling: Sampling = field(default_factory=Sampling)
    shown: int = SHOWN

    def __post_init__(self) -> None:
        name, wanted = self.chosen
        if self.sampling.epsilon is not None and wanted is not Wanted.MINIMUM:
            raise UsageError(
                f"--epsilon finds one small set on a sample, not {WORDS[wanted]}; leave one of the two out"
            )
        if name not in ALGORITHMS:
            raise UnknownName("algorithm", [name], "qidsql keys", ALGORITHMS)
        if ALGORITHMS[name].wanted is not wanted:
            asked = f"finds {WORDS[ALGORITHMS[name].wanted]}"
            raise UsageError(f"the algorithm {name} {asked}, not {WORDS[wanted]}; leave one of the two out")
        if name == "hitting-sets" and not isinstance(self.criterion, Key):
            raise UsageError("the algorithm hitting-sets finds keys only; for other criteria use borders")
        if name == "hitting-sets" and self.policy.nulls == Nulls.WILDCARD:
            raise UsageError(
                "the algorithm hitting-sets takes NULL for a value; with --nulls wildcard use borders, which is chosen "
                "when none is named"
            )
        if (name == "sampled") != (self.sampling.epsilon is not None):
            raise UsageError("--epsilon and the algorithm sampled go together: a sample needs to know how far to err")
        if self.policy.entity is not None and name in (*SAMPLING, "hitting-sets"):
            raise UsageError(
                f"the algorithm {name} compares rows, not entities; with --entity leave out --epsilon and --algorithm"
            )
        if self.sampling.asked and name not in SAMPLING:
            raise UsageError(f"--delta, --seed and --no-verify are for samples; the algorithm {name} takes none")
        if self.weights and wanted is not Wanted.MINIMUM:
            raise UsageError(f"--weights are for one smallest set, not for {WORDS[wanted]}")
        if self.policy.max_size is not None and wanted is not Wanted.ALL:
            raise UsageError("--max-size goes with --all")
        if name == "sampled" and isinstance(self.criterion, Distinct) and self.criterion.beta != 1:
            raise UsageError("with --epsilon, --distinct must be 1: the set found has the distinct ratio 1 - epsilon")

    @property
    def plan(self) -> str:
        """What is going to be done, in words."""
        name, wanted = self.chosen
        return f"{WORDS[wanted]} ({self.criterion.name}) by {name}"

    @property
    def chosen(self) -> tuple[str, Wanted]:
        """The algorithm, and what it is to find."""
        if self.algorithm is not None:
            known = ALGORITHMS.get(self.algorithm)
            return self.algorithm, self.wanted or (known.wanted if known else Wanted.MINIMUM)
        if self.wanted is Wanted.ALL:
            plain = self.policy.entity is None and self.policy.nulls == Nulls.EQUAL
            pairs = isinstance(self.criterion, Key) and plain
            return ("hitting-sets" if pairs else "borders"), Wanted.ALL
        if self.wanted is Wanted.MINIMAL:
            return "greedy-minimal", Wanted.MINIMAL
        return ("implicit-hitting-set" if self.sampling.epsilon is None else "sampled"), Wanted.MINIMUM


@one_answer
def keys(
    engine: Engine,
    table: str | None,
    question: KeysQuestion,
    on_stage: Callable[[str], None] = lambda stage: None,
    on_found: Callable[[FoundSet], None] | None = None,
) -> KeysResult:
    """The column sets of one table that were asked for, measured on the full table, with what is proved of them.

    Unless only a sample is asked, all columns together come first: when they do not meet the criterion, no set does,
    and no search is needed. `on_found` is handed each set once, as soon as it is known to be in the answer. A stop
    (budget, lost connection, Ctrl-C, a statement that fails after others were answered) makes the outcome
    inconclusive; what is proved by then stands. Raises UsageError, UnknownName, AccessError, StatementError.
    """
    on_stage("reading the catalog")
    search = Searching(engine, table, question.policy, question.weights)
    name, wanted = question.chosen
    result = SearchResult(question.criterion, name, (), False, 0)
    whole: ClassProfile | None = None
    impossible, unfinished = "", ""
    telling = None if on_found is None else _Telling(search, question.criterion, on_found)
    try:
        with interruptible():
            search.use_workspace(on_stage)
            profiler = search.profiler
            if name != "sampled":
                on_stage("profiling all columns together")
                whole = profiler.profile(profiler.everything)
                profiler.rows = whole.rows
                if whole.rows and not question.criterion.met_by(whole):
                    impossible = _impossible(question.criterion, whole, question.policy)
            if whole is None or (whole.rows and not impossible):
                on_stage(f"looking for {WORDS[wanted]} ({question.criterion.name}) by {name}")
                found = ALGORITHMS[name].run(search, question, telling.tell if telling else unheard)
                result = gate.column_sets(found, search.profiler, search.weights, question.shown)
                unfinished = str(result.stopped or "")
    except Stopped as stop:
        unfinished = str(stop)
    if impossible:
        result = SearchResult(question.criterion, "profile of all columns", (), True, search.profiler.columns)
    if telling:
        telling.finish(result)
    sets = tuple(_set(found, result, search) for found in sorted(result.found, key=_order))
    rows = whole.rows if whole is not None else next((s.profile.rows for s in sets if s.profile is not None), None)
    empty = rows == 0
    weight = sets[0].weight if wanted is Wanted.MINIMUM and sets else None
    return KeysResult(
        outcome=Outcome.INCONCLUSIVE if unfinished or empty else Outcome.FINISHED,
        reason=_nothing(question.policy) if empty else impossible or _reason(result, sets, wanted, search.weights),
        criterion=result.criterion.name,
        wanted=wanted,
        algorithm=result.algorithm if impossible else name,
        column_sets=sets,
        minimal=result.minimal and bool(sets),
        complete=result.complete,
        complete_to_size=result.complete_to_size,
        cost=weight,
        lower_bound=result.lower_bound,
        impossible=impossible,
        certificate=result.certificate,
        profile=whole,
        shown=question.shown,
        work=search.work(rows, [unfinished] if unfinished else []),
    )


# The algorithms by name

Run: TypeAlias = Callable[[Searching, KeysQuestion, Tell], SearchResult]


@dataclass(frozen=True, slots=True)
class _Algorithm:
    wanted: Wanted
    run: Run


def _sampled(search: Searching, question: KeysQuestion, tell: Tell) -> SearchResult:
    sampling, criterion = question.sampling, question.criterion
    epsilon, delta = sampling.epsilon or Fraction(0), sampling.delta or DELTA
    sampler = search.sampler(sampling.seed or 0)
    if isinstance(criterion, Separation) and criterion.beta < 1:
        return sampled_separation(
            search.profiler, criterion, sampler, epsilon, delta, search.weights, verify=sampling.verify
        )
    almost: Criterion = criterion
    if isinstance(criterion, (Key, Separation)):
        almost = Separation(1 - epsilon)
    elif isinstance(criterion, Distinct):
        almost = Distinct(1 - epsilon)
    return sampled_key(search.profiler, almost, sampler, delta, search.weights, verify=sampling.verify)


def _pruned(search: Searching, question: KeysQuestion, tell: Tell) -> SearchResult:
    sampling, size = question.sampling, question.policy.max_size
    sampler = search.sampler(sampling.seed or 0)
    delta = sampling.delta or DELTA
    return pruned(search.profiler, question.criterion, sampler, delta=delta, max_size=size, tell=tell)


def _iterative(search: Searching, question: KeysQuestion, tell: Tell) -> SearchResult:
    sampling, size = question.sampling, question.policy.max_size
    sampler = search.sampler(sampling.seed or 0)
    delta = sampling.delta or DELTA
    return iterative(search.profiler, question.criterion, sampler, delta=delta, max_size=size, tell=tell)


def _witnesses(search: Searching) -> DifferenceMasks | None:
    """Pairs of rows as witnesses, where rows are told apart and agreeing is transitive; else profiles must do."""
    profiler = search.profiler
    return DifferenceMasks(profiler) if profiler.entity is None and profiler.nulls is Nulls.EQUAL else None


def _borders(search: Searching, question: KeysQuestion, tell: Tell) -> SearchResult:
    profiler, size = search.profiler, question.policy.max_size
    hints = None
    plain = profiler.entity is None and profiler.nulls is Nulls.EQUAL
    if plain and isinstance(question.criterion, Separation):  # the criterion that pairs of rows tell without bias
        hints = search.sampler(0).of_pairs(HINT_PAIRS)
    return borders(profiler, question.criterion, size, hints, tell=tell)


ALGORITHMS: dict[str, _Algorithm] = {
    "implicit-hitting-set": _Algorithm(
        Wanted.MINIMUM, lambda s, q, tell: minimum(s.profiler, q.criterion, _witnesses(s), s.weights)
    ),
    "greedy": _Algorithm(Wanted.MINIMUM, lambda s, q, tell: greedy(s.profiler, q.criterion, s.weights)),
    "naive-greedy": _Algorithm(Wanted.MINIMUM, lambda s, q, tell: naive_greedy(s.profiler, q.criterion, s.weights)),
    "sampled": _Algorithm(Wanted.MINIMUM, _sampled),
    "greedy-minimal": _Algorithm(Wanted.MINIMAL, lambda s, q, tell: greedy_minimal(s.profiler, q.criterion)),
    "hitting-sets": _Algorithm(
        Wanted.ALL,
        lambda s, q, tell: minimal_keys(s.profiler, DifferenceMasks(s.profiler), q.policy.max_size, tell=tell),
    ),
    "borders": _Algorithm(Wanted.ALL, _borders),
    "levelwise": _Algorithm(
        Wanted.ALL, lambda s, q, tell: levelwise(s.profiler, q.criterion, q.policy.max_size, tell=tell)
    ),
    "pruned": _Algorithm(Wanted.ALL, _pruned),
    "iterative": _Algorithm(Wanted.ALL, _iterative),
}
SAMPLING = ("sampled", "pruned", "iterative")
WORDS = {
    Wanted.MINIMUM: "one smallest set",
    Wanted.MINIMAL: "one minimal set",
    Wanted.ALL: "all minimal sets",
}


class _Telling:
    """Hands on each set once, as the search comes upon it, and at the end what it did not come to tell."""

    def __init__(self, search: Searching, criterion: Criterion, on_found: Callable[[FoundSet], None]) -> None:
        self._search, self._criterion, self._on_found = search, criterion, on_found
        self._told: set[int] = set()

    def tell(self, found: Sequence[Found]) -> None:
        self.finish(SearchResult(self._criterion, "", tuple(found), False, 0))

    def finish(self, result: SearchResult) -> None:
        new = [found for found in result.found if found.mask not in self._told]
        self._told.update(found.mask for found in new)
        for found in new:
            self._on_found(_set(found, result, self._search))


# The answer in words


def _order(found: Found) -> tuple[int, int, int]:
    return found.size, -found.profile.rows_at_risk, -found.profile.classes


def _set(found: Found, result: SearchResult, search: Searching) -> FoundSet:
    """A set with its measures, where they are those of the full table."""
    weight = sum(search.weights[place] for place in positions(found.mask))
    measured = result.algorithm != "sampled" or (result.certificate is not None and result.certificate.verified)
    if not measured:
        return FoundSet(search.names(found.mask), weight, None, None)
    return FoundSet(search.names(found.mask), weight, found.profile, result.criterion.met_by(found.profile))


def _nothing(policy: Policy) -> str:
    which = "no row meets the where condition" if policy.where else "the table is empty"
    return f"there is nothing to search: {which}"


def _impossible(criterion: Criterion, whole: ClassProfile, policy: Policy) -> str:
    """Why no column set meets the criterion: all columns together do not."""
    if isinstance(criterion, Key) and policy.entity is not None:
        return f"no key exists: some entities ({policy.entity}) share all their values with another"
    if isinstance(criterion, Key):
        if whole.wildcard:
            return f"no key exists: {count(whole.duplicate_rows)} rows match another in all columns searched"
        duplicates = plural(whole.duplicate_rows, "row is a duplicate", "rows are duplicates")
        return f"no key exists: {duplicates} of another row in all columns searched"
    reached = ""
    if isinstance(criterion, Distinct):
        reached = f"have the distinct ratio {ratio(whole.distinct_ratio, 6)}"
    elif isinstance(criterion, Separation):
        reached = f"have the separation ratio {ratio(whole.separation_ratio, 9)}"
    elif isinstance(criterion, Violates):
        reached = f"are {count(whole.smallest)}-anonymous"
    elif isinstance(criterion, RowsAtRisk):
        reached = f"put {percent(whole.share_at_risk)} of the rows below k = {criterion.k}"
    return f"no {criterion.name} exists: all columns together {reached}"


def _reason(result: SearchResult, sets: tuple[FoundSet, ...], wanted: Wanted, weights: tuple[int, ...]) -> str:
    name = result.criterion.name
    if wanted is Wanted.ALL:
        return _list_reason(result, sets)
    if not sets:
        bound = result.lower_bound
        least = f"; it is proved that each has {_weight(bound, weights)} at least" if bound else ""
        return f"no {name} was found in the end{least}" if result.stopped else f"no {name} was found"
    if result.algorithm == "sampled":
        return _sampled_reason(result, sets[0])
    size = plural(len(sets[0].columns), "column")
    if wanted is Wanted.MINIMAL:
        return f"a {name} of {size}, none of which can be left out; a smaller one may exist"
    if result.optimal:
        return f"a smallest {name} has {_weight(sets[0].weight, weights)}; proved: none has less"
    if result.lower_bound:
        least = _weight(result.lower_bound, weights)
        return f"a {name} of {_weight(sets[0].weight, weights)}; proved: each has {least} at least"
    return f"a {name} of {size}, picked greedily; a smaller one may exist"


def _weight(weight: int, weights: tuple[int, ...]) -> str:
    return plural(weight, "column") if all(each == 1 for each in weights) else f"the weight {count(weight)}"


def _list_reason(result: SearchResult, sets: tuple[FoundSet, ...]) -> str:
    found = f"{plural(len(sets), 'minimal set')} ({result.criterion.name})"
    if result.complete:
        return f"{found}; the list is proved complete"
    if result.certificate is not None:
        missing = f"but for a chance of {decimal(result.certificate.delta)}, none is missing"
        return f"{found}; {missing}" if result.stopped is None else f"{found}; not searched to the end"
    known = f"the list is complete up to {plural(result.complete_to_size, 'column')}"
    if result.stopped is not None and sets and len(sets[0].columns) > result.complete_to_size:
        return (
            f"{found}, the smallest seen until then; there may be far more than can be listed; {known}: none so small"
        )
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
        return f"no {name} can be vouched for: the sample holds duplicate rows{kept}"
    if found.meets is None:
        return f"a {name} of {size}, but for a chance of {decimal(certificate.delta)}; not measured on the full table"
    return f"the {size} found on a sample are no {name} of the full table: the chance delta came true"
