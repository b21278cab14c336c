"""Limits on what classes disclose about a sensitive column: the models of attribute disclosure, as criteria.

A column set meets such a criterion if some class exceeds the limit. Each is monotone: a further column divides classes,
and some part of a class that exceeds the limit exceeds it too. That holds for the definitions as they stand here, with
the counts of the whole table, and for classes of rows; of entities, which can have several values, it holds for
`FewValues` of two values alone.

The engine decides, in integers: f rows of a class of z have a value that P of all n rows have. Only the logarithms of
`LowEntropy`, `EnhancedBeta` and `DeltaDisclosure` are floats there; a class within 1e-9 of these limits exceeds them.
"""

import shlex
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from qidsql.errors import UsageError
from qidsql.measures.criteria import Criterion, Progress
from qidsql.measures.profiles import ClassProfile, Disclosing
from qidsql.wording.texts import are, count, decimal, percent, plural

MILLIONTHS = 1_000_000


@dataclass(frozen=True, slots=True)
class DisclosureLimit(Criterion):
    """Some class discloses more about the sensitive column than the limit allows.

    `by_class`: the rows of a class alone decide. `kept_by_more`: a class within the limit stays so with any rows more.
    """

    counts_classes = True
    measures_rows = True
    by_class: ClassVar[bool] = False
    kept_by_more: ClassVar[bool] = False
    sensitive: str
    limit: Fraction

    @property
    @abstractmethod
    def excess(self) -> str:
        """What a class is that exceeds the limit: "of fewer than 3 values of diagnosis"."""

    @property
    @abstractmethod
    def meaning(self) -> str:
        """What the limit requires, and what it does not cover, in words a lawyer understands."""

    @property
    def label(self) -> str:
        """Its name in profiles."""
        return f"classes {self.excess}"

    @property
    def name(self) -> str:
        return f"column set with a class {self.excess}"

    @property
    def options(self) -> str:
        return f" --require {self.finding}={decimal(self.limit)}"

    @property
    def about(self) -> str | None:
        return self.sensitive

    @property
    def by_order(self) -> bool:
        """Whether it depends on the order that the type of the values has."""
        return False

    @property
    def hierarchy(self) -> str | None:
        """The file with the hierarchy of the values, if it depends on one."""
        return None

    @property
    def limits(self) -> Mapping[str, int]:
        """The limit as integers."""
        return {"numerator": self.limit.numerator, "denominator": self.limit.denominator}

    def of(self, profile: ClassProfile) -> Disclosing:
        """Its figures. Raises ValueError if the profile was taken without them."""
        for each in profile.disclosing:
            if each.limit == self.label:
                return each
        raise ValueError("the profile was taken without the sensitive column")

    def worst(self, profile: ClassProfile) -> float:
        """What the worst class discloses, to six decimals: for display."""
        return self.of(profile).worst / MILLIONTHS

    def measured_by(self, profile: ClassProfile) -> bool:
        return not profile.rows or any(each.limit == self.label for each in profile.disclosing)

    def met_by(self, profile: ClassProfile) -> bool:
        return profile.rows > 0 and self.of(profile).classes > 0

    def progress(self, profile: ClassProfile) -> Progress:
        worst = self.of(profile).worst if profile.disclosing else 0  # no figures: the empty column set
        return worst, -profile.colliding_pairs

    def reached(self, profile: ClassProfile) -> str:
        return f"keep every class within the limit: {self.figure(profile)}"

    def figure(self, profile: ClassProfile) -> str:
        """What the worst class discloses, in words."""
        return f"at most {self.worst(profile):.4g}"

    def violation(self, profile: ClassProfile) -> str:
        unit = "entities" if profile.entities else "rows"
        rows = self.of(profile).rows
        share = percent(Fraction(rows, profile.rows))
        return f"{count(rows)} of {count(profile.rows)} {unit} ({share}) {are(rows)} in classes {self.excess}"

    @property
    def forbidden(self) -> Criterion:
        return self


@dataclass(frozen=True, slots=True)
class FewValues(DisclosureLimit):
    """Some class has fewer than l different values: not distinct l-diverse [Machanavajjhala et al. 2006].

    With l = 2: someone's value is known for certain (the homogeneity attack).
    """

    finding = "l-diversity"
    by_class = kept_by_more = True

    @property
    def options(self) -> str:
        return f" --{self.finding} {decimal(self.limit)}"

    @property
    def measures_rows(self) -> bool:  # type: ignore[override]
        """A class of persons, who have several values each, has two if they have none in common. Three or more would be
        the fewest values of which each person has one, a hitting set, which is NP-hard to find."""
        return self.limit > 2

    def __post_init__(self) -> None:
        if self.limit.denominator != 1 or self.limit < 2:
            raise UsageError(f"l must be a whole number of at least 2, got {decimal(self.limit)}")

    @property
    def limits(self) -> Mapping[str, int]:
        return {"least": int(self.limit)}

    @property
    def name(self) -> str:
        if self.limit == 2:
            return f"column set that reveals somebody's {self.sensitive}"
        return f"column set with a class {self.excess}"

    @property
    def excess(self) -> str:
        if self.limit == 2:
            return f"of a single value of {self.sensitive}"
        return f"of fewer than {count(int(self.limit))} values of {self.sensitive}"

    @property
    def meaning(self) -> str:
        return (
            f"at least {int(self.limit)} different values of {self.sensitive} in every class, so that nobody's is "
            "known for certain. One of them can still be far more likely than the others"
        )

    def figure(self, profile: ClassProfile) -> str:
        values = round(10**18 / self.of(profile).worst)
        return f"each has at least {plural(values, 'value')} of {self.sensitive}"


