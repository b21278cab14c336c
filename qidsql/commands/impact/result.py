"""The result of comparing a table with its protected copy."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from statistics import mean, median
from typing import Annotated

from qidsql.core.results import Result, SearchAccount
from qidsql.declarations.results import FLAT, OMITTED, SIGNED, Rounded, reported
from qidsql.protection.suppression.known_people import KnownPeople

PERCENT = Rounded(4)
DIGITS = Rounded(10, significant=True)  # further digits differ from run to run: engines add floats in any order


@dataclass(frozen=True, kw_only=True)
class ValueImpact:
    """One value before and after."""

    rank: Annotated[int, "its place by rows in the original, 1 for the most frequent"]
    value: Annotated[str | None, "its text, if requested", OMITTED]
    rows_before: int
    rows_after: int
    percent_before: Annotated[float | None, "of the (weighted) rows with a value; null where there are none", PERCENT]
    percent_after: Annotated[float | None, PERCENT]
    interval_before: Annotated[tuple[float, float] | None, "of 95 % confidence, in percent", PERCENT]
    interval_after: Annotated[tuple[float, float] | None, PERCENT]

    @property
    def kept(self) -> bool:
        """Whether it has rows before and after."""
        return min(self.rows_before, self.rows_after) > 0

    @property
    def difference(self) -> float | None:
        """The percentage before less the one after, in points."""
        before, after = self.percent_before, self.percent_after
        return None if before is None or after is None else before - after

    @reported
    def relative_difference(
        self,
    ) -> Annotated[
        float | None, "the difference, in percent of the percentage before [Wilson, Figure 1]", PERCENT, SIGNED
    ]:
        return (
            100 * self.difference / self.percent_before if self.difference is not None and self.percent_before else None
        )

    @reported
    def overlap(self) -> Annotated[bool | None, "whether the intervals overlap"]:
        before, after = self.interval_before, self.interval_after
        return None if before is None or after is None else before[0] <= after[1] and after[0] <= before[1]


@dataclass(frozen=True, kw_only=True)
class MostSuppressed:
    """The value that lost most cells."""

    suppressed: int
    percent: Annotated[float, "of the cells by which values became rarer", PERCENT]
    rank: Annotated[int, "its place among the column's values by rows in the original"]
    value: Annotated[str | None, OMITTED]


@dataclass(frozen=True, kw_only=True)
class VariableImpact:
    """One column of both tables."""

    name: str
    type_before: str
    type_after: str
    cells: Annotated[int, "of the column in the original"]
    nulls_before: int
    nulls_after: int
    suppressed: Annotated[int, "cells with a value before, less those after", SIGNED]
    values_before: int
    values_after: int
    vanished: Annotated[int, "values that are only before"]
    added: Annotated[int, "values that are only after"]
    gained: Annotated[int, "cells by which values became more frequent"]
    most_suppressed: MostSuppressed | None
    values: Annotated[tuple[ValueImpact, ...] | None, "null where there are too many to compare one by one"]

    @property
    def lost(self) -> int:
        """Cells by which values became rarer: the suppressed ones, and those that became another value."""
        return self.suppressed + self.gained

    @property
    def share(self) -> Fraction:
        """Suppressed cells, of all cells of the column."""
        return Fraction(self.suppressed, max(1, self.cells))

    @property
    def vanished_values(self) -> tuple[ValueImpact, ...]:
        return tuple(value for value in self.values or () if value.rows_before and not value.rows_after)

    @reported
    def suppressed_percent(self) -> Annotated[float, "of the column's cells", PERCENT, SIGNED]:
        return float(100 * self.share)


@dataclass(frozen=True)
class ModelTerm:
    """A column of a regression's model; all null for the intercept."""

    covariate: str | None
    level: Annotated[int | None, "a value's number, most frequent first; 0: suppressed", OMITTED] = None
    value: Annotated[str | None, "the value's text, if requested", OMITTED] = None


