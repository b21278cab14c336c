"""The criteria as options: the registry. To add one: its class in `qidsql.measures`, a field and a line here.

`Requirements` are what a policy can require besides k, so that no column set may reach them; `CriterionOptions` select
the criterion of a search or a masking. Requests that inherit the fields get the options everywhere.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

from qidsql.core.options import (
    CRITERION,
    Alpha,
    BelowK,
    Beta,
    Closeness,
    DeltaDisclosure,
    DistinctRatio,
    EnhancedBeta,
    EntropyL,
    HierarchicalCloseness,
    HierarchyFile,
    K,
    LeastShareBelowK,
    LValues,
    OrderedCloseness,
    RecursiveL,
    Reveals,
    Sensitive,
    SeparationRatio,
    ValueOrder,
    fraction,
    names,
    positive_share,
)
from qidsql.declarations.options import Option
from qidsql.errors import UsageError
from qidsql.measures.criteria import Criterion, Determines, Distinct, Key, RowsBelowK, Separation, Violates
from qidsql.measures.disclosure_limits import (
    AnyDifference,
    DisclosureLimit,
    Distant,
    DistantInHierarchy,
    DistantInOrder,
    FewValues,
    Frequent,
    LowEntropy,
    MoreFrequent,
    MoreFrequentEnhanced,
    Recursive,
)
from qidsql.wording.texts import role, setting

# The order of a sensitive column's values: a list, a file with a line for each, or on purpose that of the letters.


ALPHABETICAL = "alphabetical"


def read_order(given: str) -> tuple[str, ...] | None:
    """The values in their order; None for alphabetical. Raises UsageError, which names places and no values."""
    if given == ALPHABETICAL:
        return None
    option = f"{setting('order')} {Path(given).name}" if is_file(given) else setting("order")
    values = _lines(given, option) if is_file(given) else [each.strip() for each in given.split(",")]
    for place, value in enumerate(values):
        if value in values[:place]:
            raise UsageError(f"{option}: value {place + 1} stands there before; each has one place")
    if len(values) < 2:
        raise UsageError(f"{option}: expected at least two values, the lowest first")
    return tuple(values)


def is_file(given: str | None) -> bool:
    """Whether an order is in a file."""
    return given is not None and given != ALPHABETICAL and "," not in given


def _lines(path: str, option: str) -> list[str]:
    try:
        return [line for line in Path(path).read_text(encoding="utf-8-sig").splitlines() if line]
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{option} cannot be read ({type(error).__name__}); expected values with commas between them, a file with "
            f"a line for each, or {ALPHABETICAL}"
        ) from None


@dataclass(frozen=True, kw_only=True)
class Requirements:
    """Limits that no column set may reach."""

    k: K = 5
    distinct: DistinctRatio = None
    separation: SeparationRatio = None
    rows_below_k: LeastShareBelowK = None
    l_diversity: LValues = None
    entropy_l: EntropyL = None
    recursive_l: RecursiveL = None
    alpha: Alpha = None
    t_closeness: Closeness = None
    t_ordered: OrderedCloseness = None
    order: ValueOrder = None
    t_hierarchical: HierarchicalCloseness = None
    hierarchy: HierarchyFile = None
    beta_likeness: Beta = None
    enhanced_beta: EnhancedBeta = None
    delta_disclosure: DeltaDisclosure = None
    sensitive: Sensitive = ()

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """The criteria that no column set may meet: k-anonymity first. Raises UsageError."""
        return (Violates(self.k), *given_criteria(self))


@dataclass(frozen=True, kw_only=True)
class CriterionOptions(Requirements):
    """The criterion to search for, or to forbid in publications: at most one; keys by default."""

    reveals: Reveals = None
    violates: BelowK = None
    all_classes: Annotated[
        bool,
        Option(
            "column sets that separate all rows that all columns separate: keys, duplicate rows aside",
            panel=CRITERION,
        ),
    ] = False

    @property
    def disclosure(self) -> dict[str, Any]:
        """The options of a policy that follow from `reveals`."""
        if self.reveals is None:
            return {}
        least = {} if any(getattr(self, name) is not None for name in LIMITS) else {"l_diversity": 2}
        return {"sensitive": tuple(dict.fromkeys((*names(self.sensitive), self.reveals))), **least}

    @property
    def criterion(self) -> Criterion:
        """The requested criterion; a key by default. Raises UsageError if there are several."""
        given = given_criteria(self)
        if len({type(each) for each in given}) > 1:
            raise UsageError(f"choose one criterion, not{''.join(each.options for each in given)}")
        if len(given) > 1:
            raise UsageError(f"a search is for one sensitive column: name it with {setting('reveals')}")
        if self.reveals is not None and not given:
            return FewValues(self.reveals, Fraction(2))
        if self.reveals is not None and given[0].about is None:
            raise UsageError(f"choose one criterion, not {setting('reveals')}{given[0].options}")
        return given[0] if given else Key()


def _violates(k: int, requirements: Requirements) -> Criterion:
    if k < 2:
        raise UsageError(f"{setting('violates')} must be at least 2, got {k}: every table is 1-anonymous")
    return Violates(k)


CRITERIA: Mapping[str, Callable[[Any, Any], Criterion]] = {
    "rows_below_k": lambda value, given: RowsBelowK(given.k, positive_share("rows_below_k", value)),
    "distinct": lambda value, given: Distinct(positive_share("distinct", value)),
    "separation": lambda value, given: Separation(positive_share("separation", value)),
    "violates": _violates,
    "all_classes": lambda value, given: Determines(),
}


def _recursive(sensitive: str, value: str, given: Requirements) -> DisclosureLimit:
    c, _, rank = value.partition(",")
    if not rank.strip().isdecimal():
        raise UsageError(f"{setting('recursive_l')} must be C,L such as 3,2, got {value}")
    return Recursive(sensitive, fraction("recursive_l", c), int(rank))


def _hierarchical(sensitive: str, value: str, given: Requirements) -> DisclosureLimit:
    if given.hierarchy is None:
        raise UsageError(f"{setting('t_hierarchical')} needs the hierarchy of the values: {setting('hierarchy')} FILE")
    if len(_limited(given)) > 1:
        raise UsageError(f"{setting('hierarchy')} is that of one sensitive column; name one")
    return DistantInHierarchy(sensitive, fraction("t_hierarchical", value), given.hierarchy)


def _ordered(sensitive: str, value: str, given: Requirements) -> DisclosureLimit:
    listed = None if given.order is None else read_order(given.order)
    if listed is not None and len(_limited(given)) > 1:
        raise UsageError(f"{setting('order')} is that of one sensitive column; name one")
    return DistantInOrder(sensitive, fraction("t_ordered", value), given.order, listed)


# Limits on what is disclosed about a sensitive column, from its name and the option's value.
LIMITS: Mapping[str, Callable[[str, Any, Any], DisclosureLimit]] = {
    "l_diversity": lambda sensitive, value, given: FewValues(sensitive, Fraction(value)),
    "entropy_l": lambda sensitive, value, given: LowEntropy(sensitive, fraction("entropy_l", value)),
    "recursive_l": _recursive,
    "alpha": lambda sensitive, value, given: Frequent(sensitive, fraction("alpha", value)),
    "t_closeness": lambda sensitive, value, given: Distant(sensitive, fraction("t_closeness", value)),
    "t_hierarchical": _hierarchical,
    "t_ordered": _ordered,
    "beta_likeness": lambda sensitive, value, given: MoreFrequent(sensitive, fraction("beta_likeness", value)),
    "enhanced_beta": lambda sensitive, value, given: MoreFrequentEnhanced(sensitive, fraction("enhanced_beta", value)),
    "delta_disclosure": lambda sensitive, value, given: AnyDifference(sensitive, fraction("delta_disclosure", value)),
}


def _limited(given: Requirements) -> tuple[str, ...]:
    """The sensitive columns that limits are about."""
    one: str | None = getattr(given, "reveals", None)
    return names(given.sensitive if one is None else one)


def given_criteria(given: Requirements) -> tuple[Criterion, ...]:
    """The criteria whose options are given, in the order of the registries; limits for each sensitive column.

    Raises UsageError.
    """
    own = {field.name for field in fields(given)}
    values = {name: getattr(given, name) for name in (*CRITERIA, *LIMITS) if name in own}
    used = {name: value for name, value in values.items() if value is not None and value is not False}  # 0 == False
    sensitive = _limited(given)
    if given.order is not None and given.t_ordered is None:
        raise UsageError(f"{setting('order')} is the order of the values for {setting('t_ordered')}; name both")
    for name in LIMITS:
        if name in used and not sensitive:
            raise UsageError(f"{setting(name)} is about a sensitive column: {role('sensitive', ['COLUMN'])}")
    return (
        *(CRITERIA[name](value, given) for name, value in used.items() if name in CRITERIA),
        *(LIMITS[name](column, value, given) for name, value in used.items() if name in LIMITS for column in sensitive),
    )
