"""The attribute graph: attributes are nodes, tables connect them (Yan et al., Definition 1 and Algorithm 1)."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from qidsql.core.catalog import Attribute, Ground, SameAttribute, find_attribute
from qidsql.core.tables import TableName
from qidsql.errors import UsageError


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

    def columns_in(self, node: int, table: TableName) -> tuple[str, ...]:
        """The columns of a table that belong to a node."""
        return tuple(each.column for each in self.nodes[node] if each.table == table)

    def tables_of(self, node: int) -> tuple[TableName, ...]:
        return tuple(dict.fromkeys(each.table for each in self.nodes[node]))

    def relationship_matrix(self) -> list[list[int]]:
        """Yan et al., Definition 2: 1 if a table contains two nodes and the step from row to column is open."""
        matrix = [[0] * len(self.nodes) for _ in self.nodes]
        for members, closed in zip(self.members, self.closed, strict=True):
            for one in members:
                for other in members:
                    if one != other and (one, other) not in closed:
                        matrix[one][other] = 1
        return matrix

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
