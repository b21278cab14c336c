"""The rows of the table functions for anonymize, turns, impact, risk, link, kmap and graph."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from qidsql.commands.anonymize.result import AnonymizeResult
    from qidsql.commands.graph.result import GraphResult
    from qidsql.commands.impact.result import ImpactResult
    from qidsql.commands.kmap.result import KmapResult
    from qidsql.commands.link.result import LinkResult
    from qidsql.commands.risk.command import RiskResult
    from qidsql.commands.turns.command import TurnsResult

Row: TypeAlias = tuple[Any, ...]
Columns: TypeAlias = dict[str, str]


def row_of(kinds: Columns, figures: object = None, /, **cells: object) -> Row:
    """The cells by name; the others are the fields of `figures`, if these are not None."""
    found = {name: cells.get(name, getattr(figures, name, None)) for name in kinds}
    return tuple(
        float(found[name]) if kind == "DOUBLE" and found[name] is not None else found[name]  # type: ignore[arg-type]
        for name, kind in kinds.items()
    )


ANONYMIZE = {
    "finding": "VARCHAR",
    "columns": "VARCHAR[]",
    "cells": "BIGINT",
    "rows": "BIGINT",
    "cost": "BIGINT",
    "lower_bound": "BIGINT",
    "optimal": "BOOLEAN",
    "verdict": "VARCHAR",
    "script": "VARCHAR[]",
    "reason": "VARCHAR",
}


def anonymize_rows(result: "AnonymizeResult") -> Iterable[Row]:
    """The plan, then the columns."""
    yield row_of(
        ANONYMIZE,
        finding="table",
        columns=result.account.columns,
        cells=result.cells,
        rows=result.rows_touched,
        cost=result.cost,
        lower_bound=result.lower_bound,
        optimal=result.optimal,
        verdict=str(result.verdict),
        script=result.script,
        reason=result.reason,
    )
    for name, cells in result.by_column.items():
        yield row_of(ANONYMIZE, finding="column", columns=[name], cells=cells)


TURNS = {
    "turn": "BIGINT",
    "change": "VARCHAR",
    "values_before": "BIGINT",
    "values_after": "BIGINT",
    "columns": "VARCHAR[]",
    "rows_below_k": "BIGINT",
    "combinations": "BIGINT",
    "rows_unsafe": "BIGINT",
    "cells": "BIGINT",
    "weight": "BIGINT",
    "verdict": "VARCHAR",
    "script": "VARCHAR[]",
    "reason": "VARCHAR",
}


def turns_rows(result: "TurnsResult") -> Iterable[Row]:
    """The verdict and the view of the last turn, then the turns."""
    reason = "; ".join((result.reason, *result.account.unfinished))
    yield row_of(
        TURNS, columns=result.account.columns, verdict=str(result.verdict), script=result.script, reason=reason
    )
    for each in result.turns:
        yield row_of(TURNS, each, turn=each.number)


IMPACT = {
    "column_name": "VARCHAR",
    "cells": "BIGINT",
    "suppressed": "BIGINT",
    "values_before": "BIGINT",
    "values_after": "BIGINT",
    "vanished": "BIGINT",
    "added": "BIGINT",
    "rows_before": "BIGINT",
    "rows_after": "BIGINT",
    "verdict": "VARCHAR",
    "reason": "VARCHAR",
}


def impact_rows(result: "ImpactResult") -> Iterable[Row]:
    """The table, without a column, then its columns. Whom the copy singles out is part of the reason."""
    from qidsql.report.protected import known_people_lines

    _, found = known_people_lines(result.known, result.k) if result.known and result.k else ((), ())
    reason = "; ".join((result.reason, *result.account.unfinished, *found))
    yield row_of(IMPACT, result, column_name=None, verdict=str(result.verdict), reason=reason)
    for each in result.variables:
        yield row_of(IMPACT, each, column_name=each.name)


RISK = {
    "finding": "VARCHAR",
    "columns": "VARCHAR[]",
    "rows": "BIGINT",
    "unique_rows": "BIGINT",
    "estimate": "DOUBLE",
    "rows_below_k": "BIGINT",
    "rows_above": "BIGINT",
    "highest": "DOUBLE",
    "average": "DOUBLE",
    "expected": "DOUBLE",
    "verdict": "VARCHAR",
    "reason": "VARCHAR",
}


def risk_rows(result: "RiskResult") -> Iterable[Row]:
    """The risk in the table, the unique rows of the population and estimates of them, and the risk by survey weights.

    The estimate by survey weights is the size of the population.
    """
    words = {"columns": result.account.columns, "verdict": str(result.verdict), "reason": result.reason}
    yield row_of(RISK, result.prosecutor, finding="table", **words)
    if population := result.population:
        yield row_of(
            RISK, finding="population", rows=population.size, unique_rows=population.exact, reason=population.obstacle
        )
        for each in population.estimates:
            yield row_of(RISK, finding=f"population by {each.method}", estimate=each.uniques, reason=each.failure)
    if weighted := result.weighted:
        yield row_of(RISK, weighted, finding="survey weights", estimate=weighted.population)


LINK = {
    "finding": "VARCHAR",
    "left_name": "VARCHAR",
    "right_name": "VARCHAR",
    "rows": "BIGINT",
    "matching_none": "BIGINT",
    "matching_one": "BIGINT",
    "matching_below_k": "BIGINT",
    "singled_out": "BIGINT",
    "common_values": "BIGINT",
    "verdict": "VARCHAR",
    "reason": "VARCHAR",
}


def link_rows(result: "LinkResult") -> Iterable[Row]:
    """The rows of the left table by their matches, those of the right one, and the pairs of columns compared."""
    join = result.link
    words = {"verdict": str(result.verdict), "reason": result.reason, "singled_out": join.singled_out if join else None}
    yield row_of(
        LINK, join.left if join else None, finding="join", left_name=result.left, right_name=result.right, **words
    )
    if join:
        yield row_of(LINK, join.right, finding="join, from the right", left_name=result.left, right_name=result.right)
    for each in result.columns_compared:
        finding = "joinable" if each.joinable else "not joinable"
        cells = {"left_name": each.left.column, "right_name": each.right.column, "common_values": each.common}
        yield row_of(LINK, finding=finding, **cells, reason=each.ground)


KMAP = {
    "population": "VARCHAR",
    "columns": "VARCHAR[]",
    "rows": "BIGINT",
    "people": "BIGINT",
    "k_map": "BIGINT",
    "rows_below_k": "BIGINT",
    "rows_of_one": "BIGINT",
    "rows_absent": "BIGINT",
    "rows_exceeding": "BIGINT",
    "journalist_max": "DOUBLE",
    "journalist_average": "DOUBLE",
    "marketer": "DOUBLE",
    "presence_min": "DOUBLE",
    "presence_max": "DOUBLE",
    "verdict": "VARCHAR",
    "reason": "VARCHAR",
}


def kmap_rows(result: "KmapResult") -> Iterable[Row]:
    """One row; without figures if nothing was measured."""
    words = {"population": result.population, "verdict": str(result.verdict), "reason": result.reason}
    yield row_of(KMAP, result.figures, columns=[str(each) for each in result.columns], **words)


GRAPH = {
    "finding": "VARCHAR",
    "columns": "VARCHAR[]",
    "tables": "VARCHAR[]",
    "optimal": "BOOLEAN",
    "complete": "BOOLEAN",
    "verdict": "VARCHAR",
    "reason": "VARCHAR",
}


def graph_rows(result: "GraphResult") -> Iterable[Row]:
    """The smallest separating set, other ones, the paths, and what to protect in each table that is to be published."""
    reason = "; ".join((result.reason, *result.account.unfinished))
    words = {"verdict": str(result.verdict), "reason": reason, "tables": result.together}
    yield row_of(GRAPH, result, finding="separating set", columns=result.cut, **words)
    for cut in result.column_sets:
        if cut.columns != result.cut:
            yield row_of(GRAPH, finding="other separating set", columns=cut.columns)
    for path in result.paths:
        yield row_of(GRAPH, finding="path", columns=path.attributes, tables=path.tables)
    for table in result.protection.tables if result.protection else ():
        yield row_of(GRAPH, finding="to protect", columns=table.columns, tables=[table.table])
