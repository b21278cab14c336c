"""The result of `link`: which columns of two tables are joinable, and which rows the join singles out."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

from qidsql.core.results import Account, Result
from qidsql.declarations.results import FLAT, reported
from qidsql.linkage.join_columns import JoinedColumns
from qidsql.linkage.joinable import Containment


@dataclass(frozen=True, slots=True)
class Matches:
    """The rows of one table by the number of matches: rows of the other that agree on all joined columns."""

    rows: int
    with_null: Annotated[int, "with a NULL in a joined column, which matches nothing"]
    matching_none: Annotated[int, "those with a NULL among them"]
    matching_one: int
    matching_below_k: Annotated[int, "at least one and fewer than k"]

    @reported
    def matching_several(self) -> int:
        return self.rows - self.matching_none - self.matching_one

    @reported
    def share_below_k(self) -> Fraction:
        return Fraction(self.matching_below_k, self.rows) if self.rows else Fraction(0)


@dataclass(frozen=True, slots=True)
class Join:
    """The effect of a join of two tables on the rows of both."""

    columns: tuple[JoinedColumns, ...]
    left: Matches
    right: Matches
    singled_out: Annotated[
        int,
        "rows that are alone in their table and match exactly one row, which is alone in the other: anyone with both "
        "tables knows that these two are the same",
    ]


@dataclass(frozen=True, kw_only=True, repr=False)
class LinkResult(Result):
    """Which columns of two tables are joinable, on what ground, and which rows a join on them singles out."""

    account: Annotated[Account, FLAT]
    left: str
    right: str
    k: int
    columns_compared: tuple[Containment, ...]
    columns_given: Annotated[bool, "the joined columns were named by the user"]
    link: Annotated[Join | None, "null if no columns are joined, or time ran out"]

    @property
    def subject(self) -> str:
        return f"{self.left} and {self.right}"

    @property
    def asked(self) -> tuple[str, ...]:
        return (f"k = {self.k}",)
