"""Which attributes separate identifiers from one or several sensitive attributes."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING

from qidsql.attribute_graph.graph import (
    SINK,
    SOURCE,
    AttributeGraph,
    Membership,
    Path,
    Vertex,
    leading,
    network,
    path_of,
)

if TYPE_CHECKING:
    import networkx as nx


# The fewest vertices whose removal separates identifiers from sensitive attributes, and every choice of so few.


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


# Yan et al., Algorithm 2: quasi-identifiers picked from the paths, shortest first. Separates; need not be smallest.


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


# The effect of protecting some tables: a cut separates only if its attributes are protected in all their tables.


def bypass(
    graph: AttributeGraph, identifiers: Sequence[int], sensitive: Sequence[int], kept: Collection[Membership]
) -> Path | None:
    """A path that stays open if these attributes are protected in these tables; None if they separate.

    An attribute protected in one table leads on through others: Yan et al., Example 2, where T1 and T3 reveal the
    price although all of T2 is protected.
    """
    import networkx as nx

    found = network(graph, identifiers, sensitive, {each.table for each in kept})
    found.remove_nodes_from(kept)
    return path_of(nx.shortest_path(found, SOURCE, SINK)) if nx.has_path(found, SOURCE, SINK) else None


def least_protection(
    graph: AttributeGraph, identifiers: Sequence[int], sensitive: Sequence[int], tables: Collection[int]
) -> frozenset[Membership] | None:
    """The fewest attributes to protect in these tables so that no path is left; None if a path avoids the tables."""
    found = leading(network(graph, identifiers, sensitive, tables))
    cut = next(minimum_cuts(found, [vertex for vertex in found if isinstance(vertex, Membership)]), None)
    return None if cut is None else frozenset(vertex for vertex in cut if isinstance(vertex, Membership))
