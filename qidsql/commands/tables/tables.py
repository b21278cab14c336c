"""The tables and columns of a source, from its catalog."""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from qidsql.commands.tables.command import ListedColumn, ListedTable, TablesRequest, TablesResult
from qidsql.commands.tables.ranking import ranked
from qidsql.core.files import read_json
from qidsql.core.results import Verdict
from qidsql.core.tables import CatalogColumn, CatalogTable, fits
from qidsql.declarations.results import MISMATCH, loaded
from qidsql.engines.base import Engine
from qidsql.errors import UnknownName, UsageError
from qidsql.version import __version__
from qidsql.wording.texts import count, few, plural, setting

TABLES_IN_SENTENCE = 5  # tables in a sentence
EXPECTED = "expected a file that qidsql tables --rank wrote with --output NAME.json"


def tables(
    engine: Engine, request: TablesRequest, on_stage: Callable[[str], None] = lambda stage: None
) -> TablesResult:
    """The tables and views that the user can see, with the names of their columns.

    Two or three statements on the catalog; no table is read, but for three statements of each at most if they are
    ranked. Names match in any letter case.
    Raises UsageError for a file that is no earlier result, UnknownName with near misses if a table, a pattern or a
    schema matches nothing, and StatementError.
    """
    if request.resume is not None and not request.rank:
        raise UsageError(f"{setting('resume')} continues {setting('rank')}; add it")
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
        found, stopped = ranked(engine, catalog, found, on_stage, _counted(request.resume, engine.label))
    reason = plural(len(listed), "table") if listed else "there is no table that this user can see"
    if request.rank and listed and not stopped:
        reason += f"; people are alone in {count(sum(bool(each.counts and each.counts.alone) for each in found))}"
    if stopped:
        left = [str(each.table) for each in found if (each.obstacle or "").startswith("not reached")]
        reason = f"{reason}, {count(len(left))} of them not reached ({few(left, TABLES_IN_SENTENCE)}): {stopped}"
    return TablesResult(
        verdict=Verdict.FINISHED if listed and not stopped else Verdict.INCONCLUSIVE,
        reason=reason,
        source=engine.label,
        engine=engine.version,
        tables=tuple(found),
    )


def _counted(path: Path | None, source: str) -> tuple[ListedTable, ...]:
    """The tables of an earlier result on this source, in a file. Raises UsageError."""
    if path is None or not path.exists():  # the first of several attempts
        return ()
    document = read_json(path, EXPECTED)
    try:
        found: TablesResult = loaded(TablesResult, document)
    except MISMATCH:
        raise UsageError(f"{path} is not as qidsql writes it; {EXPECTED}") from None
    if (found.qidsql, found.source) != (__version__, source):
        raise UsageError(f"{path} is of another source or version of qidsql; {EXPECTED}, of this one")
    return found.tables


def _listed(table: CatalogTable) -> ListedTable:
    return ListedTable(table.name, table.kind, table.estimated_rows, tuple(map(_column, table.columns)), table.obstacle)


@lru_cache(10_000)  # tables of one shape have many columns in common
def _column(column: CatalogColumn) -> ListedColumn:
    return ListedColumn(column.name, column.type, column.nullable, column.readable)
