"""The criteria that decide whether a column set is a quasi-identifier, each with its names and requirements.

Integers and `Fraction` decide. No other module tests for a specific criterion: all differences between criteria are
methods and attributes here.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import ClassVar, Self, TypeAlias

from qidsql.errors import UsageError
from qidsql.measures.histories import KnownRows
from qidsql.measures.profiles import ClassProfile, Profiler
from qidsql.measures.sampling import antichain, distinct_key_rows, key_pairs, near_size, sure_ratio
from qidsql.wording.texts import count, decimal, percent, plural, ratio

Progress: TypeAlias = tuple[int, int]  # the second number breaks ties of the first


class Unit(StrEnum):
    """The units of a sample."""

    ROWS = "rows"  # drawn without replacement
    PAIRS = "pairs of rows"  # drawn independently


class Criterion(ABC):
    """A monotone test on class profiles: once a column set meets it, every superset does.

    `finding` is the kind of finding of a column set that meets it, and part of the finding's id in a history.
    `pairs_decide`: a set fails the criterion if and only if two rows agree on it. `distinct_decide`: if and only if two
    different rows do. `covers_pairs`: it requires a number
    of pairs of rows to be separated, so that greedy searches keep a factor to the lightest set. `few_columns`: minimal
    sets are usually small, and best searched from the single columns upwards. `unit` is the unit of samples;
    `tested_on_samples`: they can refute it (see `on_sample`), and `sure_on_samples`: without any chance of error.
    `proved_below`: a single class of fewer rows proves that a set meets it; None: no single class does.
    `counts_classes`: it is undefined if a NULL matches anything, as there are no classes then; `measures_rows`: nor
    with entities.
    """

    finding: ClassVar[str]
    unit: ClassVar[Unit] = Unit.ROWS
    pairs_decide: ClassVar[bool] = False
    distinct_decide: ClassVar[bool] = False
    covers_pairs: ClassVar[bool] = False
    few_columns: ClassVar[bool] = False
    tested_on_samples: ClassVar[bool] = False
    sure_on_samples: ClassVar[bool] = False
    counts_classes: ClassVar[bool] = False
    measures_rows: ClassVar[bool] = False

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of a column set that meets it."""

    @property
    @abstractmethod
    def options(self) -> str:
        """The options that request it, as typed; empty for the default."""

    @property
    def proved_below(self) -> int | None:
        return None

    @property
    def about(self) -> str | None:
        """The sensitive column whose values decide, beside the classes; None if the classes alone do."""
        return None

    @property
    def linked(self) -> KnownRows:
        """The rows of a person that decide together."""
        return KnownRows.ONE

    def measured_by(self, profile: ClassProfile) -> bool:
        """Whether the profile has the figures that decide."""
        return True

    def of_whole(self, whole: ClassProfile) -> "Criterion":
        """The criterion on a table whose columns all together have this profile, if it depends on that."""
        return self

    @abstractmethod
    def met_by(self, profile: ClassProfile) -> bool:
        """Whether a column set with this profile meets it."""

    @abstractmethod
    def progress(self, profile: ClassProfile) -> Progress:
        """A figure that a further column never lowers; greedy searches increase it."""

    @abstractmethod
    def reached(self, profile: ClassProfile) -> str:
        """The result of columns with this profile in words: "have the distinct ratio 0.9"."""

    def violation(self, profile: ClassProfile) -> str:
        """That columns with this profile meet it, as a sentence."""
        return f"they contain a {self.name}"

    def impossible(self, whole: ClassProfile) -> str:
        """Why no column set meets it if all columns together have this profile."""
        return f"no {self.name} exists: all columns together {self.reached(whole)}"

    @property
    def obstacle(self) -> str:
        """The name of columns that meet it, as an obstacle to a policy."""
        return f"a {self.name}".replace("a column set with ", "has ").replace("a column set that ", "")

    @property
    def forbidden(self) -> "Criterion":
        """The criterion that masking forbids. Raises UsageError if there is none."""
        return self

    def almost(self, epsilon: Fraction) -> "Ratio":
        """The ratio that keys of a sample reach on the table. Raises UsageError if a sample cannot guarantee it."""
        raise UsageError(f"a sample cannot guarantee a {self.name}; only keys and the separation or distinct ratio")

    @property
    def part_of_pairs(self) -> "Separation | None":
        """The criterion itself, if it requires a part of all pairs of rows to be separated, which pairs can measure."""
        return None

    def near_sample(self, epsilon: Fraction, delta: Fraction, columns: int) -> int:
        """The sample size for which `on_sample` is at most epsilon below the criterion. Raises UsageError."""
        raise UsageError(f"a sample cannot rule out a {self.name}: it has no information on small classes")

    def on_sample(self, sample: Profiler, size: int, delta: Fraction) -> "Criterion":
        """A criterion that sets meeting this one on the table meet on a sample of `size` units, but for chance delta.

        Raises UsageError unless `tested_on_samples`.
        """
        raise UsageError(f"a sample cannot rule out a {self.name}: it has no information on small classes")


