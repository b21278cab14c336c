"""The attribute graph as one page that stands alone: the picture, the answer, what it rests on. No script."""

from qidsql.commands.graph.pictures.drawing import drawing
from qidsql.commands.graph.pictures.picture import picture
from qidsql.commands.graph.result import GraphResult
from qidsql.commands.keys.result import Outcome
from qidsql.formats import document_figures as figures
from qidsql.formats.document_words import without_controls

TONES = {Outcome.FINISHED: "pass", Outcome.VIOLATION: "violation", Outcome.INCONCLUSIVE: "inconclusive"}
HEADINGS = {Outcome.FINISHED: "They can be separated", Outcome.INCONCLUSIVE: "Inconclusive"}


def render(result: GraphResult) -> str:
    """The page."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("qidsql.formats"),
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
