"""Yan et al., Algorithm 2: quasi-identifiers picked from the paths, shortest first. Separates; need not be smallest."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from qidsql.attribute_graph.network import SINK, SOURCE, Vertex

if TYPE_CHECKING:
    import networkx as nx


def path_cut(found: "nx.DiGraph[Vertex]") -> frozenset[Vertex] | None:
    """A set of attributes that separates, by the paper's rule; None if one table has an identifier and a secret.

    Of the shortest remaining paths it picks an attribute that all of them share, else all their inner attributes; then
    the paths through these are done. At most one round per attribute, each a breadth-first search.

    As printed the algorithm does not always end or separate; these are the differences:

    - The loop runs until N_v = m *and* all paths are flagged, but N_v counts picked attributes only, and others are
      never picked: it would not end. Here it ends when no path is left.
    - If the shortest paths share several attributes, one is picked only if it is all that the remaining paths share
      pairwise; if none is, nothing is flagged and the loop does not end. Here the first whose removal leaves no path
      is picked, else the first.
    - A path without inner attributes (identifier and secret in one table) matches no case: no end again. Here: None.
    - If the shortest paths share no attribute, all inner attributes are picked, but the other paths through these are
      not flagged, and would put more into the set than the paper's own Example 2 has. Here they are done.
    - All paths are listed first, at a stated cost of O(m^2); there can be exponentially many. Here none are listed:
      attributes are shared by all shortest paths if they are alone at their distance from the identifiers.
    """
    import networkx as nx

    left, picked = found.copy(), set[Vertex]()
    while True:
        levels = list(_levels(left))
        if not levels:
            return frozenset(picked)
        inner = levels[1:-1]  # the first are identifiers, the last sensitive
        if not inner:
            return None
        shared = [level[0] for level in inner if len(level) == 1]
        if not shared:
            chosen = [vertex for level in inner for vertex in level]
        else:
            sufficient = (vertex for vertex in shared if not nx.has_path(_without(left, vertex), SOURCE, SINK))
            chosen = [next(sufficient, shared[0])]
        picked.update(chosen)
        left.remove_nodes_from(chosen)


def _levels(left: "nx.DiGraph[Vertex]") -> Iterator[list[int]]:
    """The attributes on the shortest paths, by their distance from the identifiers; none if no path is left."""
    import networkx as nx

    from_source = nx.single_source_shortest_path_length(left, SOURCE)
    if SINK not in from_source:
        return
    to_sink = nx.single_source_shortest_path_length(left.reverse(copy=False), SINK)
    length = from_source[SINK]
    levels: dict[int, list[int]] = {}
    for vertex, distance in from_source.items():
        if isinstance(vertex, int) and vertex in to_sink and distance + to_sink[vertex] == length:
            levels.setdefault(distance, []).append(vertex)
    yield from (sorted(levels[distance]) for distance in sorted(levels))


def _without(left: "nx.DiGraph[Vertex]", vertex: Vertex) -> "nx.DiGraph[Vertex]":
    return left.subgraph(left.nodes - {vertex})
