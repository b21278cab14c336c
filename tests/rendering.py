"""Results as people read them at a terminal."""

from importlib import import_module

from qidsql.cli.streams import report_text
from qidsql.core.results import Result


def render(result: Result, width: int = 110, colour: bool = False) -> str:
    """The report of the command that found the result, as text of at most so many columns."""
    report = import_module(type(result).__module__.rpartition(".")[0] + ".report").report
    return report_text(report(result), width, colour)
