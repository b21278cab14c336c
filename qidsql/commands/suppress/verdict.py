"""The verdict of `suppress` and the sentence that gives its reason: both follow from the other facts of the result."""

from dataclasses import replace

from qidsql.commands.suppress.request import Attack
from qidsql.commands.suppress.result import SuppressResult
from qidsql.core.results import Verdict
from qidsql.protection.copies import in_the_headline
from qidsql.wording.texts import are, count, plural


def judged(result: SuppressResult) -> SuppressResult:
    """The result with its verdict and reason. It stays inconclusive if its work ended early."""
    if result.verdict is Verdict.INCONCLUSIVE and result.account.unfinished:
        reason = "the plan was not finished, and nothing was written"
        return replace(result, reason=reason)
    verdict, reason = _judged(result)
    return replace(result, verdict=verdict, reason=reason)


def _judged(result: SuppressResult) -> tuple[Verdict, str]:
    k, rows, policy = result.k, result.account.rows or 0, result.account.policy
    if not rows:
        which = "no row meets the where condition" if policy.where else "the table is empty"
        return Verdict.INCONCLUSIVE, f"there is nothing to suppress: {which}"
    if rows < k:
        few = f"{plural(rows, 'row')} {are(rows)}"
        return Verdict.VIOLATION, f"no suppression helps: {few} fewer than k = {k}, even if all are blank"
    if result.rows_below_k is not None and result.target is None:
        below = plural(result.rows_below_k, "row")
        return Verdict.VIOLATION, f"the copy failed its audit ({below} below k), so it was not kept"
    reason = _reason(result)
    gives_back = in_the_headline(result.given_back)
    if result.target is not None:
        protected = result.account.columns
        others = set(result.copied) - set(protected)
        where = f" on the {plural(len(protected), 'protected column')}" if others else ""
        reason += f"; {result.target} was written, and each row of it matches {plural(k - 1, 'other')}{where}"
    elif gives_back:
        reason += "; the printed statement carries it out"
    return Verdict.FINISHED, reason + gives_back


def _reason(result: SuppressResult) -> str:
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
