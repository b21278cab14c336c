"""What a suppression takes and leaves, as frozen values. Reports and programs see nothing else."""

from dataclasses import asdict, dataclass

from qidsql.commands.keys.result import Outcome, SearchWork
from qidsql.core.results import head


@dataclass(frozen=True, slots=True)
class ValueLoss:
    """A value that loses cells, as text; only where the user asked to see values."""

    value: str | None
    cells: int
    of: int


@dataclass(frozen=True, slots=True)
class ColumnLoss:
    """What a column loses: cells, in how many of its values, and how many values are gone with all their cells."""

    name: str
    weight: int
    cells: int
    values: int
    values_touched: int
    values_gone: int
    most: tuple[ValueLoss, ...] = ()


@dataclass(frozen=True, slots=True)
class SuppressResult:
    """The lightest suppression; a report is rendered from nothing else.

    `cost` is the weight of the suppressed cells. `lower_bound` is what every suppression weighs at least in which each
    row is safe by its own blank cells, where that is proved (`method` optimal). `by_cells` counts rows
    by the cells they lose. `at_risk`: rows of the written copy that match fewer than k where NULL matches anything;
    None where no copy was made. `target` is the copy, `copied` its columns, `script` the statements that were asked
    for instead. Before there is a plan (`outcome` inconclusive or violation) the figures are None or empty.
    """

    outcome: Outcome
    reason: str  # the answer, in one sentence
    k: int
    method: str
    cost: int | None
    lower_bound: int | None
    cells: int | None
    records: int | None
    by_cells: dict[int, int]
    losses: tuple[ColumnLoss, ...]
    ways: tuple[str, ...]
    masks: int
    target: str | None
    copied: tuple[str, ...]
    not_copied: tuple[tuple[str, str], ...]  # column and reason
    at_risk: int | None
    script: tuple[str, ...]
    work: SearchWork

    @property
    def optimal(self) -> bool:
        """True when no suppression of the kind weighs less, by the proved bound."""
        return self.cost is not None and self.cost == self.lower_bound

    def to_dict(self) -> dict[str, object]:
        """Plain lists, dicts, strings and numbers, ready for JSON. `format` changes when a key changes its meaning."""
        return {
            **head(self.outcome, self.reason, self.work),
            "k": self.k,
            "method": str(self.method),
            "optimal": self.optimal,
            "cost": self.cost,
            "lower_bound": self.lower_bound,
            "cells": self.cells,
            "records": self.records,
            "by_cells": {str(cells): rows for cells, rows in self.by_cells.items()},
            "losses": [asdict(loss) for loss in self.losses],
            "algorithm": list(self.ways),
            "masks": self.masks,
            "target": self.target,
            "copied": list(self.copied),
            "not_copied": [{"name": name, "reason": reason} for name, reason in self.not_copied],
            "at_risk": self.at_risk,
            "script": list(self.script),
        }
