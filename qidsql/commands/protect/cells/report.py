"""The report of `protect --by cells`, by the kind of the plan."""

from types import ModuleType

from qidsql.commands.protect.cells import identical_report, matching_report
from qidsql.commands.protect.cells.identical_result import IdenticalRows
from qidsql.commands.protect.cells.matching_result import MatchingRows
from qidsql.report.blocks import Report


def report(result: IdenticalRows | MatchingRows) -> Report:
    """The report."""
    return _of(result).report(result)  # type: ignore[no-any-return]


def opening(result: IdenticalRows | MatchingRows) -> str:
    """What was found, in words for people who sign."""
    return str(_of(result).opening(result))


def _of(result: IdenticalRows | MatchingRows) -> ModuleType:
    return identical_report if isinstance(result, IdenticalRows) else matching_report
