"""Class profiles, their ratios, and the protocols of their sources.

Integers and `Fraction` decide; floats appear only where a report prints. Independent of engines and SQL.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any, Protocol

from qidsql.measures.histories import Histories, KnownRows
from qidsql.wording.texts import count

# Attribute disclosure: what whoever knows some columns learns about a sensitive one.
#
# Rows that agree on the known columns form a class. Independent of engines and SQL.


@dataclass(frozen=True, slots=True)
class ClassValues:
    """The classes that hold so many different values, NULL being one of them; `stated` without NULL.

    `small`: classes of fewer than k rows. `guessed`: rows that hold the commonest value of their class.
    """

    values: int
    stated: int
    small: bool
    rows: int
    guessed: int


@dataclass(frozen=True, slots=True)
class Disclosure:
    """What the classes of a column set disclose about one sensitive column, in exact counts.

    With `entities`, "rows" are distinct entities: an entity is counted by its class of the fewest values, and there is
    no guess, as an entity can have several values. A value that all entities of a class have counts as its only one.
    """

    rows: int
    values: int  # different values in the table, NULL being one of them
    fewest_values: int  # in any class: the table is distinct l-diverse for l up to that [Machanavajjhala et al. 2006]
    revealed: int  # rows in classes of a single value: the homogeneity attack
    revealed_null: int  # those of them whose single value is NULL: "not stated"
    nearly_revealed: int  # rows in classes of a single value and NULL, which hides nothing if NULL means "unknown"
    k: int
    guessed_blindly: int | None = None  # rows that hold the commonest value of the table
    guessed: int | None = None  # rows that hold the commonest value of their class
    rows_in_large: int | None = None  # rows in classes of at least k rows
    guessed_in_large: int | None = None  # those of them that hold the commonest value of their class
    entities: bool = False

    @property
    def share_revealed(self) -> Fraction:
        """Rows in classes of a single value / rows; 0 for an empty table."""
        return Fraction(self.revealed, self.rows) if self.rows else Fraction(0)

    @property
    def guess_before(self) -> Fraction | None:
        """The share guessed right by always naming the table's commonest value [Smith 2009, Bayes vulnerability]."""
        return _share(self.guessed_blindly, self.rows)

    @property
    def guess_after(self) -> Fraction | None:
        """The share guessed right by naming the commonest value of each class. Never below `guess_before`."""
        return _share(self.guessed, self.rows)

    @property
    def guess_in_large(self) -> Fraction | None:
        """The share guessed right among the rows in classes of k or more; None if there are none."""
        return _share(self.guessed_in_large, self.rows_in_large)

    @classmethod
    def of_classes(cls, classes: Iterable[ClassValues], values: int, guessed_blindly: int, k: int) -> "Disclosure":
        """The disclosure of these classes; `values` and `guessed_blindly` are those of the whole table."""
        found = list(classes)
        large = [each for each in found if not each.small]
        return replace(
            _counted(found, values, k),
            guessed_blindly=guessed_blindly,
            guessed=sum(each.guessed for each in found),
            rows_in_large=sum(each.rows for each in large),
            guessed_in_large=sum(each.guessed for each in large),
        )

    @classmethod
    def of_entities(cls, entities: Iterable[ClassValues], values: int, k: int) -> "Disclosure":
        """What is disclosed about distinct entities, which are the `rows` of `entities`."""
        return replace(_counted(list(entities), values, k), entities=True)


def _counted(found: Sequence[ClassValues], values: int, k: int) -> Disclosure:
    return Disclosure(
        rows=sum(each.rows for each in found),
        values=values,
        fewest_values=min((each.values for each in found), default=0),
        revealed=sum(each.rows for each in found if each.values == 1),
        revealed_null=sum(each.rows for each in found if each.values == 1 and not each.stated),
        nearly_revealed=sum(each.rows for each in found if each.values == 2 and each.stated == 1),
        k=k,
    )


def _share(part: int | None, whole: int | None) -> Fraction | None:
    return Fraction(part, whole) if part is not None and whole else None


COUNTS = (
    *("classes", "smallest", "largest", "k"),
    *("classes_below_k", "rows_below_k", "unique_rows", "colliding_pairs"),
)
RATIOS = ("distinct_ratio", "separation_ratio", "share_below_k")


