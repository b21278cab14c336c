"""Checks a result by what it states as its proof. Nothing of the search that found it takes part."""

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from qidsql.column_roles.resolution import Columns, Resolved, given_columns, stated_columns
from qidsql.commands.audit.command import AuditRequest, AuditResult, UndeclaredRoles
from qidsql.commands.judgement import JUDGED
from qidsql.commands.keys.command import KeysRequest, KeysResult
from qidsql.commands.protect.cells.identical_result import IdenticalRows
from qidsql.commands.protect.cells.matching_result import MatchingRows
from qidsql.commands.protect.columns.command import ColumnsRequest, ColumnsResult
from qidsql.commands.protect.result import ProtectResult
from qidsql.commands.release.command import ReleaseResult
from qidsql.commands.release.subject import file_subject
from qidsql.commands.table_protection import TableProtection
from qidsql.commands.table_search import TableSearch, interruptible, one_answer
from qidsql.commands.uniques.command import UniquesResult
from qidsql.commands.verify.audits import AuditClaims
from qidsql.commands.verify.cells import CellClaims
from qidsql.commands.verify.column_sets import ColumnSetClaims, CombinationClaims
from qidsql.commands.verify.command import STATED, Claim, Holds, VerifyRequest, VerifyResult, same
from qidsql.commands.verify.plans import PlanClaims
from qidsql.commands.verify.releases import ABOUT_BYTES, ReleaseClaims
from qidsql.core.files import read_json
from qidsql.core.policy import BUDGETS, Policy
from qidsql.core.results import LeftOut, Verdict
from qidsql.core.tables import FILES, Table
from qidsql.declarations.options import parameters
from qidsql.declarations.results import MISMATCH, loaded
from qidsql.engines.base import Engine
from qidsql.engines.connect import Source
from qidsql.errors import AccessError, QidsqlError, SourceError, StatementError, Stopped, UsageError
from qidsql.wording.texts import count, few, plural

# Reads the result to verify, and the options that ask for the same again.


Claimed: TypeAlias = (
    AuditResult | UniquesResult | KeysResult | ColumnsResult | ProtectResult | MatchingRows | IdenticalRows
)

EXPECTED = (
    "expected a result of audit, uniques, keys, protect (but by turns) or release that qidsql wrote with --format json"
)
KINDS: tuple[
    tuple[str, type[Claimed | ReleaseResult], str], ...
] = (  # what wrote it, its result, a key of this one only
    ("release", ReleaseResult, "predicateType"),
    ("audit", AuditResult, "searches"),
    ("uniques", UniquesResult, "by_smallest"),
    ("keys", KeysResult, "failing"),
    ("protect by columns", ColumnsResult, "quasi_identifiers"),
    ("protect", ProtectResult, "columns_published"),
    ("protect by cells", MatchingRows, "losses"),
    ("protect by cells", IdenticalRows, "row_patterns"),
)
FROM_POLICY = ("where", "entity", "nulls", "k")


def read_result(path: str) -> tuple[str, Claimed | ReleaseResult, list[str]]:
    """The command, its result, and the keys in the file that contradict the others. Raises UsageError.

    Some keys follow from others, such as `optimal` from the cost and the bound; they are computed anew.
    """
    document = read_json(Path(path), EXPECTED)
    for command, kind, own in KINDS:
        if isinstance(document, dict) and own in document:
            try:
                found: Claimed | ReleaseResult = loaded(kind, document)
            except MISMATCH:
                break
            anew = found.to_dict()
            return command, found, [key for key, value in anew.items() if key in document and document[key] != value]
    others = "; what other commands report is measured each time: run them again" if isinstance(document, dict) else ""
    raise UsageError(f"{path} is no such result: {EXPECTED}{others}")


def request_of(claimed: KeysResult | ColumnsResult, request: VerifyRequest) -> KeysRequest | ColumnsRequest:
    """The request that asks for the criterion of the result, on its columns."""
    account = claimed.account
    kind = KeysRequest if isinstance(claimed, KeysResult) else ColumnsRequest
    try:
        given = _options(kind, claimed.options)
    except ValueError:  # a quote that is not closed, a word in place of a number
        raise UsageError(f"the options of the result cannot be read; {EXPECTED}") from None
    options = {name: getattr(account.policy, name) for name in FROM_POLICY} | given
    return kind(
        table=account.table,
        columns=account.columns,
        sensitive=account.policy.sensitive[-1:],  # a limit on disclosure is about the last one
        weights=account.weights or None,
        **options | {name: getattr(request, name) for name in BUDGETS},
    )


