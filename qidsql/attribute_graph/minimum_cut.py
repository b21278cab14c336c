"""The fewest stops whose removal separates identifiers from sensitive attributes, and every choice of so few."""

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from qidsql.attribute_graph.network import SINK, SOURCE, Stop

if TYPE_CHECKING:
    import networkx as nx


def minimum_cuts(found: "nx.DiGraph[Stop]", cuttable: Collection[Stop]) -> Iterator[frozenset[Stop]]:
    """Every minimum vertex cut of a network that consists of cuttable stops, each once; none when there is no cut.

    The first is a maximum flow (Menger's theorem; networkx). The others by partition (E. L. Lawler, A procedure for
    computing the k best solutions to discrete optimization problems, Management Science 18, 1972): what else there is
    lacks a first member of the cut at hand. A flow per member and cut, so any number of cuts can be taken in turn.
    """
    first = _least(found, cuttable)
    if first is None:
        return
    yield first
    open_parts = [(frozenset[Stop](), frozenset(cuttable), first)]
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


def _least(found: "nx.DiGraph[Stop]", cuttable: Collection[Stop]) -> frozenset[Stop] | None:
    """One minimum cut by maximum flow: a cuttable stop lets one path through, any other as many as come."""
    import networkx as nx
    from networkx.algorithms.flow import shortest_augmenting_path

    split: nx.DiGraph[tuple[Stop, bool]] = nx.DiGraph()
    for stop in found:
        split.add_edge((stop, False), (stop, True), **({"capacity": 1} if stop in cuttable else {}))
    split.add_edges_from(((a, True), (b, False)) for a, b in found.edges)
    try:
        _, (near, _) = nx.minimum_cut(split, (SOURCE, False), (SINK, True), flow_func=shortest_augmenting_path)
    except nx.NetworkXUnbounded:
        return None
    return frozenset(stop for stop in found if (stop, False) in near and (stop, True) not in near)
