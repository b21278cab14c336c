"""The picture formats of `graph`."""

from collections.abc import Callable

from qidsql.commands.graph.command import GraphRequest
from qidsql.commands.graph.pictures import dot, mermaid, page
from qidsql.commands.graph.result import GraphResult
from qidsql.errors import UsageError

FORMATS: dict[str, Callable[[GraphResult], str]] = {"html": page.render, "dot": dot.render, "mermaid": mermaid.render}
ALONE = ("dot", "mermaid")  # formats that show only the graph


def renderer(request: GraphRequest, format: str) -> Callable[[GraphResult], str]:
    """The function that draws the result. Raises UsageError if the picture would omit a requested part."""
    if request.then is not None and format in ALONE:
        raise UsageError(
            f"--format {format} is a picture of the graph alone; leave out --then, or choose another format"
        )
    return FORMATS[format]
