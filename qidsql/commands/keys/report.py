"""The keys report for the terminal: the answer first, then the sets and their proof."""

from rich.console import Console
from rich.text import Text

from qidsql.commands.keys.result import KeysResult
from qidsql.core.results import Verdict
from qidsql.core.sampling import Wanted
from qidsql.core.tables import Nulls
from qidsql.terminal.fitted_table import Head, print_table
from qidsql.terminal.measures import measure_columns, measures
from qidsql.terminal.next_steps import column_set, command, print_steps, roles
from qidsql.terminal.pieces import certificate, facts, print_cost, print_verdict
from qidsql.wording.numbers import count, few, plural


def report(console: Console, result: KeysResult) -> None:
    """Write the report."""
    print_verdict(console, result.verdict, result.reason)
    rows = facts(result.account)
    rows.add_row("Criterion", result.criterion)
    rows.add_row("Algorithm", result.algorithm)
    if result.lower_bound is not None:
        proof = "proved optimal" if result.optimal else f"proved bound {count(result.lower_bound)}"
        rows.add_row("Weight", f"{'none' if result.cost is None else count(result.cost)}, {proof}")
    elif result.guarantee:
        rows.add_row("Weight", f"{count(result.column_sets[0].weight)}, {result.guarantee}")
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
    shown = result.column_sets[: result.shown]
    figures = measure_columns(result.account.policy, [found.profile for found in shown])
    lines = [
        [str(number), " + ".join(found.columns), *measures(found.profile, figures, (6, 9))]
        for number, found in enumerate(shown, 1)
    ]
    print_table(console, [Head(""), Head("Column set", text=True), *figures], lines)
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
            every = command("keys", work, f" --all-classes{roles(policy)}")
            counted = policy.entity is None and policy.nulls == Nulls.EQUAL
            return [
                *([(every, "the fewest columns that separate all rows that are not duplicates")] if counted else []),
                (command("keys", work, nearly + roles(policy)), "the fewest columns that separate nearly all rows"),
            ]
        return []
    steps, chosen = [], f" {result.options}" if result.options else ""
    if result.wanted is not Wanted.ALL and result.certificate is None:
        steps.append((command("keys", work, f" --all{chosen}{roles(policy)}"), "every minimal set"))
    steps.append((command("profile", work, column_set(result.column_sets[0].columns)), "the first set's class sizes"))
    limited = result.column_sets[0].profile is not None and result.column_sets[0].profile.disclosing
    forbidden = chosen if limited else f" --violates {policy.k}"
    steps.append((command("mask", work, f"{forbidden}{roles(policy)}"), "what can be published"))
    return steps


def opening(result: KeysResult) -> str:
    """What was found, in words for people who sign."""
    if not result.column_sets:
        return f"No {result.criterion} was found among these columns; that alone does not make the table anonymous."
    columns = few(result.column_sets[0].columns)
    if result.criterion == "key" and result.account.entities is None:
        return f"Whoever knows {columns} of a person finds exactly that row: do not publish these columns together."
    return f"A {result.criterion} was found: {columns}. Do not publish these columns together."
