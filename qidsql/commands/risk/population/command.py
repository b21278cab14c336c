"""The request of `risk --population`: a table, the population it is from, and the fewest people a row may be."""

import re
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import cached_property
from typing import Annotated

from qidsql.commands.risk.command import AGAINST, POPULATION
from qidsql.core.copies import names_a_file
from qidsql.core.files import PREFIX
from qidsql.core.options import CRITERION, TableName, fraction
from qidsql.core.policy import MatchesRows
from qidsql.declarations.options import Command, Names, Option, Ratio
from qidsql.engines.kind import exists
from qidsql.engines.registry import FILES
from qidsql.errors import UsageError

SIGNS = r"[/\\:*?\[=]"  # of a source: a table whose name has one is written in quotes
SCHEMES = (PREFIX.removesuffix(":"), *(scheme for kind in FILES for scheme in kind.schemes))


@dataclass(frozen=True)
class PopulationRequest(MatchesRows):
    """How many people of a population could each row of a table be? k-map, delta-presence, journalist's risk.

    The published rows must be a sample of the population: a row whose values do not occur there, or more rows than
    people with the same values, is never a pass. A violation: some row could be 1 to K - 1 people; with --rows-below-k,
    if this share of the rows could. Nobody can look up a NULL: a row with a NULL in the columns matches no people,
    counts as below k before a pass, and proves no violation. Each row, of the population too, is taken for a person.
    """

    table: TableName = None
    _: KW_ONLY
    population: Annotated[str, AGAINST]
    on: Annotated[
        Names,
        Option(
            "column A of the table is column B of the population (repeat); default: all joinable columns, as in link",
            "A=B",
            panel=POPULATION,
        ),
    ] = ()
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

    def __post_init__(self) -> None:
        _ = self.limit, self.presence_limits  # whatever the policy
        super().__post_init__()

    @property
    def presence_limits(self) -> tuple[Fraction, Fraction] | None:
        """The least and the greatest share of people that may be published. Raises UsageError."""
        if self.presence is None:
            return None
        parts = [fraction("presence", part) for part in self.presence.split(",")]
        if len(parts) != 2 or not 0 <= parts[0] <= parts[1] <= 1:
            raise UsageError("--presence must be two shares from 0 to 1, the smaller one first, such as 0,0.2")
        return parts[0], parts[1]

    @cached_property
    def place(self) -> tuple[str | None, str | None]:
        """The other source that the population is in, if it is in one, and its table; None: the only one there."""
        typed = self.population
        elsewhere = re.search(SIGNS, typed) or names_a_file(typed) or ("." in typed and exists(typed))
        if typed.startswith('"') or not elsewhere:
            return None, typed
        source, _, table = typed.rpartition(":")
        if not source or source in SCHEMES or exists(typed) or re.search(r"[/\\@]", table):
            return typed, None
        return source, table or None

    @property
    def beside(self) -> str | None:
        """The second source, which is opened together with the first."""
        return self.place[0]


COMMAND = Command(
    PopulationRequest,
    examples=(
        "qidsql risk clinic.duckdb patients --population voters --on zip_code=postcode --on birth_date=dob --k 5",
        "qidsql risk clinic.duckdb patients --population census.parquet --on sex=sex --on zip_code=zip",
        "qidsql risk clinic.duckdb patients --population region.duckdb:people --on sex=sex --presence 0,0.2",
        "qidsql risk clinic.duckdb patients --population census.csv --counts inhabitants --rows-below-k 1%",
    ),
    exit_codes="0 pass, 1 violation, 2 error, 3 inconclusive (not a sample of the population, NULLs, or ended early)",
    shown="population on counts k rows_below_k presence identifiers where policy_file max_seconds format output",
)
