"""The verdict of `uniques` and the sentence that gives its reason: both follow from the figures."""

from dataclasses import replace

from qidsql.commands.uniques.result import UniquesResult
from qidsql.core.results import Verdict
from qidsql.wording.texts import count, plural


def judged(result: UniquesResult) -> UniquesResult:
    """The result with its verdict and reason."""
    open_ = bool(result.account.unfinished) or result.account.rows == 0
    return replace(result, verdict=Verdict.INCONCLUSIVE if open_ else Verdict.FINISHED, reason=_reason(result))


def _reason(result: UniquesResult) -> str:
    rows, k = result.account.rows, result.k
    if rows is None:
        return "not searched: the rows could not be coded in time"
    if rows == 0:
        return "there is nothing to search: no row"
    if rows < k:
        return f"{plural(rows, 'row')}, fewer than k = {k}: even without any column none is safe"
    what = "minimal sample unique" if k == 2 else "minimal unsafe combination"
    found = f"{plural(result.combinations, what)} in {count(result.rows_unsafe)} of {plural(rows, 'row')}"
    if result.account.unfinished:
        return f"at least {found}; the search did not finish"
    largest = result.account.policy.max_size
    if largest is not None and largest < len(result.account.columns):
        found += f"; sets of more than {plural(largest, 'column')} were not searched (--max-size)"
    return found
