"""The result of a search for minimal unsafe combinations."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

from qidsql.commands.uniques.request import By, ScoreKind
from qidsql.core.results import Result, SearchAccount
from qidsql.declarations.results import FLAT, OMITTED, UNWRITTEN, Rounded
from qidsql.wording.texts import plural


@dataclass(frozen=True)
class ColumnUniques:
    """The share of one column in the combinations."""

    name: str
    combinations: Annotated[int, "that contain the column"]
    contribution: Annotated[Fraction, "their share of all SUDA scores", Rounded(6)]


@dataclass(frozen=True)
class SetUniques:
    """A column set and the minimal unsafe combinations of its values."""

    columns: tuple[str, ...]
    combinations: int


@dataclass(frozen=True, kw_only=True)
class RecordScore:
    """A record with an unsafe combination."""

    record: Annotated[int, "a number that tells nothing about its values, nor its place; the same in the list"]
    key: Annotated[str | None, "the value of the key column, if requested", OMITTED]
    score: int | float
    combinations: int
    smallest: Annotated[int, "the size of its smallest combination"]


@dataclass(frozen=True)
class ScoreBin:
    """Rows whose score is above one number and at most another; null: no such end."""

    above: int | float | None
    up_to: int | float | None
    rows: int


@dataclass(frozen=True, kw_only=True)
class Scores:
    """Risk scores of the records. SUDA scores are exact, DIS scores estimates between 0 and 1."""

    kind: ScoreKind
    sampling_fraction: Annotated[Fraction | None, "of DIS"]
    total: Annotated[int | None, "of all rows; of SUDA"]
    distribution: tuple[ScoreBin, ...]
    top: tuple[RecordScore, ...]


@dataclass(frozen=True, kw_only=True, repr=False)
class UniquesResult(Result):
    """The minimal unsafe combinations of a table, counted; each counts once for every row that it belongs to."""

    account: Annotated[SearchAccount, FLAT]
    k: int
    algorithm: Annotated[str, "pairs or sets"]
    combinations: int
    by_size: dict[int, int]
    by_column: tuple[ColumnUniques, ...]
    column_sets: Annotated[tuple[SetUniques, ...], "those with the most combinations"]
    column_sets_in_all: int
    rows_unsafe: Annotated[int, "rows that have an unsafe combination"]
    by_smallest: Annotated[dict[int, int], "those rows by the size of their smallest combination"]
    complete: Annotated[bool, "every row and every column set was searched"]
    rows_looked_at: int
    complete_to_size: Annotated[int, "column sets of up to so many columns were searched"]
    scores: Scores | None
    into: Annotated[str | None, "where the list is"]
    listed: Annotated[int | None, "lines of the list"]
    key: Annotated[str | None, "the column whose values identify records, if requested"]
    values_listed: Annotated[bool, "whether the list contains values, as requested"]
    shown: Annotated[tuple[By, ...], UNWRITTEN] = tuple(By)  # the tables of the terminal's report

    @property
    def asked(self) -> tuple[str, ...]:
        return (f"k = {self.k}", plural(len(self.account.columns), "column"))
