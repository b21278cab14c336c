"""The result of `suppress`."""

from dataclasses import dataclass
from typing import Annotated

from qidsql.commands.suppress.request import Attack, SuppressionMethod
from qidsql.core.copies import Script
from qidsql.core.results import LeftOut, Result, SearchAccount
from qidsql.declarations.results import FLAT, OMITTED, reported
from qidsql.protection.certificates import BoundProof, CellPlan
from qidsql.protection.copies import CellsGivenBack, KeptColumns
from qidsql.protection.suppression.known_people import KnownPeople
from qidsql.wording.texts import plural


@dataclass(frozen=True)
class ValueLoss:
    """A value that loses cells, as text; only with --show-values."""

    value: str | None
    cells: int
    of: Annotated[int, "cells with this value"]


@dataclass(frozen=True)
class ColumnLoss:
    """The losses of a column."""

    name: str
    weight: int
    cells: int
    values: Annotated[int, "different values in the table"]
    values_touched: Annotated[int, "values that lose a cell"]
    values_gone: Annotated[int, "values that lose all their cells"]
    most: Annotated[tuple[ValueLoss, ...], "the values that lose most; empty without --show-values"] = ()


@dataclass(frozen=True, kw_only=True, repr=False)
class SuppressResult(Result):
    """The lightest suppression. Without a plan (inconclusive, violation) the figures are null or empty."""

    account: Annotated[SearchAccount, FLAT]
    k: int
    method: SuppressionMethod
    against: Annotated[Attack, "the attack that the plan is made to withstand"]
    cost: Annotated[int | None, "the weight of the suppressed cells"]
    lower_bound: Annotated[
        int | None,
        "a proved lower bound of every suppression in which each row is safe by its own suppressed cells; of every "
        "one against unique-combinations; against known-person, of every one that leaves k disjoint matchings of all "
        "people with all rows",
    ]
    cells: int | None
    records: Annotated[int | None, "rows that lose a cell"]
    by_cells: Annotated[dict[int, int], "rows by the cells they lose"]
    losses: tuple[ColumnLoss, ...]
    plan: Annotated[CellPlan | None, "the plan, which proves itself (qidsql verify); null: none, or too large to list"]
    proof: Annotated[BoundProof | None, "what proves the lower bound (qidsql verify); null: there is none"]
    algorithm: tuple[str, ...]
    masks: Annotated[int, "distinct column sets that are suppressed"]
    target: Annotated[str | None, "the copy that was written"]
    copied: Annotated[tuple[str, ...], "its columns"]
    not_copied: tuple[LeftOut, ...]
    kept: KeptColumns = None
    given_back: CellsGivenBack = None
    rows_below_k: Annotated[int | None, "rows of the copy that match fewer than k, where NULL matches anything"]
    known: Annotated[
        KnownPeople | None, "whom the planned rows single out if people's values are known; null: not counted"
    ]
    sql: Annotated[Script | None, OMITTED, "the statements that were requested instead of a copy"] = None
    script: Annotated[tuple[str, ...], "the statements requested instead of a copy"]

    @property
    def asked(self) -> tuple[str, ...]:
        return (f"k = {self.k}", f"against {self.against.attacker}", plural(len(self.account.columns), "column"))

    @reported
    def optimal(self) -> Annotated[bool, "no suppression of this kind weighs less, by the proved bound"]:
        return self.cost is not None and self.cost == self.lower_bound
