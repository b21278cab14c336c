"""The request of `audit --only`: one column set of one table."""

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from qidsql.commands.audit.command import ONLY
from qidsql.core.options import Entity, K, NullRule, Sensitive, TableName, Where, names
from qidsql.core.policy import Audited, Budgeted, PolicyOptions
from qidsql.core.results import Disclosed, Result, SearchAccount
from qidsql.declarations.options import Command, Names
from qidsql.declarations.results import FLAT
from qidsql.measures.profiles import ClassProfile, SizeBin
from qidsql.wording.texts import few


@dataclass(frozen=True)
class OnlyRequest(Budgeted, PolicyOptions, Audited):
    """The measures of one column set: classes, ratios, smallest class, rows below k.

    With sensitive columns, also what the set discloses about each. One statement and one scan, and one for each
    sensitive column. There is no verdict: the exit code is 0 whatever the measures are, 3 if there is no row.
    """

    table: TableName = None
    _: KW_ONLY
    only: Annotated[Names, ONLY]
    sensitive: Sensitive = ()
    k: K = 5
    where: Where = None
    entity: Entity = None
    nulls: NullRule = "equal"

    def check(self) -> None:
        _ = self.policy

    @property
    def columns(self) -> tuple[str, ...]:
        """As a policy names them."""
        return names(self.only)


COMMAND = Command(
    OnlyRequest,
    examples=(
        "qidsql audit warehouse.duckdb patients --only zip_code --only sex",
        "qidsql audit people.csv --only birth_date --k 11",
        "qidsql audit warehouse.duckdb patients --only zip_code --only sex --sensitive diagnosis",
    ),
    exit_codes="0 finished, 2 error, 3 inconclusive",
    shown="only k sensitive where entity policy_file max_seconds format output",
)


# The result of `audit --only`.


@dataclass(frozen=True, kw_only=True, repr=False)
class OnlyResult(Result):
    """The measures of one column set."""

    account: Annotated[SearchAccount, FLAT]
    profile: Annotated[ClassProfile | None, "null if time ran out"]
    class_sizes: tuple[SizeBin, ...]
    disclosed: Annotated[tuple[Disclosed, ...], "what the columns disclose about each sensitive column"]

    @property
    def asked(self) -> tuple[str, ...]:
        return (f"k = {self.account.policy.k}", few(self.account.columns, 4))
