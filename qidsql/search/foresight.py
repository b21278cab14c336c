"""Profiles of sets that later steps of a search may need, in the round of those that it needs now."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice

from qidsql.errors import BudgetSpent
from qidsql.measures.profiles import ClassProfile, Profiler


class Foresight:
    """A profiler that asks for up to `breadth` further sets with those that are needed, and keeps their profiles.

    A guess costs profiles and never a round: further sets are asked for only with a set that is not known.
    """

    def __init__(self, profiler: Profiler, breadth: int) -> None:
        self.columns = profiler.columns
        self._profiler, self._breadth = profiler, breadth
        self._known: dict[int, ClassProfile] = {}

    def profiles(self, masks: Sequence[int], further: Iterable[int] = ()) -> list[ClassProfile]:
        """The profiles of the sets. At most one batch. Raises as the profiler.

        If the budget does not allow the guesses too, the sets alone are asked for.
        """
        needed = {mask: None for mask in masks if mask not in self._known}
        if needed and self._breadth:
            guesses = (mask for mask in islice(further, self._breadth) if mask not in self._known)
            with suppress(BudgetSpent):
                self._ask(list(dict.fromkeys((*needed, *guesses))))
        self._ask([mask for mask in needed if mask not in self._known])
        return [self._known[mask] for mask in masks]

    def _ask(self, masks: Sequence[int]) -> None:
        self._known.update(zip(masks, self._profiler.profiles(masks), strict=True))


def later_steps(chosen: int, guessed: Sequence[int], steps: int | None = None) -> Iterator[int]:
    """The sets that a search compares which adds one column after the other, if it adds them in this order.

    Those with one column more than `chosen` are not among them: they are the present step's. `steps`: later ones.
    """
    for number, place in enumerate(guessed[:steps]):
        chosen |= 1 << place
        yield from (chosen | 1 << later for later in guessed[number + 1 :])