@dataclass(frozen=True, kw_only=True)
class TermEstimate:
    """A coefficient."""

    term: Annotated[ModelTerm, FLAT]
    estimate: Annotated[float, DIGITS, SIGNED]
    standard_error: Annotated[float, DIGITS]
    t: Annotated[float, DIGITS, SIGNED]
    p: Annotated[float, "two-sided", DIGITS]


@dataclass(frozen=True, kw_only=True)
class CovariateImpact:
    """The F test that all terms of one covariate are 0."""

    name: str
    degrees_of_freedom: int
    f: Annotated[float, DIGITS]
    p: Annotated[float, DIGITS]
    significant: bool


@dataclass(frozen=True, kw_only=True)
class FittedModel:
    """A regression's fit."""

    rows: int
    degrees_of_freedom: Annotated[tuple[int, int], "of the model, of the residual"]
    r_squared: Annotated[float, DIGITS]
    residual_standard_error: Annotated[float, DIGITS]
    f: Annotated[float, DIGITS]
    p: Annotated[float, DIGITS]
    significant: Annotated[tuple[str, ...], "covariates"]
    covariates: tuple[CovariateImpact, ...]
    coefficients: tuple[TermEstimate, ...]
    collinear: Annotated[tuple[ModelTerm, ...], "left out, since earlier terms determine them"]


@dataclass(frozen=True, kw_only=True)
class ModelImpact:
    """One regression: its choice of rows, in words, and the fit; or why there is none."""

    data: str
    fit: Annotated[FittedModel | None, FLAT] = None
    reason: Annotated[str | None, OMITTED] = None

    @reported
    def fitted(self) -> bool:
        return self.fit is not None


@dataclass(frozen=True, kw_only=True)
class RegressionImpact:
    """A regression before and after."""

    outcome: str
    covariates: tuple[str, ...]
    models: tuple[ModelImpact, ...]


@dataclass(frozen=True, kw_only=True)
class Differences:
    """Differences of the percentages of all kept values, before less after, in points."""

    least: Annotated[float, PERCENT, SIGNED]
    greatest: Annotated[float, PERCENT, SIGNED]
    mean: Annotated[float, PERCENT, SIGNED]
    median: Annotated[float, PERCENT, SIGNED]

    @classmethod
    def of(cls, values: Iterable[ValueImpact]) -> "Differences | None":
        found = [value.difference for value in values if value.difference is not None]
        if not found:
            return None
        return cls(least=min(found), greatest=max(found), mean=mean(found), median=median(found))


@dataclass(frozen=True, kw_only=True, repr=False)
class ImpactResult(Result):
    """The effect of protection on a table."""

    account: Annotated[SearchAccount, FLAT]
    protected: str
    rows_before: int | None
    rows_after: int | None
    weight: Annotated[str | None, "the column of weights"]
    mark: Annotated[str | None, "the text that marks a suppressed cell besides NULL"]
    missing_columns: Annotated[tuple[str, ...], "not in the copy"]
    extra_columns: Annotated[tuple[str, ...], "only in the copy"]
    variables: tuple[VariableImpact, ...]
    regression: RegressionImpact | None
    k: Annotated[int | None, "whom the copy singles out was counted for this many rows"]
    known: Annotated[
        KnownPeople | None,
        "whom the copy singles out if people's values are known; null: not requested, or not counted",
    ]

    @property
    def asked(self) -> tuple[str, ...]:
        return (f"copy {self.protected}",)

    @property
    def kept_values(self) -> tuple[ValueImpact, ...]:
        """The values that occur before and after, of all columns compared value by value."""
        return tuple(value for variable in self.variables for value in variable.values or () if value.kept)

    @reported
    def suppressed(self) -> Annotated[int, "cells", SIGNED]:
        return sum(variable.suppressed for variable in self.variables)

    @reported
    def values_compared(self) -> Annotated[int, "values whose intervals could overlap"]:
        return sum(value.overlap is not None for value in self.kept_values)

    @reported
    def values_overlapping(self) -> Annotated[int, "values whose intervals overlap"]:
        return sum(value.overlap is True for value in self.kept_values)

    @reported
    def differences(self) -> Differences | None:
        return Differences.of(self.kept_values)
