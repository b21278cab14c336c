"""A link of two tables, for people at a terminal: what joins them and why, then whom the join singles out."""

import shlex
from collections.abc import Callable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from qidsql.commands.audit.result import Verdict
from qidsql.commands.link.result import Containment, Linked, LinkResult, Matches
from qidsql.core.wording import count, percent, plural, seconds, share
from qidsql.terminal.next_steps import following
from qidsql.terminal.pieces import NOTHING_LEFT, grid

COLOURS = {Verdict.PASS: "bold green", Verdict.VIOLATION: "bold red", Verdict.INCONCLUSIVE: "bold yellow"}
SHOWN = 8  # of the pairs that are not taken
NEARLY = 0.5  # of the values of one column in the other: less is not shown


def report(console: Console, result: LinkResult) -> None:
    """Writes the report."""
    head = grid()
    head.add_row(Text(result.verdict.upper(), style=COLOURS[result.verdict]), result.reason)
    console.print(head)
    console.print()
    facts = grid()
    facts.add_row("Source", f"{result.work.source}, tables {result.left} and {result.right}")
    facts.add_row("", f"{result.work.engine}; {result.work.snapshot}")
    rule = "A NULL matches nothing; each row counts as a person."
    if result.work.policy.where:
        rule += f" Of {result.left} only rows that meet --where."
    facts.add_row("Rule", rule)
    for note in result.work.notes:
        facts.add_row("Note", note)
    console.print(facts)
    _columns(console, result)
    if result.linked is not None:
        console.print()
        console.print(_matches(result, result.linked))
        console.print(
            f"{plural(result.linked.singled_out, 'pair')} of rows that are alone in their tables and match each other: "
            f"whoever holds both tables knows that these are one."
        )
    _foot(console, result)


def _columns(console: Console, result: LinkResult) -> None:
    taken = [each for each in result.containments if each.joinable]
    if taken:
        console.print()
        console.print(_table("Joinable", taken, result.left))
    used = set(result.linked.columns) if result.linked is not None else set()
    if result.given:
        pairs = ", ".join(f"{one} = {other}" for one, other in sorted(used))
        console.print(f"\nJoined on {pairs or 'the columns given'}, as given.")
    else:
        rest = [each for each in taken if _pair(each, result.left) not in used]
        if result.linked is not None and rest:
            console.print("Joined on: " + ", ".join(f"{one} = {other}" for one, other in result.linked.columns))
    near = [each for each in result.containments if not each.joinable and each.strength >= NEARLY]
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


def _matches(result: LinkResult, linked: Linked) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("Rows that match in the other table", no_wrap=True)
    for name in (result.left, result.right):
        table.add_column(name, justify="right", overflow="fold")
        table.add_column("", justify="right", no_wrap=True)

    def row(words: str, left: int, right: int) -> None:
        cells = []
        for number, side in ((left, linked.left), (right, linked.right)):
            cells += [count(number), share(number, side.rows) if side.rows else ""]
        table.add_row(words, *cells)

    def both(words: str, of: Callable[[Matches], int]) -> None:
        row(words, of(linked.left), of(linked.right))

    both("exactly one", lambda side: side.one)
    if result.k > 2:
        both(f"fewer than {result.k}, at least one", lambda side: side.below_k)
    both("several", lambda side: side.several)
    both("none", lambda side: side.none)
    if linked.left.incomplete or linked.right.incomplete:
        both("  of these with a NULL", lambda side: side.incomplete)
    both("all", lambda side: side.rows)
    return table


def _foot(console: Console, result: LinkResult) -> None:
    console.print()
    for unfinished in result.work.unfinished:
        line = grid()
        line.add_row(Text("Unfinished", style="yellow"), unfinished)
        console.print(line)
    asked = f"{plural(result.work.statements, 'statement')}, at most {plural(result.work.scans, 'scan')}"
    console.print(f"{asked}, {seconds(result.work.seconds)}; only read, {NOTHING_LEFT}.")
    if result.linked is None:
        return
    steps, source = [], shlex.quote(result.work.source)
    if result.linked.left.below_k:
        columns = "".join(f" -c {shlex.quote(one)}" for one, _ in result.linked.columns)
        typed = f"qidsql suppress {source} {shlex.quote(result.left)}{columns}"
        steps.append((typed, "the fewest cells to blank so that no one stands out on these columns"))
    elif result.linked.right.below_k:
        typed = f"qidsql link {source} {shlex.quote(result.right)} {shlex.quote(result.left)}"
        if result.given:
            typed += "".join(f" --on {shlex.quote(f'{other}={one}')}" for one, other in result.linked.columns)
        typed += f" --k {result.k}" if result.k != 2 else ""
        rows = plural(result.linked.right.below_k, "row")
        steps.append((typed, f"the other way round: {rows} of {result.right} would be singled out"))
    following(console, steps)
