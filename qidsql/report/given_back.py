"""Which blank cells of a copy its unprotected columns give back, line by line."""

from collections.abc import Sequence

from qidsql.protection.given_back import GivenBack
from qidsql.report.blocks import Fields
from qidsql.wording.numbers import count, few

MOST = 8  # lines


def given_back_facts(rows: Fields, found: Sequence[GivenBack] | None) -> None:
    """Add a line for each pair of columns, the most cells first; nothing if no cell is given back."""
    for number, each in enumerate((found or ())[:MOST]):
        certain = "" if each.certain == each.cells else f", {count(each.certain)} of them for certain"
        rows.add("" if number else "Given back", f"{each}{certain}")
    if not found:
        return
    if len(found) > MOST:
        rows.add("", f"and {count(len(found) - MOST)} more pairs of columns")
    rows.add("", "filled in from rows of the copy with the same value there; at least nine in ten are right")
    rows.add("", f"leave out or protect {few(list(dict.fromkeys(each.column for each in found)))}")
