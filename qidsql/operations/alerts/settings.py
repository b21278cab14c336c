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
from datetime import date, datetime
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from qidsql.errors import SecretMissing, UsageError

WORSE = "worse"  # a violation that was sent before, with new or worse findings since
ON = ("violation", WORSE, "error", "inconclusive")
WEBHOOKS = ("webhook", "slack", "teams")
KEYS = {
    **{kind: {"url", "headers"} for kind in WEBHOOKS},
    "command": {"command"},
    "email": {"smtp", "from", "to"},
}
COMMON = {"kind", "on", "owners", "tables", "snooze", "timeout", "attempts"}
MOST_ATTEMPTS = 10
MOST_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Secret:
    """The place of a secret, never the secret itself, so that it can be shown."""

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


@dataclass(frozen=True, slots=True)
class Snooze:
    """Suppresses messages about tables until a day."""

    table: str
    until: date
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Alert:
    """One [alerts.NAME] table."""

    name: str
    kind: str
    on: tuple[str, ...] = ON
    owners: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    snoozes: tuple[Snooze, ...] = ()
    timeout: float = 10.0
    attempts: int = 3
    url: Secret = Secret("env:")
    headers: tuple[tuple[str, Secret], ...] = ()
    command: tuple[str, ...] = ()
    smtp: Secret = Secret("env:")
    sender: str = ""
    to: tuple[str, ...] = ()

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
    kind = table.get("kind")
    if kind not in KEYS:
        raise UsageError(f"{place}.kind must be one of {', '.join(KEYS)}")
    _known(place, table, COMMON | KEYS[kind])
    given: dict[str, Any] = {}
    if "on" in table:
        given["on"] = _texts(f"{place}.on", table["on"])
        if wrong := set(given["on"]) - set(ON):
            raise UsageError(f"{place}.on takes {', '.join(ON)}; got {', '.join(sorted(wrong))}")
        if WORSE in given["on"] and "violation" not in given["on"]:
            raise UsageError(f"{place}.on has worse without violation: only a violation that was sent can get worse")
    for key in ("owners", "tables"):
        if key in table:
            given[key] = _texts(f"{place}.{key}", table[key])
    if "timeout" in table:
        given["timeout"] = float(_number(f"{place}.timeout", table["timeout"], MOST_SECONDS, "seconds"))
    if "attempts" in table:
        given["attempts"] = _number(f"{place}.attempts", table["attempts"], MOST_ATTEMPTS, "attempts")
    snoozes = table.get("snooze", [])
    if not isinstance(snoozes, list):
        raise UsageError(f"{place}.snooze must be tables such as [[{place}.snooze]]")
    given["snoozes"] = tuple(_snooze(f"{place}.snooze", snooze) for snooze in snoozes)
    if kind in WEBHOOKS:
        given["url"] = _secret(f"{place}.url", table.get("url"), "anyone who knows a webhook's address can post to it")
        headers = table.get("headers", {})
        if not isinstance(headers, Mapping):
            raise UsageError(f'{place}.headers must be a table such as {{ Authorization = "env:TOKEN" }}')
        given["headers"] = tuple(
            (header, _secret(f"{place}.headers.{header}", value, "a header can contain a token"))
            for header, value in headers.items()
        )
    elif kind == "command":
        given["command"] = _texts(f"{place}.command", table.get("command"))
    else:
        given["smtp"] = _secret(f"{place}.smtp", table.get("smtp"), "it can contain a password")
        [given["sender"]] = _addresses(f"{place}.from", [table.get("from")])
        given["to"] = _addresses(f"{place}.to", table.get("to"))
    return Alert(name=name, kind=kind, **given)


def _snooze(place: str, snooze: Any) -> Snooze:
    if not isinstance(snooze, Mapping):
        raise UsageError(f"{place} must be tables such as [[{place}]]")
    _known(place, snooze, {"table", "until", "reason"})
    until = snooze.get("until")
    if isinstance(until, str):
        try:
            until = date.fromisoformat(until)
        except ValueError:
            until = None
    if not isinstance(until, date):
        raise UsageError(f"{place}.until must be a date such as 2026-12-01, the first day with messages again")
    until = until.date() if isinstance(until, datetime) else until
    [table] = _texts(f"{place}.table", [snooze.get("table", "*")])
    reason = snooze.get("reason", "")
    if not isinstance(reason, str):
        raise UsageError(f"{place}.reason must be a text")
    return Snooze(table, until, reason)


def _known(place: str, table: Mapping[str, Any], keys: Iterable[str]) -> None:
    known = sorted(keys)
    for key in table:
        if key not in known:
            near = get_close_matches(key, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(known)}"
            raise UsageError(f"{place}.{key} is not known here; {hint}")


def _texts(place: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(isinstance(each, str) and each for each in value):
        raise UsageError(f'{place} must be a list of texts such as ["..."]')
    return tuple(value)


def _addresses(place: str, value: Any) -> tuple[str, ...]:
    from email.utils import parseaddr

    texts = _texts(place, value) if value != [None] else ()
    if not texts or any("@" not in parseaddr(text)[1] or "\n" in text or "\r" in text for text in texts):
        raise UsageError(f"{place} must be an e-mail address such as dpo@example.org (to: a list of them)")
    return texts


def _number(place: str, value: Any, most: int, what: str) -> int:
    if type(value) is not int or not 1 <= value <= most:
        raise UsageError(f"{place} must be a whole number of {what} from 1 to {most}")
    return value


def _secret(place: str, value: Any, why: str) -> Secret:
    """The error never repeats the value, which could be the secret itself."""
    kind, _, name = value.partition(":") if isinstance(value, str) else ("", "", "")
    if kind not in ("env", "file") or not name:
        raise UsageError(f'{place} must be "env:NAME" or "file:PATH", not the secret itself: {why}')
    return Secret(value)


def _matches(pattern: str, source: str, table: str) -> bool:
    """Whether a pattern such as main.visits, main.* or clinic:main.* matches this table."""
    return fnmatchcase(table, pattern) or fnmatchcase(f"{source}:{table}", pattern)
