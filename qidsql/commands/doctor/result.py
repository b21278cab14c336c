"""What `doctor` finds: whether an audit could run, and what stands in its way."""

from dataclasses import dataclass

from qidsql.core.checks import Check, State
from qidsql.version import __version__


@dataclass(frozen=True, slots=True)
class TableHealth:
    """A table, whether it can be audited, and what there is to say of it."""

    table: str
    kind: str
    rows: int | None  # the catalog's guess
    checks: tuple[Check, ...] = ()

    @property
    def auditable(self) -> bool:
        return all(check.state is not State.PROBLEM for check in self.checks)

    def to_dict(self) -> dict[str, object]:
        return {
            "table": self.table,
            "kind": self.kind,
            "estimated_rows": self.rows,
            "auditable": self.auditable,
            "checks": [check.to_dict() for check in self.checks],
        }


@dataclass(frozen=True, slots=True)
class DoctorResult:
    """The findings on the installation, the source and its tables. `obstacle` says why nothing came of the source."""

    source: str
    engine: str | None  # None where no connection came about
    installation: tuple[Check, ...]
    session: tuple[Check, ...]
    tables: tuple[TableHealth, ...]
    grants: tuple[str, ...]
    grantee: str | None  # the role that was asked for; None: the grants are what the session's role lacks
    seconds: float
    obstacle: str = ""

    @property
    def verdict(self) -> str:
        """`pass`: all tables can be audited; `error`: no connection; `inconclusive`: not all, or there is none."""
        if self.obstacle:
            return "error"
        problems = any(check.state is State.PROBLEM for check in (*self.installation, *self.session))
        whole = self.tables and all(table.auditable for table in self.tables) and not problems
        return "pass" if whole else "inconclusive"

    @property
    def reason(self) -> str:
        """Why, in one sentence."""
        if self.obstacle:
            return self.obstacle
        good = sum(table.auditable for table in self.tables)
        if not self.tables:
            return "connected, but there is no table"
        if good == len(self.tables):
            return "the table can be audited" if good == 1 else f"all {good:,} tables can be audited"
        return f"{good:,} of {len(self.tables):,} tables can be audited"

    def to_dict(self) -> dict[str, object]:
        """Plain lists, dicts, strings and numbers, ready for JSON."""
        return {
            "format": 1,
            "qidsql": __version__,
            "kind": "doctor",
            "verdict": self.verdict,
            "reason": self.reason,
            "source": self.source,
            "engine": self.engine,
            "installation": [check.to_dict() for check in self.installation],
            "session": [check.to_dict() for check in self.session],
            "tables": [table.to_dict() for table in self.tables],
            "grants": list(self.grants),
            "seconds": round(self.seconds, 3),
        }
