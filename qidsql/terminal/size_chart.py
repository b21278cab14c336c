"""A bar chart of the class sizes, with a line at k."""

from collections.abc import Sequence

from rich.console import Console

from qidsql.core.policy import Policy
from qidsql.measures.profiles import SizeBin
from qidsql.report.sections import chart_of_sizes
from qidsql.terminal.writer import written


def size_chart(console: Console, sizes: Sequence[SizeBin], policy: Policy) -> None:
    """Prints the chart; nothing if there are no sizes."""
    written(console, chart_of_sizes(sizes, policy), begun=True)
