"""The tables report."""

from qidsql.commands.tables.command import ListedTable, TablesResult
from qidsql.report.blocks import Fields, Grid, Head, Outcome, Report, Sentence
from qidsql.wording.texts import are, count, few, plural, share

TABLES_LISTED = (
    1_000  # tables at most: nobody reads more lines, and drawing 20,000 takes longer than reading the catalog
)


def report(result: TablesResult) -> Report:
    """A line for each table, or for each column of a single table."""
    yield Outcome(result.verdict, result.reason)
    source = Fields()
    source.add("Source", f"{result.source}; {result.engine}")
    if len(result.tables) == 1:
        [table] = result.tables
        source.add("Table", f"{table.table}, {table.kind}{_rows(table)}")
        if table.obstacle is not None:
            source.add("Obstacle", table.obstacle)
    yield source
    ranked = any(table.counts is not None for table in result.tables)
    if result.tables:
        yield _ranking(result) if ranked else _columns(table) if len(result.tables) == 1 else _tables(result)
    if (more := len(result.tables) - TABLES_LISTED) > 0:
        more_tables = plural(more, "more table")
        yield Sentence(f"{more_tables} {are(more)} in the JSON; or name a pattern, such as 'visits_*'.")
    yield Sentence(
        "Each table was read once; what differs is counted approximately, and no cell value left the engine."
        if ranked
        else "Only the catalog was read, no table."
    )


def _tables(result: TablesResult) -> Grid:
    heads = [
        *(Head("Table", text=True), Head("Kind", text=True, leaves=1), Head("Rows (estimate)")),
        Head("Columns", text=True, leaves=2),
    ]
    lines = []
    for table in result.tables[:TABLES_LISTED]:
        rows = "?" if table.estimated_rows is None else count(table.estimated_rows)
        columns = few([each.name for each in table.columns], 8)
        lines.append((str(table.table), table.kind, rows, table.obstacle or columns))
    return Grid(heads, lines)


def _ranking(result: TablesResult) -> Grid:
    heads = [
        Head("Table", text=True),
        Head("Rows"),
        Head("Differ, about"),
        Head("Nearly a value for each row", text=True),
    ]
    lines = []
    for table in result.tables[:TABLES_LISTED]:
        counts = table.counts
        if counts is None:
            lines.append((str(table.table), "", "", table.obstacle or "no column can be read"))
        else:
            differ = share(counts.distinct_rows, counts.rows) if counts.rows else ""
            lines.append((str(table.table), count(counts.rows), differ, few(counts.identifiers, 5)))
    return Grid(heads, lines)


def _columns(table: ListedTable) -> Grid:
    heads = [*(Head(head, text=True) for head in ("Column", "Type", "", ""))]
    lines = [
        (
            column.name,
            column.type,
            "" if column.nullable else "not null",
            "" if column.readable else "this user may not read it",
        )
        for column in table.columns
    ]
    return Grid(heads, lines)


def _rows(table: ListedTable) -> str:
    return "" if table.estimated_rows is None else f", about {plural(table.estimated_rows, 'row')}"


def opening(result: TablesResult) -> str:
    """What was found, in words for people who sign."""
    ranked = any(table.counts is not None for table in result.tables)
    read = "each table was read once to rank them" if ranked else "no row was read"
    return f"The source shows {plural(len(result.tables), 'table')}. Nothing was audited, and {read}."
