"""How many people of the population have the values that are released, one column at a time or several together."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from qidsql.commands.release.command import LineState, Measured, ReleaseRequest, uncompared
from qidsql.commands.release.subject import both
from qidsql.commands.risk.population.population import counted_people
from qidsql.commands.row_matching import not_persons
from qidsql.core.policy import Policy, PopulationTable
from qidsql.core.tables import Table
from qidsql.engines.base import Engine
from qidsql.errors import BudgetSpent, Interrupted, QidsqlError
from qidsql.linkage.join_columns import joined_source, listed_sides, named_columns
from qidsql.measures.population import MatchedClasses
from qidsql.sql.population import population_match
from qidsql.wording.texts import count, few, plural

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
