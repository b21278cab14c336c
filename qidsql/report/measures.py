"""The measures of column sets as columns of a table."""

from collections.abc import Sequence

from qidsql.core.policy import Policy
from qidsql.core.tables import Nulls
from qidsql.measures.profiles import ClassProfile
from qidsql.report.blocks import Head
from qidsql.report.disclosed import EXCEEDING, exceeding
from qidsql.wording.numbers import count, percent, ratio


def measure_columns(policy: Policy, profiles: Sequence[ClassProfile | None]) -> list[Head]:
    """The columns for these profiles: classes, the ratios (of rows only), smallest class, share below k, limits.

    With wildcard NULLs there are no classes, and their figures are omitted.
    """
    wildcard = policy.nulls == Nulls.WILDCARD
    ratios = [] if policy.entity else [Head("Separation", leaves=2)]
    if not wildcard:
        ratios = [Head("Values"), *([] if policy.entity else [Head("Distinct", leaves=3)]), *ratios]
    limits = max((len(each.disclosing) for each in profiles if each is not None), default=0)
    return [*ratios, Head("Smallest"), Head(f"Below {policy.k}"), *[Head(EXCEEDING)] * limits]


def measures(profile: ClassProfile | None, columns: Sequence[Head], places: tuple[int, int]) -> list[str]:
    """A cell for each of `measure_columns`; the distinct and the separation ratio with so many decimal places."""
    if profile is None:
        return ["not measured", *[""] * (len(columns) - 1)]
    ratios = [] if profile.entities else [ratio(profile.separation_ratio, places[1])]
    if not profile.wildcard:
        distinct = [] if profile.entities else [ratio(profile.distinct_ratio, places[0])]
        ratios = [count(profile.classes), *distinct, *ratios]
    return [*ratios, count(profile.smallest), percent(profile.share_below_k), *exceeding(profile)]
