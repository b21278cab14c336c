"""Parts that reports share, as those print them that are not blocks yet."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from qidsql.core.results import Account, LeftOut, SearchAccount, Verdict
from qidsql.report import blocks, sections
from qidsql.report.blocks import EIGHTHS, Outcome
from qidsql.report.sections import CODES_LEFT, NOTHING_LEFT, by_reason, certificate, work_done
from qidsql.terminal import writer

__all__ = ["CODES_LEFT", "NOTHING_LEFT", "by_reason", "certificate", "work_done"]


def print_verdict(console: Console, verdict: Verdict, reason: str) -> None:
    """Prints the verdict and its reason."""
    writer.written(console, [Outcome(verdict, reason)])
    console.print()


def facts(account: SearchAccount) -> Table:
    """A grid that begins with the source and the columns searched."""
    found = grid()
    for row in sections.facts(account).rows:
        found.add_row(row.label, row.text)
    return found


def print_cost(console: Console, account: Account, written: str | None = None, values: str = NOTHING_LEFT) -> None:
    """Prints the cost of the work, unfinished parts, and which values left the engine."""
    writer.written(console, sections.cost(account, written, values), begun=True)


def copy_facts(
    rows: Table, target: str, copied: Sequence[str], not_copied: Sequence[LeftOut], protected: Sequence[str]
) -> None:
    """Adds the columns of a written copy."""
    found = blocks.Fields()
    sections.copy_facts(found, target, copied, not_copied, protected)
    for row in found.rows:
        rows.add_row(row.label, row.text)


def grid() -> Table:
    """A grid of two columns: labels and text."""
    found = Table.grid(padding=(0, 2))
    found.add_column(no_wrap=True, min_width=11)
    found.add_column(overflow="fold")
    return found


def bar_length(text: str) -> float | None:
    """The characters that a bar fills; None for any other text."""
    return sum(map(EIGHTHS.index, text)) / 8 if text and set(text) <= set(EIGHTHS) else None
