"""The init report for the terminal: counts per role, the columns to check first, the next step."""

import shlex

from rich.console import Console
from rich.table import Table
from rich.text import Text

from qidsql.commands.init.result import InitResult
from qidsql.wording.numbers import count, few, plural, seconds

SHOWN = 12  # doubtful columns


def report(console: Console, result: InitResult) -> None:
    """Write the report."""
    columns = sum(len(table.columns) for table in result.tables)
    facts = Table.grid(padding=(0, 2))
    facts.add_column(no_wrap=True)
    facts.add_column(overflow="fold")
    facts.add_row("Source", f"{result.source}; {result.engine}")
    facts.add_row("Tables", f"{count(len(result.tables))} with {plural(columns, 'column')}")
    for role, number in result.roles.items():
        facts.add_row(f"  {role}", count(number))
    if result.doubts:
        facts.add_row("  to check", f"{count(len(result.doubts))}: not settled by names and counts")
    for why, of_things in (("no column would be left", False), ("nothing in it is about a person", True)):
        found = [str(t.table) for t in result.tables if not t.auditable and t.of_things == of_things]
        if found:
            facts.add_row("Not audited", f"{few(found)}: {why}; in the file with audit = false")
    for table in result.tables:
        if table.entity:
            facts.add_row("Entity", f"{table.table}: {table.entity} {table.entity_reason}")
    for reason, names in _grouped(result).items():
        facts.add_row("Left out", f"{few(names, 6)}: {reason}")
    for text in (*result.unfinished, *result.notes):
        facts.add_row("Note", text)
    console.print(facts)
    _doubts(console, result)
    console.print()
    console.print(
        f"{plural(result.statements, 'statement')}, {seconds(result.seconds)}; only counted, no cell value left the "
        f"engine."
    )
    if result.added is not None:
        console.print(Text(f"Added to {result.output}: {few(result.added) or 'nothing, it is up to date'}"))
    for gone, action in ((result.retired, "commented out in"), (result.gone, "remove from")):
        if gone:
            console.print(Text(f"No longer in the source, {action} {result.output}: {few(gone)}"))
    if result.added is None and result.output is not None:
        console.print(Text(f"Written: {result.output}"))
    if result.output is not None:
        if not any(table.auditable for table in result.tables):
            console.print("Nothing would be audited yet: remove an audit = false, or give columns other roles.")
        run = "qidsql run" + ("" if result.output == "qidsql.toml" else f" {shlex.quote(result.output)}")
        console.print(Text(f"Next: read {result.output}, correct the roles, then: {run}"))


def _grouped(result: InitResult) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for each in result.left_out:
        found.setdefault(each.reason, []).append(str(each.table))
    return found


def _doubts(console: Console, result: InitResult) -> None:
    doubts = result.doubts
    if not doubts:
        return
    console.print()
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="")
    for title in ("Check first", "Proposed", "Why"):
        grid.add_column(title, overflow="fold")
    for table, column in doubts[:SHOWN]:
        grid.add_row(
            Text(f"{table.table}: {column.column}"), str(column.role), Text(f"{column.doubt}  ({column.reason})")
        )
    console.print(grid)
    if len(doubts) > SHOWN:
        console.print(f"... and {count(len(doubts) - SHOWN)} more, marked CHECK in the file")


def opening(result: InitResult) -> str:
    """What was found, in words for people who sign."""
    columns, doubts = sum(len(table.columns) for table in result.tables), len(result.doubts)
    return (
        f"A role is proposed for {plural(columns, 'column')} of {plural(len(result.tables), 'table')}; a person must "
        f"decide on {count(doubts)} of them before an audit counts."
    )
