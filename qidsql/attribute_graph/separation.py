"""Which attributes separate identifiers from one or several sensitive attributes."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING

from qidsql.attribute_graph.graph import AttributeGraph
from qidsql.attribute_graph.minimum_cut import minimum_cuts
from qidsql.attribute_graph.network import Vertex, leading, network
from qidsql.attribute_graph.path_cut import path_cut

if TYPE_CHECKING:
    import networkx as nx


class CutAlgorithm(StrEnum):
    MINIMUM_CUT = "minimum-cut"  # the fewest attributes, by maximum flow
    PATHS = "paths"  # Yan et al., Algorithm 2


@dataclass(frozen=True, slots=True)
class VertexCuts:
    """The cuts that separate all identifiers from all sensitive attributes: sets of nodes, in the graph's order.

    `cuts` are those of the algorithm: all of the smallest size, or the first of them if there are more than requested
    (`complete` is False then); with `CutAlgorithm.PATHS` the one of the paths. `minimum` is the size of a smallest
    cut, with either algorithm. `parts` are the cuts of the single sensitive attributes whose union is the cut (Yan et
    al., equation 4): it separates, and need not be smallest. `together` are the tables in which an identifier leads to
    a sensitive attribute directly: then there is no cut.
    """

    cuts: tuple[tuple[int, ...], ...]
    complete: bool
    minimum: int
    parts: tuple[tuple[int, tuple[int, ...]], ...] = ()
    together: tuple[int, ...] = ()


def separate(
    graph: AttributeGraph, identifiers: Sequence[int], sensitive: Sequence[int], algorithm: CutAlgorithm, most: int
) -> VertexCuts:
    """The cuts between identifiers and sensitive attributes, `most` of them at most.

    Neither is ever part of a cut (Yan et al., Definition 3). Several identifiers share one source, and several
    sensitive attributes one sink, in directed graphs too: one flow finds the smallest cuts for all of them together.
    With `CutAlgorithm.PATHS` and closed steps each sensitive attribute is separated on its own, as in the paper, from
    paths that do not lead over another one, which has its own cut.
    """
    together = _together(graph, identifiers, sensitive)
    if together:
        return VertexCuts((), True, 0, together=together)
    ends = {*identifiers, *sensitive}
    whole = leading(network(graph, identifiers, sensitive))
    smallest = list(islice(minimum_cuts(whole, _cuttable(whole, ends)), most + 1))
    if algorithm is CutAlgorithm.MINIMUM_CUT:
        return VertexCuts(tuple(sorted(map(_nodes, smallest[:most]))), len(smallest) <= most, len(smallest[0]))
    if not graph.directed or len(sensitive) == 1:
        return VertexCuts((_picked(whole),), True, len(smallest[0]))
    parts = []
    for one in sensitive:
        apart = network(graph, identifiers, [one])
        apart.remove_nodes_from(set(sensitive) - {one})
        parts.append((one, _picked(leading(apart))))
    union = tuple(sorted({node for _, part in parts for node in part}))
    return VertexCuts((union,), True, len(smallest[0]), tuple(parts))


def _picked(found: "nx.DiGraph[Vertex]") -> tuple[int, ...]:
    picked = path_cut(found)
    assert picked is not None  # no table has both
    return _nodes(picked)


def _together(graph: AttributeGraph, identifiers: Collection[int], sensitive: Collection[int]) -> tuple[int, ...]:
    """The tables with an identifier and a sensitive attribute, and an open step between them."""
    return tuple(
        number
        for number, (members, closed) in enumerate(zip(graph.members, graph.closed, strict=True))
        if any(
            (one, other) not in closed
            for one in set(members) & set(identifiers)
            for other in set(members) & set(sensitive)
        )
    )


def _cuttable(found: Collection[Vertex], ends: Collection[int]) -> list[Vertex]:
    return [vertex for vertex in found if isinstance(vertex, int) and vertex not in ends]


def _nodes(cut: Collection[Vertex]) -> tuple[int, ...]:
    return tuple(sorted(vertex for vertex in cut if isinstance(vertex, int)))
