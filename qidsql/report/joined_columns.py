"""The columns on which two tables are joined."""

from collections.abc import Sequence

from qidsql.linkage.join_columns import JoinedColumns
from qidsql.linkage.joinable import Containment
from qidsql.report.blocks import Grid, Head, Report, Sentence
from qidsql.wording.numbers import percent, plural

SHOWN = 8  # of the pairs that were not taken
NEARLY = 0.5  # of the values of one column in the other: pairs below are not shown


def joined_columns(left: str, joined: Sequence[JoinedColumns], given: bool, compared: Sequence[Containment]) -> Report:
    """The joined columns, as `given` by the user or with their grounds, and pairs that were nearly joined."""
    taken = [each for each in compared if each.joinable]
    near = [each for each in compared if not each.joinable and each.strength >= NEARLY]
    if taken:
        yield _pairs("Joinable", taken, left)
    if given:
        yield Sentence(f"Joined on {', '.join(map(str, joined)) or 'the columns given'}, as given.")
    elif joined and any(_pair(each, left) not in joined for each in taken):
        yield Sentence("Joined on: " + ", ".join(f"{pair.left} = {pair.right}" for pair in joined), close=True)
    if near:
        yield _pairs("Not taken", near[:SHOWN], left)
        if len(near) > SHOWN:
            yield Sentence(f"... {plural(len(near) - SHOWN, 'more pair')} in the JSON", close=True)
    if taken or near:
        explained = "a in b: the share of the different values of column a that column b has too; b in a likewise."
        yield Sentence(explained, close=True)


def _pair(found: Containment, left: str) -> JoinedColumns:
    own, other = (found.left, found.right) if str(found.left.table) == left else (found.right, found.left)
    return JoinedColumns(own.column, other.column)


def _pairs(title: str, found: Sequence[Containment], left: str) -> Grid:
    heads = [Head(f"{title} (a=b)", text=True), Head("a in b"), Head("b in a"), Head("ground", text=True, leaves=1)]
    rows = []
    for each in found:
        pair = _pair(each, left)
        shares = (each.left_in_right, each.right_in_left)
        if str(each.left.table) != left:
            shares = shares[::-1]
        rows.append((f"{pair.left} = {pair.right}", *map(percent, shares), each.ground))
    return Grid(heads, rows)
