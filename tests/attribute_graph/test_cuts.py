"""Minimum cuts and Algorithm 2 against every set of attributes."""

import pytest

from qidsql.attribute_graph.graph import AttributeGraph, Vertex, leading, network
from qidsql.attribute_graph.separation import minimum_cuts, path_cut
from tests.attribute_graph.graphs import arcs, brute_force, graph_of, random_tables, separates
from tests.exhaustive import always

GRAPHS = 300


def named(graph: AttributeGraph, cut: frozenset[Vertex]) -> frozenset[str]:
    return frozenset(graph.labels[vertex] for vertex in cut if isinstance(vertex, int))


def ends(seed: int, names: list[str]) -> tuple[list[str], list[str]]:
    """One identifier and one sensitive attribute, or two of each."""
    return (["a"], ["z"]) if seed % 2 else (["a", *names[1:2]], ["z", *names[-2:-1]][: 1 + seed % 4 // 2])


@pytest.mark.exhaustive
@pytest.mark.parametrize("part", always(0, 1, longer=range(2, 6)))
def test_minimum_cuts_are_those_of_brute_force(part: int) -> None:
    separable = 0
    for seed in range(part * GRAPHS // 6, (part + 1) * GRAPHS // 6):
        tables, dependencies = random_tables(seed)
        names = sorted({column for table in tables for column in table})
        identifiers, sensitive = ends(seed, names)
        graph, ways = graph_of(tables, dependencies), arcs(tables, dependencies)
        starts, goals = ([graph.node(name) for name in each] for each in (identifiers, sensitive))
        found = leading(network(graph, starts, goals))
        cuttable = [vertex for vertex in found if isinstance(vertex, int) and vertex not in (*starts, *goals)]
        cuts = [named(graph, cut) for cut in minimum_cuts(found, cuttable)]
        expected = brute_force(ways, names, identifiers, sensitive)
        assert set(cuts) == expected, seed
        assert len(cuts) == len(set(cuts)), seed
        by_paths = path_cut(found)
        assert (by_paths is None) == (not expected), seed
        if by_paths is not None:
            separable += 1
            assert separates(named(graph, by_paths), ways, identifiers, sensitive), seed
            assert len(by_paths) >= len(cuts[0]), seed
    assert separable > 20  # of 50


def test_algorithm_2_can_take_more_than_a_minimum_cut() -> None:
    # b and c lie on the shortest path; it takes b, which the paper does not forbid, and has to go on from there.
    tables = ["ab", "bc", "cz", "ad", "de", "ec", "af", "fg", "gh", "hi", "iz"]
    graph = graph_of([list(table) for table in tables])
    starts, goals = [graph.node("a")], [graph.node("z")]
    found = leading(network(graph, starts, goals))
    picked = path_cut(found)
    assert picked is not None
    assert named(graph, picked) == {"b", "d", "f"}
    cuts = minimum_cuts(
        found, [vertex for vertex in found if isinstance(vertex, int) and vertex not in (*starts, *goals)]
    )
    assert {named(graph, cut) for cut in cuts} == {frozenset({"c", other}) for other in "fghi"}


@pytest.mark.parametrize(
    ("tables", "expected"),
    [
        (["ab", "bc", "cz", "ad", "de", "ec"], "c"),  # b and c are shared; c ends every path
        (["ab", "bc", "cz", "ad", "de", "ez"], "bcde"),  # the two shortest share nothing: all inner attributes
        (["ab", "bz"], "b"),
        (["ab", "cz"], ""),
    ],
)
def test_what_algorithm_2_picks(tables: list[str], expected: str) -> None:
    graph = graph_of([list(table) for table in tables])
    picked = path_cut(leading(network(graph, [graph.node("a")], [graph.node("z")])))
    assert picked is not None
    assert named(graph, picked) == set(expected)
