"""The criteria as options: the registry. To add one: its class in `qidsql.measures`, and a field here.

`Requirements` are what a policy can require besides k, so that no column set may reach them; `CriterionOptions` select
the criterion of a search or a masking. Requests that inherit the fields get the options everywhere.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from qidsql.core.files import refuse_pipe
from qidsql.core.options import CRITERION, DISCLOSURE, K, Reveals, Sensitive, fraction, names, positive_share
from qidsql.declarations.options import Option, Ratio, parameters
from qidsql.declarations.results import OMITTED
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
from qidsql.wording.texts import BY_REQUIRE, role, setting

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
    refuse_pipe(Path(path), option)
    try:
        return [line for line in Path(path).read_text(encoding="utf-8-sig").splitlines() if line]
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{option} cannot be read ({type(error).__name__}); expected values with commas between them, a file with "
            f"a line for each, or {ALPHABETICAL}"
        ) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Forbidden(Option):
    """The option of a criterion. What a policy can forbid has the words of its findings."""

    kind: type[Criterion]
    made: Callable[[str, Any, Any], Criterion]  # of the option's name and value, and the request; raises UsageError
    title: str = ""
    explanation: str = ""
    panel: str = CRITERION
    in_policies: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit(Option):
    """The option of a limit on what classes disclose about a sensitive column."""

    kind: type[DisclosureLimit]
    template: str  # of the classes that exceed it, in `sql_templates/disclosure`
    requires: str  # of every class
    made: Callable[[str, Any, Any], DisclosureLimit] | None = None  # by default of a number
    panel: str = DISCLOSURE
    by_require: bool = True
    in_policies: bool = True

    def of(self, name: str, sensitive: str, value: Any, given: "Requirements") -> DisclosureLimit:
        """The limit of that option's value. Raises UsageError."""
        return self.made(sensitive, value, given) if self.made else self.kind(sensitive, fraction(name, value))

    @property
    def title(self) -> str:
        return f"A column set discloses a sensitive column ({self.kind.finding})"

    @property
    def explanation(self) -> str:
        return (
            "Whoever knows these columns learns more about the sensitive column than the policy allows: rows that "
            f"agree on them form a class, and each class must have {self.requires}."
        )


def _limited(given: "Requirements") -> tuple[str, ...]:
    """The sensitive columns that limits are about."""
    one: str | None = getattr(given, "reveals", None)
    return names(given.sensitive if one is None else one)


def _violates(name: str, k: int, given: "Requirements") -> Criterion:
    if k < 2:
        raise UsageError(f"{setting(name)} must be at least 2, got {k}: every table is 1-anonymous")
    return Violates(k)


def _recursive(sensitive: str, value: str, given: "Requirements") -> DisclosureLimit:
    c, _, rank = value.partition(",")
    if not rank.strip().isdecimal():
        raise UsageError(f"{setting('recursive_l')} must be C,L such as 3,2, got {value}")
    return Recursive(sensitive, fraction("recursive_l", c), int(rank))


def _hierarchical(sensitive: str, value: str, given: "Requirements") -> DisclosureLimit:
    if given.hierarchy is None:
        raise UsageError(f"{setting('t_hierarchical')} needs the hierarchy of the values: {setting('hierarchy')} FILE")
    if len(_limited(given)) > 1:
        raise UsageError(f"{setting('hierarchy')} is that of one sensitive column; name one")
    return DistantInHierarchy(sensitive, fraction("t_hierarchical", value), given.hierarchy)


def _ordered(sensitive: str, value: str, given: "Requirements") -> DisclosureLimit:
    listed = None if given.order is None else read_order(given.order)
    if listed is not None and len(_limited(given)) > 1:
        raise UsageError(f"{setting('order')} is that of one sensitive column; name one")
    return DistantInOrder(sensitive, fraction("t_ordered", value), given.order, listed)


LValues: TypeAlias = Annotated[
    int | None,
    Limit(
        "column sets with a class of fewer than L values of a sensitive column (l-diversity)",
        "L",
        ("--l", "--l-diversity"),
        by_require=False,
        kind=FewValues,
        template="few_values",
        requires="at least l different values of the sensitive column",
    ),
]


