"""The result of `mask`: the columns to publish, how good that choice is, and the script for it."""

from dataclasses import dataclass
from typing import Annotated

from qidsql.core.results import Result, SearchAccount
from qidsql.declarations.results import FLAT, OMITTED, reported
from qidsql.measures.profiles import ClassProfile
from qidsql.search.result import Certificate
from qidsql.wording.texts import plural


@dataclass(frozen=True, kw_only=True, repr=False)
class MaskResult(Result):
    """Which columns can be published together."""

    account: Annotated[SearchAccount, FLAT]
    criterion: Annotated[str, "must not hold for the published columns"]
    options: Annotated[str, "the options that ask for the criterion"]
    algorithm: str
    published: tuple[str, ...]
    withheld: tuple[str, ...]
    weight: Annotated[int, "of the published columns"]
    bound: Annotated[int | None, "a proved upper bound of the weight of every choice; null if no column is known yet"]
    safe: Annotated[bool | None, "whether the full table confirms it; null if only a sample was profiled"]
    profile: Annotated[ClassProfile | None, "of the published columns, on the full table"]
    quasi_identifiers: Annotated[
        tuple[tuple[str, ...], ...] | None,
        "column sets that meet the criterion: every choice withholds a column of each, which proves the bound (qidsql "
        "verify); null if there are too many to list",
    ]
    certificate: Certificate | None
    view: Annotated[str | None, OMITTED, "the view that the script creates, if one was named"] = None
    role: Annotated[str, "the role that may read it, in the script"] = "reader"
    script: Annotated[tuple[str, ...], "statements that would carry it out, none of which was run"]

    @property
    def asked(self) -> tuple[str, ...]:
        return (f"no {self.criterion}", plural(len(self.account.columns), "column"))

    @reported
    def optimal(self) -> Annotated[bool, "no choice publishes more, by the proved bound"]:
        return self.safe is True and self.weight == self.bound
