"""What the comparison of a table with its protected copy finds out, as frozen values. Reports see nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from statistics import mean, median

from qidsql.commands.keys.result import Outcome, SearchWork
from qidsql.core.results import head
from qidsql.measures.least_squares import Coefficient, Fit, Term
from qidsql.measures.proportions import Interval


@dataclass(frozen=True, slots=True)
class ValueImpact:
    """One value before and after. `rank` is its place by rows in the original, 1 for the most frequent.

    `shares` are (weighted) shares of the rows that have a value, with their confidence intervals; None where the
    column has no value left. `value` is its text, only where the user asked for it.
    """

    rank: int
    value: str | None
    rows: tuple[int, int]
    shares: tuple[float | None, float | None]
    intervals: tuple[Interval | None, Interval | None]

    @property
    def kept(self) -> bool:
        """Whether there are rows of it before and after."""
        return min(self.rows) > 0

    @property
    def difference(self) -> float | None:
        """The share before less the share after."""
        before, after = self.shares
        return None if before is None or after is None else before - after

    @property
    def relative_difference(self) -> float | None:
        """The difference scaled by the share before (Wilson, Figure 1)."""
        return self.difference / self.shares[0] if self.difference is not None and self.shares[0] else None

    @property
    def overlap(self) -> bool | None:
        before, after = self.intervals
        return None if before is None or after is None else before.overlaps(after)

    def to_dict(self) -> dict[str, object]:
        """`value` is there only where it was asked for; differences and intervals are in percent, like the shares."""
        shown = {} if self.value is None else {"value": self.value}
        return {
            "rank": self.rank,
            **shown,
            "rows_before": self.rows[0],
            "rows_after": self.rows[1],
            "percent_before": _percent(self.shares[0]),
            "percent_after": _percent(self.shares[1]),
            "interval_before": _ends(self.intervals[0]),
            "interval_after": _ends(self.intervals[1]),
            "relative_difference": _percent(self.relative_difference),
            "overlap": self.overlap,
        }


@dataclass(frozen=True, slots=True)
class MostSuppressed:
    """The value that lost most cells: how many, and its place among the column's values by rows in the original."""

    cells: int
    rank: int
    value: str | None


@dataclass(frozen=True, slots=True)
class VariableImpact:
    """One column of both tables. Pairs are before and after.

    `vanished` and `added` count values that are only before and only after, `gained` the cells by which values became
    more frequent. `values` are None where the column has too many to compare one by one.
    """

    name: str
    types: tuple[str, str]
    nulls: tuple[int, int]
    present: tuple[int, int]
    distinct: tuple[int, int]
    vanished: int
    added: int
    gained: int
    most: MostSuppressed | None
    values: tuple[ValueImpact, ...] | None

    @property
    def suppressed(self) -> int:
        """Cells with a value before, less those after."""
        return self.present[0] - self.present[1]

    @property
    def lost(self) -> int:
        """Cells by which values became rarer: the suppressed ones, and those that became another value."""
        return self.suppressed + self.gained

    @property
    def share(self) -> Fraction:
        """Suppressed cells, of all cells of the column."""
        return Fraction(self.suppressed, max(1, self.present[0] + self.nulls[0]))

    @property
    def vanished_values(self) -> tuple[ValueImpact, ...]:
        return tuple(value for value in self.values or () if value.rows[0] and not value.rows[1])

    def to_dict(self) -> dict[str, object]:
        most = self.most
        return {
            "name": self.name,
            "type_before": self.types[0],
            "type_after": self.types[1],
            "nulls_before": self.nulls[0],
            "nulls_after": self.nulls[1],
            "suppressed": self.suppressed,
            "suppressed_percent": _percent(float(self.share)),
            "values_before": self.distinct[0],
            "values_after": self.distinct[1],
            "vanished": self.vanished,
            "added": self.added,
            "gained": self.gained,
            "most_suppressed": most
            and {
                "suppressed": most.cells,
                "percent": _percent(most.cells / self.lost),
                "rank": most.rank,
                **({} if most.value is None else {"value": most.value}),
            },
            "values": None if self.values is None else [value.to_dict() for value in self.values],
        }


