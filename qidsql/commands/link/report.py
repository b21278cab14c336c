"""The link report for the terminal: the joined columns with their grounds, then the rows that the join singles out."""

import shlex
from collections.abc import Callable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from qidsql.commands.link.result import Join, LinkResult, Matches
from qidsql.core.results import Verdict
from qidsql.linkage.joinable import Containment
from qidsql.terminal.next_steps import column_set, print_steps
from qidsql.terminal.pieces import NOTHING_LEFT, grid
from qidsql.wording.numbers import count, percent, plural, seconds, share

COLOURS = {Verdict.PASS: "bold green", Verdict.VIOLATION: "bold red", Verdict.INCONCLUSIVE: "bold yellow"}
SHOWN = 8  # of the pairs that were not taken
NEARLY = 0.5  # of the values of one column in the other: pairs below are not shown


def report(console: Console, result: LinkResult) -> None:
    """Write the report."""
    head = grid()
    head.add_row(Text(result.verdict.upper(), style=COLOURS[result.verdict]), result.reason)
    console.print(head)
    console.print()
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
    _columns(console, result)
    if result.link is not None:
        console.print()
        console.print(_matches(result, result.link))
        console.print(
            f"{plural(result.link.singled_out, 'pair')} of rows that are alone in their tables and match each other: "
            f"anyone with both tables knows that they are the same."
        )
    _foot(console, result)


def _columns(console: Console, result: LinkResult) -> None:
    taken = [each for each in result.columns_compared if each.joinable]
    if taken:
        console.print()
        console.print(_table("Joinable", taken, result.left))
    used = {(pair.left, pair.right) for pair in result.link.columns} if result.link is not None else set()
    if result.columns_given:
        pairs = ", ".join(f"{one} = {other}" for one, other in sorted(used))
        console.print(f"\nJoined on {pairs or 'the columns given'}, as given.")
    else:
        rest = [each for each in taken if _pair(each, result.left) not in used]
        if result.link is not None and rest:
            console.print("Joined on: " + ", ".join(f"{pair.left} = {pair.right}" for pair in result.link.columns))
    near = [each for each in result.columns_compared if not each.joinable and each.strength >= NEARLY]
    if near:
        console.print()
        console.print(_table("Not taken", near[:SHOWN], result.left))
        if len(near) > SHOWN:
            console.print(f"... {plural(len(near) - SHOWN, 'more pair')} in the JSON")


def _pair(found: Containment, left: str) -> tuple[str, str]:
    own, other = (found.left, found.right) if str(found.left.table) == left else (found.right, found.left)
    return own.column, other.column


def _table(title: str, found: list[Containment], left: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(title, overflow="fold")
    for text in ("a in b", "b in a"):
        table.add_column(text, justify="right", no_wrap=True)
    table.add_column("ground", overflow="fold")
    for each in found:
        one, other = _pair(each, left)
        shares = (each.left_in_right, each.right_in_left)
        if str(each.left.table) != left:
            shares = shares[::-1]
        table.add_row(f"{one} = {other}", *map(percent, shares), each.ground)
    return table


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
    console.print()
    for unfinished in result.account.unfinished:
        line = grid()
        line.add_row(Text("Unfinished", style="yellow"), unfinished)
        console.print(line)
    work = f"{plural(result.account.statements, 'statement')}, at most {plural(result.account.scans, 'scan')}"
    console.print(f"{work}, {seconds(result.account.seconds)}; only read, {NOTHING_LEFT}.")
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
