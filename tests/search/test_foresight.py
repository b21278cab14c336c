"""What is asked for ahead, and what a budget leaves of it."""

from collections.abc import Sequence

import pytest

from qidsql.errors import BudgetSpent
from qidsql.measures.profiles import ClassProfile
from qidsql.search.smallest import Foresight, later_steps


class Asked:
    """A profiler that keeps the batches asked for, and refuses those of more than `most` sets."""

    columns = 4

    def __init__(self, most: int = 9) -> None:
        self.batches: list[Sequence[int]] = []
        self.most = most

    def profiles(self, masks: Sequence[int]) -> list[ClassProfile]:
        if len(masks) > self.most:
            raise BudgetSpent("too many")
        if masks:
            self.batches.append(masks)
        return [ClassProfile.of_sizes({1: mask}, 2) for mask in masks]


def test_guesses_go_with_a_question_and_cause_none() -> None:
    profiler = Asked()
    foresight = Foresight(profiler, 3)
    assert [each.rows for each in foresight.profiles([1, 2], iter([2, 3, 4, 5, 6]))] == [1, 2]
    foresight.profiles([4, 1], [7, 8])
    assert profiler.batches == [[1, 2, 3, 4]]
    foresight.profiles([4, 9], [7, 1])
    assert profiler.batches[1:] == [[9, 7]]


def test_a_budget_too_small_for_guesses_is_enough_for_what_is_needed() -> None:
    profiler = Asked(most=2)
    assert [each.rows for each in Foresight(profiler, 9).profiles([1, 2], [3])] == [1, 2]
    assert profiler.batches == [[1, 2]]
    with pytest.raises(BudgetSpent):
        Foresight(profiler, 9).profiles([1, 2, 3], [4])


def test_later_steps_are_those_of_the_guessed_order() -> None:
    assert list(later_steps(0, [2, 0, 1])) == [0b101, 0b110, 0b111]
    assert list(later_steps(0b1000, [2, 0, 1], 1)) == [0b1101, 0b1110]
