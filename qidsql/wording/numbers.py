"""How figures are written for people: never rounded up to a whole that they are not."""

from collections.abc import Sequence
from datetime import UTC, datetime
from fractions import Fraction


def count(value: int) -> str:
    """12,345"""
    return f"{value:,}"


def ratio(value: Fraction, digits: int) -> str:
    """A ratio with so many decimals; below 1 it never reads as 1, above 0 never as 0."""
    scaled = round(value * 10**digits)
    if value < 1:
        scaled = min(scaled, 10**digits - 1)
    if value > 0:
        scaled = max(scaled, 1)
    return f"{scaled // 10**digits}.{scaled % 10**digits:0{digits}d}"


def percent(value: Fraction) -> str:
    """A share as a percentage with one decimal; what is not all of it never reads as 100 %."""
    if 0 < value < Fraction(1, 1000):
        return "< 0.1 %"
    if Fraction(999, 1000) < value < 1:
        return "> 99.9 %"
    if value in (0, 1):
        return f"{100 * int(value)} %"
    return f"{float(100 * value):.1f} %"


def share(part: int, whole: int) -> str:
    """Part of a whole in percent."""
    return percent(Fraction(part, whole))


def seconds(value: float) -> str:
    """Seconds, with the digits that mean something."""
    return f"{value:.2f} s" if value < 10 else f"{value:.0f} s"


def plural(value: int, one: str, many: str = "") -> str:
    """1 row, 2 rows"""
    return f"{count(value)} {one if value == 1 else many or one + 's'}"


def some(names: Sequence[str], most: int = 12) -> str:
    """The names, the first of them when they are many: a, b, ... (30 in all)"""
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[:most])}, ... ({len(names):,} in all)"


def decimal(value: Fraction) -> str:
    """A ratio as people type it: 0.9, not 9/10; a fraction with no short decimal form stays one."""
    for digits in range(13):
        text = f"{float(value):.{digits}f}"
        if Fraction(text) == value:
            return text
    return str(value)


def moment(when: datetime) -> str:
    """2026-11-21 03:00 UTC, as precise as a reader needs."""
    return f"{when.astimezone(UTC) if when.tzinfo else when:%Y-%m-%d %H:%M} UTC"
