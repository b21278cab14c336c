"""What an anonymization comes to, as a frozen value. Reports and programs see nothing else."""

from dataclasses import dataclass

from qidsql.commands.keys.result import Outcome, SearchWork
from qidsql.core.results import head
from qidsql.measures.profiles import ClassProfile


@dataclass(frozen=True, slots=True)
class AnonymizeResult:
    """The cells to suppress so that every row is identical to k - 1 others, `*` being a value.

    `cost` is the weight of the suppressed `cells`, and no anonymization costs less than `lower_bound`. `rows_touched`
    lose a cell, `rows_blank` all of them. `target` is the written copy, with the columns `copied`, and `after` its
    class profile; `target` is None when nothing was kept. `not_copied` names the other columns, with the reason.
    """

    outcome: Outcome
    reason: str  # the answer, in one sentence
    algorithm: str
    cost: int | None
    lower_bound: int
    cells: int | None
    by_column: dict[str, int]
    rows_touched: int
    rows_blank: int
    row_patterns: int
    after: ClassProfile | None
    target: str | None
    copied: tuple[str, ...]
    not_copied: tuple[tuple[str, str], ...]
    script: tuple[str, ...]  # would make the copy, as long as the table stays as it is
    work: SearchWork

    @property
    def optimal(self) -> bool:
        """True when no anonymization costs less, by the proved bound."""
        return self.cost is not None and self.cost == self.lower_bound

    def to_dict(self) -> dict[str, object]:
        """Plain lists, dicts, strings and numbers, ready for JSON. `format` changes when a key changes its meaning."""
        names = ("algorithm", "cost", "lower_bound", "optimal", "cells", "by_column", "rows_touched", "rows_blank")
        return {
            **head(self.outcome, self.reason, self.work),
            **{name: getattr(self, name) for name in names},
            "row_patterns": self.row_patterns,
            "after": self.after and self.after.to_dict(),
            "target": self.target,
            "copied": list(self.copied),
            "script": list(self.script),
            "not_copied": [{"name": name, "reason": reason} for name, reason in self.not_copied],
        }
