"""The result of `anonymize`."""

from dataclasses import dataclass
from typing import Annotated

from qidsql.core.copies import Script
from qidsql.core.results import LeftOut, Result, SearchAccount
from qidsql.declarations.results import FLAT, OMITTED, reported
from qidsql.measures.profiles import ClassProfile
from qidsql.protection.certificates import BoundProof, CellPlan
from qidsql.protection.copies import CellsGivenBack, KeptColumns
from qidsql.wording.texts import plural


@dataclass(frozen=True, kw_only=True, repr=False)
class AnonymizeResult(Result):
    """The cells to suppress so that every row is identical to k - 1 others; `*` is a value."""

    account: Annotated[SearchAccount, FLAT]
    algorithm: str
    cost: Annotated[int | None, "the weight of the suppressed cells"]
    lower_bound: Annotated[int, "no anonymization costs less"]
    cells: int | None
    by_column: Annotated[dict[str, int], "suppressed cells"]
    rows_touched: Annotated[int, "rows that lose a cell"]
    rows_blank: Annotated[int, "rows that lose all their cells"]
    row_patterns: Annotated[int, "distinct rows"]
    plan: Annotated[CellPlan | None, "the plan, which proves itself (qidsql verify); null: none, or too large to list"]
    proof: Annotated[BoundProof | None, "what proves the lower bound (qidsql verify); null: there is none"]
    after: Annotated[ClassProfile | None, "of the written copy"]
    target: Annotated[str | None, "the copy that was written and kept"]
    copied: Annotated[tuple[str, ...], "its columns"]
    not_copied: tuple[LeftOut, ...]
    kept: KeptColumns = None
    given_back: CellsGivenBack = None
    sql: Annotated[Script | None, OMITTED, "the statements that were requested instead of a copy"] = None
    script: Annotated[tuple[str, ...], "statements that make the copy, while the table is unchanged"]

    @property
    def asked(self) -> tuple[str, ...]:
        return (f"k = {self.account.policy.k}", plural(len(self.account.columns), "column"))

    @reported
    def optimal(self) -> Annotated[bool, "no anonymization costs less, by the proved bound"]:
        return self.cost is not None and self.cost == self.lower_bound

    @reported
    def factor(
        self,
    ) -> Annotated[float | None, "the cost is at most so many times the least one"]:
        """Rounded up. None where the bound proves nothing."""
        if self.optimal:
            return 1.0
        return -(-1000 * self.cost // self.lower_bound) / 1000 if self.cost and self.lower_bound else None
