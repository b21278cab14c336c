"""What a command was put to, and what it took: the account that every result carries."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from qidsql.core.policy import Policy
from qidsql.version import __version__


@dataclass(frozen=True, slots=True)
class Work:
    """Source, table and options, and what the answer took. `unfinished` says in words what is left undone."""

    source: str
    engine: str
    table: str
    kind: str
    snapshot: str
    started: datetime
    seconds: float
    policy: Policy
    rows: int | None
    statements: int
    scans: int
    sets_profiled: int
    unfinished: tuple[str, ...]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, object]:
        return {
            **{name: getattr(self, name) for name in ("source", "engine", "table", "kind", "snapshot")},
            "started": self.started.isoformat(timespec="seconds"),
            "seconds": round(self.seconds, 3),
            "policy": self.policy.to_dict(),
            "rows": self.rows,
            "statements": self.statements,
            "scans": self.scans,
            "sets_profiled": self.sets_profiled,
            "unfinished": list(self.unfinished),
            "notes": list(self.notes),
        }

    @classmethod
    def from_dict(cls, written: Mapping[str, Any]) -> "Work":
        """The account of which `to_dict` made this. Raises KeyError, UsageError, ValueError where it is none."""
        same = ("source", "engine", "table", "kind", "snapshot", "seconds", "rows", "statements", "scans")
        return cls(
            **{name: written[name] for name in (*same, "sets_profiled")},
            started=datetime.fromisoformat(written["started"]),
            policy=Policy.read(**written["policy"]),
            unfinished=tuple(written["unfinished"]),
            notes=tuple(written["notes"]),
        )


def head(verdict: str, reason: str, work: Work) -> dict[str, object]:
    """What the dicts of all results begin with. `format` changes when a key changes its meaning."""
    return {"format": 1, "qidsql": __version__, "verdict": str(verdict), "reason": reason, **work.to_dict()}
