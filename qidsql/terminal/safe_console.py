"""A console to which no name of a table or column can give orders, such as to hide the rest of a report."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.segment import Segment

from qidsql.wording.texts import without_controls


class SafeConsole(Console):
    """Leaves out the control characters of texts, which have no width; its own colours are not part of any text."""

    def render(self, *renderable: Any, **options: Any) -> Iterable[Segment]:
        for text, style, control in super().render(*renderable, **options):
            yield Segment(text if control else without_controls(text, ""), style, control)
