"""The request of `doctor`: which tables of the source to examine, and for which role."""

from dataclasses import dataclass
from typing import Annotated, Literal

from qidsql.core.options import MaxSeconds, Schema
from qidsql.core.results import Check, Result, State
from qidsql.declarations.options import Command, Option
from qidsql.declarations.results import UNWRITTEN, Rounded, reported


@dataclass(frozen=True, kw_only=True)
class DoctorRequest:
    """Can this source be audited? Checks connection, rights, row-level security, limits and every table.

    Prints remedies and the least GRANTs that are missing. Reads no table.
    """

    schema: Schema = None
    role: Annotated[str | None, Option("print all GRANTs that this role would need", "NAME")] = None
    max_seconds: MaxSeconds = None


COMMAND = Command(
    DoctorRequest,
    examples=("qidsql doctor env:CLINIC_URL --role auditor",),
    exit_codes="0 all tables can be audited, 2 no connection, 3 some table cannot be audited (or there is none)",
    opens=True,
    without=("dry_run", "show_sql"),
)


# The result of `doctor`: whether an audit could run, and its obstacles.


@dataclass(frozen=True, slots=True)
class TableHealth:
    """A table, whether it can be audited, and its checks."""

    table: str
    kind: str
    estimated_rows: Annotated[int | None, "the catalog's guess"]
    checks: tuple[Check, ...] = ()

    @reported
    def auditable(self) -> bool:
        return all(check.state is not State.PROBLEM for check in self.checks)


@dataclass(frozen=True, kw_only=True, repr=False)
class DoctorResult(Result):
    """The checks of the installation, the source and its tables.

    The verdict is `pass` if all tables can be audited, `error` if the connection failed, else `inconclusive`.
    """

    kind: Literal["doctor"] = "doctor"
    source: str
    engine: Annotated[str | None, "null if the connection failed"]
    installation: tuple[Check, ...]
    session: tuple[Check, ...]
    tables: tuple[TableHealth, ...]
    grants: Annotated[tuple[str, ...], "the missing rights, or all that the role needs; none was granted"]
    seconds: Annotated[float, Rounded(3)]
    grantee: Annotated[str | None, UNWRITTEN] = None  # the role of --role
