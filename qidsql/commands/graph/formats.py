"""The picture formats of `graph`: DOT, Mermaid, and a self-contained page with a drawing."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

import svg
from markupsafe import Markup, escape

from qidsql.commands.graph.command import GraphRequest
from qidsql.commands.graph.result import AttributeFinding, GraphResult, Part, TableFinding
from qidsql.core.results import Verdict
from qidsql.errors import UsageError
from qidsql.version import __version__
from qidsql.wording.pages import page
from qidsql.wording.texts import moment

if TYPE_CHECKING:
    import networkx as nx


# The content of a picture of an attribute graph: the attributes and tables on the paths, with their roles.


MOST_DRAWN = 60  # attributes and tables that a reader can still take in
SHOWN_ASIDE = 2  # names of a table's other attributes that fit beside its own


@dataclass(frozen=True, slots=True)
class Picture:
    """Attributes and tables to draw, and the ties between them: (attribute, table) places.

    `aside` names the attributes of each table that are not drawn. If no path leads from an identifier to a sensitive
    attribute, the picture shows these and their tables.
    """

    attributes: tuple[AttributeFinding, ...]
    tables: tuple[TableFinding, ...]
    ties: tuple[tuple[int, int], ...]
    aside: tuple[str, ...]
    left_out: str  # a sentence on the tables that are not drawn


def picture(result: GraphResult) -> Picture:
    """The picture of a result: only what lies between; if that is too much, only what lies on the listed paths."""
    ends = {*result.identifiers, *result.sensitive}
    tables = [table for table in result.tables if table.between]
    if not tables:
        tables = [table for table in result.tables if ends & set(table.attributes)]
    drawn = _drawn(result, tables)
    left_out = ""
    if len(tables) + len(drawn) > MOST_DRAWN and any(path.tables for path in result.paths):
        on_paths, all_tables = _on_paths(result), len(tables)
        tables = [table for table in tables if table.name in on_paths]
        drawn = [each for each in _drawn(result, tables) if each.name in on_paths or each.part is Part.CUT]
        left_out = f"Of {all_tables} tables between, the {len(tables)} on the shortest paths are drawn."
    place = {attribute.name: number for number, attribute in enumerate(drawn)}
    ties = [(place[name], number) for number, table in enumerate(tables) for name in table.attributes if name in place]
    aside = [_aside([name for name in table.attributes if name not in place]) for table in tables]
    return Picture(tuple(drawn), tuple(tables), tuple(ties), tuple(aside), left_out)


def _drawn(result: GraphResult, tables: Sequence[TableFinding]) -> list[AttributeFinding]:
    """The identifiers, the sensitive attributes, the cut, and the attributes that link these tables."""
    held = Counter(name for table in tables for name in table.attributes)
    always = {*result.identifiers, *result.sensitive, *(result.cut or ())}
    return [each for each in result.attributes if held[each.name] > 1 or (each.name in always and held[each.name])]


def _on_paths(result: GraphResult) -> set[str]:
    """The names on the shortest paths: as many as fit, and at least those that reach every part of the cut."""
    shown, cut = set[str](), set(result.cut or ())
    for path in result.paths:
        stops = {*path.attributes, *path.tables}
        if len(shown | stops) <= MOST_DRAWN or (cut & stops) - shown:
            shown |= stops
    return shown


def _aside(names: list[str]) -> str:
    if not names:
        return ""
    shown = ", ".join(names[:SHOWN_ASIDE])
    more = f" and {len(names) - SHOWN_ASIDE} more" if len(names) > SHOWN_ASIDE else ""
    return f"also {shown}{more}"


WORDS = {
    Part.IDENTIFIER: "identifier",
    Part.SENSITIVE: "sensitive",
    Part.CUT: "cut: quasi-identifier",
    Part.BETWEEN: "on a path",
    Part.ASIDE: "aside",
}


# The attribute graph as DOT text, for Graphviz.


DOT_STYLES = {
    Part.IDENTIFIER: 'fillcolor="#cfe3ff", color="#1d4ed8", penwidth=2',
    Part.SENSITIVE: 'fillcolor="#ffd9d6", color="#b42318", penwidth=2, peripheries=2',
    Part.CUT: 'fillcolor="#ffe9a8", color="#92400e", penwidth=3',
    Part.BETWEEN: 'fillcolor="#ffffff", color="#57606a"',
    Part.ASIDE: 'fillcolor="#ffffff", color="#8c959f"',
}


def dot(result: GraphResult) -> str:
    """Attributes as ellipses, tables as boxes, a line where a table contains an attribute; the cut is bold."""
    shown = picture(result)
    lines = [
        "graph attributes {",
        f"  // {_comment(result.reason)}",
        f'  graph [rankdir=LR, label={_in_dot(result.reason)}, fontname="sans-serif"];',
        '  node [fontname="sans-serif", style=filled];',
    ]
    for number, attribute in enumerate(shown.attributes):
        tip = _in_dot(", ".join(attribute.columns))
        lines.append(f"  a{number} [label={_in_dot(attribute.name)}, tooltip={tip}, {DOT_STYLES[attribute.part]}];")
    for number, table in enumerate(shown.tables):
        style = "filled,dashed" if table.kind == "outside" else "filled"
        width = ", penwidth=3" if table.protected else ""
        label = "\n".join(filter(None, (table.name, shown.aside[number])))
        lines.append(f'  t{number} [shape=box, label={_in_dot(label)}, style="{style}", fillcolor="#f3f4f6"{width}];')
    for attribute_at, table_at in shown.ties:
        thick = ' [penwidth=2, color="#92400e"]' if shown.attributes[attribute_at].part is Part.CUT else ""
        lines.append(f"  a{attribute_at} -- t{table_at}{thick};")
    return "\n".join([*lines, "}"]) + "\n"


def _in_dot(text: str) -> str:
    inner = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{inner}"'


def _comment(text: str) -> str:
    return " ".join(text.split())


# The attribute graph as Mermaid text, for Markdown pages that draw it.


MERMAID_STYLES = {
    Part.IDENTIFIER: "fill:#cfe3ff,stroke:#1d4ed8,stroke-width:2px,color:#0b1f44",
    Part.SENSITIVE: "fill:#ffd9d6,stroke:#b42318,stroke-width:2px,color:#4a0d08",
    Part.CUT: "fill:#ffe9a8,stroke:#92400e,stroke-width:4px,color:#3d1d05",
    Part.BETWEEN: "fill:#ffffff,stroke:#57606a,color:#1f2328",
    Part.ASIDE: "fill:#ffffff,stroke:#8c959f,color:#57606a",
}


def mermaid(result: GraphResult) -> str:
    """Attributes rounded, tables square (outside ones dashed), a line where a table contains an attribute."""
    shown = picture(result)
    lines = [f"%% {' '.join(result.reason.split())}", "flowchart LR"]
    for number, attribute in enumerate(shown.attributes):
        lines.append(f"  a{number}([{_in_mermaid(attribute.name)}]):::{attribute.part.value}")
    for number, table in enumerate(shown.tables):
        label = "<br/>".join(_escaped(text) for text in (table.name, shown.aside[number]) if text)
        kind = "outside" if table.kind == "outside" else "table"
        lines.append(f'  t{number}["{label}"]:::{"protected" if table.protected else kind}')
    for attribute_at, table_at in shown.ties:
        thick = shown.attributes[attribute_at].part is Part.CUT
        lines.append(f"  a{attribute_at} {'===' if thick else '---'} t{table_at}")
    lines += [f"  classDef {part.value} {style}" for part, style in MERMAID_STYLES.items()]
    lines += [
        "  classDef table fill:#f3f4f6,stroke:#57606a,color:#1f2328",
        "  classDef outside fill:#f3f4f6,stroke:#57606a,stroke-dasharray:5 4,color:#1f2328",
        "  classDef protected fill:#f3f4f6,stroke:#1a7f37,stroke-width:3px,color:#1f2328",
    ]
    return "\n".join(lines) + "\n"


def _in_mermaid(text: str) -> str:
    return f'"{_escaped(text)}"'


def _escaped(text: str) -> str:
    """Escape characters that have a meaning in Mermaid or HTML, as character codes."""
    return "".join(each if each.isalnum() or each in " ._-,:/" else f"#{ord(each)};" for each in text)


# The picture of an attribute graph as inline SVG, coloured by the page's CSS, with a description in words.


# The positions of the attributes and tables of a picture: layers from the identifiers on, with few crossings.


Node = TypeVar("Node", bound=Hashable)
SWEEPS = 12
GAP, BETWEEN = 30, 70  # pixels between nodes of a layer, between layers


@dataclass(frozen=True, slots=True)
class Box:
    """The centre, width and height of a node, in pixels."""

    x: float
    y: float
    width: float
    height: float

    @property
    def left(self) -> float:
        return self.x - self.width / 2

    @property
    def right(self) -> float:
        return self.x + self.width / 2


def layout(
    sizes: Mapping[Node, tuple[float, float]], ties: Sequence[tuple[Node, Node]], starts: Sequence[Node]
) -> dict[Node, Box]:
    """The box of every node. `sizes` are widths and heights.

    A layered drawing (Sugiyama, Tagawa, Toda 1981): layers are distances from the starts (networkx), so that ties join
    neighbouring layers; each layer is ordered by the barycentre of its neighbours, back and forth; then nodes move to
    the mean height of their neighbours as far as the order leaves room.
    """
    import networkx as nx

    tied = nx.Graph(ties)
    tied.add_nodes_from(sizes)
    layer: dict[Node, int] = {}
    for start in [[*starts], *([node] for node in sizes)]:
        if any(each in layer for each in start):
            continue
        layer |= nx.multi_source_dijkstra_path_length(tied, set(start)) if len(start) else {}
    layers: list[list[Node]] = [[] for _ in range(1 + max(layer.values(), default=0))]
    for node in sizes:
        layers[int(layer[node])].append(node)
    for sweep in range(SWEEPS):
        _order(layers if sweep % 2 == 0 else layers[::-1], tied)
    heights = _heights(layers, sizes, tied)
    found: dict[Node, Box] = {}
    x = 0.0
    for nodes in layers:
        width = max((sizes[node][0] for node in nodes), default=0)
        for node in nodes:
            found[node] = Box(x + width / 2, heights[node], *sizes[node])
        x += width + BETWEEN
    return found


def _order(layers: Sequence[list[Node]], tied: "nx.Graph[Node]") -> None:
    """Sort every layer by the mean place of its neighbours in the previous layer."""
    for before, nodes in pairwise(layers):
        place = {node: number for number, node in enumerate(before)}
        current = {node: number for number, node in enumerate(nodes)}

        def middle(node: Node, place: Mapping[Node, int] = place, current: Mapping[Node, int] = current) -> float:
            near = [place[other] for other in tied[node] if other in place]
            return sum(near) / len(near) if near else current[node]

        nodes.sort(key=middle)


def _heights(
    layers: Sequence[Sequence[Node]], sizes: Mapping[Node, tuple[float, float]], tied: "nx.Graph[Node]"
) -> dict[Node, float]:
    """The vertical position of the centre of every node."""
    found: dict[Node, float] = {}
    for nodes in layers:
        y = 0.0
        for node in nodes:
            found[node] = y + sizes[node][1] / 2
            y += sizes[node][1] + GAP
    tallest = max((found[nodes[-1]] for nodes in layers if nodes), default=0)
    for nodes in layers:
        if nodes:
            slack = (tallest - found[nodes[-1]]) / 2
            found |= {node: found[node] + slack for node in nodes}
    for _ in range(SWEEPS):
        for nodes in layers:
            wanted = [sum(found[other] for other in tied[node]) / max(1, len(tied[node])) for node in nodes]
            found |= dict(zip(nodes, _apart(wanted, [sizes[node][1] for node in nodes]), strict=True))
    top = min((found[node] - sizes[node][1] / 2 for node in found), default=0)
    return {node: y - top for node, y in found.items()}


def _apart(wanted: Sequence[float], heights: Sequence[float]) -> list[float]:
    """Heights near those wanted, in the same order, with gaps: blocks that touch move together."""
    offsets = [0.0]
    for above, below in pairwise(heights):
        offsets.append(offsets[-1] + (above + below) / 2 + GAP)
    blocks: list[list[float]] = []
    for want, offset in zip(wanted, offsets, strict=True):  # pool adjacent violators: the isotonic fit
        blocks.append([want - offset, 1])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            value, weight = blocks.pop()
            blocks[-1] = [
                (blocks[-1][0] * blocks[-1][1] + value * weight) / (blocks[-1][1] + weight),
                blocks[-1][1] + weight,
            ]
    fitted = [value for value, weight in blocks for _ in range(int(weight))]
    return [value + offset for value, offset in zip(fitted, offsets, strict=True)]


CHARACTERS_OF_NAME = 30  # characters of a name; the rest is in its tooltip
SIGN, MARGIN = 7.6, 26  # pixels: the width of a character, and the margin around the drawing
ATTRIBUTE, TABLE, TABLE_LINE = 40, 34, 18  # pixels of height
SMALLEST = 0.66  # least scale: on a narrower screen the drawing is scrolled


def drawing(result: GraphResult) -> Markup:
    """The picture, from the identifiers on the left to the sensitive attributes.

    A line connects an attribute with a table that contains it. Lines reachable from identifiers without passing the
    cut have the class `from`, those reachable from sensitive attributes `to`, without a cut `both`; a path that stays
    open in spite of the protection has `open`; other lines have none.
    """
    shown = picture(result)
    sizes = {("a", number): _size(each.name) for number, each in enumerate(shown.attributes)}
    sizes |= {("t", number): _table_size(shown, number) for number in range(len(shown.tables))}
    starts = [("a", n) for n, each in enumerate(shown.attributes) if each.part is Part.IDENTIFIER]
    boxes = layout(sizes, [(("a", a), ("t", t)) for a, t in shown.ties], starts)
    sides = _sides(shown) | dict.fromkeys(_open(result, shown), "open")
    drawn: list[svg.Element] = []
    for a, t in shown.ties:
        drawn.append(_tie(boxes["a", a], boxes["t", t], sides[a, t]))
    for number in range(len(shown.tables)):
        drawn.append(_table(shown, number, boxes["t", number]))
    for number in range(len(shown.attributes)):
        drawn.append(_attribute(shown, number, boxes["a", number]))
    width = max((box.right for box in boxes.values()), default=0) + 2 * MARGIN
    height = max((box.y + box.height / 2 for box in boxes.values()), default=0) + 2 * MARGIN
    return Markup(
        svg.SVG(
            viewBox=svg.ViewBoxSpec(-MARGIN, -MARGIN, round(width), round(height)),
            width=round(width),
            height=round(height),
            class_=["graph"],
            style=f"min-width: {round(width * SMALLEST)}px",
            extra={"role": "img", "aria-labelledby": "graph-title graph-words"},
            elements=[
                svg.Title(id="graph-title", text=str(escape("Attribute graph"))),
                svg.Desc(id="graph-words", text=str(escape(_words(result, shown)))),
                *drawn,
            ],
        ).as_str()
    )


def _attribute(shown: Picture, number: int, box: Box) -> svg.Element:
    attribute = shown.attributes[number]
    tip = f"{attribute.name} ({WORDS[attribute.part]}): {', '.join(attribute.columns)}"
    parts: list[svg.Element] = [
        svg.Title(text=str(escape(tip))),
        svg.Rect(
            x=_r(box.left), y=_r(box.y - box.height / 2), width=_r(box.width), height=box.height, rx=box.height / 2
        ),
        _text(box.x, box.y + 1, _short(attribute.name), "name"),
    ]
    if attribute.part in (Part.CUT, Part.IDENTIFIER, Part.SENSITIVE):
        parts.append(_text(box.x, box.y - box.height / 2 - 9, WORDS[attribute.part].partition(":")[0].upper(), "role"))
    return svg.G(class_=["attribute", attribute.part.value], elements=parts)


def _table(shown: Picture, number: int, box: Box) -> svg.Element:
    table, aside = shown.tables[number], shown.aside[number]
    kinds = [each for each, true in (("outside", table.kind == "outside"), ("protected", table.protected)) if true]
    tip = f"{table.name}, {table.kind}{f': {table.reason}' if table.reason else ''}: {', '.join(table.attributes)}"
    line = TABLE_LINE / 2 if aside else 0
    parts: list[svg.Element] = [
        svg.Title(text=str(escape(tip))),
        svg.Rect(x=_r(box.left), y=_r(box.y - box.height / 2), width=_r(box.width), height=box.height, rx=3),
        _text(box.x, box.y - line + 1, _short(table.name), "name"),
    ]
    if aside:
        parts.append(_text(box.x, box.y + line + 1, aside, "aside"))
    return svg.G(class_=["table", *kinds], elements=parts)


def _tie(one: Box, other: Box, side: str) -> svg.Element:
    left, right = sorted((one, other), key=lambda box: box.x)
    bend = (right.left - left.right) / 2
    return svg.Path(
        class_=["tie", side] if side else ["tie"],
        d=[
            svg.M(_r(left.right), _r(left.y)),
            svg.C(_r(left.right + bend), _r(left.y), _r(right.left - bend), _r(right.y), _r(right.left), _r(right.y)),
        ],
    )


def _sides(shown: Picture) -> dict[tuple[int, int], str]:
    """The side of the cut on which each tie lies."""
    near = _reached(shown, Part.IDENTIFIER)
    far = _reached(shown, Part.SENSITIVE)
    return {
        tie: "both" if tie in near and tie in far else "from" if tie in near else "to" if tie in far else ""
        for tie in shown.ties
    }


def _open(result: GraphResult, shown: Picture) -> Iterator[tuple[int, int]]:
    """The ties of the path that avoids the protected tables."""
    found = result.protection
    if found is None or found.way_round is None or found.sufficient:
        return
    attributes = {each.name: number for number, each in enumerate(shown.attributes)}
    tables = {each.name: number for number, each in enumerate(shown.tables)}
    for (before, after), table in zip(pairwise(found.way_round.attributes), found.way_round.tables, strict=True):
        yield from (
            (attributes[name], tables[table]) for name in (before, after) if name in attributes and table in tables
        )


def _reached(shown: Picture, start: Part) -> set[tuple[int, int]]:
    """The ties reachable from attributes of this part, up to those of the cut."""
    stops = [number for number, each in enumerate(shown.attributes) if each.part is start]
    seen, found, tables = set(stops), set[tuple[int, int]](), set[int]()
    while stops:
        at = stops.pop()
        for attribute, table in shown.ties:
            if attribute == at:
                found.add((attribute, table))
                tables.add(table)
        for attribute, table in shown.ties:
            if table in tables and attribute not in seen:
                seen.add(attribute)
                found.add((attribute, table))
                if shown.attributes[attribute].part is not Part.CUT:
                    stops.append(attribute)
            elif table in tables:
                found.add((attribute, table))
    return found


def _words(result: GraphResult, shown: Picture) -> str:
    """The content of the picture in words, table by table."""
    ties = [
        f"{table.name}: {', '.join(f'{name}{_role(shown, name)}' for name in _attached(shown, number))}"
        for number, table in enumerate(shown.tables)
    ]
    return f"{result.reason}. Tables and the attributes drawn in them: {'; '.join(ties)}."


def _attached(shown: Picture, table: int) -> list[str]:
    return [shown.attributes[a].name for a, t in shown.ties if t == table]


def _role(shown: Picture, name: str) -> str:
    part = next(each.part for each in shown.attributes if each.name == name)
    return "" if part in (Part.BETWEEN, Part.ASIDE) else f" ({part})"


def _size(name: str) -> tuple[float, float]:
    return max(72.0, len(_short(name)) * SIGN + 34), ATTRIBUTE


def _table_size(shown: Picture, number: int) -> tuple[float, float]:
    aside = shown.aside[number]
    signs = max(len(_short(shown.tables[number].name)) * SIGN * 1.1, len(aside) * SIGN * 0.82)
    return max(64.0, signs + 24), TABLE + (TABLE_LINE if aside else 0)


def _short(name: str) -> str:
    return name if len(name) <= CHARACTERS_OF_NAME else f"{name[: CHARACTERS_OF_NAME - 1]}…"


def _text(x: float, y: float, text: str, kind: str) -> svg.Element:
    return svg.Text(x=_r(x), y=_r(y), text=str(escape(text)), class_=[kind])


def _r(value: float) -> float:
    return round(value, 1)


# The attribute graph as one self-contained page: the picture, the answer and its basis. No script.


TONES = {Verdict.FINISHED: "pass", Verdict.VIOLATION: "violation", Verdict.INCONCLUSIVE: "inconclusive"}
HEADINGS = {Verdict.FINISHED: "They can be separated", Verdict.INCONCLUSIVE: "Inconclusive"}


def picture_page(result: GraphResult) -> str:
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


# The formats.


FORMATS: dict[str, Callable[[GraphResult], str]] = {"html": picture_page, "dot": dot, "mermaid": mermaid}
ALONE = ("dot", "mermaid")  # formats that show only the graph


def renderer(request: GraphRequest, format: str) -> Callable[[GraphResult], str]:
    """The function that draws the result. Raises UsageError if the picture would omit a requested part."""
    if request.then is not None and format in ALONE:
        raise UsageError(
            f"--format {format} is a picture of the graph alone; leave out --then, or choose another format"
        )
    return FORMATS[format]
