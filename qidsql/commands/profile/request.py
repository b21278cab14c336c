"""The request of `profile`: one column set of one table."""

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from qidsql.core.options import (
    COLUMNS,
    Entity,
    Exclude,
    Identifiers,
    K,
    MaxBytes,
    MaxSeconds,
    MaxStatements,
    NullRule,
    Sensitive,
    TableName,
    Where,
)
from qidsql.core.policy import Audited, PolicyOptions
from qidsql.declarations.commands import Command
from qidsql.declarations.options import Names, Option


@dataclass(frozen=True)
class ProfileRequest(PolicyOptions, Audited):
    """The measures of one column set: classes, ratios, smallest class, rows below k.

    With sensitive columns, also what the set discloses about each. One statement and one scan, and one for each
    sensitive column. There is no verdict: the exit code is 0 whatever the measures are, 3 if there is no row.
    """

    table: TableName = None
    _: KW_ONLY
    columns: Annotated[
        Names,
        Option("a column of the set (repeat); default: all columns together", "COLUMN", ("-c", "--column"), COLUMNS),
    ] = ()
    exclude: Exclude = ()
    identifiers: Identifiers = ()
    sensitive: Sensitive = ()
    k: K = 5
    where: Where = None
    entity: Entity = None
    nulls: NullRule = "equal"
    max_statements: MaxStatements = None
    max_seconds: MaxSeconds = None
    max_bytes: MaxBytes = None

    def check(self) -> None:
        _ = self.policy


COMMAND = Command(
    ProfileRequest,
    examples=(
        "qidsql profile warehouse.duckdb patients -c zip_code -c sex",
        "qidsql profile people.csv -c birth_date --k 11",
        "qidsql profile warehouse.duckdb patients -c zip_code -c sex --sensitive diagnosis",
    ),
    exit_codes="0 finished, 2 error, 3 inconclusive",
)
