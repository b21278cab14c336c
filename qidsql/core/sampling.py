"""The options of samples, and which of the column sets are wanted."""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from qidsql.core.options import Delta, Epsilon, SampleSizes, Seed, Verify
from qidsql.core.parsing import ascending, chance

DELTA = Fraction(1, 100)
MAX_SEED = 2**60


class Wanted(StrEnum):
    """Which of the column sets that meet a criterion."""

    MINIMUM = "minimum"  # one of least weight
    MINIMAL = "minimal"  # one without superfluous columns
    ALL = "all"  # every minimal one


@dataclass(frozen=True, slots=True)
class Sampling:
    """The options of a sample. None: not given. `verify`: measure the result on the full table. `sizes`: so many rows
    or pairs of rows, instead of those that the algorithm chooses."""

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    seed: int | None = None
    verify: bool = True
    sizes: tuple[int, ...] = ()

    @property
    def given(self) -> bool:
        return self != Sampling()


@dataclass(frozen=True, kw_only=True)
class SampleOptions:
    """The options of requests that can work on a sample."""

    epsilon: Epsilon = None
    delta: Delta = None
    seed: Seed = None
    sample_sizes: SampleSizes = None
    verify: Verify = True

    @property
    def sampling(self) -> Sampling:
        """The options, checked. Raises UsageError."""
        epsilon, delta = chance("epsilon", self.epsilon), chance("delta", self.delta)
        return Sampling(epsilon, delta, self.seed, self.verify, ascending("sample_sizes", self.sample_sizes))
