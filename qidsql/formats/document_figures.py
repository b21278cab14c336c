"""Figures of a document as text: a number, or nothing where it is not known or hidden."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from qidsql.core.wording import count, percent
from qidsql.core.wording import ratio as _ratio

NOTHING = "–"


def number(value: Any) -> str:
    """12,345; 1 to 21 for the rows of a table that --min-count tells as a range; a dash where there is no figure."""
    if value is None:
        return NOTHING
    if isinstance(value, Mapping):
        return f"{count(value['at_least'])} to {count(value['at_most'])}"
    return count(int(value))


def share(part: int | None, whole: Any) -> str:
    """Part of a whole in percent, from whole numbers."""
    return percent(Fraction(part, whole)) if part is not None and isinstance(whole, int) and whole else NOTHING


def percentage(value: float | None) -> str:
    """A share that the document holds as a float in percent."""
    return NOTHING if value is None else percent(Fraction(value).limit_denominator(10**12))


def part_of(part: int | None, whole: Any) -> float:
    """Part of a whole between 0 and 1, for the length of a bar."""
    return part / whole if part is not None and isinstance(whole, int) and whole else 0.0


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
