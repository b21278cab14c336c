"""The link report: the joined columns with their grounds, then the rows that the join singles out."""

import shlex
from collections.abc import Callable

from qidsql.commands.link.link import Join, LinkResult, Matches
from qidsql.core.results import Verdict
from qidsql.report.blocks import Fields, Grid, Head, Next, Outcome, Report, Sentence
from qidsql.report.sections import column_set, cost, joined_columns
from qidsql.wording.texts import count, few, plural, share, typed_source


def report(result: LinkResult) -> Report:
    """The report."""
    yield Outcome(result.verdict, result.reason)
    facts = Fields()
    facts.add("Source", f"{result.account.source}, tables {result.left} and {result.right}")
    facts.add("", f"{result.account.read_by}; {result.account.snapshot}")
    matching = "exactly one row" if result.k == 2 else f"1 to {result.k - 1} rows"
    rule = f"k = {result.k}: a row of {result.left} is singled out if it matches {matching} of {result.right}"
    facts.add("Rule", rule)
    rule = "a NULL matches nothing; each row counts as a person"
    if result.account.policy.where:
        rule += f"; of {result.left} only rows that meet --where"
    facts.add("", rule)
    for note in result.account.notes:
        facts.add("Note", note)
    yield facts
    joined = () if result.link is None else result.link.columns
    yield from joined_columns(result.left, joined, result.columns_given, result.columns_compared)
    if result.link is not None:
        yield _matches(result, result.link)
        yield Sentence(
            f"{plural(result.link.singled_out, 'pair')} of rows that are alone in their tables and match each other: "
            f"anyone with both tables knows that they are the same.",
            close=True,
        )
    yield from cost(result.account)
    if result.link is not None:
        yield from _steps(result, result.link)


def _matches(result: LinkResult, join: Join) -> Grid:
    heads = [Head("Rows that match in the other table", text=True)]
    heads += [column for name in (result.left, result.right) for column in (Head(name), Head(""))]

    def line(words: str, of: Callable[[Matches], int]) -> list[str]:
        sides = (join.left, join.right)
        return [words, *(cell for each in sides for cell in (count(of(each)), share(of(each), each.rows or 1)))]

    lines = [line("exactly one", lambda side: side.matching_one)]
    if result.k > 2:
        lines.append(line(f"fewer than {result.k}, at least one", lambda side: side.matching_below_k))
    lines.append(line("several", lambda side: side.matching_several))
    lines.append(line("none", lambda side: side.matching_none))
    if join.left.with_null or join.right.with_null:
        lines.append(line("- of these with a NULL", lambda side: side.with_null))
    lines.append(line("all", lambda side: side.rows))
    return Grid(heads, lines)


def _steps(result: LinkResult, link: Join) -> Report:
    source, left, right = shlex.quote(typed_source(result.account.source)), link.left, link.right
    shared_key = len(link.columns) == 1 and not (left.matching_several and right.matching_several)
    if left.matching_below_k and shared_key:  # its values are numbers of things: to suppress some of them hides nobody
        [pair] = link.columns
        yield Next(
            [],
            f"withhold {pair.left}, which leads from rows of {result.left} to their rows of {result.right}, or replace "
            f"it by another pseudonym in each published table",
        )
    elif left.matching_below_k:
        columns = column_set([pair.left for pair in link.columns])
        typed = f"qidsql protect {source} {shlex.quote(result.left)}{columns} --k {result.k}"
        yield Next([(typed, "what would keep these columns from singling out rows")])
    elif right.matching_below_k:
        typed = f"qidsql link {source} {shlex.quote(result.right)} {shlex.quote(result.left)}"
        if result.columns_given:
            typed += "".join(f" --on {shlex.quote(f'{pair.right}={pair.left}')}" for pair in link.columns)
        typed += f" --k {result.k}" if result.k != 2 else ""
        rows = plural(right.matching_below_k, "row")
        yield Next([(typed, f"the other direction: {rows} of {result.right} would be singled out")])


def opening(result: LinkResult) -> str:
    """What was found, in words for people who sign."""
    both = f"{result.left} and {result.right}"
    if result.link is None:
        if result.verdict is Verdict.PASS:
            return f"No column of {both} was found by which rows of one could be looked up in the other."
        return f"No columns were joined, so nothing is known about who can be found in {result.left} by {result.right}."
    found, columns = result.link.left, few([each.left for each in result.link.columns])
    if not found.matching_below_k:
        others = "exactly one row" if result.k == 2 else f"fewer than {result.k} rows"
        return f"Whoever has both tables can match no row of {result.left} with {others} of {result.right}."
    said = f"By {columns}, whoever has both tables matches {plural(found.matching_one, 'row')} of {result.left} with "
    said += f"exactly one row of {result.right}"
    if found.matching_below_k > found.matching_one:
        said += f", and {count(found.matching_below_k)} with fewer than {result.k}"
    return f"{said}: do not publish {both} with these columns together."
