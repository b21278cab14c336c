"""What an anonymization comes to, for people at a terminal: the answer first, then what it costs column by column."""

from fractions import Fraction

from rich.console import Console
from rich.table import Table

from qidsql.anonymize_findings import AnonymizeResult
from qidsql.figures import count, percent, plural
from qidsql.report.searching import facts, foot, head

BAR = 28


def report(console: Console, result: AnonymizeResult) -> None:
    """Writes the report."""
    head(console, result.outcome, result.reason)
    rows = facts(result.work)
    if result.row_patterns:
        rows.add_row("Rows", f"{plural(result.row_patterns, 'distinct row')} of {count(result.work.rows or 0)}")
    rows.add_row("Algorithm", result.algorithm)
    if result.cost:
        rows.add_row("Cost", _cost(result))
        blank = f"; {plural(result.rows_blank, 'row loses', 'rows lose')} every cell" if result.rows_blank else ""
        share = percent(Fraction(result.rows_touched, result.work.rows or 1))
        rows.add_row("Touched", f"{plural(result.rows_touched, 'row')} ({share}){blank}")
    console.print(rows)
    if result.cost:
        console.print()
        console.print(_columns(result))
    foot(console, result.work)


def _cost(result: AnonymizeResult) -> str:
    what = plural(result.cells, "cell")
    if result.work.weights:
        what += f" of weight {count(result.cost)}"
    if result.optimal:
        return f"{what}, which is optimal"
    gap = percent(Fraction(result.cost - result.lower_bound, result.cost))
    return f"{what}; no anonymization costs less than {count(result.lower_bound)}, so at most {gap} could be saved"


def _columns(result: AnonymizeResult) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2), header_style="bold")
    table.add_column("Column", no_wrap=True)
    table.add_column("Suppressed", justify="right")
    table.add_column("of its cells", justify="right")
    table.add_column("")
    rows = result.work.rows or 1
    for name, cells in sorted(result.by_column.items(), key=lambda item: -item[1]):
        share = Fraction(cells, rows)
        table.add_row(name, count(cells), percent(share), "█" * round(share * BAR))
    return table
