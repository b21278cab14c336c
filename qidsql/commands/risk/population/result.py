"""The result of `risk --population`, the k-map: how many people of a population each published row could be."""

from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Annotated

from qidsql.core.results import Account, Result
from qidsql.declarations.results import FLAT, Rounded
from qidsql.linkage.join_columns import JoinedColumns
from qidsql.linkage.joinable import Containment
from qidsql.measures.population import PopulationMatch

RISK = Rounded(9, significant=True)


@dataclass(frozen=True, kw_only=True)
class PopulationFigures:
    """The published rows held against the population; see `qidsql.measures.population`."""

    rows: int
    classes: Annotated[int, "different combinations of values among the published rows"]
    smallest: Annotated[int | None, "the published table alone is k-anonymous for k up to that"]
    sample_uniques: Annotated[int, "rows that are alone in their class in the published table"]
    rows_with_null: Annotated[int, "with a NULL in a compared column, or a text that is no number: they match nobody"]
    rows_absent: Annotated[int, "other rows whose values do not occur in the population"]
    classes_absent: int
    rows_exceeding: Annotated[int, "in classes of more rows than people"]
    classes_exceeding: int
    rows_matched: Annotated[int, "the rows to which the risks refer: without a NULL, and with people"]
    people: int
    people_with_null: int
    uncounted: Annotated[int, "rows of a table of counts whose count is NULL or negative; they stand for nobody"]
    population_classes: int
    population_classes_absent: Annotated[int, "without a published row"]
    population_uniques: Annotated[int, "people who are alone in their class"]
    k_map: Annotated[
        int | None, "the fewest people that a row without a NULL could be; 0 if some values do not occur there"
    ]
    rows_below_k: Annotated[int, "rows that could be 1 to k - 1 people"]
    classes_below_k: int
    rows_of_one: Annotated[int, "rows that could be one person only"]
    uniques_of_both: Annotated[int, "rows that are alone in both tables"]
    journalist_max: Annotated[Fraction | None, "1 / the fewest people that a row could be", RISK]
    journalist_by_classes: Annotated[Fraction | None, "its average: number of classes / their people", RISK]
    journalist_average: Annotated[Fraction | None, "the greater one of journalist_by_classes and marketer", RISK]
    marketer: Annotated[Fraction | None, "the share of rows that linking all of them gets right on average", RISK]
    presence_min: Annotated[Fraction | None, "the least share of people published, over all population classes", RISK]
    presence_max: Annotated[Fraction | None, "the greatest one", RISK]

    @classmethod
    def of(cls, match: PopulationMatch) -> "PopulationFigures":
        least, greatest = match.presence or (None, None)
        others = {each.name: getattr(match, each.name) for each in fields(cls) if hasattr(match, each.name)}
        return cls(**others, presence_min=least, presence_max=greatest)


@dataclass(frozen=True, kw_only=True, repr=False)
class PopulationResult(Result):
    """How many people of a population each row of a published table could be, and the risks that follow."""

    account: Annotated[Account, FLAT]
    population: Annotated[str, "the table of the population"]
    population_source: Annotated[str, "the source that it is in"]
    counts: Annotated[str | None, "the column with the number of people that a row of the population stands for"]
    presence: Annotated[str | None, "the least and the greatest share of people that may be published"]
    columns: tuple[JoinedColumns, ...]
    columns_given: Annotated[bool, "the columns were named by the user"]
    columns_compared: tuple[Containment, ...]
    figures: Annotated[PopulationFigures | None, "null if no columns are compared, or time ran out"]

    @property
    def asked(self) -> tuple[str, ...]:
        return (f"k = {self.account.policy.k}", f"population {self.population}")
