"""The result of `profile`."""

from dataclasses import dataclass
from typing import Annotated

from qidsql.core.results import Disclosed, Result, SearchAccount
from qidsql.declarations.results import FLAT
from qidsql.measures.profiles import ClassProfile, SizeBin
from qidsql.wording.texts import few


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
