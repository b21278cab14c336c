"""The [alerts.NAME] tables of qidsql.toml: the receiver of each alert, and the changes that it reports.

[alerts.team]
kind = "slack"                    # webhook, slack, teams, command or email
url = "env:SLACK_URL"             # or "file:/run/secrets/slack"; a webhook address is a secret
on = ["violation", "error"]       # default: inconclusive and worse too; recovery is always sent
owners = ["clinic data team"]     # only tables of these owners; default: all
tables = ["main.*"]               # only these tables; default: all
[[alerts.team.snooze]]            # sends nothing of a table until a day; then what has changed meanwhile
table = "main.visits"             # default: every table
until = 2026-12-01
reason = "masking lands in December"

[alerts.desk]
kind = "command"
command = ["./page", "--quiet"]   # no shell; the message is on its stdin

[alerts.office]
kind = "email"
smtp = "env:SMTP_URL"             # smtp://user:password@host:587, smtps://host
from = "qidsql@example.org"
to = ["dpo@example.org"]
"""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeAlias

from qidsql.declarations.results import FileKey, keys_schema, read_keys
from qidsql.errors import SecretMissing, UsageError
from qidsql.operations.schema_check import schema_problems, with_dates_as_text

WORSE = "worse"  # a violation that was sent before, with new or worse findings since
ON = ("violation", WORSE, "error", "inconclusive")
WEBHOOKS = ("webhook", "slack", "teams")
KEYS = {
    **{kind: {"url", "headers"} for kind in WEBHOOKS},
    "command": {"command"},
    "email": {"smtp", "from", "to"},
}
COMMON = {"kind", "on", "owners", "tables", "snooze", "timeout", "attempts"}
LISTS = {"on", "owners", "tables", "command", "to"}  # not empty, if given
MOST_ATTEMPTS = 10
MOST_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Secret:
    """The place of a secret, never the secret itself, so that it can be shown."""

    PATTERN: ClassVar[str] = r"^(env|file):."

    place: str

    def read(self) -> str:
        """Returns the secret. Raises SecretMissing."""
        kind, _, name = self.place.partition(":")
        try:
            text = os.environ.get(name, "") if kind == "env" else Path(name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            text = ""
        if not text.strip():
            missing = f"the environment variable {name} is not set" if kind == "env" else f"the file {name} is empty"
            raise SecretMissing(missing)
        return text.strip()


NOWHERE = Secret("env:")


@dataclass(frozen=True, slots=True)
class Snooze:
    """Sends nothing about tables until a day."""

    until: Annotated[date, FileKey("the first day with messages again, such as 2026-12-01")]
    table: Annotated[str, FileKey("a table or a pattern; default: every table")] = "*"
    reason: Annotated[str, FileKey("why")] = ""


Pattern: TypeAlias = Annotated[str, FileKey("a table or a pattern")]
Word: TypeAlias = Annotated[str, FileKey("a word")]
Place: TypeAlias = Annotated[Secret, FileKey("env:NAME or file:PATH of the value")]


@dataclass(frozen=True, slots=True)
class Alert:
    """Where to send messages when the verdict of a table changes, also when it passes again."""

    name: str
    kind: Annotated[
        str,
        FileKey("webhook: JSON; slack and teams: their formats; command: JSON on its stdin", choices=(*KEYS,)),
    ]
    on: Annotated[
        tuple[Annotated[str, FileKey(choices=ON)], ...],
        FileKey("verdicts to report, and violations that got worse; default: all of these"),
    ] = ON
    owners: Annotated[tuple[Annotated[str, FileKey("an owner")], ...], FileKey("only tables of these owners")] = ()
    tables: Annotated[tuple[Pattern, ...], FileKey("only these tables")] = ()
    snoozes: Annotated[tuple[Snooze, ...], FileKey("tables without messages for a while", "snooze")] = ()
    timeout: Annotated[int, FileKey("seconds for one attempt; default: 10", most=MOST_SECONDS)] = 10
    attempts: Annotated[int, FileKey("attempts in one run; default: 3", most=MOST_ATTEMPTS)] = 3
    url: Annotated[Secret, FileKey("env:NAME or file:PATH of the address; the address itself is a secret")] = NOWHERE
    headers: Annotated[tuple[tuple[str, Place], ...], FileKey("headers of a webhook, such as Authorization")] = ()
    command: Annotated[
        tuple[Annotated[str, FileKey("a word")], ...], FileKey("a program and its arguments; no shell")
    ] = ()
    smtp: Annotated[Secret, FileKey("env:NAME or file:PATH of smtp://user:password@host:587 or smtps://host")] = NOWHERE
    sender: Annotated[str | None, FileKey("the sender's address", "from")] = None
    to: Annotated[tuple[Annotated[str, FileKey("an address")], ...], FileKey("the receivers' addresses")] = ()

    def concerns(self, source: str, table: str, owner: str | None) -> bool:
        """Whether the alert applies to this table."""
        if self.owners and owner not in self.owners:
            return False
        return not self.tables or any(_matches(pattern, source, table) for pattern in self.tables)

    def snoozed(self, source: str, table: str, today: date) -> Snooze | None:
        """The snooze in effect for this table today."""
        return next((s for s in self.snoozes if today < s.until and _matches(s.table, source, table)), None)


def read_alerts(tables: Mapping[str, Any]) -> tuple[Alert, ...]:
    """The alerts of the table [alerts] of a policy file, as tomllib reads it. Raises UsageError with the key."""
    if not isinstance(tables, Mapping):
        raise UsageError("alerts must be tables such as [alerts.team]")
    return tuple(_read(name, table) for name, table in tables.items())


def _read(name: str, table: Any) -> Alert:
    place = f"alerts.{name}"
    if not re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", name):
        raise UsageError(f"alerts.{name!r}: the name of an alert has letters, digits, _, . and - only")
    if not isinstance(table, Mapping):
        raise UsageError(f"{place} must be a table: [{place}]")
    for path, text in schema_problems(with_dates_as_text(table), keys_schema(Alert)):
        raise UsageError(f"{'.'.join([place, *(part for part in path if isinstance(part, str))])}: {text}")
    needed = KEYS[table["kind"]]
    for key in table:
        if key not in COMMON | needed:
            raise UsageError(f"{place}.{key} is not known here; there are: {', '.join(sorted(COMMON | needed))}")
    for key in sorted(needed - {"headers"}):
        if key not in table:
            raise UsageError(f"{place}.{key} is missing")
    for key in LISTS & {*table}:
        if not table[key]:
            raise UsageError(f'{place}.{key} must be a list of texts such as ["..."]')
    try:
        alert = read_keys(Alert, table, name=name)
    except ValueError:
        raise UsageError(f"{place}.snooze.until must be a date such as 2026-12-01") from None
    if WORSE in alert.on and "violation" not in alert.on:
        raise UsageError(f"{place}.on has worse without violation: only a violation that was sent can get worse")
    for key, addresses in (("from", (alert.sender or "",)), ("to", alert.to)):
        if key in needed:
            _check_addresses(f"{place}.{key}", addresses)
    return alert


def _check_addresses(place: str, texts: Iterable[str]) -> None:
    from email.utils import parseaddr

    if any("@" not in parseaddr(text)[1] or "\n" in text or "\r" in text for text in texts):
        raise UsageError(f"{place} must be an e-mail address such as dpo@example.org (to: a list of them)")


def _matches(pattern: str, source: str, table: str) -> bool:
    """Whether a pattern such as main.visits, main.* or clinic:main.* matches this table."""
    return fnmatchcase(table, pattern) or fnmatchcase(f"{source}:{table}", pattern)
