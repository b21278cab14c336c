"""The columns of the table functions, and their rows for most commands."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from qidsql.commands.audit.command import AuditResult
    from qidsql.commands.graph.result import GraphResult
    from qidsql.commands.impact.result import ImpactResult
    from qidsql.commands.link.link import LinkResult
    from qidsql.commands.protect.cells.identical_result import IdenticalRows
    from qidsql.commands.protect.cells.matching_result import MatchingRows
    from qidsql.commands.protect.result import ProtectResult
    from qidsql.commands.protect.turns.command import TurnsResult
    from qidsql.commands.risk.command import RiskResult
    from qidsql.commands.risk.population.population import PopulationResult

Row: TypeAlias = tuple[Any, ...]
Columns: TypeAlias = dict[str, str]  # name: type as in values.py

# The SQL types of columns by their names; of all others BIGINT.
NAMES = {
    "VARCHAR": "algorithm change column_name criterion finding how key left_name line note population purpose reason "
    "right_name role statement table_name type verdict way",
    "VARCHAR[]": "columns left_out proposed published script tables withheld",
    "DOUBLE": "average contribution distinct_ratio estimate expected highest journalist_average journalist_max "
    "kept marketer percent_below_k presence_max presence_min score seconds separation_ratio share_below_k",
    "BOOLEAN": "complete meets optimal proved safe",
    "HUGEINT": "colliding_pairs",
}
TYPES = {name: kind for kind, names in NAMES.items() for name in names.split()}


def columns_named(names: str) -> Columns:
    """The columns of a table function, with their types."""
    return {name: TYPES.get(name, "BIGINT") for name in names.split()}


def row_of(kinds: Columns, figures: object = None, /, **cells: object) -> Row:
    """The cells by name; the others are the fields of `figures`, if these are not None."""
    found = {name: cells.get(name, getattr(figures, name, None)) for name in kinds}
    return tuple(
        float(found[name]) if kind == "DOUBLE" and found[name] is not None else found[name]  # type: ignore[arg-type]
        for name, kind in kinds.items()
    )


PROTECT = columns_named("finding way column_name kept rows_left_out how proved verdict script reason")


def with_what_is_undone(result: Any) -> str:
    """The reason of a verdict, with why the work ended early, which reports list apart."""
    return "; ".join((result.reason, *result.account.unfinished))


def protect_rows(result: "ProtectResult") -> Iterable[Row]:
    """The plan, or which way keeps most; then the ways, or what becomes of each column."""
    best = next((each for each in result.ways if each.kept is not None), None)
    figures: Any = best if result.by is None else result
    yield row_of(
        PROTECT,
        figures,
        finding="table",
        way=result.by if best is None else best.way,
        kept=result.recoded.kept if result.recoded else getattr(figures, "kept", None),
        verdict=str(result.verdict),
        script=result.script,
        reason=with_what_is_undone(result),
    )
    for way in result.ways:
        yield row_of(PROTECT, way, finding="way", how=way.how or way.reason, reason=None)
    for column in result.columns_published:
        yield row_of(PROTECT, column, finding="column", column_name=column.name, how=column.becomes)


CELLS = columns_named(
    "finding columns cells rows values values_touched values_gone cost lower_bound optimal verdict script reason"
)


def cells_rows(result: "IdenticalRows | MatchingRows") -> Iterable[Row]:
    """The plan, the attacks that it withstands and leaves open if it is not against anyone, and the columns."""
    from qidsql.commands.protect.cells.identical_result import IdenticalRows

    plan = {
        "columns": result.account.columns,
        "verdict": str(result.verdict),
        "reason": with_what_is_undone(result),
    }
    if isinstance(result, IdenticalRows):
        yield row_of(CELLS, result, finding="table", rows=result.rows_touched, **plan)
        for name, cells in result.by_column.items():
            yield row_of(CELLS, finding="column", columns=[name], cells=cells)
        return
    yield row_of(CELLS, result, finding="table", rows=result.records, **plan)
    if result.known is not None:
        from qidsql.report.protected import known_people_lines

        withstood, found = known_people_lines(result.known, result.k)
        for finding, lines in (("withstands", withstood), ("open", found)):
            for line in lines:
                yield row_of(CELLS, finding=finding, reason=line)
    for cells, rows in result.by_cells.items():
        yield row_of(CELLS, finding="rows by cells", cells=cells, rows=rows)
    for loss in result.losses:
        yield row_of(CELLS, loss, finding="column", columns=[loss.name])


TURNS = columns_named(
    "turn change values_before values_after columns rows_below_k combinations rows_unsafe cells weight "
    "verdict script reason"
)


def turns_rows(result: "TurnsResult") -> Iterable[Row]:
    """The verdict and the view of the last turn, then the turns."""
    reason = with_what_is_undone(result)
    yield row_of(
        TURNS, columns=result.account.columns, verdict=str(result.verdict), script=result.script, reason=reason
    )
    for each in result.turns:
        yield row_of(TURNS, each, turn=each.number)


IMPACT = columns_named(
    "column_name cells suppressed values_before values_after vanished added rows_before rows_after verdict reason"
)


def impact_rows(result: "ImpactResult") -> Iterable[Row]:
    """The table, without a column, then its columns. Whom the copy singles out is part of the reason."""
    from qidsql.report.protected import known_people_lines

    _, found = known_people_lines(result.known, result.k) if result.known and result.k else ((), ())
    reason = "; ".join((result.reason, *result.account.unfinished, *found))
    yield row_of(IMPACT, result, column_name=None, verdict=str(result.verdict), reason=reason)
    for each in result.variables:
        yield row_of(IMPACT, each, column_name=each.name)


RISK = columns_named(
    "finding columns rows unique_rows estimate rows_below_k rows_above highest average expected verdict reason"
)


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
    if homes := result.by_household:
        yield row_of(
            RISK, homes, finding="households", rows=homes.households, unique_rows=homes.alike and homes.alike.alone
        )


LINK = columns_named(
    "finding left_name right_name rows matching_none matching_one matching_below_k singled_out "
    "common_values verdict reason"
)


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


PEOPLE = columns_named(
    "population columns rows people k_map rows_below_k rows_of_one rows_absent rows_exceeding "
    "journalist_max journalist_average marketer presence_min presence_max verdict reason"
)


def people_rows(result: "PopulationResult") -> Iterable[Row]:
    """One row; without figures if nothing was measured."""
    words = {"population": result.population, "verdict": str(result.verdict), "reason": result.reason}
    yield row_of(PEOPLE, result.figures, columns=[str(each) for each in result.columns], **words)


GRAPH = columns_named("finding columns tables optimal complete verdict reason")


def graph_rows(result: "GraphResult") -> Iterable[Row]:
    """The smallest separating set, other ones, the paths, and what to protect in each table that is to be published."""
    reason = with_what_is_undone(result)
    words = {"verdict": str(result.verdict), "reason": reason, "tables": result.together}
    yield row_of(GRAPH, result, finding="separating set", columns=result.cut, **words)
    for cut in result.column_sets:
        if cut.columns != result.cut:
            yield row_of(GRAPH, finding="other separating set", columns=cut.columns)
    for path in result.paths:
        yield row_of(GRAPH, finding="path", columns=path.attributes, tables=path.tables)
    for table in result.protection.tables if result.protection else ():
        yield row_of(GRAPH, finding="to protect", columns=table.columns, tables=[table.table])


# The rows for people: the report's lines, and the verdict alone.

LINE_WIDTH = 76  # of a line: with DuckDB's frame it fits a terminal of 80 columns

REPORT = columns_named("line")
VERDICT = columns_named(  # a shell shows as many of the first and the last as fit
    "table_name verdict reason k rows entities complete columns left_out proposed smallest rows_below_k share_below_k"
)
ROLES = columns_named("column_name role proposed type classes smallest percent_below_k") | {"proposed": "BOOLEAN"}


def report_rows(result: "AuditResult") -> Iterable[tuple[Any, ...]]:
    """The lines of the report for people, without the next command: no command line reaches a shell's database."""
    from qidsql.commands.audit.report import report
    from qidsql.report.blocks import Next
    from qidsql.terminal.writer import blocks_as_text

    text = blocks_as_text((each for each in report(result) if not isinstance(each, Next)), LINE_WIDTH)
    return ((line,) for line in text.splitlines())


def verdict_rows(result: "AuditResult") -> Iterable[tuple[Any, ...]]:
    """One row: the verdict, and the figures of all audited columns together."""
    account = result.account
    yield row_of(
        VERDICT,
        result.profile,
        table_name=account.table,
        verdict=str(result.verdict),
        k=account.policy.k,
        rows=account.rows,
        entities=result.entities,
        complete=result.complete,
        columns=[column.name for column in result.columns if column.audited],
        left_out=[column.name for column in result.columns if not column.audited],
        proposed=[column.name for column in result.columns if column.proposed],
        reason=result.reason,
    )


def roles_rows(result: "AuditResult") -> Iterable[tuple[Any, ...]]:
    """A row for each column, which fits a terminal of 100 columns."""
    for column in result.columns:
        profile = column.profile
        figures = (profile.classes, profile.smallest, float(round(100 * profile.share_below_k, 1))) if profile else ()
        proposed = column.proposed or column.recognised
        yield (column.name, str(column.role), proposed, column.type, *(figures or (None,) * 3))
