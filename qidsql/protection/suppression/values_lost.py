"""Which values a suppression plan takes cells from."""

from typing import NamedTuple

from sqlglot import exp

from qidsql.protection.suppression.plan import SuppressionPlan
from qidsql.sql.masks import big
from qidsql.sql.templates import fill, fill_query, integer, union_all


class CellsLost(NamedTuple):
    """A value of a column, by its code (0 for NULL): the cells that it loses, of how many."""

    code: int
    cells: int
    of: int


class ValuesLost(NamedTuple):
    """How many values of a column lose cells, how many lose all, and those that lose most."""

    values: int = 0
    gone: int = 0
    most: tuple[CellsLost, ...] = ()


def values_lost(plan: SuppressionPlan, most: int, deadline: float | None) -> list[ValuesLost]:
    """The values that lose cells, column by column; at most `most` of each column are listed.

    One statement to the workbench. Raises Stopped, StatementError.
    """
    places = range(len(plan.patterns.names))
    columns = [_of_column(place) for place in places]
    lost = union_all(columns)
    query = fill("workbench/suppression/values_lost", lost=lost.subquery("lost"), most=most)
    found = [ValuesLost() for _ in places]
    for row in plan.patterns.bench.query(query, "values that lose cells", deadline):
        place, values, gone, *loss = map(integer, row)
        found[place] = ValuesLost(values, gone, (*found[place].most, CellsLost(*loss)))
    return found


def _of_column(place: int) -> exp.Query:
    return fill_query(
        "workbench/suppression/suppressed_values",
        place=place,
        code=exp.column(f"c{place}", table="patterns"),
        bit=big(1 << place),
    )
