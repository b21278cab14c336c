"""The option of requests whose search has a plan at any moment: how much work may improve it."""

from dataclasses import dataclass
from typing import Annotated

from qidsql.core.options import BUDGET
from qidsql.declarations.options import Option
from qidsql.errors import UsageError
from qidsql.wording.option_names import setting

MILLION = 1_000_000


@dataclass(frozen=True, kw_only=True)
class WorkOptions:
    """`max_work` limits the improvement; equal tables get equal plans within equal work."""

    max_work: Annotated[
        int | None,
        Option(
            "millions of numbers that the search looks at, at most; equal tables get equal plans; default: 3,000 "
            "without --max-seconds, about a minute",
            "N",
            panel=BUDGET,
        ),
    ] = None

    @property
    def work(self) -> int | None:
        """The limit in numbers. Raises UsageError."""
        if self.max_work is None:
            return None
        if self.max_work <= 0:
            raise UsageError(f"{setting('max_work')} must be more than 0")
        return self.max_work * MILLION
