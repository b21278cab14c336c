"""The audit report on a terminal, section by section, as soon as each is final."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from qidsql.commands.audit.report import last_section, sections, verdict
from qidsql.commands.audit.request import AuditRequest
from qidsql.commands.audit.result import AuditResult
from qidsql.core.results import Verdict
from qidsql.report.blocks import Block


class LiveReport:
    """Shows each section once. `show` draws blocks on the screen, below others or as the first."""

    def __init__(self, show: Callable[[Iterable[Block], bool], None]) -> None:
        self._show = show
        self._shown = 0
        self._opening: tuple[Verdict, bool] | None = None  # the verdict as shown, and whether it says: interrupted

    def streamed(self, request: AuditRequest) -> AuditRequest:
        """The request with each part of its report shown as it becomes final."""
        return replace(request, on_part=self.part)

    def part(self, result: AuditResult) -> None:
        """Show the sections of a result so far that are not on the screen."""
        if not self._shown:
            self._opening = result.verdict, result.interrupted
        for section in sections(result)[self._shown :]:
            self._show(section, self._shown > 0)
            self._shown += 1

    def last(self, result: AuditResult) -> None:
        """Show the rest of the report; the verdict again if the audit was interrupted after it was shown."""
        self.part(result)
        self._show(last_section(result), True)
        if (result.verdict, result.interrupted) != self._opening:
            self._show([verdict(result)], True)
