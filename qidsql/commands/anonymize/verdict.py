"""The verdict of `anonymize` and the sentence that gives its reason: both follow from the other facts of the result."""

from dataclasses import replace
from fractions import Fraction

from qidsql.commands.anonymize.result import AnonymizeResult
from qidsql.core.results import Verdict
from qidsql.protection.certificates import ProvedBy
from qidsql.protection.copies import in_the_headline
from qidsql.wording.texts import are, count, percent, plural


def judged(result: AnonymizeResult) -> AnonymizeResult:
    """The result with its verdict and reason. It stays inconclusive if its work ended early."""
    if result.verdict is Verdict.INCONCLUSIVE and result.account.unfinished:
        known = "" if result.cells is None else f"{_reason(result)}; "
        return replace(result, reason=f"{known}the search did not finish, and nothing was written")
    verdict, reason = _judged(result)
    return replace(result, verdict=verdict, reason=reason)


def _judged(result: AnonymizeResult) -> tuple[Verdict, str]:
    policy, rows = result.account.policy, result.account.rows or 0
    if not rows:
        which = "no row meets the where condition" if policy.where else "the table is empty"
        return Verdict.INCONCLUSIVE, f"there is nothing to anonymize: {which}"
    if rows < policy.k:
        few = f"{plural(rows, 'row')} {are(rows)}"
        return Verdict.VIOLATION, f"no suppression helps: {few} fewer than k = {policy.k}, even if all are blank"
    if result.after is not None and result.target is None:
        below = plural(result.after.rows_below_k, "row")
        return Verdict.VIOLATION, f"the copy failed its audit ({below} below k), so it was not kept"
    gives_back = in_the_headline(result.given_back)
    written = "; the printed statement carries it out" if gives_back else ""
    if result.target is not None:
        others = set(result.copied) - set(result.account.columns)
        where = f" of the {plural(len(result.account.columns), 'protected column')}" if others else ""
        written = f"; {result.target} was written and passed its audit{where}"
    return Verdict.FINISHED, _reason(result) + written + gives_back


def _reason(result: AnonymizeResult) -> str:
    k, cells, rows = result.account.policy.k, result.cells or 0, result.account.rows or 1
    if not cells:
        return f"nothing needs to be suppressed: the table is {k}-anonymous"
    share = percent(Fraction(cells, rows * len(result.account.columns)))
    made = f"suppressing {plural(cells, 'cell')} ({share}) makes the table {k}-anonymous"
    weighted = bool(result.account.weights)
    by_solver = result.proof is not None and result.proof.by is ProvedBy.SOLVER
    proved = "by the solver of integer programs" if by_solver else "proved"
    if result.optimal:
        return f"{made}; {proved}: {'no lighter cells' if weighted else 'fewer do not'} suffice"
    least = count(result.lower_bound)
    return f"{made}; {proved}: {f'a weight of at least {least} is' if weighted else f'at least {least} are'} needed"
