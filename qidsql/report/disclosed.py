"""What is disclosed about sensitive columns, for the terminal."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from qidsql.core.disclosure import Disclosed
from qidsql.core.policy import Policy
from qidsql.measures.profiles import ClassProfile
from qidsql.wording.numbers import count, few, percent

EXCEEDING = "Exceeding"


def exceeding(profile: ClassProfile) -> list[str]:
    """For each limit on disclosure: the share of the rows in classes that exceed it."""
    return [percent(Fraction(each.rows, profile.rows)) for each in profile.disclosing]


def disclosed_lines(found: Sequence[Disclosed], policy: Policy) -> Iterator[str]:
    """One paragraph for each sensitive column, and one more for whoever knows the other sensitive columns too."""
    first: dict[str, int] = {}
    for each in found:
        own = first.setdefault(each.sensitive, len(each.known))
        yield _sentence(each, policy, len(each.known) - own)


def _sentence(found: Disclosed, policy: Policy, others: int = 0) -> str:
    """The figures in words a lawyer understands; the last `others` of the known columns are sensitive themselves."""
    figures, column = found.figures, found.sensitive
    audited = len(found.known) - others
    who = f"whoever knows {'this column' if audited == 1 else f'these {audited} columns'}"
    who += f" and {few(found.known[audited:])}" if others else ""
    unit = "row" if policy.entity is None else f"entity ({policy.entity})"
    units = "rows" if policy.entity is None else f"entities ({policy.entity})"
    if not figures.rows:
        return f"{column}: there is nothing to disclose"
    if figures.values == 1:
        return f"{column} has the same value in every {unit}: it is known to everybody"
    if figures.revealed:
        text = f"{who} knows the {column} of {count(figures.revealed)} {units} ({percent(figures.share_revealed)})"
        if figures.revealed_null:
            text += f", of {count(figures.revealed_null)} that it is NULL"
    else:
        text = f"{who} knows the {column} of nobody for certain: each class has at least {figures.fewest_values} values"
    if figures.nearly_revealed:
        text += f"; of {count(figures.nearly_revealed)} more if NULL means unknown"
    before, after, large = figures.guess_before, figures.guess_after, figures.guess_in_large
    if before is not None and after is not None:
        text += f". Best guess: right for {percent(after)}, for {percent(before)} without knowing anything"
        if large is not None and figures.rows_in_large != figures.rows:
            text += f"; in classes of {figures.k} or more for {percent(large)}"
    return text
