"""The request of `impact`: the protected copy, the columns, the weights, the regression."""

from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from math import isfinite
from typing import Annotated, Any, ClassVar

from qidsql.core.copies import written_file
from qidsql.core.options import Columns, Exclude, TableName, names
from qidsql.core.policy import ROLES, Budgeted, Policy, PolicyOptions
from qidsql.declarations.options import Command, Names, Option
from qidsql.errors import UsageError

REGRESSION = "The regression"


@dataclass(frozen=True)
class ImpactRequest(Budgeted, PolicyOptions):
    """What a protected copy has lost, compared with its table.

    Counts suppressed cells (NULL in the copy), compares distributions and, if --outcome names one, a regression. Only
    counts and sums leave the database; with --k each distinct row leaves it as codes, to count whom the copy singles
    out. The exit code is 0 whatever they are, 3 if a budget ended the work or a table is empty.
    """

    confirmed: ClassVar[bool] = True

    table: TableName = None
    _: KW_ONLY
    protected: Annotated[str, Option("the protected copy: a table of the same source, or a data file", "TABLE")]
    weight: Annotated[str | None, Option("column of the rows' survey weights", "COLUMN")] = None
    outcome: Annotated[
        str | None, Option("the column that a linear regression explains", "COLUMN", panel=REGRESSION)
    ] = None
    covariates: Annotated[
        Names,
        Option(
            "a column that explains it (repeat): numbers unchanged, others by an indicator per value",
            "COLUMN",
            ("--covariate",),
            REGRESSION,
        ),
    ] = ()
    fill: Annotated[
        float | None,
        Option("a third regression, suppressed cells replaced by this", "NUMBER", panel=REGRESSION),
    ] = None
    k: Annotated[
        int | None,
        Option(
            "count the people who fit fewer than K rows of the copy, and the rows that fit fewer than K people",
            "K",
            least=2,
        ),
    ] = None
    mark: Annotated[str | None, Option("a text that marks a suppressed cell besides NULL, such as '*'", "TEXT")] = None
    show_values: Annotated[bool, Option("name values in the report; they leave the database then")] = False
    max_values: Annotated[int, Option("columns with more are not compared value by value", "N", least=1)] = 1000
    columns: Columns = ()
    exclude: Exclude = ()
    unknown: tuple[str, ...] = ()  # by the policy file: columns that nobody outside knows of a person
    withheld: tuple[str, ...] = ()  # by the policy file: direct identifiers, which are not published

    def check(self) -> None:
        _ = self.policy
        covariates = self.explaining
        if (self.outcome is None) != (not covariates):
            raise UsageError("a regression takes --outcome NAME and --covariate NAME (repeat): give both, or none")
        if self.fill is not None and self.outcome is None:
            raise UsageError("--fill is for a regression: give --outcome and --covariate as well")
        if self.fill is not None and not isfinite(self.fill):
            raise UsageError("--fill must be a finite number, such as 99")
        if self.outcome in covariates:
            raise UsageError(f"{self.outcome} cannot be the outcome and a covariate")
        both = [name for name in covariates if name in names(self.exclude)]
        if both:
            raise UsageError(f"{both[0]} cannot be a covariate and left out (--exclude)")
        if self.max_values < 1:
            raise UsageError(f"--max-values must be at least 1, got {self.max_values}")

    @classmethod
    def taken(cls) -> tuple[str, ...]:
        """No setting: without --k no codes of rows leave the database."""
        return ()

    @classmethod
    def taken_roles(cls) -> tuple[str, ...]:
        return ROLES

    def roles_of(self, roles: dict[str, tuple[str, ...]]) -> dict[str, Any]:
        """All columns are compared, whatever their role; people are known by their quasi-identifiers."""
        unknown = (*roles["identifiers"], *roles["sensitive"], *roles["exclude"])
        return {"unknown": unknown, "withheld": roles["identifiers"]}

    @cached_property
    def policy(self) -> Policy:
        """The policy; if columns are named, the covariates are added to them."""
        named = names(self.columns)
        return Policy.of(self, k=2 if self.k is None else self.k, columns=(*named, *self.explaining) if named else ())

    @property
    def beside(self) -> str | None:
        """The file of the copy, which is opened together with the source; None if the copy is a table."""
        return written_file(self.protected)

    @property
    def explaining(self) -> tuple[str, ...]:
        """The covariates."""
        return names(self.covariates)


COMMAND = Command(
    ImpactRequest,
    examples=(
        "qidsql impact survey.duckdb students --protected students_suppressed --weight survey_weight",
        "qidsql impact clinic.duckdb patients --protected out/patients.parquet --format json -o impact.json",
        "qidsql impact survey.duckdb students --protected students_suppressed --outcome score --covariate sex "
        "--covariate race",
    ),
    exit_codes="0 finished, 2 error, 3 inconclusive",
    shown="protected outcome covariates weight columns exclude k mark policy_file max_seconds format output",
)
