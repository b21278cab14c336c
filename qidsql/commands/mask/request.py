"""The request of `mask`: the forbidden criterion, and how far to search."""

from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar

from qidsql.core.options import (
    COPY,
    DELTA,
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
    Where,
    Workspace,
)
from qidsql.core.policy import Policy, PolicyOptions, Weighted
from qidsql.core.requirements import CriterionOptions, given_criteria
from qidsql.declarations.commands import Command
from qidsql.declarations.options import Option
from qidsql.errors import UsageError
from qidsql.measures.criteria import Criterion


@dataclass(frozen=True)
class MaskRequest(PolicyOptions, SampleOptions, CriterionOptions, Weighted):
    """Which columns can be published together?

    Prints the columns to publish and to withhold, the distance from the optimum, and statements to carry it out; runs
    none of them. A ratio of exactly --distinct or --separation may be published.
    """

    weighs: ClassVar[bool] = True

    table: TableName = None
    _: KW_ONLY
    exact: Annotated[bool, Option("prove that no choice publishes more")] = False
    weights: ColumnWeights = None
    view: Annotated[str | None, Option("the view's name; default: TABLE_published", "NAME", panel=COPY)] = None
    role: Annotated[str, Option("the role that may read it, in the script", "NAME", panel=COPY)] = "reader"
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

    def check(self) -> None:
        _ = self.column_weights
        self.policy.check(self.forbidden)
        sampling = self.sampling
        if sampling.given and not self.sampled:
            raise UsageError(
                "--delta, --seed and --no-verify are for samples: give --epsilon or --sample-sizes as well"
            )
        if (sampling.epsilon is not None and sampling.sizes) or len(sampling.sizes) > 1:
            raise UsageError("a masking draws one sample: choose --epsilon, or one number for --sample-sizes")
        if self.sampled:
            if self.exact:
                raise UsageError("--exact searches the full table and --epsilon a sample; choose one")
            self.criterion.near_sample(sampling.epsilon or DELTA, sampling.delta or DELTA, 1)
            if self.entity is not None:
                raise UsageError("a sample of rows does not measure entities; omit --entity or --epsilon")

    @property
    def sampled(self) -> bool:
        """Whether the columns are chosen on a sample."""
        return self.sampling.epsilon is not None or bool(self.sampling.sizes)

    @cached_property
    def policy(self) -> Policy:
        return Policy.of(self, k=self.violates or self.k, **self.disclosure)

    def settings_of(self, settings: dict[str, Any]) -> dict[str, Any]:
        """The k of the policy is the criterion if none is given: it forbids more than keys."""
        forbids = "k" in settings and not given_criteria(self) and self.reveals is None
        return {**settings, "violates": settings["k"]} if forbids else settings

    @cached_property
    def forbidden(self) -> Criterion:
        """The criterion that the published columns must not meet."""
        return self.criterion.forbidden

    @property
    def plan(self) -> str:
        """A description of the search."""
        how = "implicit-hitting-set, proved" if self.exact else "sampled" if self.sampled else "greedy"
        return f"columns to publish without a {self.forbidden.name}, by {how}"


COMMAND = Command(
    MaskRequest,
    examples=(
        "qidsql mask warehouse.duckdb patients --violates 5",
        "qidsql mask warehouse.duckdb patients --separation 0.8 --exact --weights zip_code=3",
    ),
    exit_codes="0 finished, 2 error, 3 inconclusive",
)
