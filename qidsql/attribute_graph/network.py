"""The graph as a network of paths: from attribute to table to attribute, from identifiers to sensitive attributes."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from heapq import heappop, heappush
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from qidsql.attribute_graph.graph import AttributeGraph
from qidsql.errors import BudgetSpent

if TYPE_CHECKING:
    import networkx as nx

SOURCE, SINK = "identifiers", "sensitive"


@dataclass(frozen=True, slots=True)
class Passage:
    """A table as it is entered. If some steps through it are closed, there is one passage per attribute of entry."""

    table: int
    entered: int = -1


@dataclass(frozen=True, slots=True)
class Membership:
    """A node in one table: the vertex that protecting its columns there removes."""

    table: int
    node: int


Vertex: TypeAlias = int | str | Passage | Membership
Path: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]  # attributes, and the tables between them


def network(
    graph: AttributeGraph, identifiers: Collection[int], sensitive: Collection[int], protected: Collection[int] = ()
) -> "nx.DiGraph[Vertex]":
    """A directed graph from SOURCE to SINK whose paths are those by which identifiers lead to sensitive attributes.

    A path begins at its last identifier and ends at its first sensitive attribute: no arc enters the one or leaves
    the other. Nodes of a single table that are neither are left out if all steps through it are open: a path through
    one exists without it too. Tables at the places `protected` are entered and left through memberships. The size is
    that of the tables, squared only for tables with closed steps.
    """
    import networkx as nx

    found: nx.DiGraph[Vertex] = nx.DiGraph()
    found.add_nodes_from([SOURCE, SINK])
    found.add_edges_from((SOURCE, node) for node in identifiers)
    found.add_edges_from((node, SINK) for node in sensitive)
    ends = {*identifiers, *sensitive}
    tables_of: dict[int, int] = {}
    for members in graph.members:
        for node in members:
            tables_of[node] = tables_of.get(node, 0) + 1
    for table, (members, closed) in enumerate(zip(graph.members, graph.closed, strict=True)):
        inner = [node for node in members if closed or node in ends or tables_of[node] > 1 or table in protected]

        def entry(node: int, table: int = table) -> Vertex:
            return Membership(table, node) if table in protected and node not in ends else node

        for node in inner:
            gate = entry(node)
            if gate != node:
                found.add_edges_from([(node, gate), (gate, node)])
            way_in = Passage(table, node if closed else -1)
            if node not in sensitive:
                found.add_edge(gate, way_in)
            if not closed:
                if node not in identifiers:
                    found.add_edge(way_in, gate)
                continue
            found.add_edges_from(
                (way_in, entry(other))
                for other in inner
                if other != node and (node, other) not in closed and other not in identifiers
            )
    return found


def leading(found: "nx.DiGraph[Vertex]") -> "nx.DiGraph[Vertex]":
    """The part of a network on some path from SOURCE to SINK (dead ends removed), including these two.

    With the two connected, a vertex lies on a simple path if and only if it is in their biconnected component. With
    closed steps more than that may remain.
    """
    import networkx as nx

    kept = found.subgraph(nx.descendants(found, SOURCE) & nx.ancestors(found, SINK) | {SOURCE, SINK})
    tied = kept.to_undirected()
    tied.add_edge(SOURCE, SINK)
    [block] = (part for part in nx.biconnected_components(tied) if {SOURCE, SINK} <= part)
    return kept.subgraph(block).copy()


def paths(found: "nx.DiGraph[Vertex]", examined: int = 20_000) -> Iterator[Path]:
    """The direct paths through a network, shortest first.

    Direct: no attribute of it is reached sooner through a table that contains an earlier one. Best-first search (A*)
    over the beginnings of direct paths, each judged by its length and its distance from the end. Raises BudgetSpent
    after so many examined beginnings; the paths until then are the shortest ones.
    """
    import networkx as nx

    away = nx.single_source_shortest_path_length(found.reverse(copy=False), SINK)
    one_table_away = cache(partial(_one_table_away, found))
    beginnings = [_Beginning(away[SOURCE], 0, (SOURCE,))] if SOURCE in away else []
    for number in range(examined):
        if not beginnings:
            return
        beginning = heappop(beginnings)
        if beginning.vertices[-1] == SINK:
            yield path_of(beginning.vertices)
            continue
        for vertex in found.successors(beginning.vertices[-1]):
            longer = (*beginning.vertices, vertex)
            if vertex in away and vertex not in beginning.vertices and _ends_direct(longer, one_table_away):
                heappush(beginnings, _Beginning(len(longer) + away[vertex], -number, longer))
    if beginnings:
        raise BudgetSpent(f"more than {examined:,} beginnings of paths")


class _Beginning(NamedTuple):
    """Of a path. The one that leads to the shortest path comes first, and of several the last one found."""

    at_least: int
    order: int
    vertices: tuple[Vertex, ...]

    def __lt__(self, other: "_Beginning") -> bool:  # type: ignore[override]
        return self[:2] < other[:2]


def _ends_direct(vertices: Sequence[Vertex], one_table_away: Callable[[int], set[int]]) -> bool:
    """Whether no attribute but the last one before it shares a table with the attribute at the end of a path."""
    nodes, _ = path_of(vertices)
    return isinstance(vertices[-1], (str, Passage)) or not any(nodes[-1] in one_table_away(each) for each in nodes[:-2])


def path_of(vertices: Sequence[Vertex]) -> Path:
    """The attributes on a path through a network, and the tables between them."""
    nodes: list[int] = []
    for vertex in vertices:
        node = vertex.node if isinstance(vertex, Membership) else vertex
        if isinstance(node, int) and nodes[-1:] != [node]:
            nodes.append(node)
    return tuple(nodes), tuple(vertex.table for vertex in vertices if isinstance(vertex, Passage))


def _one_table_away(found: "nx.DiGraph[Vertex]", node: int) -> set[int]:
    """The attributes that share a table with this one, if the step to them is open."""
    own = [node, *(vertex for vertex in found.successors(node) if isinstance(vertex, Membership))]
    passages = {vertex for each in own for vertex in found.successors(each) if isinstance(vertex, Passage)}
    inside = {vertex for passage in passages for vertex in found.successors(passage)}
    return {
        vertex.node if isinstance(vertex, Membership) else vertex
        for vertex in inside
        if not isinstance(vertex, (str, Passage))
    } - {node}


def every_path(graph: AttributeGraph, identifier: int, sensitive: int) -> Iterator[tuple[int, ...]]:
    """Every simple path of the relationship matrix from one node to another, shortest first: also those that go
    through several attributes of one table (Yan et al., Tables I and II). There can be exponentially many."""
    import networkx as nx

    arcs: nx.DiGraph[int] = nx.DiGraph()
    arcs.add_nodes_from([identifier, sensitive])
    for members, closed in zip(graph.members, graph.closed, strict=True):
        arcs.add_edges_from((a, b) for a in members for b in members if a != b and (a, b) not in closed)
    if nx.has_path(arcs, identifier, sensitive):
        yield from map(tuple, nx.shortest_simple_paths(arcs, identifier, sensitive))
