"""The result of a search for keys and quasi-identifiers: the column sets, and what is proved of them."""

from collections import Counter
from dataclasses import dataclass
from typing import Annotated

from qidsql.core.options import Wanted
from qidsql.core.results import Result, SearchAccount
from qidsql.declarations.results import FLAT, UNWRITTEN, reported
from qidsql.measures.profiles import ClassProfile
from qidsql.search.result import Certificate
from qidsql.wording.texts import plural


@dataclass(frozen=True)
class FoundSet:
    """A column set, with its measures if the full table was profiled."""

    columns: tuple[str, ...]
    weight: int
    meets: Annotated[bool | None, "whether the full table meets the criterion; null if only a sample was profiled"]
    profile: Annotated[ClassProfile | None, FLAT]


@dataclass(frozen=True, kw_only=True, repr=False)
class KeysResult(Result):
    """The column sets that meet a criterion, smallest first."""

    account: Annotated[SearchAccount, FLAT]
    criterion: str
    options: Annotated[str, "the options that ask for the criterion; empty: a key, the default"]
    wanted: Wanted
    algorithm: str
    column_sets: tuple[FoundSet, ...]
    minimal: Annotated[bool, "no set meets the criterion without one of its columns"]
    complete: Annotated[bool, "the list is proved complete"]
    complete_to_size: Annotated[int, "the list is proved complete up to so many columns"]
    cost: Annotated[int | None, "the weight of the one requested set"]
    lower_bound: Annotated[int | None, "a proved lower bound of the weight of every set"]
    guarantee: Annotated[str, "what a greedy search guarantees of the weight of its set; else empty"]
    impossible: Annotated[str, "why there can be none; else empty"]
    failing: Annotated[
        tuple[tuple[str, ...], ...] | None,
        "column sets that miss the criterion: every set that meets it has a column outside each of them, which proves "
        "what is claimed (qidsql verify); null if there are too many to list",
    ]
    certificate: Certificate | None
    profile: Annotated[ClassProfile | None, "of all columns together"]
    shown: Annotated[int, UNWRITTEN] = 10  # sets that a report for people lists

    @property
    def asked(self) -> tuple[str, ...]:
        return (self.criterion, plural(len(self.account.columns), "column"))

    @reported
    def by_size(self) -> Annotated[dict[int, int], "how many sets there are of each size"]:
        return dict(sorted(Counter(len(found.columns) for found in self.column_sets).items()))

    @reported
    def optimal(self) -> Annotated[bool, "no set can weigh less, by the proved bound"]:
        return self.cost is not None and self.cost == self.lower_bound
