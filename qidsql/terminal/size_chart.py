"""A bar chart of the class sizes, with a line at k."""

from collections.abc import Sequence
from fractions import Fraction

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from qidsql.core.policy import Policy
from qidsql.core.tables import Nulls
from qidsql.measures.profiles import SizeBin
from qidsql.terminal.pieces import bar
from qidsql.wording.numbers import count, percent

BAR = 28


def size_chart(console: Console, sizes: Sequence[SizeBin], policy: Policy) -> None:
    """Prints the chart; nothing if there are no sizes."""
    if not sizes:
        return
    unit = "Rows" if policy.entity is None else "Entities"
    by = "number of matching rows" if policy.nulls == Nulls.WILDCARD else "class size"
    console.print()
    console.print(Text(f"{unit} by {by}", style="bold"))
    total = sum(size.rows for size in sizes)
    grid = Table.grid(padding=(0, 2))
    for justify in ("right", "left", "right", "right"):
        grid.add_column(justify=justify)
    for size in sizes:
        if size.low == policy.k:
            grid.add_row("", f"── k = {count(policy.k)} ──")
        shown = Text(bar(size.rows, total, BAR), style="red" if size.low < policy.k else "green")
        grid.add_row(size.range, shown, percent(Fraction(size.rows, total)), count(size.rows))
    console.print(Padding(grid, (0, 0, 0, 2)))
