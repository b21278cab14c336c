"""Reads the result to verify, and the options that ask for the same again."""

import shlex
from dataclasses import fields, replace
from itertools import zip_longest
from pathlib import Path
from typing import TypeAlias

from qidsql.commands.anonymize.result import AnonymizeResult
from qidsql.commands.audit.request import AuditRequest, UndeclaredRoles
from qidsql.commands.audit.result import AuditResult
from qidsql.commands.keys.request import KeysRequest
from qidsql.commands.keys.result import KeysResult
from qidsql.commands.mask.request import MaskRequest
from qidsql.commands.mask.result import MaskResult
from qidsql.commands.suppress.result import SuppressResult
from qidsql.commands.uniques.result import UniquesResult
from qidsql.commands.verify.request import VerifyRequest
from qidsql.core.files import read_json
from qidsql.core.policy import BUDGETS, Policy
from qidsql.declarations.options import parameters
from qidsql.declarations.results import MISMATCH, loaded
from qidsql.errors import UsageError

Claimed: TypeAlias = AuditResult | UniquesResult | KeysResult | MaskResult | SuppressResult | AnonymizeResult

EXPECTED = "expected a result of audit, uniques, keys, mask, suppress or anonymize that qidsql wrote with --format json"
KINDS: tuple[tuple[str, type[Claimed], str], ...] = (  # command, its result, a key that only this one has
    ("audit", AuditResult, "searches"),
    ("uniques", UniquesResult, "by_smallest"),
    ("keys", KeysResult, "failing"),
    ("mask", MaskResult, "quasi_identifiers"),
    ("suppress", SuppressResult, "losses"),
    ("anonymize", AnonymizeResult, "row_patterns"),
)
FROM_POLICY = ("where", "entity", "nulls", "k")


def read_result(path: str) -> tuple[str, Claimed, list[str]]:
    """The command, its result, and the keys in the file that contradict the others. Raises UsageError.

    Some keys follow from others, such as `optimal` from the cost and the bound; they are computed anew.
    """
    document = read_json(Path(path), EXPECTED)
    for command, kind, own in KINDS:
        if isinstance(document, dict) and own in document:
            try:
                found: Claimed = loaded(kind, document)
            except MISMATCH:
                break
            anew = found.to_dict()
            return command, found, [key for key, value in anew.items() if key in document and document[key] != value]
    others = "; what other commands report is measured each time: run them again" if isinstance(document, dict) else ""
    raise UsageError(f"{path} is no such result: {EXPECTED}{others}")


def request_of(claimed: KeysResult | MaskResult, request: VerifyRequest) -> KeysRequest | MaskRequest:
    """The request that asks for the criterion of the result, on its columns."""
    account = claimed.account
    kind = KeysRequest if isinstance(claimed, KeysResult) else MaskRequest
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
