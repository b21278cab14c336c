"""The result of `verify`: each claim of an earlier result, and whether it holds."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated

from qidsql.core.results import Result, SearchAccount
from qidsql.declarations.results import FLAT, plain
from qidsql.wording.texts import few, moment

CODED = "on the codes of the rows"


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


def same(text: str, figures: Mapping[str, tuple[object, object]], how: str) -> Claim:
    """The claim that figures of the result, each with the one that was found here, are right."""
    wrong = [name for name, (stated, found) in figures.items() if plain(stated) != plain(found)]
    return Claim(text, held(not wrong), how + (f"; others: {few(wrong)}" if wrong else ""))


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
