"""The picture of an attribute graph as inline SVG, coloured by the page's CSS, with a description in words."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

import svg
from markupsafe import Markup, escape

from qidsql.commands.graph.pictures.picture import WORDS, Picture, picture
from qidsql.commands.graph.result import GraphResult, Part

if TYPE_CHECKING:
    import networkx as nx


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


LONGEST = 30  # characters of a name; the rest is in its tooltip
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
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


def _text(x: float, y: float, text: str, kind: str) -> svg.Element:
    return svg.Text(x=_r(x), y=_r(y), text=str(escape(text)), class_=[kind])


def _r(value: float) -> float:
    return round(value, 1)
