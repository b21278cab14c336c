"""The link report for the terminal: the joined columns with their grounds, then the rows that the join singles out."""

import shlex
from collections.abc import Callable

from rich.console import Console
from rich.table import Table

from qidsql.commands.link.result import Join, LinkResult, Matches
from qidsql.terminal.joined_columns import print_joined
from qidsql.terminal.next_steps import column_set, print_steps
from qidsql.terminal.pieces import grid, print_cost, print_verdict
from qidsql.wording.numbers import count, plural, share


def report(console: Console, result: LinkResult) -> None:
    """Write the report."""
    print_verdict(console, result.verdict, result.reason)
    facts = grid()
    facts.add_row("Source", f"{result.account.source}, tables {result.left} and {result.right}")
    facts.add_row("", f"{result.account.engine}; {result.account.snapshot}")
    rule = "A NULL matches nothing; each row counts as a person."
    if result.account.policy.where:
        rule += f" Of {result.left} only rows that meet --where."
    facts.add_row("Rule", rule)
    for note in result.account.notes:
        facts.add_row("Note", note)
    console.print(facts)
    joined = () if result.link is None else result.link.columns
    print_joined(console, result.left, joined, result.columns_given, result.columns_compared)
    if result.link is not None:
        console.print()
        console.print(_matches(result, result.link))
        console.print(
            f"{plural(result.link.singled_out, 'pair')} of rows that are alone in their tables and match each other: "
            f"anyone with both tables knows that they are the same."
        )
    _foot(console, result)


def _matches(result: LinkResult, join: Join) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("Rows that match in the other table", no_wrap=True)
    for name in (result.left, result.right):
        table.add_column(name, justify="right", overflow="fold")
        table.add_column("", justify="right", no_wrap=True)

    def row(words: str, left: int, right: int) -> None:
        cells = []
        for number, side in ((left, join.left), (right, join.right)):
            cells += [count(number), share(number, side.rows) if side.rows else ""]
        table.add_row(words, *cells)

    def both(words: str, of: Callable[[Matches], int]) -> None:
        row(words, of(join.left), of(join.right))

    both("exactly one", lambda side: side.matching_one)
    if result.k > 2:
        both(f"fewer than {result.k}, at least one", lambda side: side.matching_below_k)
    both("several", lambda side: side.matching_several)
    both("none", lambda side: side.matching_none)
    if join.left.with_null or join.right.with_null:
        both("  of these with a NULL", lambda side: side.with_null)
    both("all", lambda side: side.rows)
    return table


def _foot(console: Console, result: LinkResult) -> None:
    print_cost(console, result.account)
    if result.link is None:
        return
    steps, source = [], shlex.quote(result.account.source)
    if result.link.left.matching_below_k:
        columns = column_set([pair.left for pair in result.link.columns])
        typed = f"qidsql suppress {source} {shlex.quote(result.left)}{columns}"
        steps.append((typed, "the fewest cells to suppress so that these columns single out no row"))
    elif result.link.right.matching_below_k:
        typed = f"qidsql link {source} {shlex.quote(result.right)} {shlex.quote(result.left)}"
        if result.columns_given:
            typed += "".join(f" --on {shlex.quote(f'{pair.right}={pair.left}')}" for pair in result.link.columns)
        typed += f" --k {result.k}" if result.k != 2 else ""
        rows = plural(result.link.right.matching_below_k, "row")
        steps.append((typed, f"the other direction: {rows} of {result.right} would be singled out"))
    print_steps(console, steps)