@dataclass(frozen=True, slots=True)
class Key(Criterion):
    """No two rows agree on the set: a key, or unique column combination [Motwani & Xu, 1.1].

    With an entity: no combination of values is shared by two entities.
    """

    finding = "key"
    pairs_decide = covers_pairs = tested_on_samples = sure_on_samples = True

    @property
    def name(self) -> str:
        return "key"

    @property
    def options(self) -> str:
        return ""

    def met_by(self, profile: ClassProfile) -> bool:
        return profile.colliding_pairs == 0

    def progress(self, profile: ClassProfile) -> Progress:
        return -profile.colliding_pairs, 0

    def reached(self, profile: ClassProfile) -> str:
        if profile.entities:
            return "agree for some entities"
        number = profile.duplicate_rows
        return f"agree in {plural(number, 'row')} with another row"

    def impossible(self, whole: ClassProfile) -> str:
        if whole.entities:
            return "no key exists: some entities share all their values with another"
        if whole.wildcard:
            matching = plural(whole.duplicate_rows, "row matches", "rows match")
            return f"no key exists: {matching} another in all columns searched"
        duplicates = plural(whole.duplicate_rows, "row is a duplicate", "rows are duplicates")
        return f"no key exists: {duplicates} of another row in all columns searched"

    def almost(self, epsilon: Fraction) -> "Ratio":
        return Separation(1 - epsilon)

    def on_sample(self, sample: Profiler, size: int, delta: Fraction) -> Criterion:
        return self


@dataclass(frozen=True, slots=True)
class Ratio(Criterion):
    """A ratio of at least beta, or above it if `strict` is set.

    The printed optima of Motwani & Xu's masking example allow a ratio of exactly beta, though their text says "below":
    masking forbids the strict form.
    """

    tested_on_samples = measures_rows = True

    beta: Fraction
    strict: bool = False

    @abstractmethod
    def of(self, profile: ClassProfile) -> Fraction:
        """The ratio itself."""

    @abstractmethod
    def sample_size(self, rows: Callable[[], int], delta: Fraction, columns: int) -> int:
        """The size of a sample whose keys reach the ratio on a table of so many rows, up to probability delta."""

    @property
    def name(self) -> str:
        if self.strict:
            return f"quasi-identifier with a {self.finding} ratio above {decimal(self.beta)}"
        return f"{decimal(self.beta)}-{self.finding} quasi-identifier"

    @property
    def options(self) -> str:
        return f" --{self.finding} {decimal(self.beta)}"

    @property
    def forbidden(self) -> Criterion:
        if self.beta == 1:
            raise UsageError("a ratio of exactly 1 could be published, which is a key; give a smaller one, such as 0.9")
        return replace(self, strict=True)

    def met_by(self, profile: ClassProfile) -> bool:
        return self.of(profile) > self.beta if self.strict else self.of(profile) >= self.beta

    def at(self, beta: Fraction) -> Self:
        """This ratio with another threshold."""
        return replace(self, beta=beta, strict=False)

    def all_of(self, profile: ClassProfile) -> Self:
        """The criterion of column sets that reach as much as this profile."""
        return self.at(self.of(profile))

    def almost(self, epsilon: Fraction) -> "Ratio":
        return self.at(1 - epsilon)

    def near_sample(self, epsilon: Fraction, delta: Fraction, columns: int) -> int:
        return near_size(self.beta, epsilon, delta, antichain(columns))

    def on_sample(self, sample: Profiler, size: int, delta: Fraction) -> Criterion:
        return self.at(sure_ratio(self.beta, size, delta, antichain(sample.columns)))


@dataclass(frozen=True, slots=True)
class Distinct(Ratio):
    """Distinct ratio of at least beta [Motwani & Xu, 1.1]."""

    finding = "distinct"
    counts_classes = True

    def of(self, profile: ClassProfile) -> Fraction:
        return profile.distinct_ratio

    def progress(self, profile: ClassProfile) -> Progress:
        return profile.classes, 0

    def reached(self, profile: ClassProfile) -> str:
        return f"have the distinct ratio {ratio(profile.distinct_ratio, 6)}"

    def sample_size(self, rows: Callable[[], int], delta: Fraction, columns: int) -> int:
        return distinct_key_rows(rows(), 1 - self.beta, delta, antichain(columns))

    def almost(self, epsilon: Fraction) -> Ratio:
        if self.beta != 1:
            raise UsageError("with --epsilon, --distinct must be 1: the set found has the distinct ratio 1 - epsilon")
        return self.at(1 - epsilon)


