"""Small tables in memory as profilers, and every definition written again, without the code under test."""

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from random import Random

from qidsql.errors import BudgetSpent
from qidsql.measures.criteria import Criterion, Distinct, Key, RowsBelowK, Separation, Violates
from qidsql.measures.profiles import ClassProfile
from qidsql.search.sampled import PairSample

Rows = Sequence[Sequence[object]]
MOTWANI_XU_TABLE_1 = [
    (20, "Female", "CA"),
    (30, "Female", "CA"),
    (40, "Female", "TX"),
    (20, "Male", "NY"),
    (40, "Male", "CA"),
]


class RowsProfiler:
    """Profiles rows held in memory; counts what it is asked, and stops after `most` column sets."""

    def __init__(self, rows: Rows, k: int = 2, most: int = 10**9) -> None:
        self.rows, self.k, self.most = rows, k, most
        self.columns = len(rows[0])
        self.asked: list[int] = []

    def profiles(self, masks: Sequence[int]) -> list[ClassProfile]:
        if len(self.asked) + len(masks) > self.most:
            raise BudgetSpent("no more")
        self.asked += masks
        assert 0 not in masks
        return [ClassProfile.of_sizes(Counter(class_sizes(self.rows, mask)), self.k) for mask in masks]


class RowsSampler:
    """Samples of rows held in memory."""

    def __init__(self, rows: Rows, seed: int = 0, k: int = 2) -> None:
        self.seed = seed
        self._rows, self._k = rows, k

    def rows(self) -> int:
        return len(self._rows)

    def of_rows(self, size: int) -> RowsProfiler:
        order = Random(self.seed).sample(range(len(self._rows)), len(self._rows))
        return RowsProfiler([self._rows[place] for place in order[:size]], self._k)

    def of_pairs(self, size: int) -> PairSample:
        draw = Random(self.seed)
        masks: Counter[int] = Counter()
        for _ in range(size):
            one, other = draw.sample(range(len(self._rows)), 2)
            differ = [a != b for a, b in zip(self._rows[one], self._rows[other], strict=True)]
            masks[sum(bit << place for place, bit in enumerate(differ))] += 1
        return PairSample(masks, len(self._rows[0]))


def class_sizes(rows: Rows, mask: int) -> list[int]:
    return list(Counter(tuple(v for place, v in enumerate(row) if mask >> place & 1) for row in rows).values())


def distinct_ratio(rows: Rows, mask: int) -> Fraction:
    return Fraction(len(class_sizes(rows, mask)), len(rows))


def separation_ratio(rows: Rows, mask: int) -> Fraction:
    pairs = [(one, other) for one in range(len(rows)) for other in range(one)]
    places = [place for place in range(len(rows[0])) if mask >> place & 1]
    apart = sum(any(rows[one][p] != rows[other][p] for p in places) for one, other in pairs)
    return Fraction(apart, len(pairs)) if pairs else Fraction(1)


def share_below(rows: Rows, mask: int, k: int) -> Fraction:
    return Fraction(sum(size for size in class_sizes(rows, mask) if size < k), len(rows))


Definition = Callable[[Rows, int], bool]
CRITERIA: list[tuple[Criterion, Definition]] = [
    (Key(), lambda rows, mask: max(class_sizes(rows, mask)) == 1),
    (Distinct(Fraction(1, 2)), lambda rows, mask: distinct_ratio(rows, mask) >= Fraction(1, 2)),
    (Distinct(Fraction(9, 10)), lambda rows, mask: distinct_ratio(rows, mask) >= Fraction(9, 10)),
    (Separation(Fraction(4, 5)), lambda rows, mask: separation_ratio(rows, mask) >= Fraction(4, 5)),
    (Separation(Fraction(19, 20)), lambda rows, mask: separation_ratio(rows, mask) >= Fraction(19, 20)),
    (Violates(2), lambda rows, mask: min(class_sizes(rows, mask)) < 2),
    (RowsBelowK(2, Fraction(1, 4)), lambda rows, mask: share_below(rows, mask, 2) >= Fraction(1, 4)),
]


def random_rows(draw: Random) -> Rows:
    """A few columns of every kind: ids, constants, copies, NULLs; some rows twice."""
    count, columns = draw.randint(1, 14), draw.randint(1, 5)
    kinds = [draw.randint(0, 5) for _ in range(columns)]
    rows = []
    for number in range(count):
        row: list[object] = []
        for kind in kinds:
            if kind == 0:
                row.append(number)
            elif kind == 1:
                row.append("same")
            elif kind == 2 and row:
                row.append(row[-1])
            else:
                row.append(draw.choice([None, *range(kind)]))
        rows.append(row)
    return rows + [draw.choice(rows) for _ in range(draw.choice([0, 0, 0, 1, 3]))]


def minimal_sets(rows: Rows, definition: Definition) -> set[int]:
    """All minimal column sets by the definition, by trying each set."""
    met = [mask for mask in range(1, 1 << len(rows[0])) if definition(rows, mask)]
    return {mask for mask in met if not any(other != mask and other & mask == other for other in met)}
