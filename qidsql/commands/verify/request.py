"""The request of `verify`: a result that an earlier command wrote."""

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from qidsql.core.options import MaxSeconds, MaxStatements
from qidsql.core.policy import Policy
from qidsql.declarations.commands import Command
from qidsql.declarations.options import Option


@dataclass(frozen=True)
class VerifyRequest:
    """Check the claims of a result of keys or mask anew, by a few statements, without its search.

    The result, as --format json wrote it, has what proves it: for keys, the column sets that miss the criterion; for
    mask, those that meet it. Each is measured on the table, and what is claimed must follow from them. A violation:
    some claim does not hold, or no longer.
    """

    result: Annotated[str, Option("the result of keys or mask, a file of --format json", "RESULT", argument=True)]
    _: KW_ONLY
    max_statements: MaxStatements = None
    max_seconds: MaxSeconds = None

    def __post_init__(self) -> None:
        Policy(max_statements=self.max_statements, max_seconds=self.max_seconds)  # checks the budgets


COMMAND = Command(
    VerifyRequest,
    examples=(
        "qidsql keys clinic.duckdb patients --output keys.json && qidsql verify keys.json clinic.duckdb",
        "qidsql verify mask.json postgresql://auditor@db.example.org/clinic --max-seconds 60",
    ),
    exit_codes="0 every claim holds, 1 some claim does not, 2 error, 3 inconclusive (ended early, or without a proof)",
    source_last=True,
)
