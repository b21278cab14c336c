"""The request of `protect --by columns`: the forbidden criterion, and how far to search."""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Annotated, ClassVar

from qidsql.commands.protect.way import WAY, By, Way
from qidsql.core.options import COPY, DELTA, ColumnWeights, Entity, Known, NullRule, SampleOptions, Workspace
from qidsql.core.policy import Budgeted, Policy, PolicyOptions, Scope, Weighted
from qidsql.core.requirements import CriterionOptions, given_criteria
from qidsql.core.results import Result, SearchAccount, Verdict
from qidsql.declarations.options import Command, Option
from qidsql.declarations.results import FLAT, OMITTED, reported
from qidsql.errors import UsageError
from qidsql.measures.criteria import Criterion, Violates, ViolatesByRows
from qidsql.measures.histories import KnownRows
from qidsql.measures.profiles import ClassProfile
from qidsql.search.result import Certificate
from qidsql.wording.texts import are, count, decimal, percent, plural, setting


@dataclass(frozen=True, kw_only=True)
class ColumnsRequest(Scope, Budgeted, PolicyOptions, SampleOptions, CriterionOptions, Weighted):
    """Which columns can be published together?

    Prints the columns to publish and to withhold, the distance from the optimum, and statements to carry it out; runs
    none of them. By default the published columns have no class below k. Other criteria have to be asked for; a ratio
    of exactly --distinct or --separation may be published.
    """

    weighs: ClassVar[bool] = True

    by: By = Way.COLUMNS
    exact: Annotated[bool, Option("prove that no choice publishes more", panel=WAY)] = False
    weights: ColumnWeights = None
    view: Annotated[str | None, Option("the view's name; default: TABLE_published", "NAME", panel=COPY)] = None
    role: Annotated[str, Option("the role that may read it, in the script", "NAME", panel=COPY)] = "reader"
    entity: Entity = None
    known_rows: Known = None
    nulls: NullRule = "equal"
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

    @property
    def criterion(self) -> Criterion:
        """What is asked for: classes below k by default. Raises UsageError if there are several."""
        plain = not given_criteria(self) and self.reveals is None
        found = Violates(self.k) if plain else super().criterion
        if (known := self.policy.known_rows) is None:
            return found
        if type(found) is not Violates:
            raise UsageError(f"{setting('known_rows')} goes with k alone: leave out the other criterion, or give 1")
        return ViolatesByRows(found.k, KnownRows(known))

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
    ColumnsRequest,
    examples=(
        "qidsql protect clinic.duckdb patients --by columns --k 5",
        "qidsql protect clinic.duckdb patients --by columns --separation 0.8 --exact --weights zip_code=3",
    ),
    exit_codes="0 finished, 1 no column can be published, 2 error, 3 inconclusive",
    shown="by k distinct separation reveals sensitive columns exclude identifiers where entity exact view format "
    "output",
)


# The result: the columns to publish, how good that choice is, and the script for it.


@dataclass(frozen=True, kw_only=True, repr=False)
class ColumnsResult(Result):
    """Which columns can be published together."""

    by: Annotated[Way, "what is changed"] = Way.COLUMNS
    account: Annotated[SearchAccount, FLAT]
    criterion: Annotated[str, "must not hold for the published columns"]
    options: Annotated[str, "the options that ask for the criterion"]
    algorithm: str
    published: tuple[str, ...]
    withheld: tuple[str, ...]
    weight: Annotated[int, "of the published columns"]
    bound: Annotated[int | None, "a proved upper bound of the weight of every choice; null if no column is known yet"]
    safe: Annotated[bool | None, "whether the full table confirms it; null if only a sample was profiled"]
    profile: Annotated[ClassProfile | None, "of the published columns, on the full table"]
    quasi_identifiers: Annotated[
        tuple[tuple[str, ...], ...] | None,
        "column sets that meet the criterion: every choice withholds a column of each, which proves the bound (qidsql "
        "verify); null if there are too many to list",
    ]
    certificate: Certificate | None
    view: Annotated[str | None, OMITTED, "the view that the script creates, if one was named"] = None
    role: Annotated[str, "the role that may read it, in the script"] = "reader"
    script: Annotated[tuple[str, ...], "statements that would carry it out, none of which was run"]

    @property
    def asked(self) -> tuple[str, ...]:
        return (f"no {self.criterion}", plural(len(self.account.columns), "column"))

    @property
    def asks_for_k(self) -> bool:
        """Whether the criterion is k-anonymity, by one known row or more."""
        return self.options.split()[:2] == ["--violates", str(self.account.policy.k)]

    @reported
    def optimal(self) -> Annotated[bool, "no choice publishes more, by the proved bound"]:
        return self.safe is True and self.weight == self.bound


# The verdict and the sentence that gives its reason: both follow from the other facts of the result.


def judged(result: ColumnsResult) -> ColumnsResult:
    """The result with its verdict and reason."""
    account = result.account
    rows = account.rows if account.policy.entity is None else account.entities
    open_ = bool(account.unfinished) or rows == 0
    reason = "there is nothing to measure: no row" if rows == 0 else _found_by(result) + _reason(result)
    none = result.safe and not result.published and result.bound == 0
    verdict = Verdict.INCONCLUSIVE if open_ else Verdict.VIOLATION if none else Verdict.FINISHED
    return replace(result, verdict=verdict, reason=reason)


def _found_by(result: ColumnsResult) -> str:
    """Who can still be found by the published columns."""
    policy = result.account.policy
    if not (result.safe and result.published):
        return ""
    if not result.asks_for_k:
        return _alone(result)
    if policy.known_rows is not None:
        known = KnownRows(policy.known_rows).words
        return f"by what is published, {known} of a person leave {policy.k} persons or more: "
    if policy.entity is not None:
        return f"by what is published, a row of a person leaves {policy.k} persons or more, if rows cannot be linked: "
    return f"by what is published nobody is found, not even by someone who knows everybody (k = {policy.k}): "


def _alone(result: ColumnsResult) -> str:
    """Who is found where small classes are not ruled out."""
    profile = result.profile
    if profile is None:
        return ""
    who, alone = "person" if profile.entities else "row", profile.unique_rows
    if not alone:
        return f"by what is published no {who} is alone, and small classes are not ruled out: "
    share = f"{plural(alone, who)} ({percent(Fraction(alone, profile.rows))}) {are(alone)} alone"
    return f"by what is published {share}, and found by someone who knows what they show: "


def _reason(result: ColumnsResult) -> str:
    if result.algorithm == "none" or result.bound is None:
        return "the search did not finish: no columns are known to be safe"
    published = len(result.published)
    what = f"{count(published)} of {plural(len(result.account.columns), 'column')} can be published"
    if result.safe is False:
        return (
            f"the {plural(published, 'column')} found on a sample are not safe on the full table: the error of "
            f"probability delta occurred"
        )
    if result.safe is None and result.certificate is not None:
        return f"{what}, but for a chance of {decimal(result.certificate.delta)}; not measured on the full table"
    if result.optimal:
        return f"{what}; proved: no choice publishes {'a greater weight' if result.account.weights else 'more'}"
    gap = result.bound - result.weight
    more = f"the weight {count(gap)}" if result.account.weights else count(gap)
    return f"{what}; not proved to be the most: at most {more} more could be"
