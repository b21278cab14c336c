"""The attribute graph as DOT text, for Graphviz."""

from qidsql.commands.graph.pictures.picture import picture
from qidsql.commands.graph.result import GraphResult, Part

STYLES = {
    Part.IDENTIFIER: 'fillcolor="#cfe3ff", color="#1d4ed8", penwidth=2',
    Part.SENSITIVE: 'fillcolor="#ffd9d6", color="#b42318", penwidth=2, peripheries=2',
    Part.CUT: 'fillcolor="#ffe9a8", color="#92400e", penwidth=3',
    Part.BETWEEN: 'fillcolor="#ffffff", color="#57606a"',
    Part.ASIDE: 'fillcolor="#ffffff", color="#8c959f"',
}


def render(result: GraphResult) -> str:
    """Attributes as ellipses, tables as boxes, a line where a table contains an attribute; the cut is bold."""
    shown = picture(result)
    lines = [
        "graph attributes {",
        f"  // {_comment(result.reason)}",
        f'  graph [rankdir=LR, label={_quoted(result.reason)}, fontname="sans-serif"];',
        '  node [fontname="sans-serif", style=filled];',
    ]
    for number, attribute in enumerate(shown.attributes):
        tip = _quoted(", ".join(attribute.columns))
        lines.append(f"  a{number} [label={_quoted(attribute.name)}, tooltip={tip}, {STYLES[attribute.part]}];")
    for number, table in enumerate(shown.tables):
        style = "filled,dashed" if table.kind == "outside" else "filled"
        width = ", penwidth=3" if table.protected else ""
        label = "\n".join(filter(None, (table.name, shown.aside[number])))
        lines.append(f'  t{number} [shape=box, label={_quoted(label)}, style="{style}", fillcolor="#f3f4f6"{width}];')
    for attribute_at, table_at in shown.ties:
        thick = ' [penwidth=2, color="#92400e"]' if shown.attributes[attribute_at].part is Part.CUT else ""
        lines.append(f"  a{attribute_at} -- t{table_at}{thick};")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    inner = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{inner}"'


def _comment(text: str) -> str:
    return " ".join(text.split())
