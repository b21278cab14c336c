"""The fewest vertices whose removal separates identifiers from sensitive attributes, and every choice of so few."""

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from qidsql.attribute_graph.network import SINK, SOURCE, Vertex

if TYPE_CHECKING:
    import networkx as nx


def minimum_cuts(found: "nx.DiGraph[Vertex]", cuttable: Collection[Vertex]) -> Iterator[frozenset[Vertex]]:
    """Every minimum vertex cut of a network that consists of cuttable vertices, each once; none if there is no cut.

    The first is a maximum flow (Menger's theorem; networkx). The others by partition (E. L. Lawler, A procedure for
    computing the k best solutions to discrete optimization problems, Management Science 18, 1972): every other cut
    lacks a first member of the present one. One flow per member and cut, so any number of cuts can be taken in turn.
    """
    first = _least(found, cuttable)
    if first is None:
        return
    yield first
    open_parts = [(frozenset[Vertex](), frozenset(cuttable), first)]
    while open_parts:
        chosen, choice, cut = open_parts.pop()
        for member in sorted(cut - chosen, key=repr):
            choice -= {member}
            rest = found.subgraph(found.nodes - chosen)
            other = _least(rest, choice)
            if other is not None and len(chosen) + len(other) == len(first):
                yield chosen | other
                open_parts.append((chosen, choice, chosen | other))
            chosen, choice = chosen | {member}, choice


def _least(found: "nx.DiGraph[Vertex]", cuttable: Collection[Vertex]) -> frozenset[Vertex] | None:
    """One minimum cut by maximum flow: a cuttable vertex has capacity 1, any other is unlimited."""
    import networkx as nx
    from networkx.algorithms.flow import shortest_augmenting_path

    split: nx.DiGraph[tuple[Vertex, bool]] = nx.DiGraph()
    for vertex in found:
        split.add_edge((vertex, False), (vertex, True), **({"capacity": 1} if vertex in cuttable else {}))
    split.add_edges_from(((a, True), (b, False)) for a, b in found.edges)
    try:
        _, (near, _) = nx.minimum_cut(split, (SOURCE, False), (SINK, True), flow_func=shortest_augmenting_path)
    except nx.NetworkXUnbounded:
        return None
    return frozenset(vertex for vertex in found if (vertex, False) in near and (vertex, True) not in near)
