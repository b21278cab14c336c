"""Checks a result by what it states as its proof. Nothing of the search that found it takes part."""

from collections.abc import Callable, Iterator, Sequence

from qidsql.commands.keys.result import KeysResult
from qidsql.commands.mask.result import MaskResult
from qidsql.commands.table_search import TableSearch, interruptible, one_answer
from qidsql.commands.verify.cells import CellClaims
from qidsql.commands.verify.column_sets import ColumnSetClaims
from qidsql.commands.verify.reading import Claimed, policy_of, read_result, request_of
from qidsql.commands.verify.request import VerifyRequest
from qidsql.commands.verify.result import Claim, Holds, VerifyResult
from qidsql.core.results import Verdict
from qidsql.core.tables import Table
from qidsql.engines.base import Engine
from qidsql.errors import Stopped, UsageError
from qidsql.wording.numbers import count, few, plural


@one_answer
def verify(
    engine: Engine, request: VerifyRequest, on_stage: Callable[[str], None] = lambda stage: None
) -> VerifyResult:
    """Whether the claims of a result of keys, mask, suppress or anonymize hold on the table as it is now.

    Of keys and mask, measures the column sets that the result lists and those that prove it, one statement each or
    fewer, and derives from these alone what is claimed: minimal sets, a complete list, a bound. Of suppress and
    anonymize, codes the rows in one statement, carries out the plan on the codes and computes the bound of its proof;
    a copy takes one statement more, which reads both. A stop makes the verdict inconclusive. Raises UsageError (no such
    result), UnknownName, AccessError, StatementError.
    """
    on_stage("reading the result")
    command, claimed, contradicting = read_result(request.result)
    search, claims = _claims(engine, claimed, request, on_stage)
    checks: list[Claim] = []
    unfinished: list[str] = []
    try:
        with interruptible():
            search.begin()
            checks += _columns(claimed, search.table)
            if contradicting:
                how = f"others follow from the rest: {few(contradicting)}"
                checks.append(Claim("its figures agree with each other", Holds.NO, how))
            for check in claims.checked():
                checks.append(check)  # one by one: those made before a stop are kept
    except Stopped as stop:
        unfinished.append(str(stop))
    verdict, reason = _judge(checks, unfinished)
    return VerifyResult(
        verdict=verdict,
        reason=reason,
        account=search.account(claims.rows, unfinished),
        verified=command,
        criterion=claims.rule,
        written=claimed.account.started,
        checks=tuple(checks),
    )


def _claims(
    engine: Engine, claimed: Claimed, request: VerifyRequest, on_stage: Callable[[str], None]
) -> tuple[TableSearch, ColumnSetClaims | CellClaims]:
    """The table, and the claims about it."""
    if isinstance(claimed, KeysResult | MaskResult):
        if request.protected is not None:
            raise UsageError("--protected is the copy of suppress or anonymize; keys and mask write none")
        asked = request_of(claimed, request)
        search = TableSearch(engine, asked.table, asked.policy, asked.column_weights)
        return search, ColumnSetClaims(claimed, asked, search, on_stage)
    search = TableSearch(engine, claimed.account.table, policy_of(claimed, request), claimed.account.weights)
    return search, CellClaims(claimed, search, engine, request.protected, on_stage)


def _columns(claimed: Claimed, table: Table) -> Iterator[Claim]:
    """A column that is new since the result took no part in it."""
    seen = {*claimed.account.columns, *(each.name for each in claimed.account.left_out)}
    new = [column.name for column in table.columns if column.name not in seen]
    if new:
        yield Claim("all columns of the table took part or were left out", Holds.UNKNOWN, f"new since: {few(new)}")


def _judge(checks: Sequence[Claim], unfinished: Sequence[str]) -> tuple[Verdict, str]:
    wrong = [check.text for check in checks if check.holds is Holds.NO]
    unknown = [check.text for check in checks if check.holds is Holds.UNKNOWN]
    if wrong:
        number = plural(len(wrong), f"of {count(len(checks))} claims does", f"of {count(len(checks))} claims do")
        return Verdict.VIOLATION, f"{number} not hold: {'; '.join(wrong)}"
    if unfinished or not checks:
        return Verdict.INCONCLUSIVE, "; ".join(unfinished) or "the result claims nothing"
    if unknown:
        return Verdict.INCONCLUSIVE, f"not proved: {'; '.join(unknown)}"
    return Verdict.PASS, f"{plural(len(checks), 'claim')} checked: each holds on the table as it is now"
