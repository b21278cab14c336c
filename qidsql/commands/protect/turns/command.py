"""The request of `protect --by turns`: what is recoded or dropped, turn by turn."""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Self

from qidsql.commands.protect.way import WAY, By, Way
from qidsql.core.copies import CopyOptions
from qidsql.core.options import ColumnWeights, K, NullRule, Sensitive, names
from qidsql.core.policy import Audited, Budgeted, PolicyOptions, Scope, Weighted
from qidsql.core.recodings import Recoding
from qidsql.core.results import LeftOut, Result, SearchAccount
from qidsql.core.tables import Nulls
from qidsql.declarations.options import Command, Names, Option
from qidsql.declarations.results import FLAT, reported
from qidsql.errors import UsageError

DROP = "drop="


@dataclass(frozen=True, slots=True)
class Change:
    """What one turn does to one column. Without a recoding the column is dropped."""

    column: str
    recoding: Recoding | None

    @classmethod
    def read(cls, text: str) -> Self:
        """The change of this text: drop=COLUMN or COLUMN=RECODING. Raises UsageError."""
        if text.startswith(DROP):
            return cls(text.removeprefix(DROP), None)
        column, sign, recoding = text.rpartition("=")
        if not sign or not column:
            raise UsageError(f"--turn must be drop=COLUMN or COLUMN=RECODING such as birth_date=year, got {text}")
        return cls(column, Recoding.read(recoding))

    def __str__(self) -> str:
        return f"{self.column}={self.recoding}" if self.recoding else f"{DROP}{self.column}"


@dataclass(frozen=True, kw_only=True)
class TurnsRequest(Scope, Budgeted, CopyOptions, PolicyOptions, Audited, Weighted):
    """Recode or drop columns turn by turn, and see at each turn what is still unsafe and what it costs.

    Turn 0 is the table as it is; each turn comes on top of those before. Reports for each the rows below k, the minimal
    unsafe value combinations and the cells that the optimal suppression would still blank, and prints the view of the
    last turn. Without --into nothing is written; the copy has the columns that are left, recoded, and sensitive ones
    unchanged. Each distinct row leaves the engine as codes, not values; codes of few values can be turned back.
    """

    by: By = Way.TURNS
    k: K = 5
    turns: Annotated[
        Names,
        Option(
            "drop=COLUMN, or COLUMN=month, year or decade (dates), prefix:N (texts), or width:N (numbers: "
            "floor(x / N) * N); repeat, in order",
            "CHANGE",
            ("--turn",),
            panel=WAY,
        ),
    ] = ()
    max_size: Annotated[int, Option("count unsafe combinations of up to so many columns; default: 3", "N", least=1)] = 3
    weights: ColumnWeights = None
    sensitive: Sensitive = ()
    nulls: NullRule = Nulls.EQUAL

    def check(self) -> None:
        self.check_copy()
        _ = self.policy, self.changes, self.column_weights

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """The turns after turn 0."""
        return tuple(Change.read(text) for text in names(self.turns))


COMMAND = Command(
    TurnsRequest,
    examples=(
        "qidsql protect clinic.duckdb patients --by turns --k 3 --turn birth_date=year --turn drop=occupation",
        "qidsql protect people.csv --by turns --turn age=width:5 --turn zip_code=prefix:3 --into people_recoded.csv",
    ),
    exit_codes="0 no row is below k after the last turn, 1 some are, 2 error, 3 inconclusive",
    without=("workers", "snapshot"),
    shown="by turns k columns exclude identifiers sensitive where entity into keep max_size max_seconds format output",
)


# The result: a line for each turn.


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

    by: Annotated[Way, "what is changed"] = Way.TURNS
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
