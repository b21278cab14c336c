"""The attribute graph as one self-contained page: the picture, the answer and its basis. No script."""

from qidsql.commands.graph.pictures.drawing import drawing
from qidsql.commands.graph.pictures.picture import picture
from qidsql.commands.graph.result import GraphResult
from qidsql.core.results import Verdict
from qidsql.version import __version__
from qidsql.wording.pages import page
from qidsql.wording.texts import moment

TONES = {Verdict.FINISHED: "pass", Verdict.VIOLATION: "violation", Verdict.INCONCLUSIVE: "inconclusive"}
HEADINGS = {Verdict.FINISHED: "They can be separated", Verdict.INCONCLUSIVE: "Inconclusive"}


def render(result: GraphResult) -> str:
    """The page."""
    heading = "They cannot be separated" if result.cut is None else "Not separated by this protection"
    return page(
        "graph.html.j2",
        result=result,
        account=result.account,
        version=__version__,
        title=f"{', '.join(result.identifiers)} to {', '.join(result.sensitive)}",
        tone=TONES[result.verdict],
        heading=HEADINGS.get(result.verdict, heading),
        started=moment(result.account.started),
        drawing=drawing(result),
        left_out=picture(result).left_out,
    )
