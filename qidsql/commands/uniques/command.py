"""The request of `uniques`: which combinations are unsafe, the counts and scores to report, the list."""

from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from qidsql.core.copies import names_a_file
from qidsql.core.options import COPY, K, MaxSize, NullRule, Sensitive, choice, names, positive_share
from qidsql.core.policy import Audited, Budgeted, PolicyOptions, Scope
from qidsql.core.results import Result, SearchAccount, Verdict
from qidsql.core.tables import Nulls
from qidsql.declarations.options import Command, FileName, Names, Option, Ratio
from qidsql.declarations.results import FLAT, OMITTED, UNWRITTEN, Rounded
from qidsql.errors import UsageError
from qidsql.wording.texts import count, plural


class By(StrEnum):
    """The groups by which the report counts combinations."""

    SIZE = "size"
    COLUMN = "column"
    SET = "set"
    RECORD = "record"


class ScoreKind(StrEnum):
    """The risk scores of records: exact ones, or estimates for a population."""

    SUDA = "suda"
    DIS = "dis"


@dataclass(frozen=True, kw_only=True)
class UniquesRequest(Scope, Budgeted, PolicyOptions, Audited):
    """Which value combinations single out rows: all minimal ones, of every size.

    A combination is unsafe if fewer than k rows have it, and minimal if it is safe without any one of its values
    (minimal sample uniques, MINUCS). Reports counts by size, column, column set and record, and SUDA or DIS risk
    scores. Each distinct row leaves the engine as codes: its values do not without --key or --show-values, but codes of
    few values can be turned back by anyone who knows how frequent these are.
    """

    k: K = 2
    max_size: MaxSize = None
    by: Annotated[Names, Option("size, column, set or record (repeat); default: all", "WHAT", in_shells=False)] = ()
    scores: Annotated[str | None, Option("risk scores of the records", "suda|dis")] = None
    sampling_fraction: Annotated[
        Ratio, Option("the share of the population in the table, for DIS scores; default: 0.01", "RATIO")
    ] = None
    nulls: NullRule = Nulls.EQUAL
    into: Annotated[
        FileName,
        Option(
            "write the list of them: a .parquet or .csv file, or a new table of the source",
            "TARGET",
            panel=COPY,
            in_shells=False,
        ),
    ] = None
    replace: Annotated[bool, Option("the list may replace an older one", panel=COPY, in_shells=False)] = False
    key: Annotated[
        str | None,
        Option("identify records by this column's values, in the list and among the highest scores", "COLUMN"),
    ] = None
    show_values: Annotated[
        bool, Option("write the values of the combinations to the list too", panel=COPY, in_shells=False)
    ] = False
    sensitive: Sensitive = ()
    limit: Annotated[int, Option("column sets and records shown at most", "N", least=1)] = 10

    def check(self) -> None:
        _ = self.policy, self.shown, self.fraction
        if self.writable and len(Path(str(self.into)).parts) > 1:
            raise UsageError(f"--into {self.into}: a file must end in .parquet or .csv, and a table is in no folder")
        if self.fraction is not None and self.score_kind is not ScoreKind.DIS:
            raise UsageError("--sampling-fraction is for DIS scores: give --scores dis as well")
        if self.score_kind is not None and self.k != 2:
            raise UsageError("SUDA and DIS scores are defined for sample uniques: leave out --k, or --scores")
        if self.show_values and self.into is None:
            raise UsageError("--show-values is for the list: give --into FILE as well")
        if self.key is not None and self.scores is None and self.into is None:
            raise UsageError("--key identifies the records of --scores and of the list (--into): give one of them too")
        if self.replace and self.into is None:
            raise UsageError("--replace is for the list: give --into FILE as well")

    def settings_of(self, settings: dict[str, Any]) -> dict[str, Any]:
        """Without k if there are scores, which are defined for sample uniques."""
        return {name: value for name, value in settings.items() if name != "k" or self.scores is None}

    @cached_property
    def shown(self) -> tuple[By, ...]:
        """The tables of the report."""
        return tuple(choice(By, "by", name) for name in names(self.by)) or tuple(By)

    @cached_property
    def score_kind(self) -> ScoreKind | None:
        return None if self.scores is None else choice(ScoreKind, "scores", self.scores)

    @cached_property
    def fraction(self) -> Fraction | None:
        """The sampling fraction of DIS scores."""
        given = self.sampling_fraction
        return None if given is None else positive_share("sampling_fraction", given)

    @property
    def file(self) -> Path | None:
        """The file that the list goes into."""
        return Path(str(self.into)) if names_a_file(self.into) else None

    @property
    def writable(self) -> bool:
        """Whether the list is written to a table of the source, which has to be opened for writing."""
        return self.into is not None and self.file is None


COMMAND = Command(
    UniquesRequest,
    examples=(
        "qidsql uniques warehouse.duckdb patients --exclude patient_id",
        "qidsql uniques survey.parquet --scores suda -c age -c sex -c region -c occupation",
        "qidsql uniques survey.parquet --into uniques.parquet --key person_id",
        "qidsql uniques warehouse.duckdb people --into people_uniques",
        "qidsql uniques postgresql://auditor@db.example.org/clinic public.visits --k 3 --max-size 3",
    ),
    exit_codes="0 finished, 2 error, 3 inconclusive",
    without=("workers", "snapshot"),
    shown="k columns exclude identifiers where by scores show_values limit max_size into policy_file max_seconds "
    "format output",
)


# The result of a search for minimal unsafe combinations.


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


# The verdict of `uniques` and the sentence that gives its reason: both follow from the figures.


def judged(result: UniquesResult) -> UniquesResult:
    """The result with its verdict and reason."""
    open_ = bool(result.account.unfinished) or result.account.rows == 0
    return replace(result, verdict=Verdict.INCONCLUSIVE if open_ else Verdict.FINISHED, reason=_reason(result))


def _reason(result: UniquesResult) -> str:
    rows, k = result.account.rows, result.k
    if rows is None:
        return "not searched: the rows could not be coded"
    if rows == 0:
        return "there is nothing to search: no row"
    if rows < k:
        return f"{plural(rows, 'row')}, fewer than k = {k}: even without any column none is safe"
    what = "minimal sample unique" if k == 2 else "minimal unsafe combination"
    found = f"{plural(result.combinations, what)} in {count(result.rows_unsafe)} of {plural(rows, 'row')}"
    if result.account.unfinished:
        return f"at least {found}; the search did not finish"
    largest = result.account.policy.max_size
    if largest is not None and largest < len(result.account.columns):
        found += f"; sets of more than {plural(largest, 'column')} were not searched (--max-size)"
    return found
