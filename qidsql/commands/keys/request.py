"""The request of `keys`: which column sets, by what criterion, how far to search."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import Annotated

from qidsql.commands.keys.algorithms import ALGORITHMS
from qidsql.commands.keys.result import FoundSet
from qidsql.core.options import (
    BUDGET,
    Columns,
    ColumnWeights,
    Entity,
    Exclude,
    Identifiers,
    MaxBytes,
    MaxSeconds,
    MaxStatements,
    NullRule,
    SampleOptions,
    TableName,
    Wanted,
    Where,
    Workspace,
)
from qidsql.core.policy import Policy, PolicyOptions, Weighted
from qidsql.core.requirements import CriterionOptions
from qidsql.core.tables import Nulls
from qidsql.declarations.commands import Command
from qidsql.declarations.options import Option
from qidsql.errors import UnknownName, UsageError

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


@dataclass(frozen=True)
class KeysRequest(PolicyOptions, SampleOptions, CriterionOptions, Weighted):
    """Which columns together are a key or a quasi-identifier: the smallest set, or every minimal one.

    Without a criterion it searches keys, which identify every row. Every set is measured on the full table. The exit
    code is 0 whatever is found, 3 if a budget ended the search or there is no row.
    """

    table: TableName = None
    _: KW_ONLY
    all: Annotated[bool, Option("all minimal sets, not one smallest", panel=SEARCH)] = False
    minimal: Annotated[bool, Option("one minimal set, by the fewest statements", panel=SEARCH)] = False
    algorithm: Annotated[
        str | None, Option(f"{NAMES}. Default: chosen and reported", "NAME", panel=SEARCH, values=(*ALGORITHMS,))
    ] = None
    max_size: Annotated[int | None, Option("largest column set of --all", "N", panel=BUDGET)] = None
    limit: Annotated[
        int,
        Option("column sets shown at most; --output FILE.jsonl gets all", "N", panel=SEARCH, least=1, in_shells=False),
    ] = 10
    weights: ColumnWeights = None
    columns: Columns = ()
    exclude: Exclude = ()
    identifiers: Identifiers = ()
    where: Where = None
    entity: Entity = None
    nulls: NullRule = "equal"
    max_statements: MaxStatements = None
    max_seconds: MaxSeconds = None
    max_bytes: MaxBytes = None
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
        if algorithm.pairs and not self.criterion.pairs_decide:
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
        return "hitting-sets" if self.criterion.pairs_decide and plain else "borders"

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
        "qidsql keys postgresql://auditor@db.example.org/clinic public.visits --epsilon 0.001 --delta 0.01",
    ),
    exit_codes="0 finished, 2 error, 3 inconclusive",
    formats=("terminal", "json", "jsonl", "html", "markdown"),
)
