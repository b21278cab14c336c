"""Plans for all rows: which columns how many rows of each row pattern keep."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from qidsql.protection.anonymization.assignment import Share
from qidsql.protection.anonymization.groups import Groups
from qidsql.protection.anonymization.units import Units
from qidsql.protection.records import Records

Numbers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Plan:
    """The cost of a plan, and its `table`: row pattern, kept columns, rows; computed on demand."""

    algorithm: str
    cost: int
    table: Callable[[], tuple[Numbers, Numbers, Numbers]]

    @classmethod
    def of_blank_rows(cls, records: Records, weights: Sequence[int]) -> "Plan":
        """The plan that suppresses everything: no table of k rows or more needs a dearer one."""
        patterns = np.arange(records.count)
        return cls("all rows blank", records.rows * sum(weights), lambda: (patterns, patterns * 0, records.sizes))

    @classmethod
    def of_shares(cls, algorithm: str, cost: int, shares: Sequence[Share]) -> "Plan":
        columns = np.array([(share.pattern, share.kept, share.rows) for share in shares], dtype=np.int64).T
        return cls(algorithm, cost, lambda: (columns[0], columns[1], columns[2]))

    @classmethod
    def of_units(cls, algorithm: str, cost: int, groups: Groups, units: Units, placed: Numbers) -> "Plan":
        """The plan that places the units in these groups, as they are now."""
        placed = placed.copy()

        def table() -> tuple[Numbers, Numbers, Numbers]:
            sets = groups.set_of(placed)
            order = np.lexsort((sets, units.records))
            patterns, sets = units.records[order], sets[order]
            new = (np.diff(patterns, prepend=-1) != 0) | (np.diff(sets, prepend=-1) != 0)
            starts = np.flatnonzero(new)
            kept = np.array(groups.sets, dtype=np.int64)[sets[starts]]
            return patterns[starts], kept, np.add.reduceat(units.sizes[order], starts)

        return cls(algorithm, cost, table)

    def shares(self) -> tuple[Share, ...]:
        """The table as shares."""
        return tuple(Share(*each) for each in zip(*(column.tolist() for column in self.table()), strict=True))
