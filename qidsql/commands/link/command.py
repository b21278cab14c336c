"""The request of `link`: two tables, the columns to join, and when a row counts as singled out."""

from dataclasses import KW_ONLY, dataclass
from typing import Annotated, ClassVar

from qidsql.core.options import CRITERION
from qidsql.core.policy import MatchesRows
from qidsql.declarations.options import Command, Names, Option, Ratio


@dataclass(frozen=True)
class LinkRequest(MatchesRows):
    """Which columns of two tables are joinable, and which rows a join on them singles out.

    Columns are joinable if at least 90 % of the values of one are in the other, and not by accident: columns of few
    codes, or of numbers that lie close together from zero on, must also agree in their names. Each pair is shown with
    its ground. A violation: a row of TABLE_A (that meets --where) matches fewer than --k rows of TABLE_B on all of
    them; with --rows-below-k, if this share of its rows does. A NULL matches nothing.
    """

    subject: ClassVar[str] = "left"

    left: Annotated[str, Option("the table whose rows must not be identified", "TABLE_A", argument=True)]
    right: Annotated[str, Option("the table that someone may join with it", "TABLE_B", argument=True)]
    _: KW_ONLY
    on: Annotated[
        Names,
        Option("join column A of TABLE_A with column B of TABLE_B (repeat); default: all joinable columns", "A=B"),
    ] = ()
    k: Annotated[
        int, Option("a row is singled out if it matches fewer than K rows, at least 1", "K", panel=CRITERION)
    ] = 2
    rows_below_k: Annotated[
        Ratio,
        Option(
            "a violation only if at least this share of the rows of TABLE_A is singled out", "SHARE", panel=CRITERION
        ),
    ] = None


COMMAND = Command(
    LinkRequest,
    examples=(
        "qidsql link clinic.duckdb patients voters",
        "qidsql link clinic.duckdb patients voters --on zip_code=postcode --on birth_date=dob --k 3",
        "qidsql link env:CLINIC_URL public.visits outside.voters --rows-below-k 1% --format json",
    ),
    exit_codes="0 pass, 1 rows are singled out, 2 error, 3 inconclusive (nothing joinable for sure, or it ended early)",
    shown="on k rows_below_k identifiers where policy_file max_seconds format output",
)
