"""Which things are one when some pairs of them are: union-find, and spanning forests."""

from collections.abc import Iterable


class Components:
    """Which columns are joined with each other, through others too."""

    def __init__(self) -> None:
        self._above: dict[int, int] = {}

    def same(self, one: int, other: int) -> bool:
        return self._top(one) == self._top(other)

    def join(self, one: int, other: int) -> None:
        self._above[self._top(one)] = self._top(other)

    def forest(self, pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """The first pairs that would join all that all of them would join (Kruskal)."""
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
