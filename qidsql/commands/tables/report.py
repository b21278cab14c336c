"""The tables report for the terminal."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from qidsql.commands.tables.result import ListedTable, TablesResult
from qidsql.terminal.pieces import grid, print_verdict
from qidsql.wording.numbers import count, few, plural


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
        console.print(_columns(table) if len(result.tables) == 1 else _tables(result))
    console.print()
    console.print("Only the catalog was read, no table.")


def _tables(result: TablesResult) -> Table:
    lines = _headed("Table", "Kind", "Rows (estimate)", "Columns")
    for table in result.tables:
        rows = "?" if table.estimated_rows is None else count(table.estimated_rows)
        columns = few([each.name for each in table.columns], 8)
        lines.add_row(str(table.table), table.kind, rows, table.obstacle or columns)
    return lines


def _columns(table: ListedTable) -> Table:
    lines = _headed("Column", "Type", "", "")
    for column in table.columns:
        unread = "" if column.readable else "this user may not read it"
        lines.add_row(column.name, column.type, "" if column.nullable else "not null", unread)
    return lines


def _headed(*titles: str) -> Table:
    lines = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for title in titles:
        lines.add_column(Text(title), justify="right" if title.startswith("Rows") else "left", overflow="fold")
    return lines


def _rows(table: ListedTable) -> str:
    return "" if table.estimated_rows is None else f", about {plural(table.estimated_rows, 'row')}"
