"""Figures of a document as text: a number, a range that --min-count left of it, or nothing."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from qidsql.figures import count, percent
from qidsql.figures import ratio as _ratio

NOTHING = "–"


def number(value: Any) -> str:
    """12,345; 22 to 32 for a range; a dash where there is no figure."""
    if value is None:
        return NOTHING
    if isinstance(value, Mapping):
        return f"{count(value['at_least'])} to {count(value['at_most'])}"
    return count(int(value))


def bounds(value: Any) -> tuple[int, int] | None:
    """The least and the most that a figure can be; None where there is none."""
    if value is None:
        return None
    if isinstance(value, Mapping):
        return int(value["at_least"]), int(value["at_most"])
    return int(value), int(value)


def share(part: Any, whole: Any) -> str:
    """Part of a whole in percent, from whole numbers; a range where the part is one that the percentage shows."""
    ends = bounds(part)
    if ends is None or not isinstance(whole, int) or whole == 0:
        return NOTHING
    low, high = (percent(Fraction(end, whole)) for end in ends)
    return low if low == high else f"{low} to {high}"


def percentage(value: Any) -> str:
    """A share that the document holds as a float (or as a range of them) in percent."""
    if value is None:
        return NOTHING
    ends = (value["at_least"], value["at_most"]) if isinstance(value, Mapping) else (value, value)
    low, high = (percent(Fraction(end).limit_denominator(10**12)) for end in ends)
    return low if low == high else f"{low} to {high}"


def middle(part: Any, whole: Any) -> float:
    """Part of a whole between 0 and 1, for the length of a bar; the middle of a range."""
    ends = bounds(part)
    if ends is None or not isinstance(whole, int) or whole == 0:
        return 0.0
    return sum(ends) / 2 / whole


def ratio(value: Any, digits: int) -> str:
    """A ratio with so many decimals; below 1 it never reads as 1, above 0 never as 0."""
    return NOTHING if value is None else _ratio(Fraction(str(value)), digits)


def seconds(value: float) -> str:
    """A duration as people say it: 4.1 s, 12 min 5 s."""
    if value < 60:
        return f"{value:.2g} s" if value < 10 else f"{value:.0f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def moment(iso: str) -> str:
    """2026-11-21 03:00 UTC, as precise as a reader needs; text that is no time stays as it is."""
    from datetime import UTC, datetime

    try:
        when = datetime.fromisoformat(iso)
    except (TypeError, ValueError):
        return str(iso)
    zone = when.astimezone(UTC) if when.tzinfo else when
    return f"{zone:%Y-%m-%d %H:%M} UTC"
