"""The result of `doctor`: whether an audit could run, and its obstacles."""

from dataclasses import dataclass
from typing import Annotated, Literal

from qidsql.core.results import Check, Result, State
from qidsql.declarations.results import UNWRITTEN, Rounded, reported


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
