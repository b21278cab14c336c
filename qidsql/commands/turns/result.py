"""The result of `turns`: a line for each turn."""

from dataclasses import dataclass
from typing import Annotated

from qidsql.core.results import LeftOut, Result, SearchAccount
from qidsql.declarations.results import FLAT, reported


@dataclass(frozen=True, kw_only=True)
class Turn:
    """The table after one turn."""

    number: int
    change: Annotated[str | None, "null: the table as it is"]
    values_before: Annotated[int | None, "distinct values of the changed column before this turn, without NULL"]
    values_after: Annotated[int | None, "after it; null if it was dropped"]
    columns: tuple[str, ...]
    rows_below_k: Annotated[int, "on all columns that are left"]
    combinations: Annotated[int, "minimal unsafe ones of up to max_size columns, each once for every row that has it"]
    rows_unsafe: Annotated[int, "rows that have such a combination"]
    by_column: Annotated[dict[str, int], "those combinations that contain the column"]
    cells: Annotated[int | None, "that the optimal suppression would still blank; null: it is not defined"]
    weight: Annotated[int | None, "of these cells"]

    @property
    def worst(self) -> str | None:
        """The column in most combinations."""
        return max(self.by_column, key=lambda name: self.by_column[name], default=None)


@dataclass(frozen=True, kw_only=True, repr=False)
class TurnsResult(Result):
    """What was still unsafe at each turn."""

    account: Annotated[SearchAccount, FLAT]
    k: int
    max_size: int
    turns: tuple[Turn, ...]
    script: Annotated[tuple[str, ...], "statements that would create a view as after the last turn; none was run"]
    target: Annotated[str | None, "the copy that was written, as after the last turn"]
    copied: Annotated[tuple[str, ...], "its columns"]
    not_copied: tuple[LeftOut, ...]

    @property
    def asked(self) -> tuple[str, ...]:
        return (f"k = {self.k}", *(turn.change for turn in self.turns if turn.change))

    @reported
    def first_safe(self) -> Annotated[int | None, "the first turn with no row below k"]:
        return next((turn.number for turn in self.turns if not turn.rows_below_k and self.account.rows), None)
