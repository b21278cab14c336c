"""A table in memory as a profiler, and every minimal column set by trying them all."""

from collections.abc import Sequence
from random import Random

from qidsql.errors import BudgetSpent
from qidsql.measures.criteria import Criterion
from qidsql.measures.profiles import ClassProfile
from tests.definitions import Values, mask_of, profile_of, projected, subsets


class MemoryProfiler:
    """Rows in a list behind the protocol that searches know. `asked` lists the column sets, in their order.

    After `most` sets it stops the work, as a budget does.
    """

    def __init__(self, rows: Sequence[Values], columns: int, k: int = 2, most: int | None = None) -> None:
        self.rows, self.k, self.most = rows, k, most
        self.asked: list[int] = []
        self._columns = columns

    @property
    def columns(self) -> int:
        return self._columns

    def profile(self, mask: int) -> ClassProfile:
        """What is true, whether asked for or not."""
        return profile_of(projected(self.rows, [p for p in range(self._columns) if mask >> p & 1]), self.k)

    def profiles(self, masks: Sequence[int]) -> list[ClassProfile]:
        answers = []
        for mask in masks:
            if self.most is not None and len(self.asked) >= self.most:
                raise BudgetSpent("the test's budget is used up")
            self.asked.append(mask)
            answers.append(self.profile(mask))
        return answers


def random_rows(seed: int) -> tuple[list[Values], int]:
    """Up to 16 rows of 1 to 5 columns, each column with few values or with many, and how many columns."""
    draw = Random(seed)
    columns = draw.randint(1, 5)
    values = [draw.choice((1, 2, 2, 3, 6)) for _ in range(columns)]
    rows = [tuple(draw.randrange(most) for most in values) for _ in range(draw.randint(0, 16))]
    return rows, columns


def minimal_sets(profiler: MemoryProfiler, criterion: Criterion) -> set[int]:
    """The definition: the sets that meet the criterion and have no proper non-empty subset that does."""
    every = [mask_of(places) for places in subsets(profiler.columns)]
    meeting = {mask for mask in every if criterion.met_by(profiler.profile(mask))}
    return {mask for mask in meeting if not any(other != mask and other & mask == other for other in meeting)}
