"""What the lines of a release measure besides its audit: the order of the rows, how many people have the values,
and what somebody can join with them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import ceil

from qidsql.checklists.checklist import Checklist
from qidsql.column_roles.names import find, words
from qidsql.commands.audit.command import AuditResult
from qidsql.commands.release.command import LineState, Measured, ReleaseRequest, StatedRisk, uncompared, worst_of
from qidsql.commands.release.subject import both
from qidsql.commands.risk.command import RiskRequest
from qidsql.commands.risk.population.command import PopulationRequest
from qidsql.commands.risk.population.population import PopulationResult, counted_people, population
from qidsql.commands.risk.risk import risk
from qidsql.commands.row_matching import not_persons
from qidsql.core.options import fraction
from qidsql.core.policy import LinkedTable, Policy, PopulationTable
from qidsql.core.results import Verdict
from qidsql.core.tables import Table
from qidsql.engines.base import Engine
from qidsql.errors import BudgetSpent, Interrupted, QidsqlError, StatementError, Stopped, UsageError
from qidsql.linkage.join_columns import joined_source, listed_sides, named_columns
from qidsql.measures.population import MatchedClasses
from qidsql.sql.population import household_risks, population_match
from qidsql.sql.relation import relation
from qidsql.sql.releases import alike_neighbours
from qidsql.wording.texts import count, few, percent, plural, ratio

# The order in which the released rows lie: whether rows of the same values stand together.


UNKNOWN = "the order in which the rows of {} leave is not known"


def random_order(engine: Engine, table: Table) -> Measured:
    """Whether neighbours are alike more often than in a random order, in any column, by three deviations; that an order
    is random, only a person can say. One statement for each column, which scans it once or twice.
    """
    if not engine.data_files and not table.row_address:
        return Measured(LineState.NOT_EXAMINED, UNKNOWN.format(table.name))
    if len(engine.data_files) > 1:
        return Measured(LineState.NOT_EXAMINED, "the release is of several files")
    columns = [each for each in table.columns if each.readable]
    try:
        found = engine.run_many([alike_neighbours(engine.dialect, table, each) for each in columns])
    except (Stopped, StatementError) as error:
        return Measured(LineState.NOT_EXAMINED, f"not counted to the end: {error}")
    for column, each in zip(columns, found, strict=True):
        if not each.by_chance:
            alike = f"{plural(each.alike, 'row')} of {count(each.rows)} like the row before"
            text = f"{column.name}: {alike}, {count(round(each.chance))} by chance: are the rows sorted?"
            return Measured(LineState.NOT_EXAMINED, text)
    return Measured(LineState.PERSON, f"neighbours are no more alike than by chance in {plural(len(found), 'column')}")


# How many people of the population have the values that are released, one column at a time or several together.


NOBODY = Measured(LineState.NOT_EXAMINED, "the policy names no table of the population (people in [release])")


def people_of_values(
    engine: Engine, table: Table, request: ReleaseRequest, columns: Sequence[str], together: int, fewest: int
) -> Measured:
    """Whether so many people of the population have each released value of these columns, or each combination of the
    values of so many of them. A NULL is no value. One statement for each set of columns, which scans both tables.

    Raises BudgetSpent, Interrupted.
    """
    named, threshold = request.declared.people, count(fewest)
    if named is None:
        return replace(NOBODY, threshold=threshold)
    try:
        with both(engine, table, request.beside_policy(named.table)) as (pair, people, released):
            return Measured(*_counted(pair, released, people, named, columns, together, fewest), threshold)
    except (BudgetSpent, Interrupted):
        raise
    except QidsqlError as error:
        return Measured(LineState.NOT_EXAMINED, uncompared(named.table, error), threshold)


def _counted(
    engine: Engine,
    released: Table,
    people: Table,
    named: PopulationTable,
    columns: Sequence[str],
    together: int,
    fewest: int,
) -> tuple[LineState, str]:
    sides, counts = listed_sides(engine, released, people), []
    if named.counts is not None:
        node, sides = counted_people(named.counts, sides)
        counts.append(node)
    there = [each.name for each in sides[1].columns]
    pairs = named_columns(named.on or [f"{each}={each}" for each in columns if each in there], sides).pairs
    values = {each.left.name: each.values(engine.dialect, sides) for each in pairs if each.left.name in columns}
    rows, persons = joined_source(released), joined_source(people)
    asked = [
        population_match(engine.dialect, rows, persons, [values[name] for name in names], fewest, *counts)
        for names in combinations(values, together)
    ]
    matches = engine.run_many(asked)
    classes = [each for match in matches for each in match.sizes if each.rows and not each.null]
    below = [each for each in classes if each.rows <= each.people < fewest]
    kind = "value" if together == 1 else "combination"
    text = f"{plural(_number(classes), kind)} in {few([*values])}"
    if below:
        least = count(min(each.people for each in below))
        fewer = f"{count(_number(below))} of fewer than {count(fewest)} people of {people.name}, the fewest {least}"
        return LineState.NOT_MET, f"{text}: {fewer}"
    odd = _number([each for each in classes if each.people < each.rows])
    uncounted = sum(each.uncounted for each in matches)
    missing = [each for each in columns if each not in values]
    doubts = [
        f"{people.name} has no column for {few(missing)}: name it in on" if missing else "",
        f"{count(odd)} of more rows than people of {people.name}" if odd else "",
        f"{plural(uncounted, 'row')} of {people.name} without a count" if uncounted else "",
        "no row was released" if matches and not matches[0].rows else "",
        "" if counts else not_persons(engine, people, Policy()),
    ]
    if open_ := "; ".join(filter(None, doubts)):
        return LineState.NOT_EXAMINED, f"{text}: {open_}"
    if not classes:
        return LineState.MET, f"there is no {kind} of identifying columns"
    least = count(min(each.people for each in classes))
    return LineState.MET, f"{text}, each of {least} people of {people.name} or more"


def _number(classes: Sequence[MatchedClasses]) -> int:
    return sum(each.classes for each in classes)


# Linkability: what somebody can join with the released rows, as far as the policy names it.


NOTHING = Measured(LineState.NOT_EXAMINED, "the policy names nothing that somebody may join (linked in [release])")
STATES = {Verdict.PASS: LineState.MET, Verdict.VIOLATION: LineState.NOT_MET}


@dataclass(frozen=True, slots=True)
class Linked:
    """The worst that was found of the tables that the policy names.

    `journalist`: 1 / the fewest people that a row could be; `marketer`: the share of rows that linking all gets right;
    None where a table was not compared to the end.
    """

    measured: Measured
    journalist: Fraction | None = None
    marketer: Fraction | None = None


def linkability(engine: Engine, table: Table, request: ReleaseRequest, k: int) -> Linked:
    """Whether a released row could be fewer than k people of another table. A row that is nobody there proves nothing:
    its values may have been recoded, which somebody can do, too. Raises BudgetSpent, Interrupted.
    """
    named = request.declared.linked or ()
    found = [_with(engine, table, other, request.beside_policy(other.table), k) for other in named]
    if not found:
        return Linked(NOTHING)
    risks: list[Fraction | None] = []
    for name in ("journalist", "marketer"):
        known = [getattr(each, name) for each in found]
        risks.append(None if None in known else max(known))
    return Linked(worst_of([each.measured for each in found]), *risks)


def _with(engine: Engine, table: Table, linked: LinkedTable, place: str, k: int) -> Linked:
    threshold, on = f"k = {k}", linked.on or ()
    released = tuple(column.name for column in table.columns if column.readable)  # all of it is known
    try:
        with both(engine, table, place) as (pair, there, _):
            name, people = (str(table.name), linked.table) if pair is engine else (None, f"{place}:")
            request = PopulationRequest(name, population=people, on=on, k=k, quasi_identifiers=released)
            return _judged(population(pair, request), table, there, threshold)
    except (BudgetSpent, Interrupted):
        raise
    except QidsqlError as error:
        return Linked(Measured(LineState.NOT_EXAMINED, uncompared(linked.table, error), threshold))


def _meaning(name: str) -> str:
    """What the name of a column says, such as a place; "" if nothing."""
    hit = find(words(name))
    return hit.concept.meaning if hit else ""


def _judged(known: PopulationResult, table: Table, there: Table, threshold: str) -> Linked:
    """Met only if all columns that both have, by name or by what the name means, were compared, and each row was found
    there: somebody can write zip codes of the other table as coarsely as those that were released.
    """
    state, text = STATES.get(known.verdict, LineState.NOT_EXAMINED), known.reason
    compared = {each.left.lower() for each in known.columns}
    theirs = {each.name.lower() for each in there.columns}
    left_out = [each.name for each in table.columns if each.name.lower() in theirs - compared]
    others = {_meaning(each.name) for each in there.columns if each.name not in {it.right for it in known.columns}}
    left_out += [
        f"{each.name} by its meaning"
        for each in table.columns
        if each.name.lower() not in {*compared, *theirs} and _meaning(each.name) in others - {""}
    ]
    if state is LineState.MET and left_out:
        text = f"{text}, but both have {few(left_out)}, too: name it in on"
        state = LineState.NOT_EXAMINED
    risks = known.figures if state is not LineState.NOT_EXAMINED else None
    measured = Measured(state, text, threshold)
    return Linked(measured, risks.journalist_max, risks.marketer) if risks else Linked(measured)


# The risks that thresholds are about: of whom they are, what was measured, and what is allowed.


OFF = Fraction(1, 10**9)  # what a float of an engine may be off


@dataclass(frozen=True, slots=True)
class FoundRisk:
    """A risk and how it was found; None: it was not. `off`: what it may be off; None: it is an estimate."""

    value: Fraction | None
    words: str
    off: Fraction | None = Fraction(0)


NAMES: Mapping[str, str] = {
    "highest": "of whoever is in a smallest class and known to be among the rows",
    "average": "the share that somebody gets right who links every row and knows that each is there",
    "journalist": "of somebody found in a register that the policy names, at most",
    "marketer": "the share that linking every row with such a register gets right",
    "households": "that somebody of a household is recognised, at most",
    "population uniques": "the share of the population that nobody is like",
}


class Risks:
    """The risks of one release, each measured when it is asked for."""

    def __init__(
        self, engine: Engine, table: Table, request: ReleaseRequest, audit: AuditResult, linked: Callable[[], Linked]
    ) -> None:
        self._engine, self._table, self._request = engine, table, request
        self._audit, self._linked = audit, linked
        self._found: dict[str, FoundRisk] = {}

    def found(self, name: str) -> FoundRisk:
        """Raises BudgetSpent, Interrupted, UsageError."""
        if name not in self._found:
            self._found[name] = getattr(self, f"_{name.replace(' ', '_')}")()
        return self._found[name]

    def stated(self, lists: Sequence[Checklist]) -> tuple[StatedRisk, ...]:
        """All risks that were asked for or cost nothing, each with the smallest limit on it."""
        declared = self._request.declared
        attempt = fraction("attempt", declared.attempt or "1")
        k = self._audit.account.policy.k
        limits = {"highest": [(Fraction(1, k), f"1/{k}")]}
        for line in (line for each in lists for line in each.lines if line.most is not None):
            most, text = line.most or Fraction(0), line.limit or ""
            if line.check == "attacked" and attempt != 1:  # the risk in the data may be so much higher
                most, text = most / attempt, str(most / attempt)
            limits.setdefault("highest" if line.check == "attacked" else line.check, []).append((most, text))
        linked, people = bool(declared.linked), bool(declared.population)
        wanted = dict(zip(NAMES, (True, True, linked, linked, bool(declared.household), people), strict=True))
        names = [name for name in NAMES if name in limits or wanted[name]]
        return tuple(
            StatedRisk(name, NAMES[name], each.value, min(limits[name])[1] if name in limits else None, each.words)
            for name in names
            for each in [self.found(name)]
        )

    def _highest(self) -> FoundRisk:
        profile = self._audit.profile
        if profile is None or not profile.rows:
            return FoundRisk(None, "no class was measured")
        wildcard = ", if a NULL matches anything" if profile.wildcard else ""
        return FoundRisk(Fraction(1, profile.smallest), f"the smallest class has {count(profile.smallest)}{wildcard}")

    def _average(self) -> FoundRisk:
        profile = self._audit.profile
        if profile is None or profile.wildcard or not profile.rows:
            return FoundRisk(None, "no classes were counted")
        words = f"{plural(profile.classes, 'class', 'classes')} of {plural(profile.rows, 'row')}"
        return FoundRisk(Fraction(profile.classes, profile.rows), words)

    def _journalist(self) -> FoundRisk:
        linked = self._linked()
        return FoundRisk(linked.journalist, linked.measured.measured)

    def _marketer(self) -> FoundRisk:
        linked = self._linked()
        return FoundRisk(linked.marketer, linked.measured.measured)

    def _households(self) -> FoundRisk:
        name, columns = self._request.declared.household, self._columns()
        if not name:
            return FoundRisk(None, "the policy names no column of households (household in [release])")
        if name not in [each.name for each in self._table.columns]:
            return FoundRisk(None, f"the released bytes have no column {name}")
        if not columns or (self._audit.profile and self._audit.profile.wildcard):
            return FoundRisk(None, "no classes were counted")
        dialect, searched = self._engine.dialect, self._table.resolve([*columns, name])
        found = self._engine.run(household_risks(dialect, relation(dialect, self._table, searched), columns, name))
        if found.without or not found.rows:
            return FoundRisk(None, f"{count(found.without)} of {plural(found.rows, 'row')} without {name}")
        words = f"{plural(found.households, 'household')}, on average {found.expected_rows / found.rows:.4f}"
        return FoundRisk(Fraction(found.highest), words, OFF)

    def _population_uniques(self) -> FoundRisk:
        size, columns = self._request.declared.population, self._columns()
        if not size:
            return FoundRisk(None, "the policy names no size of the population (population in [release])")
        if not columns:
            return FoundRisk(None, "no classes were counted")
        request = RiskRequest(str(self._table.name), columns=columns, population_size=size)
        try:
            found = risk(self._engine, request).population
        except UsageError as error:
            return FoundRisk(None, str(error))
        if found is None or found.obstacle is not None or found.highest is None:
            alone = found is not None and not found.unique_rows
            none = "nobody is alone in a class of the released rows, so nobody of them is in the population"
            return (
                FoundRisk(Fraction(0), none)
                if alone
                else FoundRisk(None, (found and found.obstacle) or "not estimated")
            )
        tested = found.backtest.methods if found.backtest else ()
        worst = [abs(each.worst_error) for each in tested if each.worst_error is not None]
        off = "not tested on samples"
        if worst:
            most = max(worst)
            by = percent(Fraction(most)) if most < 1 else f"a factor of {count(ceil(1 + most))}"
            off = f"off by {by} at most on samples"
        words = f"at most {count(ceil(found.highest))} of {count(size)} as estimated, {off}"
        return FoundRisk(Fraction(found.highest) / size, words, None)

    def _columns(self) -> tuple[str, ...]:
        return tuple(each.name for each in self._audit.columns if each.audited)


def within_limit(found: FoundRisk, limit: Fraction, threshold: str) -> Measured:
    """Whether a risk is at most the limit. An estimate below it is for a person to say."""
    if found.value is None:
        return Measured(LineState.NOT_EXAMINED, found.words, threshold)
    measured = f"{ratio(min(found.value, Fraction(1)), 4)}: {found.words}"
    if found.value + (found.off or 0) > limit:
        return Measured(LineState.NOT_MET, measured, threshold)
    return Measured(LineState.PERSON if found.off is None else LineState.MET, measured, threshold)
