"""The request of `risk`: one column set of one table, and what is known of the population."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Annotated

from qidsql.core.options import MAX_SEED, SAMPLE, Entity, NullRule, Sensitive, names, positive_share
from qidsql.core.policy import Budgeted, Policy, PolicyOptions, Scope
from qidsql.core.results import Result, SearchAccount
from qidsql.core.tables import Nulls
from qidsql.declarations.options import Command, Option, Ratio
from qidsql.declarations.results import FLAT, SIGNED, Rounded
from qidsql.errors import UsageError
from qidsql.measures.histories import Histories
from qidsql.measures.population import Method, RiskBin
from qidsql.measures.profiles import SizeBin
from qidsql.wording.texts import few

POPULATION = "The population of which the table is a sample"
TABLE_SAMPLES = 5  # of the table, that test the estimates
AGAINST = Option(
    "count the people of this population that each row could be (k-map): a table of SOURCE, or another source with its "
    "table where it has several (census.parquet, region.duckdb:people). It has options of its own, which the help "
    "lists if it is named",
    "TABLE|SOURCE[:TABLE]",
    panel=POPULATION,
    in_shells=False,
)
FEWEST_TESTED = 20  # rows of a sample: fewer say nothing of an estimate


@dataclass(frozen=True, kw_only=True)
class RiskRequest(Scope, Budgeted, PolicyOptions):
    """The risk that people are re-identified by a column set: in the table, in its population, per record.

    For a table that is a random sample of a population, estimates how many are unique in the whole population, by
    three methods, and measures how far each is off when this table is the population. With survey weights, also the
    risk of each record. Only counts and sums leave the database. There is no verdict: the exit code is 0 whatever the
    risk is, 3 if a budget ended the work or there is no row. With --population, the people that each row could be are
    counted instead, and a row that could be fewer than K is a violation.
    """

    sensitive: Sensitive = ()
    k: Annotated[int, Option("the threshold: a risk above 1/K is counted", "K")] = 5
    sampling_fraction: Annotated[
        Ratio, Option("the share of the population that is in the table, such as 0.1", "RATIO", panel=POPULATION)
    ] = None
    population_size: Annotated[
        int | None, Option("the same as a number: the rows that the whole population would have", "N", panel=POPULATION)
    ] = None
    weight: Annotated[
        str | None,
        Option("column of the rows' survey weights: how many people each represents", "COLUMN", panel=POPULATION),
    ] = None
    household: Annotated[
        str | None,
        Option(
            "column that tells the households: whoever is recognised shows who lives with them, and a household may be "
            "known by all its members",
            "COLUMN",
        ),
    ] = None
    population: Annotated[None, AGAINST] = None  # else it is another request
    seed: Annotated[int, Option("the samples that test the estimates", "N", panel=SAMPLE)] = 0
    entity: Entity = None
    nulls: NullRule = "equal"

    def check(self) -> None:
        _ = self.policy, self.fraction
        if self.nulls == Nulls.WILDCARD:
            raise UsageError("--nulls wildcard has no classes, on which every risk here is defined; omit it")
        if self.sampling_fraction is not None and self.population_size is not None:
            raise UsageError("--sampling-fraction and --population-size say the same; give one of them")
        if self.population_size is not None and self.population_size < 1:
            raise UsageError(f"--population-size must be at least 1, got {self.population_size}")
        if not 0 <= self.seed < MAX_SEED // TABLE_SAMPLES:
            raise UsageError(f"--seed must lie between 0 and {MAX_SEED // TABLE_SAMPLES - 1}, not at {self.seed}")
        if self.entity is not None and self.weight is not None:
            raise UsageError(
                "--weight is the weight of a row, and --entity counts persons with several; omit one of them"
            )
        if self.entity is not None and self.household is not None:
            raise UsageError(
                "--household has persons as rows, and --entity counts persons with several; omit one of them"
            )
        for name, role in ((self.weight, "the weight"), (self.household, "the household")):
            if name is not None and name in names(self.columns):
                raise UsageError(f"{name} cannot be {role} and a column of the set")

    @cached_property
    def policy(self) -> Policy:
        """The policy; the weight and the household are not among the columns."""
        beside = [each for each in (self.weight, self.household) if each is not None]
        return Policy.of(self, exclude=(*names(self.exclude), *beside))

    @property
    def fraction(self) -> Fraction | None:
        """The sampling fraction, above 0 and at most 1. Raises UsageError."""
        given = self.sampling_fraction
        return None if given is None else positive_share("sampling_fraction", given)

    @property
    def sampled(self) -> bool:
        """Whether the population is known."""
        return self.sampling_fraction is not None or self.population_size is not None


COMMAND = Command(
    RiskRequest,
    examples=(
        "qidsql risk survey.duckdb answers -c age -c sex -c zip",
        "qidsql risk survey.duckdb answers -c age -c sex -c zip --sampling-fraction 0.1",
        "qidsql risk survey.csv -c age -c sex --weight weight --household home",
        "qidsql risk survey.duckdb answers --population voters --on age=age --on zip=postcode",
    ),
    exit_codes="0 finished, 1 violation (with --population), 2 error, 3 inconclusive",
    ways=("population",),
    chosen_by="population",
    shown="k columns exclude identifiers sensitive where entity sampling_fraction population_size weight household "
    "population policy_file format output",
)


# The result of `risk`.


ROUNDED = Rounded(9, significant=True)
ESTIMATE = Rounded(6, significant=True)


@dataclass(frozen=True, kw_only=True)
class ProsecutorRisk:
    """The risk of a person who is known to be in the table: 1 / the rows of the class. With an entity, entities."""

    rows: int
    classes: int
    unique_rows: int
    rows_below_k: Annotated[int, "in classes of fewer than k: their risk is above 1/k"]
    highest: Annotated[Fraction, ROUNDED]
    average: Annotated[Fraction, ROUNDED]
    expected: Annotated[
        Fraction, "re-identifications, if every row is attacked: for rows, the number of classes", ROUNDED
    ]


@dataclass(frozen=True, kw_only=True)
class MethodError:
    """How far one method is off on samples of the table, whose unique rows are known."""

    method: Method
    uniques: Annotated[tuple[float | None, ...], "its estimate on each sample; null: it did not converge", ESTIMATE]
    mean_error: Annotated[float | None, "relative to the table's unique rows; below 0: too few", SIGNED, ESTIMATE]
    worst_error: Annotated[float | None, "the one furthest from 0", SIGNED, ESTIMATE]


@dataclass(frozen=True, kw_only=True)
class Backtest:
    """The estimates with the table in the place of the population, from samples of the same sampling fraction."""

    seed: int
    samples: int
    sample_rows: int
    unique_rows: Annotated[int, "of the table, which every estimate should find"]
    methods: tuple[MethodError, ...]


@dataclass(frozen=True, kw_only=True)
class EstimatedUniques:
    """The rows that are unique in the whole population, as one method estimates them."""

    method: Method
    uniques: Annotated[float | None, "an estimate; null: the method did not converge", ESTIMATE]
    share_of_sample_uniques: Annotated[
        float | None, "an estimate: of the table's unique rows, those that are unique in the population", ESTIMATE
    ]
    failure: Annotated[str | None, "why the method did not converge"]


@dataclass(frozen=True, kw_only=True)
class PopulationRisk:
    """Unique rows of the population of which the table is a random sample."""

    rows: Annotated[int, "of the table; with an entity, entities"]
    size: int
    sampling_fraction: Annotated[float, ROUNDED]
    unique_rows: Annotated[int, "of the table"]
    exact: Annotated[int | None, "the unique rows of the population, where no estimate is needed"]
    estimates: tuple[EstimatedUniques, ...]
    lowest: Annotated[float | None, "of the estimates", ESTIMATE]
    highest: Annotated[float | None, ESTIMATE]
    backtest: Backtest | None
    obstacle: Annotated[str | None, "why there are no estimates"]

    @property
    def tested_rows(self) -> int:
        """The rows of a sample of the backtest: enough to say something, and fewer than the table has; 0 if not."""
        rows = round(Fraction(self.rows * self.rows, self.size))
        return rows if self.estimates and FEWEST_TESTED <= rows < self.rows else 0


@dataclass(frozen=True, kw_only=True)
class WeightedRisk:
    """The risk of each row by survey weights. All figures but counts of rows are estimates."""

    weight: str
    population: Annotated[float, "the sum of the weights", ROUNDED]
    capped_rows: Annotated[int, "in classes whose weights add up to fewer than their rows"]
    rows_above: Annotated[int, "whose risk is above 1/k"]
    highest: Annotated[float, ESTIMATE]
    average: Annotated[float, ESTIMATE]
    expected: Annotated[float, "re-identifications in the population, if every row is attacked", ESTIMATE]
    bins: Annotated[tuple[RiskBin, ...], "the rows by risk: above low, at most high"]


@dataclass(frozen=True, kw_only=True)
class HouseholdRisk:
    """The risk that somebody of a household is re-identified, each member on his own, and who knows all its members."""

    household: str
    households: int
    without: Annotated[int, "rows without a household, each taken for one"]
    certain: Annotated[int, "households of whom somebody is certain to be re-identified in the table"]
    highest: Annotated[float, ROUNDED]
    expected: Annotated[float, "households of whom somebody is re-identified, if every row is attacked", ROUNDED]
    expected_rows: Annotated[float, "the rows in these", ROUNDED]
    weighted_expected: Annotated[float | None, "the same in the population, by the weights", ROUNDED] = None
    weighted_expected_rows: Annotated[float | None, ROUNDED] = None
    alike: Annotated[Histories | None, "households by the rows of all members; null: the engine cannot compare them"]


@dataclass(frozen=True, kw_only=True, repr=False)
class RiskResult(Result):
    """The re-identification risk by one column set."""

    account: Annotated[SearchAccount, FLAT]
    prosecutor: Annotated[ProsecutorRisk | None, "null: not measured"]
    population: Annotated[PopulationRisk | None, "null: no population was given, or it was not measured"]
    weighted: Annotated[WeightedRisk | None, "null: no weights were given, or they were not measured"]
    by_household: Annotated[HouseholdRisk | None, "null: no household was given, or they were not measured"]
    class_sizes: tuple[SizeBin, ...]

    @property
    def asked(self) -> tuple[str, ...]:
        return (f"k = {self.account.policy.k}", few(self.account.columns, 4))
