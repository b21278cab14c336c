"""Witness rows: rows of small classes that prove of many column sets that they have a class below k."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from qidsql.core.tables import positions
from qidsql.search.hitting_sets import transposed

PATIENCE = 64  # sets measured before the witnesses are queried: a search of so few does not gain from them


class Witnesses:
    """Rows whose class sizes are known in every column set. They prove a class below k, and never the opposite.

    `query` returns them: for each row {mask: rows that differ from it in exactly these columns}, the rows that differ
    in none included. It is called once, after `patience` questions, so that short searches cost no more.
    """

    def __init__(
        self, query: Callable[[], Sequence[Mapping[int, int]]], columns: int, k: int, patience: int = PATIENCE
    ) -> None:
        self._proved: list[int] = []
        self._query, self._columns, self._k, self._left = query, columns, k, patience
        self._rows: list[_Witness] | None = None

    @property
    def sets(self) -> int:
        """The number of sets proved, without those that contain another one."""
        return len(self._proved)

    @property
    def rows(self) -> int:
        """The number of witness rows queried so far."""
        return len(self._rows or ())

    def prove(self, mask: int) -> bool:
        """True if some witness is in a class of fewer than k rows in this column set. Raises as `query`."""
        if self._left:
            self._left -= 1
            return False
        if self._rows is None:
            self._rows = [_witness(differing, self._columns) for differing in self._query()]
        if any(proved & ~mask == 0 for proved in self._proved):
            return True
        proves = any(witness.below(self._k, mask) for witness in self._rows)
        if proves:
            self._proved.append(mask)
        return proves


@dataclass(frozen=True, slots=True)
class _Witness:
    """A row, with the numbers of rows that differ from it in the same columns: `differing[c]` has bit i set if those of
    `rows[i]` differ in column c."""

    rows: Sequence[int]
    differing: Sequence[int]

    def below(self, k: int, mask: int) -> bool:
        """Whether its class in the column set has fewer than k rows. Adds up at most k numbers."""
        apart = 0
        for place in positions(mask):
            apart |= self.differing[place]
        together, size = ~apart & (1 << len(self.rows)) - 1, 0
        while together and size < k:
            lowest = together & -together
            size += self.rows[lowest.bit_length() - 1]
            together ^= lowest
        return size < k


def _witness(differing: Mapping[int, int], columns: int) -> _Witness:
    return _Witness(list(differing.values()), transposed(list(differing), columns))
