"""What `doctor` finds: whether an audit could run, and what stands in its way."""

from dataclasses import dataclass
from typing import Annotated, Literal

from qidsql.core.checks import Check, State
from qidsql.core.results import Result
from qidsql.declarations.results import UNWRITTEN, Rounded, reported


@dataclass(frozen=True, slots=True)
class TableHealth:
    """A table, whether it can be audited, and the findings on it."""

    table: str
    kind: str
    estimated_rows: Annotated[int | None, "the catalog's guess"]
    checks: tuple[Check, ...] = ()

    @reported
    def auditable(self) -> bool:
        return all(check.state is not State.PROBLEM for check in self.checks)


@dataclass(frozen=True, kw_only=True, repr=False)
class DoctorResult(Result):
    """The findings on the installation, the source and its tables.

    The verdict is `pass` where all tables can be audited, `error` where no connection came about, else `inconclusive`.
    """

    kind: Literal["doctor"] = "doctor"
    source: str
    engine: Annotated[str | None, "null where no connection came about"]
    installation: tuple[Check, ...]
    session: tuple[Check, ...]
    tables: tuple[TableHealth, ...]
    grants: Annotated[tuple[str, ...], "the rights that are missing, or all that the role needs; none was granted"]
    seconds: Annotated[float, Rounded(3)]
    grantee: Annotated[str | None, UNWRITTEN] = None  # the role that was asked for
