"""Small random tables, and what searches are to find in them, written again from the definitions."""

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations
from random import Random

from qidsql.errors import BudgetSpent
from qidsql.measures.criteria import Criterion, Determines, Distinct, Key, RowsBelowK, Separation, Violates
from qidsql.measures.profiles import ClassProfile
from qidsql.profiling.samples import TableSampler
from qidsql.search.difference_masks import AgreeingPairs
from tests.random_tables import together
from tests.stores import Store

K = 3
Row = tuple[int | None, ...]
Meets = Callable[[list[int]], bool]  # a criterion's definition on class sizes


def random_table(random: Random) -> list[Row]:
    """Up to 24 rows of up to 9 columns, with NULLs, duplicates, constant columns and functional dependencies."""
    width, height = random.randint(1, 9), random.randint(0, 24)
    columns: list[list[int | None]] = []
    for _ in range(width):
        kind = random.random()
        values = random.choice([2, 2, 3, 4, 8, 30])
        if kind < 0.1:
            columns.append([random.choice([7, None])] * height)
        elif kind < 0.3 and columns:
            mapping = {value: random.randrange(values) for value in [None, *range(31)]}
            if random.random() < 0.5:
                mapping = {value: None if value is None else 30 - value for value in mapping}
            columns.append([mapping[value] for value in random.choice(columns)])
        else:
            columns.append(
                [random.choice([*range(values), *([None] * (random.random() < 0.3))]) for _ in range(height)]
            )
    rows = list(zip(*columns, strict=True))
    return rows if random.random() < 0.3 else list(dict.fromkeys(rows))


def fill(store: Store, tables: Sequence[Sequence[Row]]) -> None:
    """Tables t0, t1, ... in one go; three columns where there is no row."""
    statements = []
    for number, rows in enumerate(tables):
        names = [f"c{place}" for place in range(len(rows[0]) if rows else 3)]
        statements.append(f"CREATE TABLE t{number} ({', '.join(f'{name} INTEGER' for name in names)})")
        values = ("(" + ", ".join("NULL" if v is None else str(v) for v in row) + ")" for row in rows)
        if rows:
            statements.append(f"INSERT INTO t{number} VALUES {', '.join(values)}")
    together(store, statements)


def class_sizes(rows: Sequence[Row], mask: int) -> list[int]:
    return list(Counter(tuple(v for i, v in enumerate(row) if mask >> i & 1) for row in rows).values())


def criteria(random: Random, rows: Sequence[Row], width: int) -> list[tuple[Criterion, Meets]]:
    """Every criterion with some parameter, and its definition on class sizes."""
    n = len(rows)
    beta = Fraction(random.randint(1, 20), 20)
    goal = len(set(rows))
    k = random.randint(2, 6)
    return [
        (Key(), lambda sizes: all(size == 1 for size in sizes)),
        (Distinct(beta), lambda sizes: n == 0 or Fraction(len(sizes), n) >= beta),
        (
            Separation(beta),
            lambda sizes: n < 2 or 1 - Fraction(sum(s * (s - 1) for s in sizes), n * (n - 1)) >= beta,
        ),
        (Violates(k), lambda sizes: any(size < k for size in sizes)),
        (RowsBelowK(K, beta), lambda sizes: n > 0 and Fraction(sum(s for s in sizes if s < K), n) >= beta),
        (Determines(goal), lambda sizes: len(sizes) == goal),
    ]


def brute_force(rows: Sequence[Row], width: int, meets: Meets) -> set[int]:
    """The minimal non-empty column sets: they meet the criterion, and no non-empty proper subset does."""
    solutions = {mask for mask in range(1, 1 << width) if meets(class_sizes(rows, mask))}
    return {
        mask
        for mask in solutions
        if not any(mask & ~(1 << place) in solutions for place in range(width) if mask >> place & 1)
    }


class MemoryProfiler:
    """Profiles a list of rows. Counts what is asked, refuses to be asked twice, and stops after `budget` sets."""

    def __init__(self, rows: Sequence[Row], columns: int, k: int = K, budget: int | None = None) -> None:
        self.rows, self.columns, self.k, self.budget = rows, columns, k, budget
        self.asked: list[int] = []
        self.batches = 0

    def profiles(self, masks: Sequence[int]) -> list[ClassProfile]:
        assert 0 not in masks, "the empty set is no column set"
        self.batches += bool(masks)
        answers = []
        for mask in masks:
            if self.budget is not None and len(self.asked) >= self.budget:
                raise BudgetSpent("enough")
            self.asked.append(mask)
            answers.append(ClassProfile.of_sizes(Counter(class_sizes(self.rows, mask)), self.k))
        return answers


class MemoryWitnesses:
    """Compares the rows of a list, pair by pair."""

    def __init__(self, rows: Sequence[Row], max_pairs: int, max_masks: int = 1000, budget: int | None = None) -> None:
        self.rows, self.max_pairs, self.max_masks, self.budget = rows, max_pairs, max_masks, budget
        self.asked: list[int] = []

    def agreeing(self, sets: Sequence[int]) -> list[AgreeingPairs]:
        return [self._agreeing(agree) for agree in sets]

    def _agreeing(self, agree: int) -> AgreeingPairs:
        if self.budget is not None and len(self.asked) >= self.budget:
            raise BudgetSpent("enough")
        self.asked.append(agree)
        masks = [
            mask
            for a, b in combinations(self.rows, 2)
            if not (mask := sum(1 << i for i, (x, y) in enumerate(zip(a, b, strict=True)) if x != y)) & agree
        ]
        few = 2 * len(masks) <= self.max_pairs
        distinct = sorted(set(masks if few else masks[:1]), key=int.bit_count)
        return AgreeingPairs(2 * len(masks), tuple(distinct[: self.max_masks]), few and len(distinct) <= self.max_masks)


class OnceSampler:
    """The samples of another sampler, each drawn once: what is known of one is not asked again."""

    def __init__(self, sampler: TableSampler) -> None:
        self.seed, self.rows = sampler.seed, sampler.rows
        self.of_rows, self.of_pairs = cache(sampler.of_rows), cache(sampler.of_pairs)
