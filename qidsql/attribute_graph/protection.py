"""The effect of protecting some tables: a cut separates only if its attributes are protected in all their tables."""

from collections.abc import Collection, Sequence

from qidsql.attribute_graph.graph import AttributeGraph
from qidsql.attribute_graph.minimum_cut import minimum_cuts
from qidsql.attribute_graph.network import SINK, SOURCE, Membership, Path, leading, network, path_of


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