@dataclass(frozen=True, slots=True)
class ModelImpact:
    """One regression: the rows it is made of, in words, and the fit; or why there is none."""

    data: str
    fit: Fit | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RegressionImpact:
    """The same regression before and after. `labels` are the texts of factors' levels, where they were asked for."""

    outcome: str
    covariates: tuple[str, ...]
    models: tuple[ModelImpact, ...]
    labels: Mapping[tuple[str, int], str]

    def to_dict(self) -> dict[str, object]:
        return {
            "outcome": self.outcome,
            "covariates": list(self.covariates),
            "models": [self._model(model) for model in self.models],
        }

    def _model(self, model: ModelImpact) -> dict[str, object]:
        fit = model.fit
        if fit is None:
            return {"data": model.data, "fitted": False, "reason": model.reason}
        return {
            "data": model.data,
            "fitted": True,
            "rows": fit.rows,
            "degrees_of_freedom": list(fit.degrees),
            "r_squared": _digits(fit.r_squared),
            "residual_standard_error": _digits(fit.residual_error),
            "f": _digits(fit.f),
            "p": _digits(fit.p),
            "significant": list(fit.significant),
            "covariates": [
                {
                    "name": test.covariate,
                    "degrees_of_freedom": test.degrees,
                    "f": _digits(test.f),
                    "p": _digits(test.p),
                    "significant": test.significant,
                }
                for test in fit.tests
            ],
            "coefficients": [self._coefficient(each) for each in fit.coefficients],
            "collinear": [self._term(term) for term in fit.collinear],
        }

    def _coefficient(self, coefficient: Coefficient) -> dict[str, object]:
        return {
            **self._term(coefficient.term),
            "estimate": _digits(coefficient.estimate),
            "standard_error": _digits(coefficient.error),
            "t": _digits(coefficient.t),
            "p": _digits(coefficient.p),
        }

    def _term(self, term: Term | None) -> dict[str, object]:
        """`level` is a value's number, most frequent first (0: suppressed); its text only where it was asked for."""
        if term is None or term.level is None:
            return {"covariate": term and term.covariate}
        label = self.labels.get((term.covariate, term.level))
        return {"covariate": term.covariate, "level": term.level, **({} if label is None else {"value": label})}


@dataclass(frozen=True, slots=True)
class ImpactResult:
    """What protection did to a table; a report is rendered from nothing else. Pairs are before and after."""

    outcome: Outcome
    reason: str  # the answer, in one sentence
    protected: str
    rows: tuple[int | None, int | None]
    weight: str | None
    mark: str | None
    missing: tuple[str, ...]  # columns that the copy does not have
    extra: tuple[str, ...]  # columns that only the copy has
    variables: tuple[VariableImpact, ...]
    regression: RegressionImpact | None
    notes: tuple[str, ...]
    work: SearchWork

    @property
    def kept_values(self) -> tuple[ValueImpact, ...]:
        """The values that are there before and after, of all columns compared value by value."""
        return tuple(value for variable in self.variables for value in variable.values or () if value.kept)

    @property
    def overlaps(self) -> tuple[int, int]:
        """Of how many values the confidence intervals overlap, and of how many they could."""
        judged = [value.overlap for value in self.kept_values if value.overlap is not None]
        return sum(judged), len(judged)

    @property
    def differences(self) -> dict[str, float] | None:
        """Least, greatest, mean and median difference of the percentages, in percentage points."""
        found = [100 * value.difference for value in self.kept_values if value.difference is not None]
        if not found:
            return None
        return {"least": min(found), "greatest": max(found), "mean": mean(found), "median": median(found)}

    @property
    def suppressed(self) -> int:
        return sum(variable.suppressed for variable in self.variables)

    def to_dict(self) -> dict[str, object]:
        """Plain lists, dicts, strings and numbers, ready for JSON."""
        overlapping, judged = self.overlaps
        differences = self.differences
        return {
            **head(self.outcome, self.reason, self.work),
            "protected": self.protected,
            "rows_before": self.rows[0],
            "rows_after": self.rows[1],
            "weight": self.weight,
            "mark": self.mark,
            "missing_columns": list(self.missing),
            "extra_columns": list(self.extra),
            "suppressed": self.suppressed,
            "variables": [variable.to_dict() for variable in self.variables],
            "values_compared": judged,
            "values_overlapping": overlapping,
            "differences": differences and {name: round(value, 4) for name, value in differences.items()},
            "regression": self.regression and self.regression.to_dict(),
            "notes": [*self.work.notes, *self.notes],
        }


def _percent(share: float | None) -> float | None:
    return None if share is None else round(100 * share, 4)


def _ends(interval: Interval | None) -> list[float | None] | None:
    return None if interval is None else [_percent(interval.low), _percent(interval.high)]


def _digits(number: float) -> float:
    """Without the digits that differ from run to run, since engines add floats in any order."""
    return float(f"{number:.10g}")
