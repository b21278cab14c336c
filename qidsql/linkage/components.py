"""Connected components of pairs: union-find, and spanning forests."""

from collections.abc import Iterable


class Components:
    """The groups of columns that are joined with each other, directly or through others."""

    def __init__(self) -> None:
        self._above: dict[int, int] = {}

    def same(self, one: int, other: int) -> bool:
        return self._top(one) == self._top(other)

    def join(self, one: int, other: int) -> None:
        self._above[self._top(one)] = self._top(other)

    def forest(self, pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """A spanning forest: the first pairs that join everything that all pairs would join (Kruskal)."""
        grown = Components()
        grown._above = dict(self._above)
        found = []
        for one, other in pairs:
            if not grown.same(one, other):
                grown.join(one, other)
                found.append((one, other))
        return found

    def _top(self, number: int) -> int:
        while (above := self._above.get(number, number)) != number:
            self._above[number] = self._above.get(above, above)
            number = above
        return number