def audit_again(claimed: AuditResult, request: VerifyRequest) -> AuditRequest:
    """The request that asks for the same verdict. The treatment of roles that nobody declared shows in its columns."""
    policy = claimed.account.policy
    options = {each.name: getattr(policy, each.name) for each in fields(Policy)}
    accepted = any(each.reason.startswith("accepted as ") for each in claimed.columns)
    proposed = [each for each in claimed.columns if each.proposed]
    undecided = policy.origin.undecided if policy.origin else ()
    roles = UndeclaredRoles.PROPOSED if proposed else UndeclaredRoles.NONE
    return AuditRequest(
        table=claimed.account.table,
        roles=UndeclaredRoles.ACCEPTED if accepted else roles,
        unconfirmed={
            each.name: each.reason.removeprefix("proposed as ").partition(" (")[0]
            for each in proposed
            if each.name in undecided
        },
        **options | {name: getattr(request, name) for name in BUDGETS},
    )


def limited(policy: Policy, request: VerifyRequest) -> Policy:
    """The policy of a result, within the budget of its verification."""
    return replace(policy, **{name: getattr(request, name) for name in BUDGETS})


def _options(request: type, text: str) -> dict[str, object]:
    """The options of a criterion, as typed, as fields of a request."""
    forms = {each.shown: each for each in parameters(request)}
    words = shlex.split(text)
    given: dict[str, object] = {}
    for word, value in zip_longest(words, words[1:], fillvalue=""):
        if word in forms:
            convert = int if forms[word].form.command_line is int else str
            given[forms[word].name] = convert(value) if value and value not in forms else True
    return given


def verify(
    source: Source, request: VerifyRequest, on_stage: Callable[[str], None] = lambda stage: None
) -> VerifyResult:
    """As `verified`; a file that cannot be read, and is not the released one, is refused as such."""
    try:
        with source.opened() as engine:
            return verified(engine, request, on_stage)
    except (SourceError, AccessError, StatementError) as error:
        if (other := _other_bytes(source.text, request, error)) is None:
            raise
        return other


@one_answer
def verified(
    engine: Engine, request: VerifyRequest, on_stage: Callable[[str], None] = lambda stage: None
) -> VerifyResult:
    """Whether the claims of a result hold on the table as it is now.

    Of keys and of protect by columns, measures the column sets that the result lists and those that prove it, one
    statement each or fewer, and derives from these alone what is claimed: minimal sets, a complete list, a bound. Of an
    audit, the figures behind the verdict, the listed sets and the largest ones that contain none of these. Of uniques,
    codes the rows in one statement and counts combinations by their definition. Of protect by cells, carries out the
    plan on such codes and computes the bound of its proof; a copy takes one statement more, which reads both. Of
    protect by values and levels, counts the levels and their proof, or makes the plan again, and compares the copy.
    Verdicts and their reasons are derived again. A stop makes the verdict inconclusive. Raises UsageError (no such
    result), UnknownName, AccessError, StatementError.
    """
    on_stage("reading the result")
    command, claimed, contradicting = read_result(request.result)
    if isinstance(claimed, ReleaseResult):
        return _of_release(ReleaseClaims(claimed, engine, request, on_stage), contradicting, request)
    if request.table is not None:
        raise UsageError(
            f"TABLE is for a release; this result of {command} is about {claimed.account.table}: leave it out"
        )
    search, claims = _claims(engine, claimed, request, on_stage)
    checks: list[Claim] = []
    unfinished: list[str] = []
    try:
        with interruptible():
            search.begin()
            checks += _stated(claimed, search.table, engine)
            if contradicting:
                checks.append(_contradiction(contradicting))
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


def _of_release(claims: ReleaseClaims, contradicting: Sequence[str], request: VerifyRequest) -> VerifyResult:
    """The claims of a statement about a release. Where all hold, its verdict is the one that the statement has."""
    if request.protected is not None:
        raise UsageError("--protected is the copy of protect; a release names its own bytes")
    checks = [_contradiction(contradicting)] if contradicting else []
    unfinished: list[str] = []
    try:
        for check in claims.checked():
            checks.append(check)
    except Stopped as stop:
        unfinished.append(str(stop))
    verdict, reason = _judge(checks, unfinished)
    return VerifyResult(
        verdict=claims.verdict if verdict is Verdict.PASS else verdict,
        reason=f"{reason}. {STATED}{claims.stated}",
        account=claims.account(tuple(unfinished)),
        verified="release",
        criterion=claims.rule,
        written=claims.written,
        checks=tuple(checks),
    )


