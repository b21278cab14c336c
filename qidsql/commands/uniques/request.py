"""The request of `uniques`: which combinations are unsafe, the counts and scores to report, the list."""

from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from qidsql.core.copies import FILE_KINDS
from qidsql.core.options import (
    COPY,
    Columns,
    Exclude,
    Identifiers,
    K,
    MaxBytes,
    MaxSeconds,
    MaxSize,
    MaxStatements,
    NullRule,
    Sensitive,
    TableName,
    Where,
    choice,
    names,
    positive_share,
)
from qidsql.core.policy import Audited, PolicyOptions
from qidsql.core.tables import Nulls
from qidsql.declarations.commands import Command
from qidsql.declarations.options import FileName, Names, Option, Ratio
from qidsql.errors import UsageError


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


@dataclass(frozen=True)
class UniquesRequest(PolicyOptions, Audited):
    """Which value combinations single out rows: all minimal ones, of every size.

    A combination is unsafe if fewer than k rows have it, and minimal if it is safe without any one of its values
    (minimal sample uniques, MINUCS). Reports counts by size, column, column set and record, and SUDA or DIS risk
    scores. Each distinct row leaves the engine as codes: its values do not without --key or --show-values, but codes of
    few values can be turned back by anyone who knows how frequent these are.
    """

    table: TableName = None
    _: KW_ONLY
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
    columns: Columns = ()
    exclude: Exclude = ()
    identifiers: Identifiers = ()
    sensitive: Sensitive = ()
    where: Where = None
    max_statements: MaxStatements = None
    max_seconds: MaxSeconds = None
    max_bytes: MaxBytes = None
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
        path = None if self.into is None else Path(self.into)
        return path if path is not None and path.suffix in FILE_KINDS else None

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
)
