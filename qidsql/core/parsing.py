"""Checked values from user input: ratios, choices, names."""

import re
from enum import StrEnum
from fractions import Fraction
from itertools import pairwise
from typing import TypeVar

from qidsql.declarations.options import Names
from qidsql.errors import UsageError
from qidsql.wording.option_names import setting

Choice = TypeVar("Choice", bound=StrEnum)
EXPONENT = 4  # characters of one: with more, a number could have any length


def names(given: Names | None) -> tuple[str, ...]:
    """One name or several."""
    return (given,) if isinstance(given, str) else tuple(given or ())


def choice(kinds: type[Choice], name: str, value: str) -> Choice:
    """The member named by `value`; `name` is the option's. Raises UsageError."""
    try:
        return kinds(value)
    except ValueError:
        raise UsageError(f"{setting(name)} must be {', '.join(kinds)}; got {value}") from None


def positive_share(name: str, value: str | float | Fraction) -> Fraction:
    """A ratio above 0 and at most 1, the value of that option. Raises UsageError."""
    found = fraction(name, value)
    if not 0 < found <= 1:
        raise UsageError(f"{setting(name)} must be above 0 and at most 1")
    return found


def chance(name: str, value: str | float | Fraction | None) -> Fraction | None:
    """A ratio between 0 and 1, both excluded, the value of that option. Raises UsageError."""
    found = None if value is None else fraction(name, value)
    if found is not None and not 0 < found < 1:
        raise UsageError(f"{setting(name)} must be between 0 and 1")
    return found


def size_in_bytes(name: str, value: str | int | None) -> int | None:
    """A size from its text (10GB, 1.5 TB, 500 MiB), the value of that option. Raises UsageError."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?) *([KMGT]?)(i?)B?", str(value).strip(), flags=re.IGNORECASE)
    if value is None or (found and (found[2] or not found[3]) and Fraction(found[1])):
        base = 1024 if found and found[3] else 1000
        return None if found is None else int(Fraction(found[1]) * base ** " KMGT".index(found[2].upper() or " "))
    raise UsageError(f"{setting(name)} must be a size such as 10GB, got {value}")


def ascending(name: str, value: str | None) -> tuple[int, ...]:
    """Positive whole numbers in ascending order, from their text (1000,10000). Raises UsageError."""
    parts = [part.strip() for part in value.split(",")] if value is not None else []
    found = tuple(int(part) for part in parts if part.isascii() and part.isdigit())
    if len(found) != len(parts) or any(before >= after for before, after in pairwise((0, *found))):
        raise UsageError(f"{setting(name)} must be whole numbers in ascending order such as 1000,10000, got {value}")
    return found


def fraction(name: str, value: str | float | Fraction) -> Fraction:
    """An exact ratio from its text (0.9, 9/10, 90%); `name` is the option's. Raises UsageError."""
    if isinstance(value, Fraction):
        return value
    written = str(value).strip()
    try:
        if len(written.lower().partition("e")[2]) > EXPONENT:
            raise ValueError("a long exponent")
        return Fraction(written[:-1]) / 100 if written.endswith("%") else Fraction(written)
    except (ValueError, ZeroDivisionError):
        raise UsageError(f"{setting(name)} must be a ratio such as 0.9, 9/10 or 90%, got {written}") from None
