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
from qidsql.core.results import Disclosed, Result, SearchAccount
from qidsql.declarations.commands import Command
from qidsql.declarations.options import Names, Option
from qidsql.declarations.results import FLAT
from qidsql.measures.profiles import ClassProfile, SizeBin
from qidsql.wording.texts import few


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
    shown=(
        "k",
        "columns",
        "exclude",
        "identifiers",
        "sensitive",
        "where",
        "entity",
        "policy_file",
        "max_seconds",
        "format",
        "output",
    ),
)


# The result of `profile`.


@dataclass(frozen=True, kw_only=True)
class ProfiledSet:
    """A column set with its measures."""

    columns: tuple[str, ...]
    profile: Annotated[ClassProfile, FLAT]


@dataclass(frozen=True, kw_only=True, repr=False)
class ProfileResult(Result):
    """The measures of one column set."""

    account: Annotated[SearchAccount, FLAT]
    column_sets: Annotated[tuple[ProfiledSet, ...], "the one that was measured; none if time ran out"]
    class_sizes: tuple[SizeBin, ...]
    disclosed: Annotated[tuple[Disclosed, ...], "what the columns disclose about each sensitive column"]

    @property
    def asked(self) -> tuple[str, ...]:
        return (f"k = {self.account.policy.k}", few(self.account.columns, 4))