def _other_bytes(source: str | None, request: VerifyRequest, error: QidsqlError) -> VerifyResult | None:
    """That a file is not the one that a statement is about; None if it is, or there is no such file or statement."""
    _, claimed, _ = read_result(request.result)
    if not isinstance(claimed, ReleaseResult) or source is None or not Path(source).is_file():
        return None
    if file_subject(Path(source)).digest in [each.digest for each in claimed.subject]:
        return None
    claims = ReleaseClaims(claimed, None, request, lambda stage: None)
    checks = [Claim(ABOUT_BYTES, Holds.NO, f"hashed again; {error}")]
    _, reason = _judge(checks, ())
    work: dict[str, Any] = dict.fromkeys(("statements", "rounds", "scans", "sets_profiled", "seconds"), 0)
    account = replace(claims.account(()), source=source, started=datetime.now(UTC), rows=None, bytes_read=None, **work)
    return VerifyResult(
        verdict=Verdict.VIOLATION,
        reason=f"{reason}. {STATED}{claims.stated}",
        account=account,
        verified="release",
        criterion=claims.rule,
        written=claims.written,
        checks=tuple(checks),
    )


def _contradiction(keys: Sequence[str]) -> Claim:
    return Claim("its figures agree with each other", Holds.NO, f"others follow from the rest: {few(keys)}")


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
    if isinstance(claimed, MatchingRows | IdenticalRows):
        policy, weights = limited(account.policy, request), claimed.account.weights
        stated, kept = claimed.account.left_out, claimed.kept or ()
        protection = TableProtection(engine, account.table, policy, weights, None, False, kept, stated)
        return protection, CellClaims(claimed, protection, engine, request.protected, on_stage)
    if isinstance(claimed, ProtectResult):
        policy, weights = limited(account.policy, request), claimed.account.weights
        kept = claimed.kept_columns or ()
        stated = claimed.account.left_out
        protection = TableProtection(engine, account.table, policy, weights, None, False, kept, stated)
        return protection, PlanClaims(claimed, protection, request.protected, on_stage)
    if request.protected is not None:
        raise UsageError("--protected is the copy of protect; other commands write none")
    if isinstance(claimed, KeysResult | ColumnsResult):
        asked = request_of(claimed, request)
        resolve = partial(_as_stated, policy=asked.policy, left_out=claimed.account.left_out)
        search = TableSearch(engine, asked.table, asked.policy, asked.column_weights, resolve)
        return search, ColumnSetClaims(claimed, asked, search, engine, on_stage)
    policy = limited(account.policy, request)
    if isinstance(claimed, AuditResult):
        search = TableSearch(engine, account.table, policy, {}, partial(given_columns, policy=policy))
        return search, AuditClaims(claimed, audit_again(claimed, request), search, on_stage)
    resolve = partial(stated_columns, policy=policy, left_out=claimed.account.left_out)
    search = TableSearch(engine, account.table, policy, {}, resolve)
    return search, CombinationClaims(claimed, search, engine, on_stage)


def _as_stated(table: Table, policy: Policy, left_out: Sequence[LeftOut]) -> Columns:
    """The columns that the policy names, and the others with the roles and reasons of the result."""
    found = given_columns(table, policy)
    others = {each.name for each in found.left_out}
    return found.having(
        {
            each.name: Resolved(each.role, each.reason, each.proposed)
            for each in left_out
            if each.role is not None and each.name in others
        }
    )


def _stated(claimed: Claimed, table: Table, engine: Engine) -> Iterator[Claim]:
    """What follows from the policy and the other facts of the result. An audit lists all columns, with its verdict."""
    if isinstance(claimed, AuditResult):
        yield same("it is about such a table", _kind(claimed, table), "by the catalog")
        return
    account = claimed.account
    known = {*account.columns, *(each.name for each in account.left_out)}
    new = [each.name for each in table.columns if each.name not in known]
    if new:
        yield Claim("all columns of the table took part or were left out", Holds.UNKNOWN, f"new since: {few(new)}")
    judged = JUDGED[type(claimed)](claimed)
    facts: dict[str, tuple[object, object]] = {
        **_kind(claimed, table),
        "verdict": (claimed.verdict, judged.verdict),
        "reason": (claimed.reason, judged.reason),
    }
    if not isinstance(
        claimed, ProtectResult | MatchingRows | IdenticalRows
    ):  # whose columns also depend on their values
        anew = stated_columns(table, account.policy, account.left_out)
        searched = [column.name for column in anew.searched if column.name not in new]
        facts |= {
            "columns": (sorted(account.columns), sorted(searched)),
            "left_out": (set(account.left_out), set(anew.left_out)),
        }
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
