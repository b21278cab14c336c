"""What every result has: a verdict, the reason for it, and the account of what it took."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

from qidsql.core.policy import Policy
from qidsql.declarations.results import Rounded, plain
from qidsql.version import __version__


class Verdict(StrEnum):
    """How a command ended. Of several, the one that is listed first here counts."""

    ERROR = "error"
    VIOLATION = "violation"
    INCONCLUSIVE = "inconclusive"
    PASS = "pass"
    FINISHED = "finished"  # an answer that is neither a pass nor a violation


def worst(verdicts: Iterable[str]) -> Verdict:
    """The one that counts of several; inconclusive where there is none."""
    given = {Verdict(verdict) for verdict in verdicts}
    return next((verdict for verdict in Verdict if verdict in given), Verdict.INCONCLUSIVE)


@dataclass(frozen=True, kw_only=True)
class Account:
    """Source, table and options, and what the answer took."""

    source: str
    engine: str
    table: str
    kind: str
    snapshot: Annotated[str, "what is known of the state of the data that the statements saw"]
    started: datetime
    seconds: Annotated[float, Rounded(3)]
    policy: Policy
    rows: int | None
    statements: int
    scans: Annotated[int, "how often statements read the table, at most"]
    sets_profiled: int
    unfinished: Annotated[tuple[str, ...], "what is left undone, and why"]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class LeftOut:
    """A column that was left out, and why."""

    name: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class SearchAccount(Account):
    """What was searched, and what it took."""

    entities: int | None
    columns: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    weights: Annotated[dict[str, int], "of the columns that do not count 1"]


@dataclass(frozen=True, kw_only=True, repr=False)
class Result:
    """What a command finds out. `format` changes when a key changes its meaning."""

    format: int = field(default=1, init=False)
    qidsql: Annotated[str, "the version that wrote this"] = __version__
    verdict: Verdict
    reason: Annotated[str, "the answer, in one sentence"]

    @property
    def ending(self) -> Verdict:
        """The verdict that decides the exit code."""
        return self.verdict

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, dicts, strings and numbers, ready for JSON."""
        return dict(plain(self))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.verdict}: {self.reason}>"