@dataclass(frozen=True, slots=True)
class Separation(Ratio):
    """Separation ratio of at least beta [Motwani & Xu, 1.1]."""

    finding = "separation"
    covers_pairs = True
    unit = Unit.PAIRS

    def of(self, profile: ClassProfile) -> Fraction:
        return profile.separation_ratio

    def progress(self, profile: ClassProfile) -> Progress:
        return -profile.colliding_pairs, 0

    def reached(self, profile: ClassProfile) -> str:
        return f"have the separation ratio {ratio(profile.separation_ratio, 9)}"

    @property
    def part_of_pairs(self) -> "Separation | None":
        return self if self.beta < 1 else None

    def sample_size(self, rows: Callable[[], int], delta: Fraction, columns: int) -> int:
        return key_pairs(1 - self.beta, delta, antichain(columns))


@dataclass(frozen=True, slots=True)
class Violates(Criterion):
    """Some class is smaller than k: the set proves that k-anonymity fails [Yuan & Wang, Definition 3]."""

    finding = "below-k"
    few_columns = True

    k: int

    @property
    def name(self) -> str:
        return f"column set below k = {self.k}"

    @property
    def options(self) -> str:
        return f" --violates {self.k}"

    @property
    def obstacle(self) -> str:
        return f"below k = {self.k}"

    @property
    def proved_below(self) -> int:
        return self.k

    def met_by(self, profile: ClassProfile) -> bool:
        return 0 < profile.smallest < self.k

    def progress(self, profile: ClassProfile) -> Progress:
        return -profile.smallest, -profile.colliding_pairs

    def reached(self, profile: ClassProfile) -> str:
        return f"are {count(profile.smallest)}-anonymous"


@dataclass(frozen=True, slots=True)
class ViolatesByRows(Violates):
    """Fewer than k persons have some choice of known rows of a person: k^m-anonymity fails, or that of whole histories.

    [Terrovitis, Mamoulis, Kalnis 2008]
    """

    finding = "below-k-by-known-rows"

    known_rows: KnownRows

    @property
    def name(self) -> str:
        return f"column set below k = {self.k} by {self.known_rows.words} of a person"

    @property
    def options(self) -> str:
        return f" --violates {self.k} --known-rows {self.known_rows}"

    @property
    def obstacle(self) -> str:
        return f"below k = {self.k} by {self.known_rows.words}"

    @property
    def linked(self) -> KnownRows:
        return self.known_rows

    def measured_by(self, profile: ClassProfile) -> bool:
        return profile.smallest < self.k or profile.histories is not None

    def met_by(self, profile: ClassProfile) -> bool:
        if 0 < profile.smallest < self.k:
            return True
        if profile.rows and profile.histories is None:
            raise ValueError("the profile was taken without the rows of each person")
        return profile.histories is not None and profile.histories.smallest < self.k

    def reached(self, profile: ClassProfile) -> str:
        smallest = profile.smallest if profile.histories is None else profile.histories.smallest
        return f"are {count(smallest)}-anonymous by {self.known_rows.words} of a person"


@dataclass(frozen=True, slots=True)
class RowsBelowK(Criterion):
    """At least this share of the rows is in classes below k."""

    finding = "rows-below-k"

    k: int
    share: Fraction

    @property
    def name(self) -> str:
        return f"column set that puts at least {decimal(100 * self.share)} % of the rows below k = {self.k}"

    @property
    def options(self) -> str:
        return f" --rows-below-k {decimal(self.share)} --k {self.k}"

    def met_by(self, profile: ClassProfile) -> bool:
        if profile.k != self.k:
            raise ValueError(f"the profile was taken for k = {profile.k}, not {self.k}")
        return profile.rows > 0 and profile.share_below_k >= self.share

    def progress(self, profile: ClassProfile) -> Progress:
        return profile.rows_below_k, -profile.colliding_pairs

    def reached(self, profile: ClassProfile) -> str:
        return f"put {percent(profile.share_below_k)} of the rows below k = {self.k}"


@dataclass(frozen=True, slots=True)
class Determines(Criterion):
    """As many classes as all columns make: the set separates all rows that they separate. A key if there is one.

    `goal` is that number, once it is known. The test inside Yuan & Wang's Algorithm 5.1, which is not their
    Definition 3 (see `Violates`).
    """

    finding = "all-classes"
    distinct_decide = tested_on_samples = sure_on_samples = counts_classes = measures_rows = True

    goal: int | None = None

    @property
    def name(self) -> str:
        return "column set with all classes" if self.goal is None else f"column set with all {count(self.goal)} classes"

    @property
    def options(self) -> str:
        return " --all-classes"

    def of_whole(self, whole: ClassProfile) -> Criterion:
        return Determines(whole.classes)

    def met_by(self, profile: ClassProfile) -> bool:
        return profile.classes == self.goal

    def progress(self, profile: ClassProfile) -> Progress:
        return profile.classes, 0

    def reached(self, profile: ClassProfile) -> str:
        return f"make {plural(profile.classes, 'class', 'classes')}"

    @property
    def forbidden(self) -> Criterion:
        raise UsageError("--all-classes is for searches: published columns always have all of their own classes")

    def on_sample(self, sample: Profiler, size: int, delta: Fraction) -> Criterion:
        return self.of_whole(sample.profiles([(1 << sample.columns) - 1])[0])
