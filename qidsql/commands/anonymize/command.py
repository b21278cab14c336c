"""The request of `anonymize`: how many rows shall be identical, how to search, where to write the copy."""

from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from typing import Annotated, ClassVar

from qidsql.core.budget import WorkOptions
from qidsql.core.copies import CopyOptions, Script
from qidsql.core.options import (
    COPY,
    Columns,
    ColumnWeights,
    Exclude,
    Identifiers,
    K,
    KeepIdentifiers,
    MaxBytes,
    MaxSeconds,
    MaxStatements,
    Sensitive,
    TableName,
    Where,
    choice,
)
from qidsql.core.policy import Audited, PolicyOptions, Weighted
from qidsql.declarations.commands import Command
from qidsql.declarations.options import Option


class AnonymizationMethod(StrEnum):
    """How to search for an anonymization."""

    AUTO = "auto"  # exact if the table is small enough
    EXACT = "exact"
    HEURISTIC = "heuristic"


@dataclass(frozen=True)
class AnonymizeRequest(CopyOptions, WorkOptions, PolicyOptions, Audited, Weighted):
    """The fewest cells to suppress so that every row is identical to k - 1 others; a suppressed cell is a value.

    The problem is NP-hard from three columns on, and cannot even be approximated closely [Chakaravarthy et al.,
    Theorems 3.1, 3.2]. A few thousand distinct rows of a few columns are solved exactly, as an integer program; larger
    tables get a heuristic's answer with a proved lower bound. The search has a plan at any moment: --max-seconds and
    --max-work only end its improvement. Without --into nothing is written; a copy is audited before it is kept.
    Where a suppressed cell may match anything, `qidsql suppress` needs fewer cells and is always
    optimal. Each distinct row leaves the engine as codes, not its values; codes of few values can be turned back.
    """

    scripts: ClassVar[tuple[Script, ...]] = (Script.TABLE,)  # in a view, later rows would stay whole

    table: TableName = None
    _: KW_ONLY
    k: K = 5
    method: Annotated[str, Option("auto: exact if the table is small enough", "exact|heuristic|auto")] = (
        AnonymizationMethod.AUTO
    )
    weights: ColumnWeights = None
    sql: Annotated[
        str | None,
        Option(
            "print a statement that makes the same copy while the table is as it is, without running it",
            "table",
            panel=COPY,
        ),
    ] = None
    columns: Columns = ()
    exclude: Exclude = ()
    identifiers: Identifiers = ()
    sensitive: Sensitive = ()
    keep_identifiers: KeepIdentifiers = False
    where: Where = None
    max_statements: MaxStatements = None
    max_seconds: MaxSeconds = None
    max_bytes: MaxBytes = None

    def check(self) -> None:
        self.check_copy()
        _ = self.policy, self.column_weights, self.chosen_method, self.work

    @property
    def chosen_method(self) -> AnonymizationMethod:
        return choice(AnonymizationMethod, "method", self.method)


COMMAND = Command(
    AnonymizeRequest,
    examples=(
        "qidsql anonymize warehouse.duckdb patients --k 7 -c zip -c birth_year -c sex",
        "qidsql anonymize warehouse.duckdb patients --k 7 -c zip -c birth_year -c sex --into patients_public",
        "qidsql anonymize people.csv --k 5 --weights zip=3 --method heuristic --max-seconds 300",
    ),
    exit_codes="0 finished, 1 impossible, 2 error, 3 inconclusive",
    without=("workers",),
    shown=(
        "k",
        "columns",
        "exclude",
        "identifiers",
        "sensitive",
        "where",
        "entity",
        "into",
        "keep",
        "sql",
        "method",
        "policy_file",
        "max_seconds",
        "format",
        "output",
    ),
)
