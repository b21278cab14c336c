"""The keys report for the terminal: the answer first, then the sets and their proof."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from qidsql.commands.keys.result import FoundSet, KeysResult
from qidsql.core.results import Verdict
from qidsql.core.sampling import Wanted
from qidsql.core.tables import Nulls
from qidsql.terminal.disclosed import EXCEEDING, exceeding
from qidsql.terminal.next_steps import column_set, command, criterion, print_steps, roles
from qidsql.terminal.pieces import certificate, facts, print_cost, print_verdict
from qidsql.wording.numbers import count, percent, plural, ratio


def report(console: Console, result: KeysResult) -> None:
    """Write the report."""
    print_verdict(console, result.verdict, result.reason)
    rows = facts(result.account)
    rows.add_row("Criterion", result.criterion)
    rows.add_row("Algorithm", result.algorithm)
    if result.lower_bound is not None:
        proof = "proved optimal" if result.optimal else f"proved bound {count(result.lower_bound)}"
        rows.add_row("Weight", f"{'none' if result.cost is None else count(result.cost)}, {proof}")
    if result.certificate is not None:
        rows.add_row("Sample", certificate(result.certificate))
    console.print(rows)
    _sets(console, result)
    print_cost(console, result.account)
    print_steps(console, _steps(result))


def _sets(console: Console, result: KeysResult) -> None:
    if not result.column_sets:
        return
    console.print()
    if len(result.by_size) > 1:
        (least, first), *others = result.by_size.items()
        counts = [f"{count(number)} of {size}" for size, number in others]
        smallest = f"{plural(first, 'set')} of {plural(least, 'column')}"
        console.print(Text(f"By size: {', '.join([smallest, *counts])}", style="bold"))
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", pad_edge=False)
    table.add_column("")
    table.add_column("Column set", overflow="fold")
    narrow = console.width < 80 or result.account.policy.entity is not None  # the ratios are about rows
    k = result.account.policy.k
    wildcard = result.account.policy.nulls == Nulls.WILDCARD
    ratios = ["Separation"] if wildcard else ["Distinct", "Separation"]
    heads = [*([] if wildcard else ["Values"]), *([] if narrow else ratios), "Smallest", f"Below {k}"]
    for title in heads:
        table.add_column(title, justify="right", no_wrap=not narrow)
    first = result.column_sets[0].profile
    if first is not None and first.disclosing:
        table.add_column(EXCEEDING, justify="right")
    for number, found in enumerate(result.column_sets[: result.shown], 1):
        table.add_row(str(number), " + ".join(found.columns), *_measures(found, narrow))
    console.print(table)
    hidden = len(result.column_sets) - result.shown
    if hidden > 0:
        more = plural(hidden, "more set", "more sets")
        console.print(f"  ... and {more} (--limit {len(result.column_sets)} shows all, --output FILE.jsonl keeps them)")


def _steps(result: KeysResult) -> list[tuple[str, str]]:
    """The next commands, each with its purpose."""
    work, policy = result.account, result.account.policy
    if result.verdict is Verdict.INCONCLUSIVE:
        return []
    if not result.column_sets:
        nearly = " --separation 0.999" if policy.entity is None else f" --violates {policy.k}"
        if result.impossible and result.criterion == "key":
            return [(command("keys", work, nearly + roles(policy)), "the fewest columns that separate nearly all rows")]
        return []
    steps = []
    if result.wanted is not Wanted.ALL and result.certificate is None:
        chosen = "" if result.criterion == "key" else criterion(policy)
        steps.append((command("keys", work, f" --all{chosen}{roles(policy)}"), "every minimal set"))
    steps.append((command("profile", work, column_set(result.column_sets[0].columns)), "the first set's class sizes"))
    limited = result.column_sets[0].profile is not None and result.column_sets[0].profile.disclosing
    forbidden = criterion(policy) if limited else f" --violates {policy.k}"
    steps.append((command("mask", work, f"{forbidden}{roles(policy)}"), "what can be published"))
    return steps


def _measures(found: FoundSet, narrow: bool) -> list[str]:
    profile = found.profile
    if profile is None:
        return ["not measured"]
    ratios = [] if narrow else [ratio(profile.separation_ratio, 9)]
    if profile.wildcard:  # no classes to count
        return [*ratios, count(profile.smallest), percent(profile.share_at_risk)]
    ratios = [] if narrow else [ratio(profile.distinct_ratio, 6), *ratios]
    at_risk = [count(profile.smallest), percent(profile.share_at_risk)]
    return [count(profile.classes), *ratios, *at_risk, *exceeding(profile)]
