"""The columns on which two tables are joined, for the terminal."""

from collections.abc import Sequence

from rich.console import Console

from qidsql.linkage.join_columns import JoinedColumns
from qidsql.linkage.joinable import Containment
from qidsql.terminal.fitted_table import Head, print_table
from qidsql.wording.numbers import percent, plural

SHOWN = 8  # of the pairs that were not taken
NEARLY = 0.5  # of the values of one column in the other: pairs below are not shown


def print_joined(
    console: Console, left: str, joined: Sequence[JoinedColumns], given: bool, compared: Sequence[Containment]
) -> None:
    """Prints the joined columns, as `given` by the user or with their grounds, and pairs that were nearly joined."""
    taken = [each for each in compared if each.joinable]
    near = [each for each in compared if not each.joinable and each.strength >= NEARLY]
    if taken:
        _print_pairs(console, "Joinable", taken, left)
    if given:
        console.print(f"\nJoined on {', '.join(map(str, joined)) or 'the columns given'}, as given.")
    elif joined and any(_pair(each, left) not in joined for each in taken):
        console.print("Joined on: " + ", ".join(f"{pair.left} = {pair.right}" for pair in joined))
    if near:
        _print_pairs(console, "Not taken", near[:SHOWN], left)
        if len(near) > SHOWN:
            console.print(f"... {plural(len(near) - SHOWN, 'more pair')} in the JSON")
    if taken or near:
        console.print("a in b: the share of the different values of column a that column b has too; b in a likewise.")


def _pair(found: Containment, left: str) -> JoinedColumns:
    own, other = (found.left, found.right) if str(found.left.table) == left else (found.right, found.left)
    return JoinedColumns(own.column, other.column)


def _print_pairs(console: Console, title: str, found: Sequence[Containment], left: str) -> None:
    heads = [Head(f"{title} (a=b)", text=True), Head("a in b"), Head("b in a"), Head("ground", text=True, leaves=1)]
    rows = []
    for each in found:
        pair = _pair(each, left)
        shares = (each.left_in_right, each.right_in_left)
        if str(each.left.table) != left:
            shares = shares[::-1]
        rows.append((f"{pair.left} = {pair.right}", *map(percent, shares), each.ground))
    console.print()
    print_table(console, heads, rows)
