"""The exit code of a run."""

from collections.abc import Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, TypeAlias

from qidsql.core.results import Verdict, worst

if TYPE_CHECKING:
    from qidsql.operations.coverage import Coverage

Code: TypeAlias = Literal[0, 1, 2, 3]
CODES: dict[Verdict, Code] = {Verdict.PASS: 0, Verdict.VIOLATION: 1, Verdict.ERROR: 2, Verdict.INCONCLUSIVE: 3}


class FailOn(StrEnum):
    """Which violations set the exit code."""

    ANY = "any"
    NEW = "new"  # only those with a finding that is new or worse than in the baseline


def exit_code(fail_on: FailOn, verdict: Verdict, on_new: Iterable[Verdict], covered: "Coverage | None") -> Code:
    """0 pass, 1 violation, 2 error, 3 inconclusive; with `fail_on` new, known violations count as 0.

    `on_new` are the verdicts of the tables, a pass for each known violation.
    """
    tables = list(on_new)
    if fail_on is FailOn.NEW and tables:
        verdict = worst([*tables, *([covered.verdict_on_new] if covered else [])])
    return CODES[verdict]
