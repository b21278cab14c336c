"""How many people of a population each row of a published table could be."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Annotated

from sqlglot import exp

from qidsql.commands.risk.population.command import PopulationRequest
from qidsql.commands.row_matching import RowMatching
from qidsql.commands.table_search import one_answer
from qidsql.core.results import Account, Result, Verdict
from qidsql.core.tables import Table, ValueKind
from qidsql.declarations.results import FLAT, Rounded
from qidsql.engines.base import Engine
from qidsql.errors import UnknownName, UsageError
from qidsql.linkage.join_columns import JoinColumns, JoinedColumns, Sides, column_named, joined_column
from qidsql.linkage.joinable import Containment
from qidsql.measures.population import PopulationMatch
from qidsql.sql.population import population_match
from qidsql.wording.texts import count, few, percent, plural, share

# The result of `risk --population`, the k-map: how many people of a population each published row could be.


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


WHOLE = (ValueKind.WHOLE, ValueKind.HUGE)


@one_answer
def population(
    engine: Engine, request: PopulationRequest, on_stage: Callable[[str], None] = lambda stage: None
) -> PopulationResult:
    """How many people of a population each row of a published table could be: k-map, delta-presence and risks.

    One statement that reads each table once; without named columns also those that `link` asks to find them. Counts
    and Fractions decide. A stop, a row that is not of the population, and a NULL where it could matter make the verdict
    inconclusive, unless it is a violation already. Raises UsageError, UnknownName, AccessError, StatementError.
    """
    work = RowMatching(engine, request, (request.table, request.place[1]), on_stage)
    counts: list[exp.Expr] = []  # the column of the people that a row stands for, if there is one

    def compared(sides: Sides) -> Sides:
        if request.counts is None:
            return sides
        node, sides = counted_people(request.counts, sides)
        counts.append(node)
        return sides

    match = work.counted(
        lambda: _people(engine, request),
        lambda rows, people, values: population_match(engine.dialect, rows, people, values, request.k, *counts),
        compared,
    )
    columns = work.columns
    published, people = (str(table.name) for table in work.tables)
    found = _judge(published, people, request, columns, match)
    verdict, reason = work.judged(*found, each_row=request.counts is None)
    return PopulationResult(
        verdict=verdict,
        reason=reason,
        population=people,
        population_source=(engine.label_beside if request.beside else "") or engine.label,
        counts=request.counts,
        presence=request.presence,
        columns=columns.names,
        columns_given=bool(request.pairs),
        columns_compared=tuple(columns.compared),
        figures=None if match is None else PopulationFigures.of(match),
        account=work.account(None if match is None else match.rows),
    )


def _people(engine: Engine, request: PopulationRequest) -> Table:
    """The table of the population. Raises UsageError, UnknownName, AccessError."""
    source, table = request.place
    if source is not None and not engine.label_beside:  # opened before: it may have a table of this name
        with suppress(UnknownName):
            return engine.describe(request.population)
    return engine.describe(request.population) if source is None else engine.describe_beside(table)


def counted_people(typed: str, sides: Sides) -> tuple[exp.Expr, Sides]:
    """The column of counts as a node, and the tables without it. Raises UnknownName, UsageError."""
    published, population = sides
    column = column_named(typed, population)
    has_types = any(each.kind is not None for each in population.columns)
    if has_types and column.kind not in WHOLE:
        raise UsageError(
            f"--counts {column.name}: {column.type} is no type of whole numbers; convert the column in a view"
        )
    rest = tuple(each for each in population.columns if each != column)
    return joined_column(column), (published, replace(population, columns=rest))


def _judge(
    published: str, population: str, request: PopulationRequest, columns: JoinColumns, match: PopulationMatch | None
) -> tuple[Verdict, str]:
    """The verdict and its reason in one sentence. Never a pass while anything is open."""
    if match is None:
        return Verdict.INCONCLUSIVE, _unmatched(published, population, columns)
    on = ", ".join(map(str, columns.names))
    if not match.rows or not match.people:
        empty = f"{published} has no row" if not match.rows else f"{population} has no people"
        return Verdict.INCONCLUSIVE, f"there is nothing to compare: {empty}"
    if match.rows_with_null == match.rows:
        return Verdict.INCONCLUSIVE, f"nothing was compared: each row of {published} has a NULL in the columns ({on})"
    found = _found(published, population, on, match)
    presence = list(_presence_violated(population, request, match))
    if presence or (match.rows_below_k and Fraction(match.rows_below_k, match.rows) >= request.limit):
        return Verdict.VIOLATION, "; ".join((found, *presence))
    if open_questions := list(_open(published, population, request, columns, match)):
        return Verdict.INCONCLUSIVE, f"{found}, but {'; '.join(open_questions)}"
    return Verdict.PASS, found


def _found(published: str, population: str, on: str, match: PopulationMatch) -> str:
    """The k-map, or the rows below k, in words."""
    if match.rows_below_k:
        return (
            f"{count(match.rows_below_k)} of {plural(match.rows, 'row')} of {published} "
            f"({share(match.rows_below_k, match.rows)}) could be fewer than {match.k} people of {population} on {on}"
        )
    if not match.rows_matched:
        return f"no row of {published} occurs in {population} on {on}"
    if not match.k_map:
        return f"no row of {published} that occurs in {population} could be fewer than {match.k} people on {on}"
    which = " without a NULL" if match.rows_with_null else ""
    people = plural(match.k_map, "person", "people")
    return f"each row of {published}{which} could be one of at least {people} of {population} on {on}"


def _presence_violated(population: str, request: PopulationRequest, match: PopulationMatch) -> Iterator[str]:
    """In which direction the share published of some people is beyond the limits of --presence."""
    if request.presence_limits is None or match.presence is None:
        return
    (least, greatest), (lowest, highest) = match.presence, request.presence_limits
    if least < lowest:
        yield f"{percent(least)} of some people of {population} with equal values are published, below the least share"
    if greatest > highest:
        yield f"{percent(greatest)} of some people of {population} with equal values are published, above the greatest"


def _open(
    published: str, population: str, request: PopulationRequest, columns: JoinColumns, match: PopulationMatch
) -> Iterator[str]:
    """The reasons why there is no pass although nothing is violated."""
    if match.rows_absent or match.rows_exceeding:
        parts = [f"the values of {plural(match.rows_absent, 'row')} do not occur there"] if match.rows_absent else []
        if match.rows_exceeding:
            kinds = ("combination of values has", "combinations of values have")
            parts.append(f"{plural(match.classes_exceeding, *kinds)} more rows than people")
        yield f"{published} is not a sample of {population}: {' and '.join(parts)}"
    below = match.rows_below_k + match.rows_with_null
    if match.rows_with_null and not Fraction(below, match.rows) < request.limit:
        yield f"{plural(match.rows_with_null, 'row')} of {published} have a NULL, which nobody can look up"
    if request.presence_limits is not None:
        if match.presence is None:
            yield f"all people of {population} have a NULL in the columns"
        elif match.rows_with_null:
            yield f"rows of {published} with a NULL could add to the share published of any people"
        elif match.people_with_null and request.presence_limits[0]:
            yield f"{plural(match.people_with_null, 'person', 'people')} of {population} have a NULL"
    if doubts := columns.doubts:
        yield f"{doubts} may single out more; name the columns to compare (--on a=b)"


def _unmatched(published: str, population: str, columns: JoinColumns) -> str:
    """Why nobody was counted."""
    if columns.unfinished:
        return f"{published} was not fully compared with {population}"
    if columns.nothing:
        return f"no values of {published} and {population} were compared: {columns.nothing}"
    unseen = f", and {plural(len(columns.unseen), 'column')} not compared ({few(columns.unseen, 6)})"
    return (
        f"no columns of {published} and {population} are joinable for sure{unseen if columns.unseen else ''}; "
        f"name those that mean the same (--on a=b)"
    )
