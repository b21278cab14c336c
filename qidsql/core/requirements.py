"""The criteria as options: the registry. To add one: its class in `qidsql.measures.criteria`, a field and a line here.

`Requirements` are what a policy can require besides k, so that no column set may reach them; `CriterionOptions` select
the criterion of a search or a masking. Requests that inherit the fields get the options everywhere.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any

from qidsql.core.options import CRITERION, BelowK, DistinctRatio, K, RowsBelowK, SeparationRatio
from qidsql.core.parsing import positive_share
from qidsql.declarations.options import Option
from qidsql.errors import UsageError
from qidsql.measures.criteria import Criterion, Determines, Distinct, Key, RowsAtRisk, Separation, Violates
from qidsql.wording.option_names import setting


@dataclass(frozen=True, kw_only=True)
class Requirements:
    """Limits that no column set may reach."""

    k: K = 5
    distinct: DistinctRatio = None
    separation: SeparationRatio = None
    rows_at_risk: RowsBelowK = None

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """The criteria that no column set may meet: k-anonymity first. Raises UsageError."""
        return (Violates(self.k), *given_criteria(self))


@dataclass(frozen=True, kw_only=True)
class CriterionOptions(Requirements):
    """The criterion to search for, or to forbid in publications: at most one; keys by default."""

    violates: BelowK = None
    all_classes: Annotated[
        bool,
        Option(
            "column sets that separate all rows that all columns separate: keys, duplicate rows aside",
            panel=CRITERION,
        ),
    ] = False

    @property
    def criterion(self) -> Criterion:
        """The requested criterion; a key by default. Raises UsageError if there are several."""
        given = given_criteria(self)
        if len(given) > 1:
            *others, last = (setting(name) for name in CRITERIA)
            raise UsageError(f"choose one of {', '.join(others)} and {last}")
        return given[0] if given else Key()


def _violates(k: int, requirements: Requirements) -> Criterion:
    if k < 2:
        raise UsageError(f"{setting('violates')} must be at least 2, got {k}: every table is 1-anonymous")
    return Violates(k)


CRITERIA: Mapping[str, Callable[[Any, Any], Criterion]] = {
    "rows_at_risk": lambda value, given: RowsAtRisk(given.k, positive_share("rows_at_risk", value)),
    "distinct": lambda value, given: Distinct(positive_share("distinct", value)),
    "separation": lambda value, given: Separation(positive_share("separation", value)),
    "violates": _violates,
    "all_classes": lambda value, given: Determines(),
}


def given_criteria(given: Requirements) -> tuple[Criterion, ...]:
    """The criteria whose options are given, in the order of the registry. Raises UsageError."""
    own = {field.name for field in fields(given)}
    values = {name: getattr(given, name) for name in CRITERIA if name in own}
    used = {name: value for name, value in values.items() if value is not None and value is not False}  # 0 == False
    return tuple(CRITERIA[name](value, given) for name, value in used.items())
