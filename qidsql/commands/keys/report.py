"""The keys report: the answer first, then the sets and their proof."""

import json
from collections.abc import Callable
from dataclasses import replace

from qidsql.commands.keys.command import FoundSet, KeysRequest, KeysResult
from qidsql.core.options import Wanted
from qidsql.core.results import Verdict
from qidsql.core.tables import Nulls
from qidsql.declarations.results import plain
from qidsql.report.blocks import Grid, Head, Heading, Next, Outcome, Report, Sentence
from qidsql.report.sections import certificate, column_set, command, cost, facts, measure_columns, measures, roles
from qidsql.wording.texts import count, few, plural


def report(result: KeysResult) -> Report:
    """The report."""
    yield Outcome(result.verdict, result.reason)
    rows = facts(result.account)
    rows.add("Criterion", result.criterion)
    rows.add("Algorithm", result.algorithm, expert=True)
    if result.lower_bound is not None:
        proof = "proved optimal" if result.optimal else f"proved bound {count(result.lower_bound)}"
        rows.add("Weight", f"{'none' if result.cost is None else count(result.cost)}, {proof}")
    elif result.guarantee:
        rows.add("Weight", f"{count(result.column_sets[0].weight)}, {result.guarantee}")
    if result.certificate is not None:
        rows.add("Sample", certificate(result.certificate))
    if result.spared is not None:
        rows.add("Began from", f"an earlier list, measured first; {plural(result.spared, 'statement')} spared")
    yield rows
    if result.column_sets:
        yield from _sets(result)
    yield from cost(result.account)
    yield Next(_steps(result))


def _sets(result: KeysResult) -> Report:
    by_size = len(result.by_size) > 1
    if by_size:
        (least, first), *others = result.by_size.items()
        counts = [f"{count(number)} of {size}" for size, number in others]
        smallest = f"{plural(first, 'set')} of {plural(least, 'column')}"
        yield Heading(f"By size: {', '.join([smallest, *counts])}")
    shown = result.column_sets[: result.shown]
    figures = measure_columns(result.account.policy, [found.profile for found in shown])
    lines = [
        [str(number), " + ".join(found.columns), *measures(found.profile, figures, (6, 9))]
        for number, found in enumerate(shown, 1)
    ]
    yield Grid([Head(""), Head("Column set", text=True), *figures], lines, close=by_size)
    hidden = len(result.column_sets) - result.shown
    if hidden > 0:
        more = plural(hidden, "more set", "more sets")
        every = f"--limit {len(result.column_sets)} shows all, --output FILE.jsonl keeps them"
        yield Sentence(f"... and {more} ({every})", close=True, inset=True)


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
                *_with_left_out(result),
            ]
        return []
    steps, chosen = [], f" {result.options}" if result.options else ""
    if result.wanted is not Wanted.ALL and result.certificate is None:
        steps.append((command("keys", work, f" --all{chosen}{roles(policy)}"), "every minimal set"))
    only = column_set(result.column_sets[0].columns, "--only")
    steps.append((command("audit", work, only), "the first set's class sizes"))
    limited = result.column_sets[0].profile is not None and result.column_sets[0].profile.disclosing
    forbidden = chosen if limited else f" --k {policy.k}"
    steps.append((command("protect", work, f" --by columns{forbidden}{roles(policy)}"), "what can be published"))
    return [*steps, *_with_left_out(result)]


def _with_left_out(result: KeysResult) -> list[tuple[str, str]]:
    """The search of a key among all columns, as somebody asks for who wants one of the database."""
    work = result.account
    proposed = [each.name for each in work.left_out if each.proposed]
    if not proposed or result.criterion != "key":
        return []
    return [(command("keys", work, column_set([*proposed, *work.columns])), f"searches {few(proposed)} too")]


def opening(result: KeysResult) -> str:
    """What was found, in words for people who sign."""
    if not result.column_sets:
        return f"No {result.criterion} was found among these columns; that alone does not make the table anonymous."
    columns = few(result.column_sets[0].columns)
    if result.criterion == "key" and result.account.entities is None:
        return f"Whoever knows {columns} of a person finds exactly that row: do not publish these columns together."
    return f"A {result.criterion} was found: {columns}. Do not publish these columns together."


# Column sets as JSON Lines, written as they are found; the last line has the result of the search.


def streamed(request: KeysRequest, put_line: Callable[[str], None]) -> KeysRequest:
    """The request with each set written as it is found."""
    return replace(request, on_found=lambda found: put_line(line(found)))


def line(found: FoundSet) -> str:
    """One column set with its measures, as a line of JSON."""
    return json.dumps(plain(found), ensure_ascii=False) + "\n"


def last(result: KeysResult) -> str:
    """The whole result without the sets, as a line of JSON. Only it has a `verdict`: a file without it is truncated."""
    return json.dumps({k: v for k, v in result.to_dict().items() if k != "column_sets"}, ensure_ascii=False) + "\n"
