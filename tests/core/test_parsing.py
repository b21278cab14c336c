"""Values as people give them: chances, choices, sizes, numbers. Ratios and names are in test_policy."""

from enum import StrEnum
from fractions import Fraction

import pytest

from qidsql.core.options import ascending, chance, choice, fraction, size_in_bytes
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


@pytest.mark.parametrize(
    ("written", "size"),
    [
        (None, None),
        ("700", 700),
        (700, 700),
        ("700B", 700),
        ("10GB", 10**10),
        ("10 g", 10**10),
        ("1.5TB", 1_500_000_000_000),
        ("500 MiB", 500 * 2**20),
        ("2ki", 2048),
    ],
)
def test_a_size_is_in_bytes(written: str | int | None, size: int | None) -> None:
    assert size_in_bytes("max_bytes", written) == size


@pytest.mark.parametrize("wrong", ["", "0", "0GB", "GB", "10iB", "-1GB", "1,5GB", "10GBB", "10PB"])
def test_what_is_no_size_is_refused(wrong: str) -> None:
    with pytest.raises(UsageError, match="--max-bytes must be a size such as 10GB, got"):
        size_in_bytes("max_bytes", wrong)


def test_numbers_ascend() -> None:
    assert (ascending("sample_sizes", None), ascending("populations", "7")) == ((), (7,))
    assert ascending("sample_sizes", "1000, 10000") == (1000, 10000)
    for wrong in ("", "0", "2,1", "1,1", "-1", "1,,2", "one"):
        with pytest.raises(UsageError, match="--sample-sizes must be whole numbers in ascending order"):
            ascending("sample_sizes", wrong)


def test_a_ratio_of_any_length_is_refused() -> None:
    """Its number would have a thousand million digits."""
    assert fraction("distinct", "9e-1") == fraction("distinct", 0.9) == Fraction(9, 10)
    assert fraction("t", 1e-300) > 0
    for wrong in ("1e999999999", "1E-99999", "1e99999%"):
        with pytest.raises(UsageError, match="--distinct must be a ratio"):
            fraction("distinct", wrong)
