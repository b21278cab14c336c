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
    """Which violations count for the exit code."""

    ANY = "any"
    NEW = "new"  # those where a finding is new or worse than in the run compared with


def exit_code(fail_on: FailOn, verdict: Verdict, known_apart: Iterable[Verdict], covered: "Coverage | None") -> Code:
    """0 pass, 1 violation, 2 error, 3 inconclusive; with `fail_on` new, violations known before count for 0.

    `known_apart` are the verdicts on the tables, those of known violations replaced by pass.
    """
    tables = list(known_apart)
    if fail_on is FailOn.NEW and tables:
        verdict = worst([*tables, *([covered.known_apart] if covered else [])])
    return CODES[verdict]