@dataclass(frozen=True, slots=True)
class Disclosing:
    """The classes of one column set that exceed a limit on disclosure (see `qidsql.measures.disclosure_limits`)."""

    limit: str  # classes of fewer than 3 values of diagnosis
    rows: int  # in such classes; with entities: distinct entities
    classes: int
    worst: int  # what the worst class discloses, in units of the limit: more is worse


@dataclass(frozen=True, slots=True)
class ClassProfile:
    """The equivalence classes of one column set in figures.

    Rows that agree on the set form a class. With `entities`, "rows" are distinct entities: a class's size is the
    number of distinct entities in it, an entity is below k if any of its classes is below k, and the two ratios, which
    are about rows, are undefined.

    With `wildcard`, a NULL matches anything, which is not transitive: there are no classes, the two counts of classes
    are 0, and a row's "class" is itself and the rows that match it (sdcMicro's frequency count). `colliding_pairs` are
    the ordered pairs of rows that match, so keys and the separation ratio keep their meaning.
    """

    rows: int
    classes: int
    smallest: int  # 0 for an empty table
    largest: int
    k: int  # the k that the two counts "below k" refer to
    classes_below_k: int  # classes below k
    rows_below_k: int  # rows in classes below k
    unique_rows: int  # rows in classes of size 1
    colliding_pairs: int  # sum of c * (c - 1) over the classes: ordered pairs that the set does not separate
    entities: bool = False
    wildcard: bool = False
    disclosing: tuple[Disclosing, ...] = ()  # one for each limit that was measured with it
    histories: Histories | None = None  # persons by several known rows, if that was measured with it

    @property
    def distinct_ratio(self) -> Fraction:
        """Classes / rows [Motwani & Xu, 1.1]; 1 for an empty table. Raises ValueError if there are no classes."""
        if self.wildcard:
            raise ValueError("if a NULL matches anything there are no classes to count")
        return Fraction(self.classes, self.rows) if self.rows else Fraction(1)

    @property
    def separation_ratio(self) -> Fraction:
        """Share of the pairs of rows that the set separates [Motwani & Xu, 1.1]; 1 if there is no pair."""
        pairs = self.rows * (self.rows - 1)
        return 1 - Fraction(self.colliding_pairs, pairs) if pairs else Fraction(1)

    @property
    def share_below_k(self) -> Fraction:
        """Rows in classes below k / rows; 0 for an empty table."""
        return Fraction(self.rows_below_k, self.rows) if self.rows else Fraction(0)

    @property
    def duplicate_rows(self) -> int:
        """Rows beyond the first of each class; with `wildcard`, rows that match another."""
        return self.rows - (self.unique_rows if self.wildcard else self.classes)

    @property
    def divides(self) -> bool:
        """True if the set separates any two rows."""
        return self.colliding_pairs < self.rows * (self.rows - 1) if self.wildcard else self.classes > 1

    def to_plain(self) -> dict[str, Any]:
        """The counts, exact, and the ratios as floats for display (None if undefined).

        With an entity the same keys count entities; "entities" replaces "rows" then. If a NULL matches anything, the
        counts of classes are None.
        """
        meaningful = self.rows > 0 and not self.entities
        pairs = self.rows * (self.rows - 1)
        more: dict[str, Any] = {"disclosing": [asdict(each) for each in self.disclosing]} if self.disclosing else {}
        if self.histories is not None:
            more["histories"] = {**asdict(self.histories), "known_rows": str(self.histories.known_rows)}
        return {
            "entities" if self.entities else "rows": self.rows,
            "classes": None if self.wildcard else self.classes,
            "smallest": self.smallest,
            "largest": self.largest,
            "k": self.k,
            "classes_below_k": None if self.wildcard else self.classes_below_k,
            "rows_below_k": self.rows_below_k,
            "unique_rows": self.unique_rows,
            "colliding_pairs": self.colliding_pairs,
            # the ratios, by divisions that round as those of fractions do, and cost less
            "distinct_ratio": self.classes / self.rows if meaningful and not self.wildcard else None,
            "separation_ratio": ((pairs - self.colliding_pairs) / pairs if pairs else 1.0) if meaningful else None,
            "share_below_k": self.rows_below_k / self.rows if self.rows else 0.0,
            **more,
        }

    @classmethod
    def of_plain(cls, written: Mapping[str, Any]) -> "ClassProfile":
        """The profile that `to_plain` was made from. Raises KeyError, TypeError if it is not one."""
        entities, wildcard = "entities" in written, written["classes"] is None
        histories = written.get("histories")
        counts = {name: written[name] for name in COUNTS}
        if wildcard:
            counts |= {"classes": 0, "classes_below_k": 0}
        counts["rows"] = written["entities"] if entities else written["rows"]
        if not all(isinstance(count, int) for count in counts.values()):
            raise TypeError("a count of the class profile is missing")
        return cls(
            **counts,
            entities=entities,
            wildcard=wildcard,
            disclosing=tuple(Disclosing(**each) for each in written.get("disclosing", ())),
            histories=histories and Histories(**{**histories, "known_rows": KnownRows(histories["known_rows"])}),
        )

    @classmethod
    def plain_schema(cls, definitions: Mapping[str, Any]) -> dict[str, Any]:
        """The JSON Schema of `to_plain`."""
        whole, number = {"type": "integer", "minimum": 0}, {"type": "number", "minimum": 0, "maximum": 1}
        counts = {name: {"anyOf": [whole, {"type": "null"}]} if name.startswith("class") else whole for name in COUNTS}
        ratios = {name: {"anyOf": [number, {"type": "null"}]} for name in RATIOS}
        return {
            "description": "the class profile of a column set; with an entity, `entities` replaces `rows`",
            "type": "object",
            "properties": {
                "rows": whole,
                "entities": whole,
                **counts,
                **ratios,
                "disclosing": {
                    "description": "for each limit on disclosure: the rows and classes that exceed it",
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "limit": {"type": "string"},
                            "rows": whole,
                            "classes": whole,
                            "worst": {"type": "integer"},
                        },
                        "required": ["limit", "rows", "classes", "worst"],
                    },
                },
                "histories": {
                    "description": "with known_rows: the persons who have all the known rows, at least, and persons of "
                    "whom some choice leaves fewer than k",
                    "type": "object",
                    "properties": {
                        "known_rows": {"enum": list(KnownRows)},
                        "persons": whole,
                        "smallest": whole,
                        "persons_below_k": whole,
                    },
                    "required": ["known_rows", "persons", "smallest", "persons_below_k"],
                },
            },
            "required": [*COUNTS, *RATIOS],
        }

    def by_known_rows(self, found: Histories | None = None) -> "ClassProfile":
        """This profile with the fewest persons, and those below k, by all that may be known of their rows."""
        found = found or self.histories
        return self if found is None else replace(self, smallest=found.smallest, rows_below_k=found.persons_below_k)

    @property
    def undivided(self) -> "ClassProfile":
        """The profile of the empty column set over the same rows: one class."""
        one = ClassProfile.of_sizes({self.rows: 1} if self.rows else {}, self.k)
        return one.of_matches() if self.wildcard else replace(one, entities=self.entities)

    def of_matches(self) -> "ClassProfile":
        """This profile as one where a NULL matches anything, for a column set without any NULL."""
        return replace(self, classes=0, classes_below_k=0, wildcard=True)

    @classmethod
    def of_sizes(cls, sizes: Mapping[int, int], k: int) -> "ClassProfile":
        """The profile of classes given as {class size: number of classes of that size}."""
        return cls(
            rows=sum(size * count for size, count in sizes.items()),
            classes=sum(sizes.values()),
            smallest=min(sizes, default=0),
            largest=max(sizes, default=0),
            k=k,
            classes_below_k=sum(count for size, count in sizes.items() if size < k),
            rows_below_k=sum(size * count for size, count in sizes.items() if size < k),
            unique_rows=sizes.get(1, 0),
            colliding_pairs=sum(size * (size - 1) * count for size, count in sizes.items()),
        )


