"""Figures of a document as text: a number, or a dash where it is not known or hidden."""

from fractions import Fraction
from typing import TypeAlias, TypeGuard

from qidsql.measures.profiles import ClassProfile
from qidsql.operations.hidden_counts import HiddenProfile, Range, Total
from qidsql.wording.numbers import count, percent
from qidsql.wording.numbers import ratio as _ratio

NOTHING = "–"
Profile: TypeAlias = ClassProfile | HiddenProfile


def number(value: Total) -> str:
    """12,345; 1 to 21 for the rows of a table that --min-count gives as a range; a dash where there is no figure."""
    if value is None:
        return NOTHING
    if isinstance(value, Range):
        return f"{count(value.at_least)} to {count(value.at_most)}"
    return count(value)


def share(part: int | None, whole: Total) -> str:
    """Part of a whole in percent, from whole numbers."""
    return percent(Fraction(part, whole)) if part is not None and isinstance(whole, int) and whole else NOTHING


def percentage(value: float | None) -> str:
    """A share that the document holds as a float in percent."""
    return NOTHING if value is None else percent(Fraction(value).limit_denominator(10**12))


def part_of(part: int | None, whole: Total) -> float:
    """Part of a whole between 0 and 1, for the length of a bar."""
    return part / whole if part is not None and isinstance(whole, int) and whole else 0.0


def classes(profile: Profile) -> int | None:
    """The number of classes; None where a NULL matches anything, as there are none then."""
    return None if isinstance(profile, ClassProfile) and profile.wildcard else profile.classes


def distinct_ratio(profile: Profile) -> Fraction | None:
    """Classes / rows; None where that has no meaning."""
    return profile.distinct_ratio if _is_of_rows(profile) and not profile.wildcard else None


def separation_ratio(profile: Profile) -> Fraction | None:
    """The share of the pairs of rows that are told apart; None where that has no meaning."""
    return profile.separation_ratio if _is_of_rows(profile) else None


def _is_of_rows(profile: Profile) -> TypeGuard[ClassProfile]:
    """Whether the profile has ratios, which are about rows."""
    return isinstance(profile, ClassProfile) and profile.rows > 0 and not profile.entities


def ratio(value: Fraction | None, digits: int) -> str:
    """A ratio with so many decimals; below 1 it never reads as 1, above 0 never as 0."""
    return NOTHING if value is None else _ratio(value, digits)


def seconds(value: float) -> str:
    """A duration as people say it: 4.1 s, 12 min 5 s."""
    if value < 60:
        return f"{value:.2g} s" if value < 10 else f"{value:.0f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
