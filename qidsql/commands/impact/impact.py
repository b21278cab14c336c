"""What local suppression did to a table: its cells, its distributions, a regression (Wilson, section 4)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import fsum, isfinite
from typing import TypeVar

from qidsql.commands.impact.result import (
    ImpactResult,
    ModelImpact,
    MostSuppressed,
    RegressionImpact,
    ValueImpact,
    VariableImpact,
)
from qidsql.commands.keys.result import Outcome
from qidsql.commands.table_search import Searching, one_answer, unknown_table
from qidsql.core.policy import Policy
from qidsql.core.tables import Column, Table
from qidsql.core.wording import count, percent, plural, some
from qidsql.engines.base import Engine
from qidsql.errors import Stopped, UnknownName, UsageError
from qidsql.measures.least_squares import Covariate, least_squares
from qidsql.measures.proportions import Interval, interval
from qidsql.sql.distributions import (
    Cases,
    Distribution,
    SharedColumn,
    ValueRows,
    numeric,
    regression_sums,
    value_distribution,
    weighed_rows,
)
from qidsql.sql.statements import Statement

Answer = TypeVar("Answer")

MAX_VALUES = 1000
MAX_LEVELS = 200  # of all factors of a regression together


@dataclass(frozen=True, slots=True)
class ImpactQuestion:
    """How a table and its protected copy are compared. Raises UsageError when the options cannot be right.

    `policy` says which columns, and the budget. `mark` is a text that stands for a suppressed cell besides NULL.
    `fill` is the number that replaces suppressed covariates in a third model. Columns with more than `max_values`
    values are not compared value by value.
    """

    protected: str
    policy: Policy
    weight: str | None = None
    outcome: str | None = None
    covariates: tuple[str, ...] = ()
    fill: float | None = None
    mark: str | None = None
    show_values: bool = False
    max_values: int = MAX_VALUES

    def __post_init__(self) -> None:
        if (self.outcome is None) != (not self.covariates):
            raise UsageError("a regression takes --outcome NAME and --covariate NAME (repeat): give both, or none")
        if self.fill is not None and self.outcome is None:
            raise UsageError("--fill is for a regression: give --outcome and --covariate as well")
        if self.fill is not None and not isfinite(self.fill):
            raise UsageError("--fill must be a finite number, such as 99")
        if self.outcome in self.covariates:
            raise UsageError(f"{self.outcome} cannot be the outcome and a covariate")
        both = [name for name in self.covariates if name in self.policy.exclude]
        if both:
            raise UsageError(f"{both[0]} cannot be a covariate and left out (--exclude)")
        if self.max_values < 1:
            raise UsageError(f"--max-values must be at least 1, got {self.max_values}")
        if self.policy.where is not None or self.policy.entity is not None:
            raise UsageError("whole tables are compared: --where and --entity mean nothing here")


@one_answer
def impact(
    engine: Engine, table: str | None, question: ImpactQuestion, on_stage: Callable[[str], None] = lambda stage: None
) -> ImpactResult:
    """The table beside its protected copy in the same source.

    Two statements for rows and weights, one per column (a scan of each table), one per regression. A stop (budget,
    lost connection, Ctrl-C) makes the outcome inconclusive, with what was measured by then. Raises UsageError (weights
    that are missing or negative, too many levels), UnknownName, AccessError, StatementError.
    """
    on_stage("reading the catalog")
    comparison = _Comparison(engine, table, question)
    unfinished = ""
    try:
        comparison.read_catalog()
        comparison.count_rows()
        if all(comparison.rows):
            comparison.compare(on_stage)
            comparison.regress(on_stage)
    except Stopped as stop:
        unfinished = str(stop)
    except KeyboardInterrupt:
        unfinished = "interrupted"
    return comparison.result(unfinished)


class _Comparison:
    """One comparison, as far as it has come."""

    def __init__(self, engine: Engine, table: str | None, question: ImpactQuestion) -> None:
        self._engine, self._question = engine, question
        policy = question.policy
        if policy.columns:
            policy = replace(policy, columns=(*policy.columns, *question.covariates))
        self._search = search = Searching(engine, table, policy, {})
        self._original, self._protected = search.table, unknown_table(question.protected)
        self.rows: tuple[int | None, int | None] = (None, None)
        self._variables: list[VariableImpact] = []
        self._models: list[ModelImpact] = []
        self._columns: list[SharedColumn] = []
        self._missing: tuple[str, ...] = ()
        self._extra: tuple[str, ...] = ()
        self._weight: str | None = None
        self._outcome: SharedColumn | None = None
        self._covariates: list[SharedColumn] = []

    def read_catalog(self) -> None:
        """What is compared with what. Raises UsageError, UnknownName, AccessError, Stopped."""
        engine, question, search = self._engine, self._question, self._search
        search.begin()
        self._protected = engine.describe(question.protected)
        if self._original.name == self._protected.name:
            raise UsageError(f"{self._original.name} is compared with itself; name its protected copy")
        weight = None if question.weight is None else self._shared(question.weight).original.name
        self._weight = weight
        if weight is not None and not all(numeric(engine.dialect, t.column(weight)) for t in self._tables):
            raise UsageError(f"--weight {weight} must be a column of numbers in both tables")
        self._outcome = None if question.outcome is None else self._shared(question.outcome)
        self._covariates = [self._shared(name) for name in question.covariates]
        if self._outcome is not None and not numeric(engine.dialect, self._outcome.original):
            raise UsageError(f"--outcome {self._outcome.original.name} must be a column of numbers")
        asked = [column.name for column in search.table.resolve(search.profiler.names) if column.name != weight]
        found = {name: self._find(name) for name in asked}
        self._columns = [
            SharedColumn(self._original.column(name), protected, question.mark)
            for name, protected in found.items()
            if protected is not None
        ]
        self._missing = tuple(name for name, protected in found.items() if protected is None)
        there = {self._find(column.name) for column in self._original.columns}
        self._extra = tuple(column.name for column in self._protected.columns if column not in there)
        if not self._columns:
            raise UsageError(f"{self._protected.name} has no column of {self._original.name} to compare")

    @property
    def _tables(self) -> tuple[Table, Table]:
        return self._original, self._protected

    def count_rows(self) -> None:
        """Rows of both tables, and whether their weights can be used."""
        weights = self._weights()
        found = self._ask(
            [weighed_rows(self._engine.dialect, t, w) for t, w in zip(self._tables, weights, strict=True)]
        )
        self.rows = (found[0].rows, found[1].rows)
        for table, weighed in zip(self._tables, found, strict=True):
            if weighed.null or weighed.bad:
                raise UsageError(
                    f"--weight {self._weight} cannot be used: in {table.name} it is NULL in "
                    f"{plural(weighed.null, 'row')} and negative or not finite in {count(weighed.bad)}; "
                    f"every row needs a weight of 0 or more"
                )
            if weighed.rows and not weighed.used:
                raise UsageError(f"--weight {self._weight} is 0 in every row of {table.name}")

    def compare(self, on_stage: Callable[[str], None]) -> None:
        """Each column before and after, a few at a time, so that those answered stand when the work has to end."""
        on_stage("comparing distributions")
        question, step = self._question, 2 * self._engine.workers
        for start in range(0, len(self._columns), step):
            part = self._columns[start : start + step]
            statements = [
                value_distribution(
                    self._engine.dialect,
                    *self._tables,
                    column,
                    self._weights(),
                    question.max_values,
                    question.show_values,
                )
                for column in part
            ]
            self._variables += map(self._variable, part, self._ask(statements))

    def regress(self, on_stage: Callable[[str], None]) -> None:
        """The regression on the full data, without suppressed rows, and with suppressed cells filled."""
        if self._outcome is None:
            return
        on_stage("fitting regressions")
        fill = self._question.fill
        choices = [
            ("full data", Cases(self._original, False)),
            ("suppressed rows excluded", Cases(self._protected, True)),
        ]
        if fill is not None:
            choices.append((f"suppressed cells replaced by {fill:g}", Cases(self._protected, True, fill)))
        covariates = self._numbered()
        for data, cases in choices:
            statement = regression_sums(
                self._engine.dialect, *self._tables, self._outcome, self._covariates, covariates, cases
            )
            fit = least_squares(self._ask([statement])[0], covariates)
            self._models.append(ModelImpact(data, None, fit) if isinstance(fit, str) else ModelImpact(data, fit))

    def result(self, unfinished: str) -> ImpactResult:
        finished = not unfinished and 0 not in self.rows
        return ImpactResult(
            outcome=Outcome.FINISHED if finished else Outcome.INCONCLUSIVE,
            reason=self._reason(unfinished),
            protected=str(self._protected.name),
            rows=self.rows,
            weight=self._weight,
            mark=self._question.mark,
            missing=self._missing,
            extra=self._extra,
            variables=tuple(self._variables),
            regression=self._regression(),
            notes=tuple(self._notes()),
            work=self._search.work(self.rows[0], [unfinished] if unfinished else []),
        )

    def _regression(self) -> RegressionImpact | None:
        if self._outcome is None:
            return None
        covariates = tuple(column.original.name for column in self._covariates)
        return RegressionImpact(self._outcome.original.name, covariates, tuple(self._models), self._labels())

    def _ask(self, statements: Sequence[Statement[Answer]]) -> list[Answer]:
        return self._search.profiler.ask(statements)

    def _find(self, name: str) -> Column | None:
        try:
            return self._protected.column(name)
        except UnknownName:
            return None

    def _shared(self, name: str) -> SharedColumn:
        """A column that both tables must have. Raises UnknownName."""
        column = self._original.column(name)
        return SharedColumn(column, self._protected.column(column.name), self._question.mark)

    def _weights(self) -> tuple[str | None, str | None]:
        name = self._weight
        return (None, None) if name is None else (name, self._protected.column(name).name)

    def _variable(self, column: SharedColumn, found: Distribution) -> VariableImpact:
        present = tuple(rows - nulls for rows, nulls in zip(self.rows, found.nulls, strict=True) if rows is not None)
        ranked = sorted(found.values, key=lambda value: value.level)
        whole = len(found.values) == found.distinct[0] + found.added
        most = [
            MostSuppressed(value.rows[0] - value.rows[1], value.level, value.shown)
            for value in found.values[:1]
            if value.rows[0] > value.rows[1]
        ]
        return VariableImpact(
            name=column.original.name,
            types=(column.original.type, column.protected.type),
            nulls=found.nulls,
            present=(present[0], present[1]),
            distinct=found.distinct,
            vanished=found.vanished,
            added=found.added,
            gained=found.gained,
            most=most[0] if most else None,
            values=tuple(_values(ranked)) if whole else None,
        )

    def _numbered(self) -> list[Covariate]:
        """The covariates with their places among numbers (behind the outcome) and among factors."""
        numbers, factors = 1, 0
        covariates = []
        for column in self._covariates:
            if numeric(self._engine.dialect, column.original):
                covariates.append(Covariate(column.original.name, True, numbers))
                numbers += 1
            else:
                covariates.append(Covariate(column.original.name, False, factors))
                factors += 1
        levels = {v.name: v.distinct[0] + v.added for v in self._variables}
        total = {c.name: levels[c.name] for c in covariates if not c.number}
        if sum(total.values()) > MAX_LEVELS:
            worst = max(total, key=lambda name: total[name])
            raise UsageError(
                f"the covariates that are no numbers have {count(sum(total.values()))} values, {worst} alone "
                f"{count(total[worst])}; a regression takes {MAX_LEVELS} at most: leave it out, or coarsen it in a view"
            )
        return covariates

    def _labels(self) -> dict[tuple[str, int], str]:
        """The texts of values by column and level: none unless the user asked for them."""
        return {
            (variable.name, value.rank): value.value
            for variable in self._variables
            for value in variable.values or ()
            if value.value is not None
        }

    def _notes(self) -> list[str]:
        notes = [f"{self._protected.name}: {note}" for note in self._protected.notes]
        before, after = self.rows
        if before is not None and after is not None and before != after:
            what = f"{plural(abs(before - after), 'row')} {'fewer' if after < before else 'more'}"
            notes.append(f"the copy has {what}: the cells of rows left out count as suppressed")
        gained = [variable.name for variable in self._variables if variable.gained]
        if gained:
            notes.append(f"values became more frequent in {some(gained)}: the copy was changed, not only suppressed")
        many = [variable.name for variable in self._variables if variable.values is None]
        if many:
            notes.append(f"more than {count(self._question.max_values)} values, not compared one by one: {some(many)}")
        return notes

    def _reason(self, unfinished: str) -> str:
        names = f"{self._protected.name}, the copy of {self._original.name}"
        if 0 in self.rows:
            empty = self._original if self.rows[0] == 0 else self._protected
            return f"there is nothing to compare: {empty.name} has no row"
        if unfinished:
            return f"{names}, was not compared to the end"
        cells = sum(variable.present[0] + variable.nulls[0] for variable in self._variables)
        suppressed = sum(variable.suppressed for variable in self._variables)
        return (
            f"{names}, has {plural(suppressed, 'cell')} suppressed, {percent(Fraction(suppressed, cells))} of all, "
            f"in {plural(len(self._variables), 'column')}"
        )


def _values(ranked: Sequence[ValueRows]) -> list[ValueImpact]:
    """Shares and intervals of all values of a column."""
    sides = []
    for side in (0, 1):
        total, squares = fsum(v.weights[side] for v in ranked), fsum(v.squares[side] for v in ranked)
        shares: list[float | None] = [None] * len(ranked)
        intervals: list[Interval | None] = [None] * len(ranked)
        if total > 0:
            shares = [value.weights[side] / total for value in ranked]
            intervals = [interval(value.weights[side], value.squares[side], total, squares) for value in ranked]
        sides.append((shares, intervals))
    (shares_before, intervals_before), (shares_after, intervals_after) = sides
    return [
        ValueImpact(
            value.level,
            value.shown,
            value.rows,
            (shares_before[place], shares_after[place]),
            (intervals_before[place], intervals_after[place]),
        )
        for place, value in enumerate(ranked)
    ]
