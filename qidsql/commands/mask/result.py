"""What a masking finds out: the columns to publish, how good that choice is, and the script for it."""

from dataclasses import dataclass
from typing import Annotated

from qidsql.core.results import Result, SearchAccount
from qidsql.declarations.results import FLAT, reported
from qidsql.measures.profiles import ClassProfile
from qidsql.search.result import Certificate


@dataclass(frozen=True, kw_only=True, repr=False)
class MaskResult(Result):
    """Which columns can be published together."""

    account: Annotated[SearchAccount, FLAT]
    criterion: Annotated[str, "what the published columns must not be"]
    algorithm: str
    published: tuple[str, ...]
    withheld: tuple[str, ...]
    weight: Annotated[int, "of the published columns"]
    bound: Annotated[int | None, "what no choice can exceed, as far as is proved; null where no column is known yet"]
    safe: Annotated[bool | None, "whether the full table shows so; null where only a sample was asked"]
    profile: Annotated[ClassProfile | None, "of the published columns, on the full table"]
    certificate: Certificate | None
    script: Annotated[tuple[str, ...], "statements that would carry it out, none of which was run"]

    @reported
    def optimal(self) -> Annotated[bool, "no choice publishes more, by the proved bound"]:
        return self.safe is True and self.weight == self.bound
