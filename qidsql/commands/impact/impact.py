"""The effect of local suppression on a table: its cells, its distributions, a regression (Wilson, section 4)."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import fsum
from typing import TypeVar

from qidsql.column_roles.resolution import columns_of, given_columns
from qidsql.commands.impact.command import ImpactRequest
from qidsql.commands.impact.result import (
    CovariateImpact,
    FittedModel,
    ImpactResult,
    ModelImpact,
    ModelTerm,
    MostSuppressed,
    RegressionImpact,
    TermEstimate,
    ValueImpact,
    VariableImpact,
)
from qidsql.commands.table_search import TableSearch, one_answer, unknown_table
from qidsql.core.copies import names_a_file
from qidsql.core.results import Verdict
from qidsql.core.tables import Column, Role, Table
from qidsql.engines.base import Engine
from qidsql.errors import Stopped, UnknownName, UsageError
from qidsql.measures.least_squares import Covariate, Fit, Term, least_squares
from qidsql.measures.sampling import interval
from qidsql.protection.row_patterns import RowPatterns
from qidsql.protection.suppression.known_people import KnownPeople, people_of_copy
from qidsql.sql.distributions import (
    Cases,
    Distribution,
    SharedColumn,
    ValueRows,
    columns_of_both,
    numeric,
    regression_sums,
    value_distribution,
    weighed_rows,
)
from qidsql.sql.masks import people_and_rows
from qidsql.sql.templates import Statement
from qidsql.wording.texts import count, few, percent, plural

Answer = TypeVar("Answer")

MAX_LEVELS = 200  # of all factors of a regression together


@one_answer
def impact(
    engine: Engine, request: ImpactRequest, on_stage: Callable[[str], None] = lambda stage: None
) -> ImpactResult:
    """Compare the table with its protected copy in the same source.

    Two statements for rows and weights, one per column (a scan of each table), one per regression. A stop (budget,
    lost connection, Ctrl-C) makes the verdict inconclusive; the result has what was measured by then. Raises UsageError
    (missing or negative weights, too many levels), UnknownName, AccessError, StatementError.
    """
    on_stage("reading the catalog")
    comparison = _Comparison(engine, request)
    unfinished = ""
    try:
        comparison.read_catalog()
        comparison.count_rows()
        if all(comparison.rows):
            comparison.compare(on_stage)
            comparison.regress(on_stage)
            comparison.count_people(on_stage)
    except Stopped as stop:
        unfinished = str(stop)
    except KeyboardInterrupt:
        unfinished = "interrupted"
    return comparison.result(unfinished)


class _Comparison:
    """One comparison; collects its result."""

    def __init__(self, engine: Engine, request: ImpactRequest) -> None:
        self._engine, self._request = engine, request
        policy = request.policy  # all columns are compared, whatever their role
        self._search = search = TableSearch(engine, request.table, policy, {}, partial(given_columns, policy=policy))
        self._original, self._protected = search.table, unknown_table(request.protected)
        self._copy = request.protected  # its name
        self._unknown, self._withheld, self._by = request.unknown, request.withheld, "roles of the policy"
        self.rows: tuple[int | None, int | None] = (None, None)
        self._variables: list[VariableImpact] = []
        self._models: list[ModelImpact] = []
        self._columns: list[SharedColumn] = []
        self._known: KnownPeople | None = None
        self._missing: tuple[str, ...] = ()
        self._extra: tuple[str, ...] = ()
        self._weight: str | None = None
        self._outcome: SharedColumn | None = None
        self._covariates: list[SharedColumn] = []

    def read_catalog(self) -> None:
        """Match the columns of both tables. Raises UsageError, UnknownName, AccessError, Stopped."""
        engine, request, search = self._engine, self._request, self._search
        search.begin()
        try:
            copy = engine.describe(request.protected) if request.beside is None else engine.describe_beside(None)
        except UnknownName as error:
            if not names_a_file(request.protected):
                raise
            raise UsageError(f"there is no file {request.protected}, and {error}") from None
        self._protected = engine.narrowed(copy, None)
        self._copy = str(copy.name) if request.beside is None else engine.label_beside
        if self._original.name == self._protected.name:
            raise UsageError(f"{self._original.name} is compared with itself; name its protected copy")
        every = columns_of(engine, search.table, request.policy, request.explaining).left_out
        if proposed := [each for each in every if each.proposed]:
            self._unknown = tuple(each.name for each in proposed)
            self._withheld = tuple(each.name for each in proposed if each.role is Role.DIRECT_IDENTIFIER)
            self._by = "proposed roles, unconfirmed"
        weight = None if request.weight is None else self._shared(request.weight).original.name
        self._weight = weight
        if weight is not None and not all(numeric(engine.dialect, t.column(weight)) for t in self._tables):
            raise UsageError(f"--weight {weight} must be a column of numbers in both tables")
        self._outcome = None if request.outcome is None else self._shared(request.outcome)
        self._covariates = [self._shared(name) for name in request.explaining]
        if self._outcome is not None and not numeric(engine.dialect, self._outcome.original):
            raise UsageError(f"--outcome {self._outcome.original.name} must be a column of numbers")
        searched = [column.name for column in search.table.resolve(search.profiler.names) if column.name != weight]
        found = {name: self._find(name) for name in searched}
        self._columns = [
            SharedColumn(self._original.column(name), protected, request.mark)
            for name, protected in found.items()
            if protected is not None
        ]
        self._missing = tuple(name for name, protected in found.items() if protected is None)
        there = {self._find(column.name) for column in self._original.columns}
        self._extra = tuple(column.name for column in self._protected.columns if column not in there)
        if not self._columns:
            raise UsageError(f"{self._copy} has no column of {self._original.name} to compare")

    @property
    def _tables(self) -> tuple[Table, Table]:
        return self._original, self._protected

    def count_rows(self) -> None:
        """Count the rows of both tables, and check that their weights can be used."""
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
        """Compare the columns before and after, a few at a time, so that results remain when the work has to end."""
        on_stage("comparing distributions")
        request, step = self._request, 2 * self._engine.workers
        for start in range(0, len(self._columns), step):
            part = self._columns[start : start + step]
            statements = [
                value_distribution(
                    self._engine.dialect,
                    *self._tables,
                    column,
                    self._weights(),
                    request.max_values,
                    request.show_values,
                )
                for column in part
            ]
            self._variables += map(self._variable, part, self._ask(statements))

    def regress(self, on_stage: Callable[[str], None]) -> None:
        """Fit the regression on the full data, without suppressed rows, and with suppressed cells filled."""
        if self._outcome is None:
            return
        on_stage("fitting regressions")
        fill = self._request.fill
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
            self._models.append(self._model(data, fit))

    def count_people(self, on_stage: Callable[[str], None]) -> None:
        """Count the people whom the copy singles out, if requested. One statement, one scan of each table."""
        if self._request.k is None:
            return
        on_stage("counting people whom the copy singles out")
        profiler = self._search.profiler
        known = [each for each in self._columns if each.original.name not in self._unknown]
        if not known:
            raise UsageError("--k counts people by what is known of them, and the policy has no quasi-identifier here")
        sides = columns_of_both(self._engine.dialect, *self._tables, known)
        both, names = people_and_rows(*sides)
        with RowPatterns.of(profiler.over(both, None, names)) as patterns:
            self._known = people_of_copy(patterns, self._request.k, profiler.deadline)

    def result(self, unfinished: str) -> ImpactResult:
        finished = not unfinished and 0 not in self.rows
        account = self._search.account(self.rows[0], [unfinished] if unfinished else [])
        return ImpactResult(
            verdict=Verdict.FINISHED if finished else Verdict.INCONCLUSIVE,
            reason=self._reason(unfinished),
            protected=self._copy,
            rows_before=self.rows[0],
            rows_after=self.rows[1],
            weight=self._weight,
            mark=self._request.mark,
            missing_columns=self._missing,
            extra_columns=self._extra,
            variables=tuple(self._variables),
            regression=self._regression(),
            k=self._request.k,
            known=self._known,
            account=replace(account, notes=(*account.notes, *self._notes())),
        )

    def _regression(self) -> RegressionImpact | None:
        if self._outcome is None:
            return None
        covariates = tuple(column.original.name for column in self._covariates)
        return RegressionImpact(outcome=self._outcome.original.name, covariates=covariates, models=tuple(self._models))

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
        return SharedColumn(column, self._protected.column(column.name), self._request.mark)

    def _weights(self) -> tuple[str | None, str | None]:
        name = self._weight
        return (None, None) if name is None else (name, self._protected.column(name).name)

    def _variable(self, column: SharedColumn, found: Distribution) -> VariableImpact:
        before, after = (rows - nulls for rows, nulls in zip(self.rows, found.nulls, strict=True) if rows is not None)
        suppressed = before - after
        ranked = sorted(found.values, key=lambda value: value.level)
        whole = len(found.values) == found.distinct[0] + found.added
        most = [
            MostSuppressed(
                suppressed=(cells := value.rows[0] - value.rows[1]),
                percent=100 * cells / (suppressed + found.gained),
                rank=value.level,
                value=value.shown,
            )
            for value in found.values[:1]
            if value.rows[0] > value.rows[1]
        ]
        return VariableImpact(
            name=column.original.name,
            type_before=column.original.type,
            type_after=column.protected.type,
            cells=before + found.nulls[0],
            nulls_before=found.nulls[0],
            nulls_after=found.nulls[1],
            suppressed=suppressed,
            values_before=found.distinct[0],
            values_after=found.distinct[1],
            vanished=found.vanished,
            added=found.added,
            gained=found.gained,
            most_suppressed=most[0] if most else None,
            values=tuple(_values(ranked)) if whole else None,
        )

    def _numbered(self) -> list[Covariate]:
        """The covariates with their places among numbers (after the outcome) and among factors."""
        numbers, factors = 1, 0
        covariates = []
        for column in self._covariates:
            if numeric(self._engine.dialect, column.original):
                covariates.append(Covariate(column.original.name, True, numbers))
                numbers += 1
            else:
                covariates.append(Covariate(column.original.name, False, factors))
                factors += 1
        levels = {v.name: v.values_before + v.added for v in self._variables}
        total = {c.name: levels[c.name] for c in covariates if not c.number}
        if sum(total.values()) > MAX_LEVELS:
            worst = max(total, key=lambda name: total[name])
            raise UsageError(
                f"the covariates that are not numbers have {count(sum(total.values()))} values, {worst} alone "
                f"{count(total[worst])}; a regression takes {MAX_LEVELS} at most: leave it out, or coarsen it in a view"
            )
        return covariates

    def _model(self, data: str, fit: Fit | str) -> ModelImpact:
        if isinstance(fit, str):
            return ModelImpact(data=data, reason=fit)
        labels = self._labels()

        def term(found: Term | None) -> ModelTerm:
            if found is None:
                return ModelTerm(None)
            label = None if found.level is None else labels.get((found.covariate, found.level))
            return ModelTerm(found.covariate, found.level, label)

        fitted = FittedModel(
            rows=fit.rows,
            degrees_of_freedom=fit.degrees,
            r_squared=fit.r_squared,
            residual_standard_error=fit.residual_error,
            f=fit.f,
            p=fit.p,
            significant=fit.significant,
            covariates=tuple(
                CovariateImpact(
                    name=test.covariate,
                    degrees_of_freedom=test.degrees,
                    f=test.f,
                    p=test.p,
                    significant=test.significant,
                )
                for test in fit.tests
            ),
            coefficients=tuple(
                TermEstimate(
                    term=term(each.term), estimate=each.estimate, standard_error=each.error, t=each.t, p=each.p
                )
                for each in fit.coefficients
            ),
            collinear=tuple(map(term, fit.collinear)),
        )
        return ModelImpact(data=data, fit=fitted)

    def _labels(self) -> dict[tuple[str, int], str]:
        """The texts of values by column and level: none without --show-values."""
        return {
            (variable.name, value.rank): value.value
            for variable in self._variables
            for value in variable.values or ()
            if value.value is not None
        }

    def _notes(self) -> list[str]:
        notes = [f"{self._copy}: {note}" for note in self._protected.notes]
        before, after = self.rows
        if before is not None and after is not None and before != after:
            difference = f"{plural(abs(before - after), 'row')} {'fewer' if after < before else 'more'}"
            notes.append(f"the copy has {difference}: the cells of rows left out count as suppressed")
        shared = [column.original.name for column in self._columns]
        if self._request.k is not None and (unknown := [name for name in shared if name in self._unknown]):
            notes.append(f"people are known by their quasi-identifiers, not by {', '.join(unknown)} ({self._by})")
        if released := [name for name in shared if name in self._withheld]:
            notes.append(f"the copy still has direct identifiers: {', '.join(released)} ({self._by})")
        gained = [variable.name for variable in self._variables if variable.gained]
        if gained:
            notes.append(f"values became more frequent in {few(gained)}: the copy was changed, not only suppressed")
        many = [variable.name for variable in self._variables if variable.values is None]
        if many:
            notes.append(f"more than {count(self._request.max_values)} values, not compared one by one: {few(many)}")
        return notes

    def _reason(self, unfinished: str) -> str:
        names = f"{self._copy}, the copy of {self._original.name}"
        if 0 in self.rows:
            empty = self._original if self.rows[0] == 0 else self._protected
            return f"there is nothing to compare: {empty.name} has no row"
        if unfinished:
            return f"{names}, was not fully compared"
        cells = sum(variable.cells for variable in self._variables)
        lost = sum(variable.lost for variable in self._variables)
        changed = any(variable.gained for variable in self._variables)
        what = "without their value (coarser, blank, or in rows left out)" if changed else "suppressed"
        columns = plural(len(self._variables), "column")
        return f"{names}, has {plural(lost, 'cell')} {what}, {percent(Fraction(lost, cells))} of all, in {columns}"


def _values(ranked: Sequence[ValueRows]) -> list[ValueImpact]:
    """Percentages and intervals of all values of a column."""
    sides = []
    for side in (0, 1):
        total, squares = fsum(v.weights[side] for v in ranked), fsum(v.squares[side] for v in ranked)
        percents: list[float | None] = [None] * len(ranked)
        intervals: list[tuple[float, float] | None] = [None] * len(ranked)
        if total > 0:
            percents = [100 * value.weights[side] / total for value in ranked]
            found = [interval(value.weights[side], value.squares[side], total, squares) for value in ranked]
            intervals = [(100 * each.low, 100 * each.high) for each in found]
        sides.append((percents, intervals))
    (percents_before, intervals_before), (percents_after, intervals_after) = sides
    return [
        ValueImpact(
            rank=value.level,
            value=value.shown,
            rows_before=value.rows[0],
            rows_after=value.rows[1],
            percent_before=percents_before[place],
            percent_after=percents_after[place],
            interval_before=intervals_before[place],
            interval_after=intervals_after[place],
        )
        for place, value in enumerate(ranked)
    ]
