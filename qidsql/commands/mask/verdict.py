"""The verdict of `mask` and the sentence that gives its reason: both follow from the other facts of the result."""

from dataclasses import replace

from qidsql.commands.mask.result import MaskResult
from qidsql.core.results import Verdict
from qidsql.wording.texts import count, decimal, plural


def judged(result: MaskResult) -> MaskResult:
    """The result with its verdict and reason."""
    account = result.account
    rows = account.rows if account.policy.entity is None else account.entities
    open_ = bool(account.unfinished) or rows == 0
    reason = "there is nothing to measure: no row" if rows == 0 else _reason(result)
    return replace(result, verdict=Verdict.INCONCLUSIVE if open_ else Verdict.FINISHED, reason=reason)


def _reason(result: MaskResult) -> str:
    if result.algorithm == "none" or result.bound is None:
        return "the search did not finish: no columns are known to be safe"
    published = len(result.published)
    what = f"{count(published)} of {plural(len(result.account.columns), 'column')} can be published"
    if result.safe is False:
        return (
            f"the {plural(published, 'column')} found on a sample are not safe on the full table: the error of "
            f"probability delta occurred"
        )
    if result.safe is None and result.certificate is not None:
        return f"{what}, but for a chance of {decimal(result.certificate.delta)}; not measured on the full table"
    if result.optimal:
        return f"{what}; proved: no choice publishes {'a greater weight' if result.account.weights else 'more'}"
    gap = result.bound - result.weight
    more = f"the weight {count(gap)}" if result.account.weights else count(gap)
    return f"{what}; not proved to be the most: at most {more} more could be"