@dataclass(frozen=True, slots=True)
class LowEntropy(DisclosureLimit):
    """Some class has an entropy below ln l: not entropy l-diverse [Machanavajjhala et al. 2006].

    A class of l equally frequent values has the entropy ln l and is within the limit; any other class whose entropy is
    within 1e-9 of it counts as below.
    """

    finding = "entropy-l"
    by_class = True

    def __post_init__(self) -> None:
        if self.limit <= 1:
            raise UsageError(f"the l of the entropy must be above 1, got {decimal(self.limit)}")

    @property
    def excess(self) -> str:
        return f"of an entropy below ln {decimal(self.limit)} in {self.sensitive}"

    @property
    def meaning(self) -> str:
        return (
            f"the {self.sensitive} as hard to guess in every class as {decimal(self.limit)} equally frequent values, "
            "by entropy. A guess can still be right more often than one in that many"
        )

    def figure(self, profile: ClassProfile) -> str:
        return f"entropies are at least ln {1 / self.worst(profile):.4g}"


@dataclass(frozen=True, slots=True)
class Recursive(DisclosureLimit):
    """Some class is not recursive (c,l)-diverse: its commonest value has at least c times as many rows as the l-th
    commonest and all rarer ones together [Machanavajjhala et al. 2006]. `limit` is c."""

    finding = "recursive-l"
    by_class = True

    rank: int

    def __post_init__(self) -> None:
        if self.limit <= 0 or self.rank < 2:
            raise UsageError(f"c must be above 0 and l at least 2, got {decimal(self.limit)},{self.rank}")

    @property
    def limits(self) -> Mapping[str, int]:
        return {"numerator": self.limit.numerator, "denominator": self.limit.denominator, "rank": self.rank}

    @property
    def excess(self) -> str:
        return f"not recursive ({decimal(self.limit)},{self.rank})-diverse in {self.sensitive}"

    @property
    def meaning(self) -> str:
        others = "the other ones" if self.rank == 2 else f"all but the {self.rank - 1} commonest"
        return (
            f"in every class, a commonest {self.sensitive} with fewer than {decimal(self.limit)} times the rows of "
            f"{others} together. A value can still be more likely than in the table"
        )

    @property
    def options(self) -> str:
        return f" --require {self.finding}={decimal(self.limit)},{self.rank}"

    def figure(self, profile: ClassProfile) -> str:
        worst = self.worst(profile)
        return f"their c is at most {worst / (1 - worst):.4g}" if worst < 1 else "some have fewer values"


@dataclass(frozen=True, slots=True)
class Frequent(DisclosureLimit):
    """In some class more than alpha of the rows have the same value: not (alpha,k)-anonymous [Wong et al. 2006]."""

    finding = "alpha"
    by_class = True

    def __post_init__(self) -> None:
        if not 0 < self.limit < 1:
            raise UsageError(f"alpha must be above 0 and below 1, got {decimal(self.limit)}")

    @property
    def excess(self) -> str:
        return f"in which more than {decimal(self.limit)} share a value of {self.sensitive}"

    @property
    def meaning(self) -> str:
        return (
            f"no {self.sensitive} shared by more than {decimal(100 * self.limit)} % of a class, so that no guess is "
            "right more often. Knowing the class can still make a rare value likely"
        )

    def figure(self, profile: ClassProfile) -> str:
        return f"at most {self.worst(profile):.4g} share a value of {self.sensitive}"


@dataclass(frozen=True, slots=True)
class Distant(DisclosureLimit):
    """The values of some class are further than t from those of the table: not t-close [Li et al. 2007].

    By equal distance: half the sum of the differences of the shares.
    """

    finding = "t-closeness"
    distance: ClassVar[str] = ""

    def __post_init__(self) -> None:
        if not 0 <= self.limit < 1:
            raise UsageError(f"t must be at least 0 and below 1, got {decimal(self.limit)}")

    @property
    def options(self) -> str:
        return f" --{self.finding} {decimal(self.limit)}"

    @property
    def excess(self) -> str:
        return f"further than t = {decimal(self.limit)} from the table in {self.sensitive}{self.distance}"

    @property
    def meaning(self) -> str:
        return (
            f"knowing the class moves at most {decimal(100 * self.limit)} % of the shares of "
            f"{self.sensitive}{self.distance}. All values count alike: a class can still consist of similar ones"
        )

    def figure(self, profile: ClassProfile) -> str:
        return f"the furthest has the distance {self.worst(profile):.4g}"


