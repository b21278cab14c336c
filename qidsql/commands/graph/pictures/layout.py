"""The positions of the attributes and tables of a picture: layers from the identifiers on, with few crossings."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import networkx as nx

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
