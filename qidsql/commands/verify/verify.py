"""Checks a result by what it states as its proof. Nothing of the search that found it takes part."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from qidsql.commands.anonymize.result import AnonymizeResult
from qidsql.commands.audit.result import AuditResult
from qidsql.commands.judgement import JUDGED
from qidsql.commands.keys.result import KeysResult
from qidsql.commands.mask.result import MaskResult
from qidsql.commands.mask.undecided import undecided
from qidsql.commands.suppress.result import SuppressResult
from qidsql.commands.table_protection import TableProtection
from qidsql.commands.table_search import TableSearch, interruptible, one_answer
from qidsql.commands.verify.audits import AuditClaims
from qidsql.commands.verify.cells import CellClaims
from qidsql.commands.verify.column_sets import ColumnSetClaims
from qidsql.commands.verify.combinations import CombinationClaims
from qidsql.commands.verify.reading import Claimed, audit_again, limited, read_result, request_of
from qidsql.commands.verify.request import VerifyRequest
from qidsql.commands.verify.result import Claim, Holds, VerifyResult, same
from qidsql.core.results import Verdict
from qidsql.core.roles import assign_roles
from qidsql.core.tables import FILES, Role, Table
from qidsql.engines.base import Engine
from qidsql.errors import Stopped, UsageError
from qidsql.wording.texts import count, few, plural


@one_answer
def verify(
    engine: Engine, request: VerifyRequest, on_stage: Callable[[str], None] = lambda stage: None
) -> VerifyResult:
    """Whether the claims of a result hold on the table as it is now.

    Of keys and mask, measures the column sets that the result lists and those that prove it, one statement each or
    fewer, and derives from these alone what is claimed: minimal sets, a complete list, a bound. Of an audit, the
    figures behind the verdict, the listed sets and the largest ones that contain none of these. Of uniques, codes the
    rows in one statement and counts combinations by their definition. Of suppress and anonymize, carries out the plan
    on such codes and computes the bound of its proof; a copy takes one statement more, which reads both. Verdicts and
    their reasons are derived again. A stop makes the verdict inconclusive. Raises UsageError (no such result),
    UnknownName, AccessError, StatementError.
    """
    on_stage("reading the result")
    command, claimed, contradicting = read_result(request.result)
    search, claims = _claims(engine, claimed, request, on_stage)
    checks: list[Claim] = []
    unfinished: list[str] = []
    try:
        with interruptible():
            search.begin()
            checks += _stated(claimed, search.table, engine)
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


class Claims(Protocol):
    """The claims of one result. `rows` are those of the table, once they are known."""

    rows: int | None

    @property
    def rule(self) -> str: ...

    def checked(self) -> Iterator[Claim]: ...


def _claims(
    engine: Engine, claimed: Claimed, request: VerifyRequest, on_stage: Callable[[str], None]
) -> tuple[TableSearch | TableProtection, Claims]:
    """The table, and the claims about it."""
    account = claimed.account
    if isinstance(claimed, SuppressResult | AnonymizeResult):
        policy, weights = limited(account.policy, request), claimed.account.weights
        protection = TableProtection(engine, account.table, policy, weights, None, False, claimed.kept or ())
        return protection, CellClaims(claimed, protection, engine, request.protected, on_stage)
    if request.protected is not None:
        raise UsageError("--protected is the copy of suppress or anonymize; other commands write none")
    if isinstance(claimed, KeysResult | MaskResult):
        asked = request_of(claimed, request)
        search = TableSearch(engine, asked.table, asked.policy, asked.column_weights)
        return search, ColumnSetClaims(claimed, asked, search, engine, on_stage)
    search = TableSearch(engine, account.table, limited(account.policy, request), {})
    if isinstance(claimed, AuditResult):
        return search, AuditClaims(claimed, audit_again(claimed, request), search, on_stage)
    return search, CombinationClaims(claimed, search, engine, on_stage)


def _stated(claimed: Claimed, table: Table, engine: Engine) -> Iterator[Claim]:
    """What follows from the policy and the other facts of the result. An audit lists all columns, with its verdict."""
    if isinstance(claimed, AuditResult):
        yield same("it is about such a table", _kind(claimed, table), "by the catalog")
        return
    account = claimed.account
    left_out = {each.name: each.reason for each in account.left_out}
    new = [each.name for each in table.columns if each.name not in (*account.columns, *left_out)]
    if new:
        yield Claim("all columns of the table took part or were left out", Holds.UNKNOWN, f"new since: {few(new)}")
    anew = JUDGED[type(claimed)](claimed)
    facts: dict[str, tuple[object, object]] = {
        **_kind(claimed, table),
        "verdict": (claimed.verdict, anew.verdict),
        "reason": (claimed.reason, anew.reason),
    }
    if not isinstance(claimed, SuppressResult | AnonymizeResult):  # whose columns also depend on their values
        roles = assign_roles(table, account.policy).items()
        searched = [name for name, (role, _) in roles if role is Role.QUASI_IDENTIFIER and name not in new]
        others = {name: reason for name, (role, reason) in roles if role is not Role.QUASI_IDENTIFIER}
        if isinstance(claimed, MaskResult) and any(reason.startswith("proposed as ") for reason in left_out.values()):
            proposed = undecided(engine, table)
            others |= {name: proposed.get(name, others[name]) for name in others if left_out.get(name) != others[name]}
        facts |= {"columns": (sorted(account.columns), sorted(searched)), "left_out": (left_out, others)}
    if account.policy.entity is None:
        facts["entities"] = account.entities, None
    yield same("its verdict follows", facts, "derived from its figures and its policy")


def _kind(claimed: Claimed, table: Table) -> dict[str, tuple[object, object]]:
    """A file has another kind as part of a folder."""
    stated = claimed.account.kind
    return {"kind": (stated, stated if {stated, table.kind} <= set(FILES) else table.kind)}


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
