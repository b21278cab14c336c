"""The limits of a search that has a plan at any moment: time, and work that ends it at the same place everywhere."""

import time

from qidsql.core.time_limit import check_time
from qidsql.errors import BudgetSpent

WORK = 3_000_000_000  # numbers looked at where there is no limit: about a minute


class WorkLimit:
    """A deadline of `time.monotonic`, and how many numbers may be looked at. With neither, about a minute of work."""

    def __init__(self, deadline: float | None = None, work: int | None = None) -> None:
        self.deadline, self.given = deadline, deadline is not None or work is not None
        self._left = work if self.given else WORK

    def third(self) -> float | None:
        """The moment at which a third of the time left is over."""
        now = time.monotonic()
        return None if self.deadline is None else now + (self.deadline - now) / 3

    def third_of_work(self) -> int | None:
        """A third of the work left; it is spent by this."""
        if self._left is None:
            return None
        part = max(0, self._left) // 3
        self._left -= part
        return part

    def spend(self, work: int = 0) -> None:
        """Count the numbers looked at. Raises BudgetSpent if the time or the work is used up."""
        check_time(self.deadline)
        if self._left is not None:
            self._left -= work
            if self._left < 0:
                raise BudgetSpent("the budget of work (--max-work) is used up")
