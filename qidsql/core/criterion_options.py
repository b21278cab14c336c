"""What `keys` and `mask` are asked for: their options, checked."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Any, TypedDict

from qidsql.core.policy import Policy, ratio
from qidsql.core.weights import column_weights
from qidsql.errors import UsageError
from qidsql.measures.profiles import Criterion, Distinct, Key, RowsAtRisk, Separation, Violates

DELTA = Fraction(1, 100)


class Wanted(StrEnum):
    """Which of the column sets that meet a criterion."""

    MINIMUM = "minimum"  # one of least weight
    MINIMAL = "minimal"  # one that can do without none of its columns
    ALL = "all"  # every minimal one


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a sample is drawn and trusted. None: not asked for. `verify`: measure the answer on the full table."""

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    seed: int | None = None
    verify: bool = True

    def __post_init__(self) -> None:
        for name, share in (("epsilon", self.epsilon), ("delta", self.delta)):
            if share is not None and not 0 < share < 1:
                raise UsageError(f"--{name} must lie between 0 and 1")

    @property
    def asked(self) -> bool:
        return self != Sampling()


class Asked(TypedDict):
    """What every search is asked."""

    policy: Policy
    criterion: Criterion
    weights: dict[str, int]
    sampling: Sampling


def asked(
    *,
    violates: int | None = None,
    k: int = 5,
    weights: str | Path | Mapping[str, int] | None = None,
    epsilon: str | float | Fraction | None = None,
    delta: str | float | Fraction | None = None,
    seed: int | None = None,
    verify: bool = True,
    **options: Any,
) -> Asked:
    """What a search is asked, from options as people give them; `options` are those of `Policy`. Raises UsageError."""
    policy = Policy.read(k=violates or k, **options)
    return Asked(
        policy=policy,
        criterion=criterion(policy.distinct, policy.separation, violates, policy.rows_at_risk, k),
        weights=column_weights(weights),
        sampling=Sampling(ratio(epsilon, "--epsilon"), ratio(delta, "--delta"), seed, verify),
    )


def wanted(text: str | None) -> Wanted | None:
    """What was asked for, by its name. Raises UsageError."""
    try:
        return None if text is None else Wanted(text)
    except ValueError:
        raise UsageError(f"wanted must be {', '.join(Wanted)}; got {text}") from None


def criterion(
    distinct: Fraction | None = None,
    separation: Fraction | None = None,
    violates: int | None = None,
    rows_at_risk: Fraction | None = None,
    k: int = 5,
) -> Criterion:
    """The one criterion that was asked for; a key when none was. Raises UsageError when there are several."""
    if violates is not None and violates < 2:
        raise UsageError(f"--violates must be at least 2, got {violates}: every table is 1-anonymous")
    given: list[Criterion] = []
    if distinct is not None:
        given.append(Distinct(distinct))
    if separation is not None:
        given.append(Separation(separation))
    if violates is not None:
        given.append(Violates(violates))
    if rows_at_risk is not None:
        given.append(RowsAtRisk(k, rows_at_risk))
    if len(given) > 1:
        raise UsageError("choose one of --distinct, --separation, --violates and --rows-at-risk")
    return given[0] if given else Key()
