"""Yan et al., Algorithm 2: quasi-identifiers picked from the paths, shortest first. Separates; need not be smallest."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from qidsql.attribute_graph.network import SINK, SOURCE, Stop

if TYPE_CHECKING:
    import networkx as nx


def path_cut(found: "nx.DiGraph[Stop]") -> frozenset[Stop] | None:
    """A set of attributes that separates, by the paper's rule; None where an identifier and a secret stand together.

    Of the shortest paths that are left: an attribute that all of them share, else all their inner attributes; then
    the paths through what was picked are done with. At most one round per attribute, each a breadth-first search.

    As printed the algorithm does not always end or separate; here is what was done about it:

    - The loop runs until N_v = m *and* all paths are flagged, but N_v counts picked attributes only, and others are
      never picked: it would run on for ever. Here it ends when no path is left.
    - Where the shortest paths share several attributes, one is picked only if it is all that the paths left share
      pairwise; when none is, nothing is flagged and the loop never ends. Here the first whose removal leaves no path
      is picked, else the first.
    - A path without inner attributes (identifier and secret in one table) matches no case: for ever again. Here: None.
    - Where the shortest paths share no attribute, all inner attributes are picked, but the other paths through these
      are not flagged, and would put more into the set than the paper's own Example 2 has. Here they are done with.
    - All paths are listed first, said to take O(m^2); there can be exponentially many. Here none are: attributes are
      shared by all shortest paths when they stand alone at their distance from the identifiers.
    """
    import networkx as nx

    left, picked = found.copy(), set[Stop]()
    while True:
        levels = list(_levels(left))
        if not levels:
            return frozenset(picked)
        inner = levels[1:-1]  # the first are identifiers, the last sensitive
        if not inner:
            return None
        shared = [level[0] for level in inner if len(level) == 1]
        if not shared:
            chosen = [stop for level in inner for stop in level]
        else:
            ends_all = (stop for stop in shared if not nx.has_path(_without(left, stop), SOURCE, SINK))
            chosen = [next(ends_all, shared[0])]
        picked.update(chosen)
        left.remove_nodes_from(chosen)


def _levels(left: "nx.DiGraph[Stop]") -> Iterator[list[int]]:
    """The attributes on the shortest paths, by their distance from the identifiers; nothing when no path is left."""
    import networkx as nx

    from_source = nx.single_source_shortest_path_length(left, SOURCE)
    if SINK not in from_source:
        return
    to_sink = nx.single_source_shortest_path_length(left.reverse(copy=False), SINK)
    length = from_source[SINK]
    levels: dict[int, list[int]] = {}
    for stop, distance in from_source.items():
        if isinstance(stop, int) and stop in to_sink and distance + to_sink[stop] == length:
            levels.setdefault(distance, []).append(stop)
    yield from (sorted(levels[distance]) for distance in sorted(levels))


def _without(left: "nx.DiGraph[Stop]", stop: Stop) -> "nx.DiGraph[Stop]":
    return left.subgraph(left.nodes - {stop})
