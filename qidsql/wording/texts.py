"""Numbers, ratios and lists as text. Rounding never turns a part into all or nothing."""

import json
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from fractions import Fraction
from typing import Protocol

from qidsql.errors import names_a_secret


def count(value: int) -> str:
    """12,345"""
    return f"{value:,}"


def ratio(value: Fraction, digits: int) -> str:
    """A ratio with this many decimals; only 1 is shown as 1, and only 0 as 0."""
    scaled = round(value * 10**digits)
    if value < 1:
        scaled = min(scaled, 10**digits - 1)
    if value > 0:
        scaled = max(scaled, 1)
    return f"{scaled // 10**digits}.{scaled % 10**digits:0{digits}d}"


def percent(value: Fraction) -> str:
    """A share as a percentage with one decimal; only 1 is shown as 100 %."""
    if 0 < value < Fraction(1, 1000):
        return "< 0.1 %"
    if Fraction(999, 1000) < value < 1:
        return "> 99.9 %"
    if value in (0, 1):
        return f"{100 * int(value)} %"
    return f"{float(100 * value):.1f} %"


def share(part: int, whole: int) -> str:
    """`part` / `whole` in percent."""
    return percent(Fraction(part, whole))


def seconds(value: float) -> str:
    """Seconds, with a sensible number of digits."""
    return f"{value:.2f} s" if value < 10 else f"{value:.0f} s"


def size(value: int) -> str:
    """Bytes in a decimal unit: 1.2 GB"""
    unit = next(each for each in ("TB", "GB", "MB", "kB", "B") if value >= UNITS[each] or each == "B")
    scaled = value / UNITS[unit]
    return f"{scaled:,.1f} {unit}" if scaled < 10 and unit != "B" else f"{scaled:,.0f} {unit}"


UNITS = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


def plural(value: int, one: str, many: str = "") -> str:
    """1 row, 2 rows"""
    return f"{count(value)} {one if value == 1 else many or one + 's'}"


def are(value: int) -> str:
    """1 is, 2 are"""
    return "is" if value == 1 else "are"


SINGULAR = {"rows": "row", "entities": "entity", "pairs": "pair"}


def counted(value: int, unit: str) -> str:
    """As `plural`, for a unit that is named in the plural: 1 row, 2 rows, 1 entity (patient), 2 pairs of rows"""
    many, *more = unit.split(" ")
    return f"{count(value)} {' '.join([SINGULAR[many] if value == 1 else many, *more])}"


def weighing(value: int, weights: Iterable[int], one: str) -> str:
    """As much as all these weigh: their number where each weighs 1."""
    return f"the weight {count(value)}" if any(weight != 1 for weight in weights) else plural(value, one)


def few(names: Sequence[str], most: int = 12) -> str:
    """The names joined by commas, only the first `most` if there are more: a, b, ... (30 in all)"""
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[:most])}, ... ({len(names):,} in all)"


def decimal(value: Fraction) -> str:
    """A ratio as a decimal such as 0.9; as a fraction if it has no short decimal form."""
    for digits in range(13):
        text = f"{float(value):.{digits}f}"
        if Fraction(text) == value:
            return text
    return str(value)


def moment(when: datetime) -> str:
    """2026-11-21 03:00 UTC, to the minute."""
    return f"{when.astimezone(UTC) if when.tzinfo else when:%Y-%m-%d %H:%M} UTC"


# Text for terminals, HTML and XML.


# Those that XML and HTML do not allow, those that a terminal obeys, and those that turn the direction of what follows.
CONTROLS = "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"


def without_controls(text: str, instead: str = "\ufffd") -> str:
    """The text with its control characters, except tabs and line breaks, replaced."""
    return re.sub(CONTROLS, instead, text)


# The spelling of options in messages: --max-size for the command line, max_size for a policy file.
#
# `setting` and `role` use the spelling set by the surrounding `written_as` block, so that the user can follow a message
# literally.


ROLE_OPTIONS = {"direct identifier": "--identifier", "sensitive": "--sensitive", "other": "--exclude"}


class OptionNames(Protocol):
    """The spelling of options in one place."""

    def setting(self, name: str) -> str:
        """The option with this field name, such as max_size."""

    def role(self, role: str, columns: Iterable[str]) -> str:
        """The options that give these columns this role."""


BY_REQUIRE: set[str] = set()  # limits that the command line takes as --require NAME=LIMIT, as they declare


class CommandLineNames:
    """--max-size, --require alpha, --identifier email"""

    def setting(self, name: str) -> str:
        return f"--{'require ' if name in BY_REQUIRE else ''}{name.replace('_', '-')}"

    def role(self, role: str, columns: Iterable[str]) -> str:
        return " ".join(f"{ROLE_OPTIONS[role]} {shlex.quote(column)}" for column in columns)


class PolicyFileNames:
    """max_size, email = "direct identifier" in [tables.roles]"""

    def setting(self, name: str) -> str:
        return name

    def role(self, role: str, columns: Iterable[str]) -> str:
        lines = (f'{_key(column)} = "{role}"' for column in columns)
        return f"{', '.join(lines)} in [tables.roles]"


COMMAND_LINE: OptionNames = CommandLineNames()
POLICY_FILE: OptionNames = PolicyFileNames()
_in_use: ContextVar[OptionNames] = ContextVar("option_names", default=COMMAND_LINE)


@contextmanager
def written_as(names: OptionNames) -> Iterator[None]:
    """Uses this spelling within the block."""
    token = _in_use.set(names)
    try:
        yield
    finally:
        _in_use.reset(token)


def setting(name: str) -> str:
    """The option with this field name, in the current spelling."""
    return _in_use.get().setting(name)


def role(role: str, columns: Iterable[str]) -> str:
    """The options that give these columns this role, in the current spelling."""
    return _in_use.get().role(role, columns)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)


# The source in suggested commands: as the user wrote it, if that is a name of it or a URL without a secret.
#
# A report names the source without its password and settings; a command with that text might not connect, or without
# the encryption that was asked for.


PLAIN_URL = r"\w+://([\w.~%-]+@)?[\w.~%:\[\]-]*(/[\w.~%/-]*)?(\?[\w.~%/=&-]*)?"  # no password can be in it
_typed: ContextVar[str | None] = ContextVar("typed_source", default=None)


@contextmanager
def typed_as(source: str | None) -> Iterator[None]:
    """Within the block the source is suggested as typed, unless that can hold a secret; or as `env:QIDSQL_URL`."""
    if source is None:
        token = _typed.set("env:QIDSQL_URL" if os.environ.get("QIDSQL_URL") else None)
    else:
        plain = re.fullmatch(PLAIN_URL, source) is not None and not names_a_secret(source)
        token = _typed.set(source if plain or source.startswith("env:") else None)
    try:
        yield
    finally:
        _typed.reset(token)


def typed_source(shown: str) -> str:
    """The text for a command, given that of reports."""
    return _typed.get() or shown
