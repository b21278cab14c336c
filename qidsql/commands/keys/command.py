"""The request of `keys`: which column sets, by what criterion, how far to search."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated

from qidsql.commands.keys.algorithms import ALGORITHMS
from qidsql.core.options import BUDGET, ColumnWeights, Entity, NullRule, SampleOptions, Wanted, Workspace
from qidsql.core.policy import Budgeted, Policy, PolicyOptions, Scope, Weighted
from qidsql.core.requirements import CriterionOptions
from qidsql.core.results import Result, SearchAccount, Verdict
from qidsql.core.tables import Nulls
from qidsql.declarations.options import Command, FileName, Option
from qidsql.declarations.results import FLAT, OMITTED, UNWRITTEN, reported
from qidsql.errors import UnknownName, UsageError
from qidsql.measures.profiles import ClassProfile
from qidsql.search.result import Certificate
from qidsql.search.sampled import NOTHING
from qidsql.wording.texts import decimal, plural, weighing

# The result of a search for keys and quasi-identifiers: the column sets, and what is proved of them.


@dataclass(frozen=True)
class FoundSet:
    """A column set, with its measures if the full table was profiled."""

    columns: tuple[str, ...]
    weight: int
    meets: Annotated[bool | None, "whether the full table meets the criterion; null if only a sample was profiled"]
    profile: Annotated[ClassProfile | None, FLAT]


@dataclass(frozen=True, kw_only=True, repr=False)
class KeysResult(Result):
    """The column sets that meet a criterion, smallest first."""

    account: Annotated[SearchAccount, FLAT]
    criterion: str
    options: Annotated[str, "the options that ask for the criterion; empty: a key, the default"]
    wanted: Wanted
    algorithm: str
    column_sets: tuple[FoundSet, ...]
    minimal: Annotated[bool, "no set meets the criterion without one of its columns"]
    complete: Annotated[bool, "the list is proved complete"]
    complete_to_size: Annotated[int, "the list is proved complete up to so many columns"]
    cost: Annotated[int | None, "the weight of the one requested set"]
    lower_bound: Annotated[int | None, "a proved lower bound of the weight of every set"]
    guarantee: Annotated[str, "what a greedy search guarantees of the weight of its set; else empty"]
    impossible: Annotated[str, "why there can be none; else empty"]
    failing: Annotated[
        tuple[tuple[str, ...], ...] | None,
        "column sets that miss the criterion: every set that meets it has a column outside each of them, which proves "
        "what is claimed (qidsql verify); null if there are too many to list",
    ]
    certificate: Certificate | None
    profile: Annotated[ClassProfile | None, "of all columns together"]
    spared: Annotated[
        int | None, OMITTED, "statements of the last search from nothing, less those of this one, which began from it"
    ] = None
    shown: Annotated[int, UNWRITTEN] = 10  # sets that a report for people lists

    @property
    def asked(self) -> tuple[str, ...]:
        return (self.criterion, plural(len(self.account.columns), "column"))

    @reported
    def by_size(self) -> Annotated[dict[int, int], "how many sets there are of each size"]:
        return dict(sorted(Counter(len(found.columns) for found in self.column_sets).items()))

    @reported
    def optimal(self) -> Annotated[bool, "no set can weigh less, by the proved bound"]:
        return self.cost is not None and self.cost == self.lower_bound


SEARCH = "Search"
WORDS = {
    Wanted.MINIMUM: "one smallest set",
    Wanted.MINIMAL: "one minimal set",
    Wanted.ALL: "all minimal sets",
}
NAMES = "; ".join(
    f"{', '.join(name for name, each in ALGORITHMS.items() if each.wanted is wanted)} ({words})"
    for wanted, words in WORDS.items()
)


@dataclass(frozen=True, kw_only=True)
class KeysRequest(Scope, Budgeted, PolicyOptions, SampleOptions, CriterionOptions, Weighted):
    """Which columns together are a key or a quasi-identifier: the smallest set, or every minimal one.

    Without a criterion it searches keys, which identify every row. Every set is measured on the full table. The exit
    code is 0 whatever is found, 3 if a budget ended the search or there is no row.
    """

    all: Annotated[bool, Option("all minimal sets, not one smallest", panel=SEARCH)] = False
    minimal: Annotated[bool, Option("one minimal set, by the fewest statements", panel=SEARCH)] = False
    algorithm: Annotated[
        str | None, Option(f"{NAMES}. Default: chosen and reported", "NAME", panel=SEARCH, values=(*ALGORITHMS,))
    ] = None
    max_size: Annotated[int | None, Option("largest column set of --all", "N", panel=BUDGET)] = None
    since: Annotated[
        FileName,
        Option("the JSON of an earlier --all: its list is measured first, and searched on", "FILE", panel=SEARCH),
    ] = None
    limit: Annotated[
        int,
        Option("column sets shown at most; --output FILE.jsonl gets all", "N", panel=SEARCH, least=1, in_shells=False),
    ] = 10
    weights: ColumnWeights = None
    entity: Entity = None
    nulls: NullRule = "equal"
    workspace: Workspace = False
    on_found: Callable[[FoundSet], None] | None = field(default=None, repr=False, compare=False)  # as soon as known

    def check(self) -> None:
        _ = self.column_weights
        self.policy.check(self.criterion)
        if self.all and self.minimal:
            raise UsageError("choose one of --all and --minimal")
        name, wanted, sampling = self.search, self.wanted, self.sampling
        if sampling.epsilon is not None and wanted is not Wanted.MINIMUM:
            raise UsageError(f"--epsilon finds one small set on a sample, not {WORDS[wanted]}; omit one of the two")
        if name not in ALGORITHMS:
            raise UnknownName("algorithm", [name], "qidsql keys", ALGORITHMS)
        algorithm = ALGORITHMS[name]
        if algorithm.wanted is not wanted:
            raise UsageError(
                f"the algorithm {name} finds {WORDS[algorithm.wanted]}, not {WORDS[wanted]}; omit one of the two"
            )
        if algorithm.pairs and not self._pairs_decide:
            raise UsageError(f"the algorithm {name} finds keys only; for other criteria use borders")
        if algorithm.pairs and self.nulls == Nulls.WILDCARD:
            raise UsageError(
                f"the algorithm {name} treats NULL as a value; with --nulls wildcard use borders, the default when no "
                "algorithm is named"
            )
        if (name == "sampled") != (sampling.epsilon is not None):
            raise UsageError("--epsilon and the algorithm sampled go together: a sample needs an allowed error")
        if self.entity is not None and (algorithm.samples or algorithm.pairs):
            raise UsageError(
                f"the algorithm {name} compares rows, not entities; with --entity omit --epsilon and --algorithm"
            )
        if sampling.given and not algorithm.samples:
            given = "--delta, --seed, --sample-sizes and --no-verify"
            raise UsageError(f"{given} are for samples; the algorithm {name} takes none")
        if sampling.sizes and name == "sampled":
            raise UsageError("the size of this sample follows from --epsilon and --delta; omit --sample-sizes")
        if len(sampling.sizes) > 1 and name == "pruned":
            raise UsageError("the algorithm pruned has one sub-table; for several --sample-sizes use iterative")
        if self.weights and wanted is not Wanted.MINIMUM:
            raise UsageError(f"--weights are for one smallest set, not for {WORDS[wanted]}")
        if self.max_size is not None and wanted is not Wanted.ALL:
            raise UsageError("--max-size goes with --all")
        if self.since is not None and (wanted is not Wanted.ALL or self.max_size is not None or algorithm.samples):
            raise UsageError("--since needs a list of all sets: it goes with --all, without --max-size and samples")
        if sampling.epsilon is not None:
            self.criterion.almost(sampling.epsilon)

    @cached_property
    def policy(self) -> Policy:
        return Policy.of(self, k=self.violates or self.k, **self.disclosure)

    @property
    def wanted(self) -> Wanted:
        """The kind of sets to find: as requested, or what a named algorithm finds."""
        if self.all or self.minimal:
            return Wanted.ALL if self.all else Wanted.MINIMAL
        named = ALGORITHMS.get(self.algorithm or "")
        return named.wanted if named else Wanted.MINIMUM

    @property
    def search(self) -> str:
        """The algorithm: as named, else the default for the wanted sets."""
        if self.algorithm is not None:
            return self.algorithm
        if self.wanted is Wanted.MINIMUM:
            return "implicit-hitting-set" if self.epsilon is None else "sampled"
        if self.wanted is Wanted.MINIMAL:
            return "greedy-minimal"
        plain = self.entity is None and self.nulls == Nulls.EQUAL
        return "hitting-sets" if self._pairs_decide and plain else "borders"

    @property
    def why(self) -> str:
        """Why this algorithm, in words for a log."""
        if self.algorithm is not None:
            return "it was asked for"
        if self.wanted is Wanted.MINIMUM:
            return "it proves a smallest set" if self.epsilon is None else "a sample was asked for"
        if self.wanted is Wanted.MINIMAL:
            return "one set needs no proof of its size"
        if self.search == "hitting-sets":
            return "a statement about pairs of rows decides many sets"
        return "pairs of rows decide no set of it" if not self._pairs_decide else "of persons or wildcards sets decide"

    @property
    def _pairs_decide(self) -> bool:
        return self.criterion.pairs_decide or self.criterion.distinct_decide

    @property
    def plan(self) -> str:
        """A description of the search."""
        return f"{WORDS[self.wanted]} ({self.criterion.name}) by {self.search}"


COMMAND = Command(
    KeysRequest,
    examples=(
        "qidsql keys warehouse.duckdb patients",
        "qidsql keys warehouse.duckdb patients --all --distinct 0.9 --max-size 4",
        "qidsql keys warehouse.duckdb patients --all --reveals diagnosis",
        "qidsql keys warehouse.duckdb patients --all --output keys.jsonl",
        "qidsql keys warehouse.duckdb patients --all --violates 5 --since last.json --output last.json",
        "qidsql keys postgresql://auditor@db.example.org/clinic public.visits --epsilon 0.001 --delta 0.01",
    ),
    exit_codes="0 finished, 2 error, 3 inconclusive",
    formats=("terminal", "json", "jsonl", "html", "markdown"),
    shown="distinct separation violates reveals sensitive columns exclude where entity policy_file all algorithm "
    "max_seconds format output",
)


# The verdict of `keys` and the sentence that gives its reason: both follow from the other facts of the result.


def judged(result: KeysResult) -> KeysResult:
    """The result with its verdict and reason."""
    account = result.account
    rows = account.rows if account.policy.entity is None else account.entities
    open_ = bool(account.unfinished) or rows == 0
    return replace(
        result,
        verdict=Verdict.INCONCLUSIVE if open_ else Verdict.FINISHED,
        reason=_nothing(result) if rows == 0 else result.impossible or _reason(result),
    )


def _nothing(result: KeysResult) -> str:
    return f"there is nothing to search: {result.account.policy.why_no_rows}"


def _reason(result: KeysResult) -> str:
    name, sets, bound = result.criterion, result.column_sets, result.lower_bound
    if result.wanted is Wanted.ALL:
        return _list_reason(result)
    least = "" if bound is None else weighing(bound, result.account.weights.values(), "column")
    if not sets:
        proved = f"; proved: each has at least {least}" if bound else ""
        return f"no {name} was found{' before the search ended' if result.account.unfinished else ''}{proved}"
    if result.algorithm == "sampled":
        return _sampled_reason(result, sets[0])
    size = plural(len(sets[0].columns), "column")
    if result.wanted is Wanted.MINIMAL:
        return f"a {name} of {size}, none of which can be left out; a smaller one may exist"
    weight = weighing(sets[0].weight, result.account.weights.values(), "column")
    if result.optimal:
        return f"a smallest {name} has {weight}; proved: none has less"
    if bound:
        return f"a {name} of {weight}; proved: each has at least {least}"
    return f"a {name} of {size}, picked greedily; a smaller one may exist"


def _list_reason(result: KeysResult) -> str:
    sets, stopped = result.column_sets, bool(result.account.unfinished)
    found = f"{plural(len(sets), 'minimal set')} ({result.criterion})"
    if result.complete:
        return f"{found}; the list is proved complete"
    if result.certificate is not None:
        missing = f"but for a chance of {decimal(result.certificate.delta)}, none is missing"
        return f"{found}; the search did not finish" if stopped else f"{found}; {missing}"
    known = f"the list is complete up to {plural(result.complete_to_size, 'column')}"
    if stopped and sets and len(sets[0].columns) > result.complete_to_size:
        return f"{found}, the smallest found so far; there may be far more than can be listed; {known}: none that small"
    return f"{found}; {known}"


def _sampled_reason(result: KeysResult, found: FoundSet) -> str:
    certificate = result.certificate
    assert certificate is not None
    size = plural(len(found.columns), "column")
    name = result.criterion
    if found.meets:
        return f"a {name} of {size}: found on a sample, measured on the full table"
    if certificate.promise == NOTHING:
        kept = "" if found.meets is None else "; on the full table the set is none"
        return f"no {name} can be guaranteed: the sample contains duplicate rows{kept}"
    if found.meets is None:
        return f"a {name} of {size}, but for a chance of {decimal(certificate.delta)}; not measured on the full table"
    return f"the {size} found on a sample are no {name} of the full table: the error of probability delta occurred"
