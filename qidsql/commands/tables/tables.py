"""The tables and columns of a source, from its catalog."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from qidsql.column_roles.table_proposals import TableProposals
from qidsql.commands.tables.command import ListedColumn, ListedTable, TableCounts, TablesRequest, TablesResult
from qidsql.core.catalog import Catalog, CatalogTable
from qidsql.core.results import Verdict
from qidsql.core.tables import PolicyRole, TableName, fits
from qidsql.engines.base import Engine
from qidsql.errors import AccessError, QidsqlError, StatementError, Stopped, UnknownName
from qidsql.sql.classes import TableOverview, table_overview
from qidsql.sql.relation import relation
from qidsql.sql.templates import Statement
from qidsql.wording.texts import count, few, plural

NAMED = 5  # tables in a sentence

# The tables of a source in the order of how many of their rows differ, from one scan of each.


def ranked(engine: Engine, catalog: Catalog, listed: Sequence[ListedTable]) -> tuple[list[ListedTable], str]:
    """The tables with their counts, the most identifying first; those that were not read at the end, with the reason.
    And why the work ended before all were read; empty if it did not.

    One statement and one scan a table, on all sessions side by side, first of tables that are about persons by the
    names of their columns.
    """
    found = {table.table: table for table in listed}
    statements: dict[TableName, Statement[TableOverview]] = {}
    answers: dict[TableName, TableOverview | str] = {}
    stopped = ""
    try:
        for table in _likely_first(catalog, found):
            try:
                described = engine.describe_listed(table)
                columns = [column for column in described.columns if column.readable]
                if columns:
                    rows = relation(engine.dialect, described, columns)
                    names = tuple(column.name for column in columns)
                    statements[table.name] = table_overview(engine.dialect, rows, names)
            except Stopped:
                raise
            except QidsqlError as error:
                found[table.name] = replace(found[table.name], obstacle=str(error))
        _answer(engine, statements, answers)
    except Stopped as stop:
        stopped = str(engine.stopped_by or stop)
    for name, answer in answers.items():
        told = {"obstacle": answer} if isinstance(answer, str) else {"counts": _counts(answer)}
        found[name] = replace(found[name], **told)
    if stopped:
        found = {
            name: each if each.counts or each.obstacle else replace(each, obstacle=f"not reached: {stopped}")
            for name, each in found.items()
        }
    return sorted(found.values(), key=lambda each: each.counts.rank if each.counts else (-1, 0), reverse=True), stopped


def _likely_first(catalog: Catalog, listed: Collection[TableName]) -> list[CatalogTable]:
    """The listed tables, first those with most columns that may identify a person, as `init` proposes by names."""
    proposals = TableProposals(catalog)
    personal = (PolicyRole.DIRECT_IDENTIFIER, PolicyRole.QUASI_IDENTIFIER)

    def promise(table: CatalogTable) -> tuple[bool, int]:
        proposed = proposals.of(table)
        return proposed.of_things, -sum(each.role in personal for each in proposed.columns)

    return sorted((each for each in catalog.tables if each.name in listed), key=promise)


def _answer(
    engine: Engine,
    statements: Mapping[TableName, Statement[TableOverview]],
    answers: dict[TableName, TableOverview | str],
) -> None:
    """Adds the answer to each statement, or the reason why there is none. Raises Stopped."""
    while left := [name for name in statements if name not in answers]:
        try:
            engine.run_many(
                [statements[name] for name in left], keep=lambda n, answer: answers.update({left[n]: answer})
            )
        except (StatementError, AccessError):  # one of them; the others are asked again, the first alone
            first = next(name for name in left if name not in answers)
            try:
                answers[first] = engine.run(statements[first])
            except (StatementError, AccessError) as error:
                answers[first] = str(error)


def _counts(overview: TableOverview) -> TableCounts:
    distinct = overview.rows if overview.distinct_rows is None else min(overview.rows, overview.distinct_rows)
    return TableCounts(overview.rows, distinct, tuple(overview.identifiers))


def tables(
    engine: Engine, request: TablesRequest, on_stage: Callable[[str], None] = lambda stage: None
) -> TablesResult:
    """The tables and views that the user can see, with the names of their columns.

    Two or three statements on the catalog; no table is read, but for one statement and one scan of each if they are
    ranked. Names match in any letter case.
    Raises UnknownName with near misses if a table, a pattern or a schema matches nothing, and StatementError.
    """
    on_stage("reading the catalog")
    catalog = engine.catalog(request.schema)
    listed = sorted(catalog.tables, key=lambda table: table.name)
    names = [str(table.name) for table in listed]
    if request.table is not None:
        wanted = request.table
        matching = [table for table in listed if fits(wanted, str(table.name))]
        listed = matching or [table for table in listed if fits(wanted.lower(), str(table.name).lower())]
        if not listed:
            raise UnknownName("table", [wanted], engine.label, names)
    found, stopped = [_listed(table) for table in listed], ""
    if request.rank:
        on_stage(f"counting the rows of {plural(len(listed), 'table')}")
        found, stopped = ranked(engine, catalog, found)
    reason = plural(len(listed), "table") if listed else "there is no table that this user can see"
    if stopped:
        left = [str(each.table) for each in found if (each.obstacle or "").startswith("not reached")]
        reason = f"{reason}, {count(len(left))} of them not reached ({few(left, NAMED)}): {stopped}"
    return TablesResult(
        verdict=Verdict.FINISHED if listed and not stopped else Verdict.INCONCLUSIVE,
        reason=reason,
        source=engine.label,
        engine=engine.version,
        tables=tuple(found),
    )


def _listed(table: CatalogTable) -> ListedTable:
    columns = (ListedColumn(each.name, each.type, each.nullable, each.readable) for each in table.columns)
    return ListedTable(table.name, table.kind, table.estimated_rows, tuple(columns), table.obstacle)
