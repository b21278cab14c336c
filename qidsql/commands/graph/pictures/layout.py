"""The positions of the attributes and tables of a picture: layers from the identifiers on, with few crossings."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import networkx as nx

Stop = TypeVar("Stop", bound=Hashable)
SWEEPS = 12
GAP, BETWEEN = 30, 70  # pixels between stops of a layer, between layers


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
    sizes: Mapping[Stop, tuple[float, float]], ties: Sequence[tuple[Stop, Stop]], starts: Sequence[Stop]
) -> dict[Stop, Box]:
    """The box of every node. `sizes` are widths and heights.

    A layered drawing (Sugiyama, Tagawa, Toda 1981): layers are distances from the starts (networkx), so that ties join
    neighbouring layers; each layer is ordered by the barycentre of its neighbours, back and forth; then nodes move to
    the mean height of their neighbours as far as the order leaves room.
    """
    import networkx as nx

    tied = nx.Graph(ties)
    tied.add_nodes_from(sizes)
    layer: dict[Stop, int] = {}
    for start in [[*starts], *([stop] for stop in sizes)]:
        if any(each in layer for each in start):
            continue
        layer |= nx.multi_source_dijkstra_path_length(tied, set(start)) if len(start) else {}
    layers: list[list[Stop]] = [[] for _ in range(1 + max(layer.values(), default=0))]
    for stop in sizes:
        layers[int(layer[stop])].append(stop)
    for sweep in range(SWEEPS):
        _order(layers if sweep % 2 == 0 else layers[::-1], tied)
    heights = _heights(layers, sizes, tied)
    found: dict[Stop, Box] = {}
    x = 0.0
    for stops in layers:
        width = max((sizes[stop][0] for stop in stops), default=0)
        for stop in stops:
            found[stop] = Box(x + width / 2, heights[stop], *sizes[stop])
        x += width + BETWEEN
    return found


def _order(layers: Sequence[list[Stop]], tied: "nx.Graph[Stop]") -> None:
    """Sort every layer by the mean place of its neighbours in the previous layer."""
    for before, stops in pairwise(layers):
        place = {stop: number for number, stop in enumerate(before)}
        current = {stop: number for number, stop in enumerate(stops)}

        def middle(stop: Stop, place: Mapping[Stop, int] = place, current: Mapping[Stop, int] = current) -> float:
            near = [place[other] for other in tied[stop] if other in place]
            return sum(near) / len(near) if near else current[stop]

        stops.sort(key=middle)


def _heights(
    layers: Sequence[Sequence[Stop]], sizes: Mapping[Stop, tuple[float, float]], tied: "nx.Graph[Stop]"
) -> dict[Stop, float]:
    """The vertical position of the centre of every node."""
    found: dict[Stop, float] = {}
    for stops in layers:
        y = 0.0
        for stop in stops:
            found[stop] = y + sizes[stop][1] / 2
            y += sizes[stop][1] + GAP
    tallest = max((found[stops[-1]] for stops in layers if stops), default=0)
    for stops in layers:
        if stops:
            slack = (tallest - found[stops[-1]]) / 2
            found |= {stop: found[stop] + slack for stop in stops}
    for _ in range(SWEEPS):
        for stops in layers:
            wanted = [sum(found[other] for other in tied[stop]) / max(1, len(tied[stop])) for stop in stops]
            found |= dict(zip(stops, _apart(wanted, [sizes[stop][1] for stop in stops]), strict=True))
    top = min((found[stop] - sizes[stop][1] / 2 for stop in found), default=0)
    return {stop: y - top for stop, y in found.items()}


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
