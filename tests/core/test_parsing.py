"""Values as people give them: chances and choices. Ratios and names are in test_policy."""

from enum import StrEnum
from fractions import Fraction

import pytest

from qidsql.core.parsing import chance, choice
from qidsql.errors import UsageError


class Kind(StrEnum):
    ONE = "one"
    OTHER = "other"


def test_a_chance_lies_between_0_and_1() -> None:
    assert (chance("delta", None), chance("delta", "1%"), chance("delta", 0.99)) == (
        None,
        Fraction(1, 100),
        Fraction(99, 100),
    )
    for wrong in (0, 1, "-1/2", "3/2"):
        with pytest.raises(UsageError, match="--delta must be between 0 and 1"):
            chance("delta", wrong)


def test_a_choice_is_one_of_those_that_there_are() -> None:
    assert choice(Kind, "kind", "other") is Kind.OTHER
    with pytest.raises(UsageError, match="--kind must be one, other; got neither"):
        choice(Kind, "kind", "neither")
