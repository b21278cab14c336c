"""Numbers, ratios and lists as text. Rounding never turns a part into all or nothing."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from fractions import Fraction


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
