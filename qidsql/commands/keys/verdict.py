"""The verdict of `keys` and the sentence that gives its reason: both follow from the other facts of the result."""

from dataclasses import replace

from qidsql.commands.keys.result import FoundSet, KeysResult
from qidsql.core.options import Wanted
from qidsql.core.results import Verdict
from qidsql.search.sampled import NOTHING
from qidsql.wording.texts import decimal, plural, weighing


def judged(result: KeysResult) -> KeysResult:
    """The result with its verdict and reason."""
    account = result.account
    rows = account.rows if account.policy.entity is None else account.entities
    open_ = bool(account.unfinished) or rows == 0
    return replace(
        result,
        verdict=Verdict.INCONCLUSIVE if open_ else Verdict.FINISHED,
        reason=_nothing(result) if rows == 0 else result.impossible or _reason(result),
    )


def _nothing(result: KeysResult) -> str:
    which = "no row meets the where condition" if result.account.policy.where else "the table is empty"
    return f"there is nothing to search: {which}"


def _reason(result: KeysResult) -> str:
    name, sets, bound = result.criterion, result.column_sets, result.lower_bound
    if result.wanted is Wanted.ALL:
        return _list_reason(result)
    least = "" if bound is None else weighing(bound, result.account.weights.values(), "column")
    if not sets:
        proved = f"; proved: each has at least {least}" if bound else ""
        return f"no {name} was found{' before the search ended' if result.account.unfinished else ''}{proved}"
    if result.algorithm == "sampled":
        return _sampled_reason(result, sets[0])
    size = plural(len(sets[0].columns), "column")
    if result.wanted is Wanted.MINIMAL:
        return f"a {name} of {size}, none of which can be left out; a smaller one may exist"
    weight = weighing(sets[0].weight, result.account.weights.values(), "column")
    if result.optimal:
        return f"a smallest {name} has {weight}; proved: none has less"
    if bound:
        return f"a {name} of {weight}; proved: each has at least {least}"
    return f"a {name} of {size}, picked greedily; a smaller one may exist"


def _list_reason(result: KeysResult) -> str:
    sets, stopped = result.column_sets, bool(result.account.unfinished)
    found = f"{plural(len(sets), 'minimal set')} ({result.criterion})"
    if result.complete:
        return f"{found}; the list is proved complete"
    if result.certificate is not None:
        missing = f"but for a chance of {decimal(result.certificate.delta)}, none is missing"
        return f"{found}; the search did not finish" if stopped else f"{found}; {missing}"
    known = f"the list is complete up to {plural(result.complete_to_size, 'column')}"
    if stopped and sets and len(sets[0].columns) > result.complete_to_size:
        return f"{found}, the smallest found so far; there may be far more than can be listed; {known}: none that small"
    return f"{found}; {known}"


def _sampled_reason(result: KeysResult, found: FoundSet) -> str:
    certificate = result.certificate
    assert certificate is not None
    size = plural(len(found.columns), "column")
    name = result.criterion
    if found.meets:
        return f"a {name} of {size}: found on a sample, measured on the full table"
    if certificate.promise == NOTHING:
        kept = "" if found.meets is None else "; on the full table the set is none"
        return f"no {name} can be guaranteed: the sample contains duplicate rows{kept}"
    if found.meets is None:
        return f"a {name} of {size}, but for a chance of {decimal(certificate.delta)}; not measured on the full table"
    return f"the {size} found on a sample are no {name} of the full table: the error of probability delta occurred"
