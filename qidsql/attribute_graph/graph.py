"""The attribute graph: attributes are nodes, tables connect them (Yan et al., Definition 1 and Algorithm 1)."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from heapq import heappop, heappush
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from qidsql.core.tables import Attribute, Ground, SameAttribute, TableName, find_attribute
from qidsql.errors import BudgetSpent, UsageError

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, slots=True)
class GraphTable:
    """A table, a view, or something known outside: anyone with access to it knows its attributes together.

    `dependencies` are pairs of columns: the first determines the second. `reason` is why an outside table counts.
    `others` are attributes of other tables: a computed column is known together with the columns it is computed from.
    """

    name: TableName
    columns: tuple[str, ...]
    kind: str = "table"
    dependencies: tuple[tuple[str, str], ...] = ()
    reason: str = ""
    others: tuple[Attribute, ...] = ()

    @property
    def outside(self) -> bool:
        return self.kind == "outside"

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return (*(Attribute(self.name, column) for column in self.columns), *self.others)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Two attributes that are not the same, whatever other evidence there is."""

    left: Attribute
    right: Attribute


@dataclass(frozen=True)
class AttributeGraph:
    """Nodes are sets of attributes that are the same for anyone who joins their tables, addressed by their places.

    `same_attributes` are those that were used, `labels` a short unique name of every node.
    """

    tables: tuple[GraphTable, ...]
    nodes: tuple[tuple[Attribute, ...], ...]
    labels: tuple[str, ...]
    same_attributes: tuple[SameAttribute, ...] = ()
    place: Mapping[Attribute, int] = field(default_factory=dict)

    def node(self, typed: str) -> int:
        """The node named by `column`, `table.column` or a label. Raises UnknownName, UsageError."""
        if typed in self.labels:
            return self.labels.index(typed)
        same = {self.place[each] for each in self.place if each.column == typed}
        return same.pop() if len(same) == 1 else self.place[find_attribute(typed, list(self.place))]

    @cached_property
    def members(self) -> tuple[tuple[int, ...], ...]:
        """The nodes of every table, each once, in the order of the columns."""
        return tuple(tuple(dict.fromkeys(self.place[each] for each in table.attributes)) for table in self.tables)

    @cached_property
    def closed(self) -> tuple[frozenset[tuple[int, int]], ...]:
        """For every table the closed pairs of nodes: from a determined attribute back to the one that determines it,
        since nothing is inferred that way. Attributes that determine each other, in a cycle too, are open both ways."""
        return tuple(frozenset(self._closed(table)) for table in self.tables)

    @property
    def directed(self) -> bool:
        return any(self.closed)

    def tables_of(self, node: int) -> tuple[TableName, ...]:
        return tuple(dict.fromkeys(each.table for each in self.nodes[node]))

    def _closed(self, table: GraphTable) -> Iterable[tuple[int, int]]:
        if not table.dependencies:
            return
        import networkx as nx

        at = {column: self.place[Attribute(table.name, column)] for column in table.columns}
        determined = nx.DiGraph((at[left], at[right]) for left, right in table.dependencies)
        component = {
            node: number for number, part in enumerate(nx.strongly_connected_components(determined)) for node in part
        }
        yield from ((right, left) for left, right in determined.edges if component[left] != component[right])


def attribute_graph(
    tables: Sequence[GraphTable],
    same_attributes: Sequence[SameAttribute],
    refused: Sequence[Refusal] = (),
    preferred: Collection[Attribute] = (),
) -> AttributeGraph:
    """The graph of these tables, its nodes in the order in which their first attributes appear in them.

    A node is labelled by a preferred attribute if it has one, else by one of a table rather than of a view.

    Refused pairs are left out. Pairs may include attributes of none of these tables: attributes that are the same as
    one hidden attribute are the same. Raises UsageError if refused attributes are the same through other pairs.
    """
    import networkx as nx

    apart = {frozenset((each.left, each.right)) for each in refused}
    attributes = list(dict.fromkeys(each for table in tables for each in table.attributes))
    joined = nx.Graph()
    joined.add_nodes_from(attributes)
    for pair in same_attributes:
        if frozenset((pair.left, pair.right)) not in apart and not joined.has_edge(pair.left, pair.right):
            joined.add_edge(pair.left, pair.right, pair=pair)
    for refusal in refused:
        if {refusal.left, refusal.right} <= set(joined) and nx.has_path(joined, refusal.left, refusal.right):
            chain = nx.shortest_path(joined, refusal.left, refusal.right)
            raise UsageError(_still_one(chain, [joined.edges[step]["pair"].ground for step in pairwise(chain)]))
    order = {attribute: number for number, attribute in enumerate(attributes)}
    parts = [[each for each in part if each in order] for part in nx.connected_components(joined)]
    nodes = tuple(
        sorted((tuple(sorted(part, key=order.__getitem__)) for part in parts if part), key=lambda n: order[n[0]])
    )
    place = {attribute: number for number, node in enumerate(nodes) for attribute in node}
    shown = [joined.edges[edge]["pair"] for edge in joined.edges(attributes)]
    views = {table.name for table in tables if "view" in table.kind}
    named = [min(node, key=lambda each: (each not in preferred, each.table in views)) for node in nodes]
    return AttributeGraph(tuple(tables), nodes, _labels(nodes, named), tuple(dict.fromkeys(shown)), place)


def _still_one(chain: Sequence[Attribute], grounds: Sequence[Ground]) -> str:
    steps = "".join(f" = {each} ({ground})" for each, ground in zip(chain[1:], grounds, strict=True))
    return (
        f"{chain[0]} and {chain[-1]} are refused as one attribute, but other merges make them one: {chain[0]}{steps}; "
        f"refuse one of these too"
    )


def _labels(nodes: Sequence[Sequence[Attribute]], named: Sequence[Attribute]) -> tuple[str, ...]:
    """The labels of nodes: the column alone if no other node has one of that name, else with its table."""
    holders: dict[str, set[int]] = {}
    tables: dict[str, set[TableName]] = {}
    for number, node in enumerate(nodes):
        for attribute in node:
            holders.setdefault(attribute.column, set()).add(number)
            tables.setdefault(attribute.table.name, set()).add(attribute.table)
    labels = []
    for number, first in enumerate(named):
        short = f"{first.table.name}.{first.column}"
        alone = holders[first.column] == {number}
        labels.append(first.column if alone else short if len(tables[first.table.name]) == 1 else str(first))
    return tuple(labels)


# The graph as a network of paths: from attribute to table to attribute, from identifiers to sensitive attributes.


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
