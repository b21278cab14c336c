"""The attribute graph as Mermaid text, for Markdown pages that render it."""

from qidsql.commands.graph.pictures.picture import picture
from qidsql.commands.graph.result import GraphResult, Part

STYLES = {
    Part.IDENTIFIER: "fill:#cfe3ff,stroke:#1d4ed8,stroke-width:2px,color:#0b1f44",
    Part.SENSITIVE: "fill:#ffd9d6,stroke:#b42318,stroke-width:2px,color:#4a0d08",
    Part.CUT: "fill:#ffe9a8,stroke:#92400e,stroke-width:4px,color:#3d1d05",
    Part.BETWEEN: "fill:#ffffff,stroke:#57606a,color:#1f2328",
    Part.ASIDE: "fill:#ffffff,stroke:#8c959f,color:#57606a",
}


def render(result: GraphResult) -> str:
    """Attributes rounded, tables square (outside ones dashed), a line where a table contains an attribute."""
    shown = picture(result)
    lines = [f"%% {' '.join(result.reason.split())}", "flowchart LR"]
    for number, attribute in enumerate(shown.attributes):
        lines.append(f"  a{number}([{_quoted(attribute.name)}]):::{attribute.part.value}")
    for number, table in enumerate(shown.tables):
        label = "<br/>".join(_escaped(text) for text in (table.name, shown.aside[number]) if text)
        kind = "outside" if table.kind == "outside" else "table"
        lines.append(f'  t{number}["{label}"]:::{"protected" if table.protected else kind}')
    for attribute_at, table_at in shown.ties:
        thick = shown.attributes[attribute_at].part is Part.CUT
        lines.append(f"  a{attribute_at} {'===' if thick else '---'} t{table_at}")
    lines += [f"  classDef {part.value} {style}" for part, style in STYLES.items()]
    lines += [
        "  classDef table fill:#f3f4f6,stroke:#57606a,color:#1f2328",
        "  classDef outside fill:#f3f4f6,stroke:#57606a,stroke-dasharray:5 4,color:#1f2328",
        "  classDef protected fill:#f3f4f6,stroke:#1a7f37,stroke-width:3px,color:#1f2328",
    ]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'


def _escaped(text: str) -> str:
    """Escape characters that have a meaning in Mermaid or HTML, as character codes."""
    return "".join(each if each.isalnum() or each in " ._-,:/" else f"#{ord(each)};" for each in text)
