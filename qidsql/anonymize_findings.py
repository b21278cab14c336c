"""What an anonymization comes to, as a frozen value. Reports and programs see nothing else."""

from dataclasses import dataclass

from qidsql.measures import ClassProfile
from qidsql.search_findings import Outcome, SearchWork
from qidsql.work import head


@dataclass(frozen=True, slots=True)
class AnonymizeResult:
    """The cells to suppress so that every row is identical to k - 1 others, `*` being a value.

    `cost` is the weight of the suppressed `cells`, and no anonymization costs less than `lower_bound`. `rows_touched`
    lose a cell, `rows_blank` all of them. `before` is the class profile of the table, `after` that of the written
    target, `target` its name; both None when nothing was written. `script` would make the target.
    """

    outcome: Outcome
    reason: str  # the answer, in one sentence
    algorithm: str
    cost: int
    lower_bound: int
    optimal: bool
    cells: int
    by_column: dict[str, int]
    rows_touched: int
    rows_blank: int
    row_patterns: int
    before: ClassProfile | None
    after: ClassProfile | None
    target: str | None
    work: SearchWork

    def to_dict(self) -> dict[str, object]:
        """Plain lists, dicts, strings and numbers, ready for JSON. `format` changes when a key changes its meaning."""
        names = ("algorithm", "cost", "lower_bound", "optimal", "cells", "by_column", "rows_touched", "rows_blank")
        return {
            **head(self.outcome, self.reason, self.work),
            **{name: getattr(self, name) for name in names},
            "row_patterns": self.row_patterns,
            "before": self.before and self.before.to_dict(),
            "after": self.after and self.after.to_dict(),
            "target": self.target,
        }
