"""The result of `verify`: each claim of an earlier result, and whether it holds."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated

from qidsql.core.results import Result, SearchAccount
from qidsql.declarations.results import FLAT
from qidsql.wording.numbers import moment


class Holds(StrEnum):
    """Whether a claim holds."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Claim:
    """A claim of the result, and what was compared."""

    text: str
    holds: Holds
    how: str


def held(holds: bool) -> Holds:
    return Holds.YES if holds else Holds.NO


@dataclass(frozen=True, kw_only=True, repr=False)
class VerifyResult(Result):
    """The claims of a result, each checked on the table as it is now."""

    account: Annotated[SearchAccount, FLAT]
    verified: Annotated[str, "the command whose result this is about"]
    criterion: str
    written: Annotated[datetime, "when that command began"]
    checks: tuple[Claim, ...]

    @property
    def asked(self) -> tuple[str, ...]:
        return (f"of {self.verified}, {moment(self.written)}", self.criterion)