@dataclass(frozen=True, slots=True)
class DistantInOrder(Distant):
    """Some class lies further from the table than t, by the distance of ordered values: the mean difference of the
    cumulated shares.

    The order is that of the column's type over the values of the whole table, or one that is given; NULL comes last.
    `order`: what was given, `listed`: the values of their texts in that order; None if it is that of the letters.
    """

    finding = "t-ordered"
    distance = ", by order"

    order: str | None = None
    listed: tuple[str, ...] | None = None

    @property
    def by_order(self) -> bool:
        return self.order is None

    def ordering(self, kind: str) -> str:
        """The order, of values of this type, in words."""
        if self.listed is not None:
            return f"ordered by the given list of {plural(len(self.listed), 'value')}"
        return (
            f"ordered by its type{f', {kind}' if kind else ''}"
            if self.order is None
            else "ordered by letters, as asked"
        )

    @property
    def options(self) -> str:
        given = "" if self.order is None else f" --order {shlex.quote(self.order)}"
        return f" --require {self.finding}={decimal(self.limit)}{given}"

    @property
    def meaning(self) -> str:
        return (
            f"the shares of {self.sensitive} in a class within t = {decimal(self.limit)} of those in the table, where "
            "moving to a value close in order counts little. A rare value can still become far more likely"
        )


@dataclass(frozen=True, slots=True)
class DistantInHierarchy(Distant):
    """Some class lies further from the table than t, by the distance of a hierarchy of values: what moves between the
    children of a node costs the node's height, divided by that of the hierarchy. `file` has the hierarchy."""

    finding = "t-hierarchical"
    distance = ", by hierarchy"

    file: str

    @property
    def hierarchy(self) -> str:
        return self.file

    @property
    def meaning(self) -> str:
        return (
            f"the shares of {self.sensitive} in a class within t = {decimal(self.limit)} of those in the table, where "
            "moving to a value close in the hierarchy counts little. A rare value can still become far more likely"
        )

    @property
    def options(self) -> str:
        return f" --require {self.finding}={decimal(self.limit)} --hierarchy FILE"


@dataclass(frozen=True, slots=True)
class MoreFrequent(DisclosureLimit):
    """In some class a value is more than beta above its share of the table, relative to that share: not basic
    beta-likeness [Cao & Karras 2012]."""

    finding = "beta-likeness"
    model: ClassVar[str] = "beta"
    tighter: ClassVar[str] = ""

    def __post_init__(self) -> None:
        if self.limit <= 0:
            raise UsageError(f"beta must be above 0, got {decimal(self.limit)}")

    @property
    def excess(self) -> str:
        return f"beyond {self.model} = {decimal(self.limit)} in {self.sensitive}"

    @property
    def meaning(self) -> str:
        return (
            f"no {self.sensitive} becomes more than {decimal(1 + self.limit)} times as likely by knowing the class"
            f"{self.tighter}. It can still become less likely, or impossible"
        )

    def figure(self, profile: ClassProfile) -> str:
        return f"a share grows by at most {self.worst(profile):.4g} of itself"


@dataclass(frozen=True, slots=True)
class MoreFrequentEnhanced(MoreFrequent):
    """A share grows by more than a limit that is tighter for frequent values: min(beta, -ln p) for the share p of the
    table, which some tables exceed for every beta: enhanced beta-likeness [Cao & Karras 2012]."""

    finding = "enhanced-beta"
    model = "enhanced beta"
    tighter = ", and frequent ones by less"


@dataclass(frozen=True, slots=True)
class AnyDifference(DisclosureLimit):
    """In some class the share of some value of the table differs from the table's by a factor of e^delta or more: not
    delta-disclosure-private [Brickell & Shmatikov 2008]. A value that a class lacks differs by any factor."""

    finding = "delta-disclosure"

    def __post_init__(self) -> None:
        if self.limit <= 0:
            raise UsageError(f"the delta of the disclosure must be above 0, got {decimal(self.limit)}")

    @property
    def excess(self) -> str:
        return f"beyond delta = {decimal(self.limit)} in {self.sensitive}"

    @property
    def meaning(self) -> str:
        return (
            f"no {self.sensitive} becomes more or less likely by a factor of e^{decimal(self.limit)} by knowing the "
            "class, nor impossible. Small changes of frequent values are allowed"
        )

    def figure(self, profile: ClassProfile) -> str:
        worst = self.worst(profile)
        return "some lack a value" if worst >= 1 else f"a share changes by at most the factor {1 / (1 - worst):.4g}"


def limits_among(criteria: Iterable[Criterion]) -> list[DisclosureLimit]:
    """The limits on disclosure among these criteria.

    >>> from qidsql.measures.criteria import Key
    >>> [each.finding for each in limits_among([Key(), FewValues('diagnosis', Fraction(2))])]
    ['l-diversity']
    """
    return [each for each in criteria if isinstance(each, DisclosureLimit)]
