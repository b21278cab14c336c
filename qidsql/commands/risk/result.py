"""The result of `risk`."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

from qidsql.core.results import Result, SearchAccount
from qidsql.declarations.results import FLAT, SIGNED, Rounded
from qidsql.measures.individual_risk import RiskBin
from qidsql.measures.population_uniques import Method
from qidsql.measures.profiles import SizeBin
from qidsql.wording.texts import few

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
        """The rows of a sample of the backtest: at least 2 and fewer than the table has; 0 if there is none."""
        rows = round(Fraction(self.rows * self.rows, self.size))
        return rows if self.estimates and 1 < rows < self.rows else 0


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


@dataclass(frozen=True, kw_only=True, repr=False)
class RiskResult(Result):
    """The re-identification risk by one column set."""

    account: Annotated[SearchAccount, FLAT]
    prosecutor: Annotated[ProsecutorRisk | None, "null: not measured"]
    population: Annotated[PopulationRisk | None, "null: no population was given, or it was not measured"]
    weighted: Annotated[WeightedRisk | None, "null: no weights were given, or they were not measured"]
    class_sizes: tuple[SizeBin, ...]

    @property
    def asked(self) -> tuple[str, ...]:
        return (f"k = {self.account.policy.k}", few(self.account.columns, 4))
