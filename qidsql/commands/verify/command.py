"""The request of `verify`: a result that an earlier command wrote."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated

from qidsql.core.copies import written_file
from qidsql.core.options import size_in_bytes
from qidsql.core.policy import Budgeted, Policy
from qidsql.core.results import Result, SearchAccount
from qidsql.declarations.options import Command, Option
from qidsql.declarations.results import FLAT, plain
from qidsql.wording.texts import few, moment


@dataclass(frozen=True)
class VerifyRequest(Budgeted):
    """Does an earlier result of audit, uniques, keys, protect or release still hold?

    The result, as --format json wrote it, has what proves it: for audit, its lists of minimal column sets; for keys,
    the column sets that miss the criterion; for protect by columns, those that meet it; by levels, choices of levels
    that do not reach k; by cells, the plan and prices of rows. What is claimed must follow from them and from the
    table, the verdict and its reason too; a copy must be what the plan makes of the table. A violation: some claim does
    not hold, or no longer; or all hold, and a release states one. Cells and combinations are checked on codes of the
    distinct rows, which leave the engine. What a result says of its own work (algorithm, statements, time, notes) is
    not checked.
    """

    result: Annotated[str, Option("the result, a file of --format json", "RESULT", argument=True)]
    _: KW_ONLY
    table: Annotated[
        str | None,
        Option(
            "of a release: its table, if that has another name by now; of other results: the one they name",
            "TABLE",
            argument=True,
        ),
    ] = None
    protected: Annotated[
        str | None,
        Option(
            "the copy that protect wrote: a table of the same source, or a data file; default: the table that the "
            "result names",
            "TABLE",
        ),
    ] = None

    @property
    def beside(self) -> str | None:
        """The file of the copy, which is opened together with the source; None if the copy is a table."""
        return written_file(self.protected)

    def __post_init__(self) -> None:
        most = size_in_bytes("max_bytes", self.max_bytes)
        Policy(max_statements=self.max_statements, max_seconds=self.max_seconds, max_bytes=most)  # checks the budgets


COMMAND = Command(
    VerifyRequest,
    examples=(
        "qidsql audit clinic.duckdb patients --output audit.json; qidsql verify audit.json clinic.duckdb",
        "qidsql keys clinic.duckdb patients --output keys.json && qidsql verify keys.json clinic.duckdb",
        "qidsql verify columns.json postgresql://auditor@db.example.org/clinic --max-seconds 60",
        "qidsql verify release.json out/patients.parquet",
        "qidsql verify release.json warehouse.duckdb public_patients",
        "qidsql verify cells.json warehouse.duckdb --protected out/patients.parquet",
    ),
    exit_codes="0 every claim holds, 1 some claim does not, 2 error, 3 inconclusive (ended early, or without a proof); "
    "of a release whose claims hold the code of its own verdict",
    opens=True,
    source_last=True,
)


# The result of `verify`: each claim of an earlier result, and whether it holds.


CODED = "on the codes of the rows"
STATED = "The statement itself: "  # then the verdict that a release states


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
