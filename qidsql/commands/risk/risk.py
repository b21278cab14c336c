"""The re-identification risk by one column set: in the table, in the population, per record."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from qidsql.commands.risk.command import (
    TABLE_SAMPLES,
    Backtest,
    EstimatedUniques,
    HouseholdRisk,
    MethodError,
    PopulationRisk,
    ProsecutorRisk,
    RiskRequest,
    RiskResult,
    WeightedRisk,
)
from qidsql.commands.table_search import TableSearch, interruptible, one_answer
from qidsql.core.results import Verdict
from qidsql.engines.base import Engine
from qidsql.errors import Stopped, UsageError
from qidsql.measures.population import Method, UniquesEstimate, population_uniques, record_risks
from qidsql.measures.profiles import ClassSizes, bin_starts, size_bins
from qidsql.profiling.known_rows import RowsOfPersons
from qidsql.sql.distributions import numeric
from qidsql.sql.population import household_risks, survey_weights
from qidsql.wording.texts import count, plural

SEVERAL = (
    "some entities are in several classes, for which no estimate is defined: name columns that are the same in all "
    "rows of an entity"
)


@one_answer
def risk(engine: Engine, request: RiskRequest, on_stage: Callable[[str], None] = lambda stage: None) -> RiskResult:
    """The re-identification risk by the columns together (all readable ones if none is named).

    One statement, one scan; one more with persons, or weights; three with households, four if they are weighted; for a
    backtest of the population estimates, five on samples. A stop makes the verdict inconclusive, as do rows without a
    person; the result has what was measured by then. Raises UsageError (a population smaller than the table, weights
    that cannot be used), UnknownName, AccessError, StatementError.
    """
    on_stage("reading the catalog")
    work = _Work(engine, request)
    unfinished = []
    try:
        with interruptible():
            work.measure(on_stage)
    except Stopped as stop:
        unfinished.append(str(stop))
    return work.result(unfinished)


class _Work:
    """The work on one request; collects its result."""

    def __init__(self, engine: Engine, request: RiskRequest) -> None:
        self._engine, self._request = engine, request
        self._search = TableSearch(engine, request.table, request.policy, {})
        self._sizes: ClassSizes | None = None
        self._population: PopulationRisk | None = None
        self._weighted: WeightedRisk | None = None
        self._by_household: HouseholdRisk | None = None

    def measure(self, on_stage: Callable[[str], None]) -> None:
        search, request = self._search, self._request
        search.confirm_persons()
        weight, household = self._weight(), self._household(weighted=request.weight is not None)
        on_stage("counting class sizes")
        self._sizes = sizes = search.profiler.sizes(search.profiler.everything)
        if not sizes.rows:
            return
        if request.sampled:
            self._population = _population(sizes, self._population_size(sizes))
        if weight is not None:
            on_stage("adding up weights")
            self._weighted = self._by_weight(weight)
        if household is not None:
            on_stage("measuring households")
            self._by_household = self._of_households(household, weight)
        if self._population is not None and self._population.tested_rows:
            on_stage("testing the estimates on samples")
            for backtest in self._backtests(self._population):
                self._population = replace(self._population, backtest=backtest)
        search.note_persons()

    def result(self, unfinished: Sequence[str]) -> RiskResult:
        sizes, k = self._sizes, self._request.policy.k
        rows = None if sizes is None else sum(sizes.rows.values())
        finished = bool(rows) and not unfinished
        return RiskResult(
            verdict=Verdict.FINISHED if finished else Verdict.INCONCLUSIVE,
            reason=self._reason(rows, finished),
            account=self._search.account(rows, unfinished),
            prosecutor=_prosecutor(sizes, k) if sizes is not None and rows else None,
            population=self._population,
            weighted=self._weighted,
            by_household=self._by_household,
            class_sizes=() if sizes is None else size_bins(sizes, bin_starts(k)),
        )

    def _weight(self) -> str | None:
        """The column of the weights. Raises UsageError, UnknownName."""
        if self._request.weight is None:
            return None
        column = self._search.table.column(self._request.weight)
        if not numeric(self._engine.dialect, column):
            raise UsageError(f"--weight {column.name} must be a column of numbers")
        return column.name

    def _household(self, weighted: bool) -> str | None:
        """The column of the households. Raises UsageError, UnknownName."""
        if self._request.household is None:
            return None
        if weighted and not self._engine.dialect.recursive:
            raise UsageError(
                f"--household with --weight takes recursive SQL, which is not used on {self._engine.version}: "
                f"leave out --weight, or measure a copy in DuckDB or Postgres"
            )
        return self._search.table.column(self._request.household).name

    def _of_households(self, household: str, weight: str | None) -> HouseholdRisk:
        """Two statements, one more with weights, and two for the households by all their rows."""
        search, dialect = self._search, self._engine.dialect
        source, names = search.with_columns(household, *([weight] if weight else [])), search.profiler.names
        asked = [household_risks(dialect, source, names, household)]
        if weight is not None:
            asked.append(household_risks(dialect, source, names, household, weight))
        table, *weighted = search.profiler.ask(asked)
        known = RowsOfPersons(search.profiler.over(source, table.rows), source, household, self._request.policy.k)
        return HouseholdRisk(
            household=household,
            households=table.households,
            without=table.without,
            certain=table.certain,
            highest=table.highest,
            expected=table.expected,
            expected_rows=table.expected_rows,
            weighted_expected=weighted[0].expected if weighted else None,
            weighted_expected_rows=weighted[0].expected_rows if weighted else None,
            alike=known.whole if table.households else None,
        )

    def _population_size(self, sizes: ClassSizes) -> int:
        """The rows of the population. Raises UsageError."""
        rows, given = sum(sizes.rows.values()), self._request.population_size
        if given is None:
            assert self._request.fraction is not None
            return round(rows / self._request.fraction)
        if given < rows:
            found = f"{count(rows)} rows or entities of {self._search.table.name}"
            raise UsageError(
                f"--population-size {count(given)} is less than the {found}; it must be that of the whole population"
            )
        return given

    def _by_weight(self, weight: str) -> WeightedRisk:
        """The risks by the weights. One statement. Raises UsageError if they cannot be used."""
        search = self._search
        source, names = search.with_columns(weight), search.profiler.names
        [found] = search.profiler.ask([survey_weights(self._engine.dialect, source, names, weight)])
        if found.null or found.bad:
            raise UsageError(
                f"--weight {weight} cannot be used: it is NULL in {plural(found.null, 'row')}, and 0, negative or "
                f"not finite in {count(found.bad)}; every row needs a weight above 0"
            )
        if found.total < found.rows * (1 - 1e-9):
            raise UsageError(
                f"--weight {weight} cannot be used: the weights add up to less than the {plural(found.rows, 'row')}; "
                f"a weight must be the number of people that a row represents, not a relative weight"
            )
        risks = record_risks(found.classes, Fraction(1, self._request.policy.k))
        return WeightedRisk(
            weight=weight,
            population=found.total,
            capped_rows=sum(each.rows for each in found.classes if each.weight < each.records * (1 - 1e-9)),
            rows_above=risks.above,
            highest=risks.highest,
            average=risks.average,
            expected=risks.expected,
            bins=risks.bins,
        )

    def _backtests(self, population: PopulationRisk) -> Iterator[Backtest]:
        """The backtest after each sample, so that those drawn before a stop are kept. A statement for each."""
        profiler, seed, size = self._search.profiler, self._request.seed, population.tested_rows
        drawn: list[tuple[UniquesEstimate, ...]] = []
        for number in range(TABLE_SAMPLES):
            sample = profiler.over(self._search.sample(size, TABLE_SAMPLES * seed + number), size)
            classes = sample.sizes(sample.everything).classes
            drawn.append(population_uniques(classes, population.rows) if 1 in classes else ())
            yield Backtest(
                seed=seed,
                samples=len(drawn),
                sample_rows=size,
                unique_rows=population.unique_rows,
                methods=tuple(_errors(method, drawn, population.unique_rows) for method in Method),
            )

    def _reason(self, rows: int | None, finished: bool) -> str:
        if rows is None:
            return "not measured to the end"
        words, found = f"{plural(rows, 'row')} measured", self._population
        if found is not None and found.lowest is not None and found.highest is not None:
            low, high = count(round(found.lowest)), count(round(found.highest))
            words += f"; of the population of {count(found.size)}, {low} to {high} are estimated to be unique"
        return words if finished or not rows else f"{words}, not to the end"


def _prosecutor(sizes: ClassSizes, k: int) -> ProsecutorRisk:
    profile = sizes.profile(k)
    expected = sum((Fraction(number, size) for size, number in sizes.rows.items()), Fraction(0))
    return ProsecutorRisk(
        rows=profile.rows,
        classes=profile.classes,
        unique_rows=profile.unique_rows,
        rows_below_k=profile.rows_below_k,
        highest=Fraction(1, profile.smallest),
        average=expected / profile.rows,
        expected=expected,
    )


def _population(sizes: ClassSizes, size: int) -> PopulationRisk:
    """The estimates, as far as there is something to estimate."""
    rows, uniques = sum(sizes.rows.values()), sizes.rows.get(1, 0)
    obstacle = _obstacle(sizes, rows, size)
    found = population_uniques(sizes.classes, size) if obstacle is None else ()
    numbers = [each.uniques for each in found if each.uniques is not None]
    return PopulationRisk(
        rows=rows,
        size=size,
        sampling_fraction=rows / size,
        unique_rows=uniques,
        exact=uniques if size == rows else None,
        estimates=tuple(_estimated(each, Fraction(rows, size), uniques) for each in found),
        lowest=min(numbers, default=None),
        highest=max(numbers, default=None),
        backtest=None,
        obstacle=obstacle,
    )


def _obstacle(sizes: ClassSizes, rows: int, size: int) -> str | None:
    """Why nothing can be estimated, if so."""
    if size == rows:
        return f"{count(sizes.rows.get(1, 0))}: the table is the whole population, and nothing has to be estimated"
    if sum(members * number for members, number in sizes.classes.items()) != rows:
        return SEVERAL
    if 1 not in sizes.classes:
        return "nobody is unique in the table, and so none of those in it is unique in the population"
    return None


def _estimated(found: UniquesEstimate, fraction: Fraction, uniques: int) -> EstimatedUniques:
    share = None if found.uniques is None else min(1.0, found.uniques * float(fraction) / uniques)
    return EstimatedUniques(
        method=found.method, uniques=found.uniques, share_of_sample_uniques=share, failure=found.failure
    )


def _errors(method: Method, drawn: Sequence[Sequence[UniquesEstimate]], truth: int) -> MethodError:
    """The errors of one method over all samples."""
    found = [next((each.uniques for each in sample if each.method is method), None) for sample in drawn]
    errors = [each / truth - 1 for each in found if each is not None]
    return MethodError(
        method=method,
        uniques=tuple(found),
        mean_error=sum(errors) / len(errors) if errors else None,
        worst_error=max(errors, key=abs, default=None),
    )
