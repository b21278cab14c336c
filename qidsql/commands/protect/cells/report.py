"""The report of `protect --by cells`, by the kind of the plan."""

from qidsql.commands.protect.cells import identical_report, matching_report
from qidsql.commands.protect.cells.identical_result import IdenticalRows
from qidsql.commands.protect.cells.matching_result import MatchingRows
from qidsql.report.blocks import Report


def report(result: IdenticalRows | MatchingRows) -> Report:
    """The report."""
    return identical_report.report(result) if isinstance(result, IdenticalRows) else matching_report.report(result)


def opening(result: IdenticalRows | MatchingRows) -> str:
    """What was found, in words for people who sign."""
    return identical_report.opening(result) if isinstance(result, IdenticalRows) else matching_report.opening(result)