@dataclass(frozen=True, slots=True)
class ClassSizes:
    """The number of classes of each size: for every k at once, and for the histogram.

    `rows` counts rows by the size of their class. With an entity it counts entities by the size of their smallest
    class, and `classes` the distinct entities per class.
    """

    classes: Mapping[int, int]
    rows: Mapping[int, int]
    entities: bool = False

    @classmethod
    def counted(cls, classes: Mapping[int, int]) -> "ClassSizes":
        """Of classes of rows."""
        return cls(classes, {size: size * number for size, number in classes.items()})

    def profile(self, k: int) -> ClassProfile:
        """The class profile for that k."""
        by_class = ClassProfile.of_sizes(self.classes, k)
        return ClassProfile(
            rows=sum(self.rows.values()),
            classes=by_class.classes,
            smallest=by_class.smallest,
            largest=by_class.largest,
            k=k,
            classes_below_k=by_class.classes_below_k,
            rows_below_k=sum(count for size, count in self.rows.items() if size < k),
            unique_rows=self.rows.get(1, 0),
            colliding_pairs=by_class.colliding_pairs,
            entities=self.entities,
        )


@dataclass(frozen=True, slots=True)
class MatchSizes(ClassSizes):
    """The number of rows for each number of matching rows, if a NULL matches anything. There are no classes.

    `rows` is exact for numbers below `most`; all others are counted at `most`.
    """

    smallest: int = 0
    largest: int = 0
    matching_pairs: int = 0
    most: int = 1

    def profile(self, k: int) -> ClassProfile:
        """The profile for that k, of at most `most`."""
        if k > self.most:
            raise ValueError(f"frequencies from {self.most} on are counted together, so those below {k} are not known")
        return ClassProfile(
            rows=sum(self.rows.values()),
            classes=0,
            smallest=self.smallest,
            largest=self.largest,
            k=k,
            classes_below_k=0,
            rows_below_k=sum(count for frequency, count in self.rows.items() if frequency < k),
            unique_rows=self.rows.get(1, 0),
            colliding_pairs=self.matching_pairs,
            wildcard=True,
        )

    @classmethod
    def of_classes(cls, sizes: ClassSizes, most: int) -> "MatchSizes":
        """The matches of a column set without any NULL: there the matching rows are the rows of the class."""
        rows: dict[int, int] = {}
        for size, number in sizes.rows.items():
            rows[min(size, most)] = rows.get(min(size, most), 0) + number
        profile = sizes.profile(most)
        return cls({}, rows, False, profile.smallest, profile.largest, profile.colliding_pairs, most)


