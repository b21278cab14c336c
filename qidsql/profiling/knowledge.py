"""What is known of column sets and what follows from it without a statement; a budget, and what is spent."""

import logging
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import TypeVar

from qidsql.core.budget import check_time
from qidsql.core.tables import positions
from qidsql.engines.base import Engine
from qidsql.errors import BudgetSpent, OutOfRoom, SnapshotLost, StatementError, StatementFailed
from qidsql.measures.profiles import ClassProfile
from qidsql.sql.relation import Relation
from qidsql.sql.templates import Statement
from qidsql.wording.texts import count, plural, setting


class Knowledge(dict[int, ClassProfile]):
    """The profiles of column sets that are known so far, of so many columns."""

    def __init__(self, columns: int) -> None:
        super().__init__()
        self.columns = columns
        self._fine: list[int] = []  # known sets that separate the same rows as all columns
        self._compared = 0  # known sets compared with all columns

    @property
    def everything(self) -> int:
        """The set of all columns."""
        return (1 << self.columns) - 1

    @property
    def singles(self) -> list[int]:
        return [1 << place for place in range(self.columns)]

    def infer(self, masks: Sequence[int]) -> None:
        """Note the profiles of those sets that contain one which separates the same rows as all columns together.

        A column more only divides classes: a set with as many classes as all columns has the same classes, and so has
        every set in between. With wildcards, the pairs of rows that match take the place of the classes.
        """
        whole = self.get(self.everything)
        if whole is None:
            return
        for mask in list(self)[self._compared :]:
            known = self[mask]
            same = known.colliding_pairs == whole.colliding_pairs if whole.wildcard else known.classes == whole.classes
            if same and not any(mask & fine == fine for fine in self._fine):
                self._fine.append(mask)
        self._compared = len(self)
        self.update({m: whole for m in masks if m not in self and any(m & f == f for f in self._fine)})

    def twins(self) -> dict[int, int]:
        """Each column known to have the same classes as an earlier one, with the earliest of these."""
        alike: dict[ClassProfile, list[int]] = {}
        for place, mask in enumerate(self.singles):
            if mask in self:
                alike.setdefault(self[mask], []).append(place)
        twins: dict[int, int] = {}
        for profile, places in alike.items():
            for first, other in combinations(places, 2):
                if self.get(1 << first | 1 << other) == profile:
                    twins.setdefault(other, first)
        return twins

    def most_classes(self, mask: int, rows: int) -> int:
        """At most so many classes does the set have, of so many rows, by what is known of its columns and of all."""
        whole = self.get(self.everything)
        columns = [self.get(1 << place) for place in positions(mask)]
        together = prod(column.classes for column in columns if column is not None) if all(columns) else rows
        return min(together, rows if whole is None else whole.classes)


# The limits of a profiler's work, the work spent so far, and its statements.


LOG = logging.getLogger(__name__)
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of the work; None: no limit. Seconds count from the creation of the profiler."""

    max_statements: int | None = None
    max_seconds: float | None = None


class Meter:
    """Runs statements within a budget, and counts them: shared by a profiler and those derived from it."""

    def __init__(self, engine: Engine, budget: Budget) -> None:
        self.sets = 0
        self.deadline = None if budget.max_seconds is None else time.monotonic() + budget.max_seconds
        self.most = self.allowed = budget.max_statements
        self.rows: dict[Relation, int] = {}  # that the first statement on a relation counted
        self.values = 0  # that statements have read since `allow`: rows x columns of each scan
        self.most_values: int | None = None
        self.setting = setting("max_statements")
        self.failures_stop = False
        self._engine, self._first = engine, engine.statements

    @property
    def answered(self) -> int:
        return self._engine.statements - self._first

    @property
    def statements_left(self) -> int:
        return sys.maxsize if self.most is None else self.most - self.answered

    def allow(self, statements: int, values: int) -> None:
        """A budget for the next part of the work."""
        LOG.debug("from here on at most %s statements, which read at most %s values", statements, values)
        self.most, self.allowed = self.answered + statements, statements
        self.values, self.most_values = 0, values

    @contextmanager
    def leaving(self, seconds: float, statements: int) -> Iterator[None]:
        """A part of the work, which leaves so much of the budget for what follows."""
        before = self.deadline, self.most
        self.deadline = self.deadline and self.deadline - seconds
        self.most = None if self.most is None else self.most - statements
        try:
            yield
        finally:
            self.deadline, self.most = before

    def check(self, statements: int, values: int) -> None:
        """Count what statements are about to read. Raises BudgetSpent if they exceed the budget."""
        if self.statements_left < statements:
            raise BudgetSpent(f"the budget of {plural(self.allowed or 0, 'statement')} ({self.setting}) is used up")
        if not self.affords(values):
            raise BudgetSpent(at_most(self.most_values or 0))
        self.values += values

    def affords(self, values: int) -> bool:
        """Whether so many more values may be read."""
        return self.most_values is None or self.values + values <= self.most_values

    def run(
        self,
        statements: Sequence[Statement[Answer]],
        keep: Callable[[int, Answer], None],
        values: int,
        divisible: bool = False,
    ) -> list[Answer]:
        """Runs statements that read so many values. `divisible`: raises OutOfRoom, as their classes can be counted in
        parts. Raises as `Engine.run_many`, and BudgetSpent."""
        self.check(len(statements), values)
        try:
            return self._engine.run_many(statements, self.deadline, keep)
        except StatementError as error:
            if divisible and isinstance(error, OutOfRoom):
                raise
            if self.failures_stop and self.answered:
                raise StatementFailed(str(error)) from None
            raise

    def same_rows(self, source: Relation, rows: int) -> None:
        """Raise SnapshotLost if another statement counted other rows: then no two figures belong together."""
        first = self.rows.setdefault(source, rows)
        self._engine.expect(rows)
        if first != rows:
            raise SnapshotLost(
                f"two statements counted {count(first)} and {count(rows)} rows: the source changes from statement to "
                f"statement, as a view with random() or the time does; audit a copy of it"
            )

    def check_time(self) -> None:
        check_time(self.deadline)


def at_most(values: int) -> str:
    """How many values a search reads that has no budget of statements."""
    most = f"{count(values)} values (rows x columns of each scan)"
    return f"without {setting('max_statements')}, a search reads at most {most}"