@dataclass(frozen=True, kw_only=True)
class ClassLimits:
    """Limits on the classes that no column set may reach."""

    k: K = 5
    rows_below_k: Annotated[
        Ratio,
        Forbidden(
            "column sets that put at least this share of the rows (5%) below k",
            "SHARE",
            kind=RowsBelowK,
            made=lambda name, value, given: RowsBelowK(given.k, positive_share(name, value)),
            title="A column set puts too many rows below k",
            explanation="The share of rows in classes below k reaches the limit of the policy.",
        ),
    ] = None
    distinct: Annotated[
        Ratio,
        Forbidden(
            "column sets of at least this distinct ratio, such as 0.9",
            "RATIO",
            kind=Distinct,
            made=lambda name, value, given: Distinct(positive_share(name, value)),
            title="A column set reaches the distinct ratio",
            explanation="The number of classes divided by the number of rows reaches the limit of the policy.",
        ),
    ] = None
    separation: Annotated[
        Ratio,
        Forbidden(
            "column sets of at least this separation ratio",
            "RATIO",
            kind=Separation,
            made=lambda name, value, given: Separation(positive_share(name, value)),
            title="A column set reaches the separation ratio",
            explanation="The share of pairs of rows that differ in these columns reaches the limit of the policy.",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class DisclosureOptions:
    """Limits on what classes disclose about sensitive columns, and these columns."""

    l_diversity: LValues = None
    entropy_l: Annotated[
        Ratio,
        Limit(
            "column sets with a class of an entropy below ln L in a sensitive column",
            "L",
            kind=LowEntropy,
            template="low_entropy",
            requires="an entropy of the sensitive column of at least ln l",
        ),
    ] = None
    recursive_l: Annotated[
        str | None,
        Limit(
            "column sets with a class not recursive (C,L)-diverse in a sensitive column",
            "C,L",
            kind=Recursive,
            template="recursive",
            requires="a commonest value with fewer than c times the rows of the values from the l-th on",
            made=_recursive,
        ),
    ] = None
    alpha: Annotated[
        Ratio,
        Limit(
            "column sets with a class of which more than this share has the same sensitive value",
            "SHARE",
            kind=Frequent,
            template="frequent",
            requires="at most the share alpha of its rows with the same value of the sensitive column",
        ),
    ] = None
    t_closeness: Annotated[
        Ratio,
        Limit(
            "column sets with a class further than T from the table in a sensitive column (t-closeness)",
            "T",
            ("--t", "--t-closeness"),
            by_require=False,
            kind=Distant,
            template="distant",
            requires="values of the sensitive column within the distance t of those of the table",
        ),
    ] = None
    t_hierarchical: Annotated[
        Ratio,
        Limit(
            "t-closeness by the distance in a hierarchy of the values",
            "T",
            kind=DistantInHierarchy,
            template="distant_in_hierarchy",
            requires="values of the sensitive column within the distance t of those of the table, by their hierarchy",
            made=_hierarchical,
        ),
    ] = None
    hierarchy: Annotated[
        str | None,
        Option(
            "the hierarchy for t-hierarchical, as in ARX: a line value;parent;...;* for each value",
            "FILE",
            panel=DISCLOSURE,
            in_shells=False,
            in_policies=True,
        ),
    ] = None
    t_ordered: Annotated[
        Ratio,
        Limit(
            "t-closeness by the distance of ordered values",
            "T",
            kind=DistantInOrder,
            template="distant_in_order",
            requires="ordered values of the sensitive column within the distance t of those of the table",
            made=_ordered,
        ),
    ] = None
    order: Annotated[
        str | None,
        OMITTED,
        Option(
            "the order of texts for t-ordered, the lowest first: none,mild,severe, a file with a line for each "
            "value, or alphabetical",
            "VALUES",
            panel=DISCLOSURE,
            in_policies=True,
        ),
    ] = None
    beta_likeness: Annotated[
        Ratio,
        Limit(
            "column sets with a class in which a sensitive value exceeds its share of the table by more than BETA "
            "times it (beta-likeness)",
            "BETA",
            kind=MoreFrequent,
            template="more_frequent",
            requires="no value that exceeds its share of the table by more than beta times it",
        ),
    ] = None
    enhanced_beta: Annotated[
        Ratio,
        Limit(
            "beta-likeness with a tighter limit for frequent values",
            "BETA",
            kind=MoreFrequentEnhanced,
            template="more_frequent_enhanced",
            requires="no value that exceeds its share of the table by more than beta times it, or less for frequent "
            "values",
        ),
    ] = None
    delta_disclosure: Annotated[
        Ratio,
        Limit(
            "column sets with a class in which a sensitive value's share differs by a factor of e^DELTA or more",
            "DELTA",
            kind=AnyDifference,
            template="any_difference",
            requires="no value whose share differs from that of the table by a factor of e^delta or more",
        ),
    ] = None
    sensitive: Sensitive = ()


@dataclass(frozen=True, kw_only=True)
class Requirements(DisclosureOptions, ClassLimits):
    """Limits that no column set may reach."""

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """The criteria that no column set may meet: k-anonymity first. Raises UsageError."""
        return (Violates(self.k), *given_criteria(self))


@dataclass(frozen=True, kw_only=True)
class CriterionOptions(Requirements):
    """The criterion to search for, or to forbid in publications: at most one; keys by default."""

    reveals: Reveals = None
    violates: Annotated[
        int | None,
        Forbidden("column sets with some class below K", "K", kind=Violates, made=_violates, in_policies=False),
    ] = None
    all_classes: Annotated[
        bool,
        Forbidden(
            "column sets that separate all rows that all columns separate: keys, duplicate rows aside",
            kind=Determines,
            made=lambda name, value, given: Determines(),
            in_policies=False,
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


# The registries, by the names of the options.
OPTIONS = {each.name: each.option for each in parameters(CriterionOptions)}
CRITERIA = {name: option for name, option in OPTIONS.items() if isinstance(option, Forbidden)}
LIMITS = {name: option for name, option in OPTIONS.items() if isinstance(option, Limit)}
BY_REQUIRE.update(name for name, option in LIMITS.items() if option.by_require)


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
    limits = [(name, value, LIMITS[name]) for name, value in used.items() if name in LIMITS]
    return (
        *(CRITERIA[name].made(name, value, given) for name, value in used.items() if name in CRITERIA),
        *(limit.of(name, column, value, given) for name, value, limit in limits for column in sensitive),
    )