class Profiler(Protocol):
    """Column sets in, profiles out: all that a search uses.

    `columns` is the number of columns; a column set is a bit mask over them. `profiles` returns profiles in the order
    of the sets and raises `Stopped` if the work must end early.
    """

    @property
    def columns(self) -> int: ...

    def profiles(self, masks: Sequence[int]) -> list[ClassProfile]: ...


class Sampler(Protocol):
    """Sample sizes in, profilers over samples of the table out: what a sampled search uses in addition.

    `rows` is the size of the whole table. `of_rows` draws rows without replacement; a smaller sample is part of a
    larger one. `of_pairs` draws independent pairs of rows, on which only separation can be measured. The same seed
    draws the same sample.
    """

    @property
    def seed(self) -> int: ...

    def rows(self) -> int: ...

    def of_rows(self, size: int) -> Profiler: ...

    def of_pairs(self, size: int) -> Profiler: ...


@dataclass(frozen=True, slots=True)
class SizeBin:
    """Classes whose size is between low and high (None: no upper end), and the rows in them.

    If a NULL matches anything: the rows with so many matches, and no classes.
    """

    low: int
    high: int | None
    classes: int
    rows: int

    @property
    def range(self) -> str:
        """The class sizes of the bin: 1, 2-4, 500+"""
        if self.high is None:
            return f"{count(self.low)}+"
        return count(self.low) if self.low == self.high else f"{count(self.low)}-{count(self.high)}"


def size_bins(sizes: ClassSizes, starts: Iterable[int]) -> tuple[SizeBin, ...]:
    """The class-size histogram with bins from `starts` (ascending); none beyond the largest class.

    >>> sizes = ClassSizes(classes={1: 3, 4: 2}, rows={1: 3, 4: 8})
    >>> [(each.low, each.high, each.rows) for each in size_bins(sizes, [1, 2, 5])]
    [(1, 1, 3), (2, 4, 8)]
    """
    largest = max(sizes.rows, default=0)
    edges = list(starts)
    bins = []
    for low, following in zip(edges, [*edges[1:], None], strict=True):
        if low > largest:
            break
        high = None if following is None else following - 1

        def inside(size: int, low: int = low, high: int | None = high) -> bool:
            return low <= size and (high is None or size <= high)

        bins.append(
            SizeBin(
                low,
                high,
                sum(count for size, count in sizes.classes.items() if inside(size)),
                sum(count for size, count in sizes.rows.items() if inside(size)),
            )
        )
    return tuple(bins)


def bin_starts(k: int) -> list[int]:
    """The starts of the histogram's bins: unique rows, the rest below k, and ever larger classes.

    >>> bin_starts(5)
    [1, 2, 5, 10, 50, 500]
    """
    return sorted({1, 2, k, 2 * k, 10 * k, 100 * k})
