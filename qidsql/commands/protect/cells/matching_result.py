"""The result of `protect --by cells` against a weaker attacker: each row matches k - 1 others."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated

from qidsql.commands.protect.cells.command import Attack, CellsMethod
from qidsql.commands.protect.way import Way
from qidsql.core.copies import Script
from qidsql.core.results import LeftOut, Result, SearchAccount, Verdict
from qidsql.declarations.results import FLAT, OMITTED, reported
from qidsql.protection.certificates import BoundProof, CellPlan
from qidsql.protection.copies import CellsGivenBack, KeptColumns, in_the_headline, kept_in_the_headline
from qidsql.protection.suppression.known_people import KnownPeople
from qidsql.wording.texts import are, count, few, percent, plural


@dataclass(frozen=True)
class ValueLoss:
    """A value that loses cells, as text; only with --show-values."""

    value: str | None
    cells: int
    of: Annotated[int, "cells with this value"]


@dataclass(frozen=True)
class ColumnLoss:
    """The losses of a column."""

    name: str
    weight: int
    cells: int
    values: Annotated[int, "different values in the table"]
    values_touched: Annotated[int, "values that lose a cell"]
    values_gone: Annotated[int, "values that lose all their cells"]
    most: Annotated[tuple[ValueLoss, ...], "the values that lose most; empty without --show-values"] = ()


@dataclass(frozen=True, kw_only=True, repr=False)
class MatchingRows(Result):
    """The lightest suppression. Without a plan (inconclusive, violation) the figures are null or empty."""

    by: Annotated[Way, "what is changed"] = Way.CELLS
    account: Annotated[SearchAccount, FLAT]
    k: int
    method: CellsMethod
    against: Annotated[Attack, "the attack that the plan is made to withstand"]
    cost: Annotated[int | None, "the weight of the suppressed cells"]
    lower_bound: Annotated[
        int | None,
        "a proved lower bound of every suppression in which each row is safe by its own suppressed cells; of every "
        "one against unique-combinations; against known-person, of every one that leaves k disjoint matchings of all "
        "people with all rows",
    ]
    cells: int | None
    records: Annotated[int | None, "rows that lose a cell"]
    by_cells: Annotated[dict[int, int], "rows by the cells they lose"]
    losses: tuple[ColumnLoss, ...]
    plan: Annotated[CellPlan | None, "the plan, which proves itself (qidsql verify); null: none, or too large to list"]
    proof: Annotated[BoundProof | None, "what proves the lower bound (qidsql verify); null: there is none"]
    algorithm: tuple[str, ...]
    masks: Annotated[int, "distinct column sets that are suppressed"]
    target: Annotated[str | None, "the copy that was written"]
    copied: Annotated[tuple[str, ...], "its columns"]
    not_copied: tuple[LeftOut, ...]
    kept: KeptColumns = None
    given_back: CellsGivenBack = None
    rows_below_k: Annotated[int | None, "rows of the copy that match fewer than k, where NULL matches anything"]
    known: Annotated[
        KnownPeople | None, "whom the planned rows single out if people's values are known; null: not counted"
    ]
    sql: Annotated[Script | None, OMITTED, "the statements that were requested instead of a copy"] = None
    script: Annotated[tuple[str, ...], "the statements requested instead of a copy"]

    @property
    def asked(self) -> tuple[str, ...]:
        return (f"k = {self.k}", f"against {self.against.attacker}", plural(len(self.account.columns), "column"))

    @reported
    def optimal(self) -> Annotated[bool, "no suppression of this kind weighs less, by the proved bound"]:
        return self.cost is not None and self.cost == self.lower_bound


# The verdict and the sentence that gives its reason: both follow from the other facts of the result.


def judged(result: MatchingRows) -> MatchingRows:
    """The result with its verdict and reason. It stays inconclusive if its work ended early."""
    if result.verdict is Verdict.INCONCLUSIVE and result.account.unfinished:
        reason = "the plan was not finished, and nothing was written"
        return replace(result, reason=reason)
    verdict, reason = _judged(result)
    return replace(result, verdict=verdict, reason=reason)


def _judged(result: MatchingRows) -> tuple[Verdict, str]:
    k, rows, policy = result.k, result.account.rows or 0, result.account.policy
    if not rows:
        return Verdict.INCONCLUSIVE, f"there is nothing to protect: {policy.why_no_rows}"
    if rows < k:
        few = f"{plural(rows, 'row')} {are(rows)}"
        return Verdict.VIOLATION, f"no suppression helps: {few} fewer than k = {k}, even if all are blank"
    if result.rows_below_k is not None and result.target is None:
        below = plural(result.rows_below_k, "row")
        return Verdict.VIOLATION, f"the copy failed its audit ({below} below k), so it was not kept"
    reason = f"{_found_by(result)}: {_reason(result)}"
    gives_back = in_the_headline(result.given_back)
    if result.target is not None:
        protected = result.account.columns
        others = set(result.copied) - set(protected)
        where = f" on the {plural(len(protected), 'protected column')}" if others else ""
        reason += f"; {result.target} was written, and each row of it matches {plural(k - 1, 'other')}{where}"
        reason += kept_in_the_headline(result.copied, protected, policy.sensitive)
    elif gives_back:
        reason += "; the printed statement carries it out"
    return Verdict.FINISHED, reason + gives_back


def _found_by(result: MatchingRows) -> str:
    """Who can still be found, and by whom."""
    known, names = result.known, few(result.account.columns)
    if known is None:
        return f"whom someone who knows people finds by {names} was not counted"
    if known.alone:
        part = percent(Fraction(known.alone, known.people or 1))
        found = plural(known.alone, "person", "people")
        return f"{found} ({part}) can still be found by {names} by someone who knows them"
    if known.below_k or known.rows_below_k:
        return f"nobody is found by {names} by exactly one row, but some people fit fewer than {result.k} rows"
    if known.admissible_below_k:
        left = plural(known.admissible_below_k, "person", "people")
        return f"someone who knows everybody is left with fewer than {result.k} rows for {left} by {names}"
    if known.admissible_below_k == 0:
        return f"nobody is found by {names}, not even by someone who knows everybody (k = {result.k})"
    return f"nobody is found by {names} by someone who knows a person (k = {result.k})"


def _reason(result: MatchingRows) -> str:
    k, cells, attack = result.k, result.cells or 0, result.against
    if not cells and attack is Attack.KNOWN_PERSON:
        return f"nothing needs to be suppressed: {k} rows or more can be each person's"
    if not cells:
        return f"nothing needs to be suppressed: every row matches {plural(k - 1, 'other')}"
    plain = not result.account.weights
    fewer = "fewer" if plain else "lighter"
    proof = f"proved: no row is safe with {fewer} blanks of its own" if result.optimal else f"{fewer} may suffice"
    verb = "are" if plain else "is"
    least = f"{'' if plain else 'a weight of '}at least {count(result.lower_bound or 0)}"
    if attack is Attack.UNIQUE_COMBINATIONS:
        needed = f"proved: no {fewer} suffice" if result.optimal else f"proved: {least} {verb} needed"
        proof = f"{k} released rows or more show each combination of values then; {needed}"
    if attack is Attack.KNOWN_PERSON:
        needed = f"no {fewer} suffice" if result.optimal else f"{least} {verb} needed"
        proof = f"{k} released rows can be each person's then; proved for disjoint matchings: {needed}"
    weighted = "" if plain else f", of the weight {count(result.cost or 0)},"
    be = "is" if cells == 1 else "are"
    return f"{plural(cells, 'cell')}{weighted} in {plural(result.records or 0, 'row')} {be} to be suppressed; {proof}"
