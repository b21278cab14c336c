"""The tables report for the terminal."""

from rich.console import Console

from qidsql.commands.tables.result import ListedTable, TablesResult
from qidsql.terminal.fitted_table import Head, print_table
from qidsql.terminal.pieces import grid, print_verdict
from qidsql.wording.numbers import count, few, plural, share


def report(console: Console, result: TablesResult) -> None:
    """Write a line for each table, or for each column of a single table."""
    print_verdict(console, result.verdict, result.reason)
    source = grid()
    source.add_row("Source", f"{result.source}; {result.engine}")
    if len(result.tables) == 1:
        [table] = result.tables
        source.add_row("Table", f"{table.table}, {table.kind}{_rows(table)}")
        if table.obstacle is not None:
            source.add_row("Obstacle", table.obstacle)
    console.print(source)
    if result.tables:
        console.print()
        if any(table.counts is not None for table in result.tables):
            _print_ranking(console, result)
        else:
            _print_columns(console, table) if len(result.tables) == 1 else _print_tables(console, result)
    console.print()
    ranked = any(table.counts is not None for table in result.tables)
    console.print(
        "Each table was read once; what differs is counted approximately, and no cell value left the engine."
        if ranked
        else "Only the catalog was read, no table."
    )


def _print_tables(console: Console, result: TablesResult) -> None:
    heads = [
        *(Head("Table", text=True), Head("Kind", text=True, leaves=1), Head("Rows (estimate)")),
        Head("Columns", text=True, leaves=2),
    ]
    lines = []
    for table in result.tables:
        rows = "?" if table.estimated_rows is None else count(table.estimated_rows)
        columns = few([each.name for each in table.columns], 8)
        lines.append((str(table.table), table.kind, rows, table.obstacle or columns))
    print_table(console, heads, lines)


def _print_ranking(console: Console, result: TablesResult) -> None:
    heads = [
        Head("Table", text=True),
        Head("Rows"),
        Head("Differ, about"),
        Head("Nearly a value for each row", text=True),
    ]
    lines = []
    for table in result.tables:
        counts = table.counts
        if counts is None:
            lines.append((str(table.table), "", "", table.obstacle or "no column can be read"))
        else:
            differ = share(counts.distinct_rows, counts.rows) if counts.rows else ""
            lines.append((str(table.table), count(counts.rows), differ, few(counts.identifiers, 5)))
    print_table(console, heads, lines)


def _print_columns(console: Console, table: ListedTable) -> None:
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
    print_table(console, heads, lines)


def _rows(table: ListedTable) -> str:
    return "" if table.estimated_rows is None else f", about {plural(table.estimated_rows, 'row')}"


def opening(result: TablesResult) -> str:
    """What was found, in words for people who sign."""
    ranked = any(table.counts is not None for table in result.tables)
    read = "each table was read once to rank them" if ranked else "no row was read"
    return f"The source shows {plural(len(result.tables), 'table')}. Nothing was audited, and {read}."
