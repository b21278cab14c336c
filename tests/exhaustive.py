"""Parameters of a test with a longer version, which `python -m pytest -m 'exhaustive and not spark'` runs."""

from collections.abc import Iterable, Sequence
from typing import Any

import pytest

left_out = False  # whether this run leaves out the longer versions. To make 13,000 tests in vain takes seconds


def always(*few: Any, longer: Iterable[Any]) -> list[Any]:
    """The test command runs `few` alone."""
    if left_out and few:
        return list(few)
    return [*few, *(pytest.param(each, marks=pytest.mark.exhaustive) for each in longer)]


def first(every: Iterable[Any]) -> list[Any]:
    """The test command runs the first of these alone."""
    one, *longer = every
    return always(one, longer=longer)


def pairs(ones: Sequence[Any], others: Sequence[Any]) -> list[Any]:
    """Each of `ones` with each of `others`. The test command runs so many of the pairs that none is left out."""
    few = {(place % len(ones), place % len(others)) for place in range(max(len(ones), len(others)))}
    return [
        pytest.param(one, other, marks=[] if (i, j) in few else [pytest.mark.exhaustive])
        for i, one in enumerate(ones)
        for j, other in enumerate(others)
    ]
