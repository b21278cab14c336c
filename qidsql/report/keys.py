"""What a search for keys found, for people at a terminal: the answer first, then the sets and what proves them."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from qidsql.figures import count, percent, plural, ratio
from qidsql.report.searching import certificate, facts, foot, head
from qidsql.schema import Nulls
from qidsql.search_findings import FoundSet, KeysResult


def report(console: Console, result: KeysResult) -> None:
    """Writes the report."""
    head(console, result.outcome, result.reason)
    rows = facts(result.work)
    rows.add_row("Criterion", result.criterion)
    rows.add_row("Algorithm", result.algorithm)
    if result.lower_bound is not None:
        proof = "proved optimal" if result.optimal else f"proved bound {count(result.lower_bound)}"
        rows.add_row("Weight", f"{'none' if result.cost is None else count(result.cost)}, {proof}")
    if result.certificate is not None:
        rows.add_row("Sample", certificate(result.certificate))
    console.print(rows)
    _sets(console, result)
    foot(console, result.work)


def _sets(console: Console, result: KeysResult) -> None:
    if not result.column_sets:
        return
    console.print()
    if len(result.by_size) > 1:
        sizes = ", ".join(f"{count(number)} of {size}" for size, number in result.by_size.items())
        console.print(Text(f"Sets by the number of their columns: {sizes}", style="bold"))
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", pad_edge=False)
    table.add_column("")
    table.add_column("Column set", overflow="fold")
    narrow = console.width < 80
    k = result.work.policy.k
    wildcard = result.work.policy.nulls == Nulls.WILDCARD
    ratios = ["Separation"] if wildcard else ["Distinct", "Separation"]
    heads = [*([] if wildcard else ["Values"]), *([] if narrow else ratios), "Smallest", f"Below {k}"]
    for title in heads:
        table.add_column(title, justify="right", no_wrap=not narrow)
    for number, found in enumerate(result.column_sets[: result.shown], 1):
        table.add_row(str(number), " + ".join(found.columns), *_measures(found, narrow))
    console.print(table)
    hidden = len(result.column_sets) - result.shown
    if hidden > 0:
        console.print(f"  ... and {plural(hidden, 'more set', 'more sets')} (--limit, or --format json for all)")


def _measures(found: FoundSet, narrow: bool) -> list[str]:
    profile = found.profile
    if profile is None:
        return ["not measured"]
    ratios = [] if narrow else [ratio(profile.separation_ratio, 9)]
    if profile.wildcard:  # no classes to count
        return [*ratios, count(profile.smallest), percent(profile.share_at_risk)]
    ratios = [] if narrow else [ratio(profile.distinct_ratio, 6), *ratios]
    return [count(profile.classes), *ratios, count(profile.smallest), percent(profile.share_at_risk)]
