"""Which attributes stand between identifiers and sensitive ones: one sensitive attribute, or several."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING

from qidsql.attribute_graph.graph import AttributeGraph
from qidsql.attribute_graph.minimum_cut import minimum_cuts
from qidsql.attribute_graph.network import Stop, leading, network
from qidsql.attribute_graph.path_cut import path_cut

if TYPE_CHECKING:
    import networkx as nx


class Algorithm(StrEnum):
    MINIMUM_CUT = "minimum-cut"  # the fewest attributes, by maximum flow
    PATHS = "paths"  # Yan et al., Algorithm 2


@dataclass(frozen=True, slots=True)
class Separation:
    """What separates all identifiers from all sensitive attributes. Cuts are sets of nodes, in the graph's order.

    `cuts` are those that the algorithm gives: all of the smallest size, or the first of them when there are more than
    were asked for (`complete` is False then); with `Algorithm.PATHS` the one of the paths. `minimum` is the size of a
    smallest cut, whatever the algorithm gives. `parts` are the cuts of the sensitive attributes one by one, of which
    the cut is the union (Yan et al., equation 4): it separates, and need not be smallest. `together` are the tables in
    which an identifier leads to a sensitive attribute without anything between: then there is no cut.
    """

    cuts: tuple[tuple[int, ...], ...]
    complete: bool
    minimum: int
    parts: tuple[tuple[int, tuple[int, ...]], ...] = ()
    together: tuple[int, ...] = ()


def separate(
    graph: AttributeGraph, identifiers: Sequence[int], sensitive: Sequence[int], algorithm: Algorithm, most: int
) -> Separation:
    """The cuts between identifiers and sensitive attributes, `most` of them at most.

    Neither is ever part of a cut (Yan et al., Definition 3). Several identifiers stand side by side, and several
    sensitive attributes are merged, in directed graphs too: one flow finds the smallest cuts for all of them together.
    With `Algorithm.PATHS` and closed ways each sensitive attribute is separated by itself, as the paper does, from
    paths that do not lead over another one, which has its own cut.
    """
    together = _together(graph, identifiers, sensitive)
    if together:
        return Separation((), True, 0, together=together)
    ends = {*identifiers, *sensitive}
    whole = leading(network(graph, identifiers, sensitive))
    smallest = list(islice(minimum_cuts(whole, _cuttable(whole, ends)), most + 1))
    if algorithm is Algorithm.MINIMUM_CUT:
        return Separation(tuple(sorted(map(_nodes, smallest[:most]))), len(smallest) <= most, len(smallest[0]))
    if not graph.directed or len(sensitive) == 1:
        return Separation((_picked(whole),), True, len(smallest[0]))
    parts = []
    for one in sensitive:
        apart = network(graph, identifiers, [one])
        apart.remove_nodes_from(set(sensitive) - {one})
        parts.append((one, _picked(leading(apart))))
    union = tuple(sorted({node for _, part in parts for node in part}))
    return Separation((union,), True, len(smallest[0]), tuple(parts))


def _picked(found: "nx.DiGraph[Stop]") -> tuple[int, ...]:
    picked = path_cut(found)
    assert picked is not None  # nothing stands together
    return _nodes(picked)


def _together(graph: AttributeGraph, identifiers: Collection[int], sensitive: Collection[int]) -> tuple[int, ...]:
    """The tables in which an identifier stands beside a sensitive attribute, and the way is open."""
    return tuple(
        number
        for number, (members, closed) in enumerate(zip(graph.members, graph.closed, strict=True))
        if any(
            (one, other) not in closed
            for one in set(members) & set(identifiers)
            for other in set(members) & set(sensitive)
        )
    )


def _cuttable(found: Collection[Stop], ends: Collection[int]) -> list[Stop]:
    return [stop for stop in found if isinstance(stop, int) and stop not in ends]


def _nodes(cut: Collection[Stop]) -> tuple[int, ...]:
    return tuple(sorted(stop for stop in cut if isinstance(stop, int)))
