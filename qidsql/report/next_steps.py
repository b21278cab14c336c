"""Suggestions for the next command to run."""

import shlex
from collections.abc import Sequence

from qidsql.core.policy import EACH_ROW, Policy
from qidsql.core.results import Account, SearchAccount
from qidsql.core.tables import FILES, Nulls
from qidsql.measures.disclosure_limits import limits_among
from qidsql.wording.texts import typed_source


def command(verb: str, account: Account, options: str = "") -> str:
    """A command on the same source, table, entity and NULL semantics, with these options."""
    policy = account.policy
    given = f" --entity {shlex.quote(policy.entity)}" if policy.entity else ""
    given += f" --entity {EACH_ROW}" if policy.each_row else ""
    given += f" --known-rows {policy.known_rows}" if policy.known_rows and verb in ("audit", "protect") else ""
    given += f" --nulls {policy.nulls}" if policy.nulls != Nulls.EQUAL else ""
    where = " (and your --where)" if policy.where else ""  # it can contain values, and reports are shared
    table = "" if account.kind == "file" else f" {shlex.quote(account.table)}"  # a file is one table
    return f"qidsql {verb} {shlex.quote(typed_source(account.source))}{table}{options}{given}{where}"


def roles(policy: Policy) -> str:
    """The options that give roles to columns."""
    given = (
        ("-c", policy.columns),
        ("--exclude", policy.exclude),
        ("--identifier", policy.identifiers),
        ("--sensitive", policy.sensitive),
    )
    return "".join(f" {option} {shlex.quote(name)}" for option, names in given for name in names)


def kept(names: Sequence[str]) -> str:
    """The options that keep columns in a copy."""
    return "".join(f" --keep {shlex.quote(name)}" for name in names)


def weights(account: SearchAccount) -> str:
    """The option that gives weights to columns."""
    given = ",".join(f"{name}={weight}" for name, weight in account.weights.items())
    return f" --weights {shlex.quote(given)}" if given else ""


def copy_step(verb: str, account: SearchAccount, options: str) -> tuple[str, str]:
    """The command that writes the protected copy, on the same columns, with its purpose."""
    kept = " --keep-identifiers" if account.policy.keep_identifiers else ""
    into = " --into NAME" + (".parquet" if account.kind in FILES else "")
    return command(verb, account, options + roles(account.policy) + weights(account) + kept + into), "writes the copy"


def column_set(names: Sequence[str], option: str = "-c") -> str:
    """The options that name a column set."""
    return "".join(f" {option} {shlex.quote(name)}" for name in names)


def criterion(policy: Policy) -> str:
    """The option that gave a masking its criterion."""
    return policy.criteria[-1].options


def limits(policy: Policy) -> str:
    """The options that limit what is disclosed about sensitive columns."""
    found = limits_among(policy.criteria)
    named = dict.fromkeys(each.sensitive for each in found)
    return "".join((*(f" --sensitive {shlex.quote(name)}" for name in named), *dict.fromkeys(e.options for e in found)))
