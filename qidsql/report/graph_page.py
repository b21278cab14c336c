"""The attribute graph as one page that stands alone: the picture, the answer, what it rests on. No script."""

from qidsql.findings.graph import GraphResult
from qidsql.findings.search import Outcome
from qidsql.report.documents import figures
from qidsql.report.documents.contents import without_controls
from qidsql.report.graph_drawing import drawing
from qidsql.report.graph_picture import picture

TONES = {Outcome.FINISHED: "pass", Outcome.VIOLATION: "violation", Outcome.INCONCLUSIVE: "inconclusive"}
HEADINGS = {Outcome.FINISHED: "They can be separated", Outcome.INCONCLUSIVE: "Inconclusive"}


def render(result: GraphResult) -> str:
    """The page."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("qidsql.report.documents"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["moment"] = figures.moment
    heading = "They cannot be separated" if result.cut is None else "Not separated by this protection"
    page = environment.get_template("graph.html.j2").render(
        result=result.to_dict(),
        title=f"{', '.join(result.identifiers)} to {', '.join(result.sensitive)}",
        tone=TONES[result.outcome],
        heading=HEADINGS.get(result.outcome, heading),
        drawing=drawing(result),
        left_out=picture(result).left_out,
    )
    return without_controls(page)
