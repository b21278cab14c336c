"""The request of `risk`: one column set of one table, and what is known of the population."""

from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import cached_property
from typing import Annotated

from qidsql.core.options import (
    COLUMNS,
    MAX_SEED,
    SAMPLE,
    Entity,
    Exclude,
    Identifiers,
    MaxBytes,
    MaxSeconds,
    MaxStatements,
    NullRule,
    Sensitive,
    TableName,
    Where,
    names,
    positive_share,
)
from qidsql.core.policy import Policy, PolicyOptions
from qidsql.core.tables import Nulls
from qidsql.declarations.commands import Command
from qidsql.declarations.options import Names, Option, Ratio
from qidsql.errors import UsageError

POPULATION = "The population of which the table is a sample"
SAMPLES = 5  # of the table, that test the estimates


@dataclass(frozen=True)
class RiskRequest(PolicyOptions):
    """The risk that people are re-identified by a column set: in the table, in its population, per record.

    For a table that is a random sample of a population, estimates how many are unique in the whole population, by
    three methods, and measures how far each is off when this table is the population. With survey weights, also the
    risk of each record. Only counts and sums leave the database. There is no verdict: the exit code is 0 whatever the
    risk is, 3 if a budget ended the work or there is no row.
    """

    table: TableName = None
    _: KW_ONLY
    columns: Annotated[
        Names,
        Option("a column of the set (repeat); default: all columns together", "COLUMN", ("-c", "--column"), COLUMNS),
    ] = ()
    exclude: Exclude = ()
    identifiers: Identifiers = ()
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
    seed: Annotated[int, Option("the samples that test the estimates", "N", panel=SAMPLE)] = 0
    where: Where = None
    entity: Entity = None
    nulls: NullRule = "equal"
    max_statements: MaxStatements = None
    max_seconds: MaxSeconds = None
    max_bytes: MaxBytes = None

    def check(self) -> None:
        _ = self.policy, self.fraction
        if self.nulls == Nulls.WILDCARD:
            raise UsageError("--nulls wildcard has no classes, on which every risk here is defined; omit it")
        if self.sampling_fraction is not None and self.population_size is not None:
            raise UsageError("--sampling-fraction and --population-size say the same; give one of them")
        if self.population_size is not None and self.population_size < 1:
            raise UsageError(f"--population-size must be at least 1, got {self.population_size}")
        if not 0 <= self.seed < MAX_SEED // SAMPLES:
            raise UsageError(f"--seed must lie between 0 and {MAX_SEED // SAMPLES - 1}, not at {self.seed}")
        if self.entity is not None and self.weight is not None:
            raise UsageError(
                "--weight is the weight of a row, and --entity counts persons with several; omit one of them"
            )
        if self.weight is not None and self.weight in names(self.columns):
            raise UsageError(f"{self.weight} cannot be the weight and a column of the set")

    @cached_property
    def policy(self) -> Policy:
        """The policy; the weight is not among the columns."""
        weight = () if self.weight is None else (self.weight,)
        return Policy.of(self, exclude=(*names(self.exclude), *weight))

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
        "qidsql risk survey.csv -c age -c sex --weight weight",
    ),
    exit_codes="0 finished, 2 error, 3 inconclusive",
)
