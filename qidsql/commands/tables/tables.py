"""The tables and columns of a source, from its catalog."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from qidsql.commands.tables.command import ListedColumn, ListedTable, TableCounts, TablesRequest, TablesResult
from qidsql.core.catalog import CatalogTable
from qidsql.core.results import Verdict
from qidsql.core.tables import fits
from qidsql.engines.base import Engine
from qidsql.errors import AccessError, QidsqlError, StatementError, Stopped, UnknownName
from qidsql.sql.classes import TableOverview, table_overview
from qidsql.sql.relation import relation
from qidsql.sql.templates import Statement
from qidsql.wording.texts import plural

# The tables of a source in the order of how many of their rows differ, from one scan of each.


def ranked(engine: Engine, catalog: Sequence[CatalogTable], listed: Sequence[ListedTable]) -> list[ListedTable]:
    """The tables with their counts, the most identifying first; those that cannot be read at the end, with the reason.

    One statement and one scan a table, on all sessions side by side. Raises Stopped.
    """
    found = list(listed)
    statements: dict[int, Statement[TableOverview]] = {}
    for place, table in enumerate(catalog):
        try:
            described = engine.describe_listed(table)
            columns = [column for column in described.columns if column.readable]
            if columns:
                rows = relation(engine.dialect, described, columns)
                statements[place] = table_overview(engine.dialect, rows, tuple(column.name for column in columns))
        except Stopped:
            raise
        except QidsqlError as error:
            found[place] = replace(found[place], obstacle=str(error))
    for place, answer in _answers(engine, statements).items():
        if isinstance(answer, str):
            found[place] = replace(found[place], obstacle=answer)
        else:
            found[place] = replace(found[place], counts=_counts(answer))
    return sorted(found, key=lambda each: each.counts.rank if each.counts else (-1, 0), reverse=True)


def _answers(engine: Engine, statements: dict[int, Statement[TableOverview]]) -> dict[int, TableOverview | str]:
    """The answer to each statement, or the reason why there is none."""
    answers: dict[int, TableOverview | str] = {}
    while left := [place for place in statements if place not in answers]:
        try:
            engine.run_many(
                [statements[place] for place in left], keep=lambda n, answer: answers.update({left[n]: answer})
            )
        except (StatementError, AccessError):  # one of them; the others are asked again, the first alone
            first = next(place for place in left if place not in answers)
            try:
                answers[first] = engine.run(statements[first])
            except (StatementError, AccessError) as error:
                answers[first] = str(error)
    return answers


def _counts(overview: TableOverview) -> TableCounts:
    distinct = overview.rows if overview.distinct_rows is None else min(overview.rows, overview.distinct_rows)
    return TableCounts(overview.rows, distinct, tuple(overview.identifiers))


def tables(
    engine: Engine, request: TablesRequest, on_stage: Callable[[str], None] = lambda stage: None
) -> TablesResult:
    """The tables and views that the user can see, with the names of their columns.

    Two or three statements on the catalog; no table is read, but for one statement and one scan of each if they are
    ranked. Names match in any letter case.
    Raises UnknownName with near misses if a table, a pattern or a schema matches nothing, and StatementError; Stopped
    while tables are ranked.
    """
    on_stage("reading the catalog")
    listed = sorted(engine.catalog(request.schema).tables, key=lambda table: table.name)
    names = [str(table.name) for table in listed]
    if request.table is not None:
        wanted = request.table
        matching = [table for table in listed if fits(wanted, str(table.name))]
        listed = matching or [table for table in listed if fits(wanted.lower(), str(table.name).lower())]
        if not listed:
            raise UnknownName("table", [wanted], engine.label, names)
    found = [_listed(table) for table in listed]
    if request.rank:
        on_stage(f"counting the rows of {plural(len(listed), 'table')}")
        found = ranked(engine, listed, found)
    return TablesResult(
        verdict=Verdict.FINISHED if listed else Verdict.INCONCLUSIVE,
        reason=plural(len(listed), "table") if listed else "there is no table that this user can see",
        source=engine.label,
        engine=engine.version,
        tables=tuple(found),
    )


def _listed(table: CatalogTable) -> ListedTable:
    columns = (ListedColumn(each.name, each.type, each.nullable, each.readable) for each in table.columns)
    return ListedTable(table.name, table.kind, table.estimated_rows, tuple(columns), table.obstacle)
