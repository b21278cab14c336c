"""The request of `kmap`: a published table, the population it is from, and the fewest people a row may be."""

from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Annotated, ClassVar

from qidsql.core.options import (
    CRITERION,
    Identifiers,
    MaxBytes,
    MaxSeconds,
    MaxStatements,
    OneRow,
    Where,
    fraction,
    names,
    positive_share,
)
from qidsql.core.policy import Audited, MatchesRows
from qidsql.declarations.commands import Command
from qidsql.declarations.options import Names, Option, Ratio
from qidsql.errors import UsageError

POPULATION = "Population"


@dataclass(frozen=True)
class KmapRequest(MatchesRows, Audited):
    """How many people of a population could each row of a published table be? k-map, delta-presence, risks.

    The published rows must be a sample of the population: a row whose values do not occur there, or more rows than
    people with the same values, is never a pass. A violation: some row could be 1 to K - 1 people; with --rows-below-k,
    if this share of the rows could. Nobody can look up a NULL: a row with a NULL in the columns matches no people,
    counts as below k before a pass, and proves no violation. Each row, of the population too, is taken for a person.
    """

    confirmed: ClassVar[bool] = True
    subject: ClassVar[str] = "published"

    published: Annotated[
        str | None, Option("the published table; may be left out where SOURCE has only one", "TABLE", argument=True)
    ] = None
    people: Annotated[
        str | None,
        Option("the table of the population; may be left out where --population has only one", "PEOPLE", argument=True),
    ] = None
    _: KW_ONLY
    on: Annotated[
        Names,
        Option("column A of TABLE is column B of PEOPLE (repeat); default: all joinable columns, as in link", "A=B"),
    ] = ()
    population: Annotated[
        str | None,
        Option(
            "read the population from another source: a DuckDB database, a parquet, csv or json file or pattern, or a "
            "folder of such files; SOURCE must be one too",
            "SOURCE",
            panel=POPULATION,
            in_shells=False,
        ),
    ] = None
    counts: Annotated[
        str | None,
        Option("the population is a table of counts: this column is the number of people", "COLUMN", panel=POPULATION),
    ] = None
    k: Annotated[int, Option("the fewest people that a row may be", "K", panel=CRITERION)] = 5
    rows_below_k: Annotated[
        Ratio, Option("the share of rows below k that is a violation (5%); default: any row", "SHARE", panel=CRITERION)
    ] = None
    presence: Annotated[
        str | None,
        Option(
            "the least and the greatest share of people that may be published, in every class of the population",
            "MIN,MAX",
            panel=CRITERION,
        ),
    ] = None
    entity: OneRow = None
    identifiers: Identifiers = ()
    where: Where = None
    max_statements: MaxStatements = None
    max_seconds: MaxSeconds = None
    max_bytes: MaxBytes = None

    def __post_init__(self) -> None:
        _ = self.limit, self.presence_limits  # whatever the policy
        super().__post_init__()

    def check(self) -> None:
        super().check()
        _ = self.policy
        if self.people is None and self.population is None:
            raise UsageError("name the population: a table after the published one, or --population SOURCE")

    @property
    def pairs(self) -> tuple[str, ...]:
        """The pairs of columns to compare, each as a=b; none: all joinable columns."""
        return names(self.on)

    @property
    def limit(self) -> Fraction:
        """The share of rows below k that is a violation; 0: any row."""
        return Fraction(0) if self.rows_below_k is None else positive_share("rows_below_k", self.rows_below_k)

    @property
    def presence_limits(self) -> tuple[Fraction, Fraction] | None:
        """The least and the greatest share of people that may be published. Raises UsageError."""
        if self.presence is None:
            return None
        parts = [fraction("presence", part) for part in self.presence.split(",")]
        if len(parts) != 2 or not 0 <= parts[0] <= parts[1] <= 1:
            raise UsageError("--presence must be two shares from 0 to 1, the smaller one first, such as 0,0.2")
        return parts[0], parts[1]

    @property
    def beside(self) -> str | None:
        """The second source, which is opened together with the first."""
        return self.population


COMMAND = Command(
    KmapRequest,
    examples=(
        "qidsql kmap clinic.duckdb patients voters --on zip_code=postcode --on birth_date=dob --k 5",
        "qidsql kmap clinic.duckdb patients --population census.parquet --on sex=sex --on zip_code=zip",
        "qidsql kmap clinic.duckdb patients zip_codes --on zip_code=zip --counts inhabitants --rows-below-k 1%",
        "qidsql kmap clinic.duckdb patients voters --on sex=sex --presence 0,0.2 --format json",
    ),
    exit_codes="0 pass, 1 violation, 2 error, 3 inconclusive (not a sample of the population, NULLs, or ended early)",
    shown=(
        "on",
        "population",
        "counts",
        "k",
        "rows_below_k",
        "presence",
        "identifiers",
        "where",
        "policy_file",
        "max_seconds",
        "format",
        "output",
    ),
)
