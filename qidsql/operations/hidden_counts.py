"""An audit with hidden counts: what `AuditResult` shows of itself; `qidsql.formats.min_count` explains the rule."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from qidsql.commands.audit.command import AuditResult
from qidsql.declarations.hidden import FORMS, Range, Total, hidden_form
from qidsql.declarations.results import described
from qidsql.measures.profiles import COUNTS, RATIOS, ClassProfile


@dataclass(frozen=True, slots=True)
class HiddenProfile:
    """A class profile that shows only the number of rows (or entities)."""

    rows: Total
    k: int
    entities: bool

    classes: ClassVar[None] = None
    smallest: ClassVar[None] = None
    rows_below_k: ClassVar[None] = None
    colliding_pairs: ClassVar[None] = None
    share_below_k: ClassVar[None] = None

    def by_known_rows(self, found: object = None) -> "HiddenProfile":
        """The same: its figures are hidden, whatever is known of the rows of persons."""
        return self

    def to_plain(self) -> dict[str, Any]:
        rows = {"at_least": self.rows.at_least, "at_most": self.rows.at_most} if isinstance(self.rows, Range) else None
        whole = {"entities" if self.entities else "rows": rows or self.rows}
        return {**whole, **dict.fromkeys((*COUNTS, *RATIOS)), "k": self.k}

    @classmethod
    def of_plain(cls, written: Mapping[str, Any]) -> "HiddenProfile":
        entities = "entities" in written
        rows = written["entities" if entities else "rows"]
        return cls(Range(**rows) if isinstance(rows, Mapping) else rows, written["k"], entities)

    @classmethod
    def plain_schema(cls, definitions: dict[str, Any]) -> dict[str, Any]:
        rows = described(Total, definitions)
        hidden: dict[str, Any] = {name: {"type": "null"} for name in (*COUNTS, *RATIOS)}
        return {
            "type": "object",
            "description": "a class profile that shows only the number of rows (or entities)",
            "properties": {"rows": rows, "entities": rows, **hidden, "k": {"type": "integer", "minimum": 2}},
            "required": [*COUNTS, *RATIOS],
        }


FORMS[ClassProfile] = HiddenProfile
if TYPE_CHECKING:
    HiddenAudit: TypeAlias = AuditResult  # a subclass of it, with None for what is hidden
else:
    HiddenAudit = hidden_form(AuditResult)
