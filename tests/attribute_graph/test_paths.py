"""The direct paths, against all simple paths written down and sorted out."""

from collections.abc import Iterator

from qidsql.attribute_graph.graph import Passage, leading, network, paths
from qidsql.errors import BudgetSpent
from tests.attribute_graph.graphs import arcs, graph_of, random_tables


def simple_paths(ways: set[tuple[str, str]], walked: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if walked[-1] == "z":
        yield walked
        return
    for before, after in sorted(ways):
        if before == walked[-1] and after not in walked:
            yield from simple_paths(ways, (*walked, after))


def direct(path: tuple[str, ...], ways: set[tuple[str, str]]) -> bool:
    """No attribute could be reached sooner."""
    return not any((a, b) in ways for place, a in enumerate(path) for b in path[place + 2 :])


def test_direct_paths() -> None:
    several = 0
    for seed in range(150):
        tables, dependencies = random_tables(seed)
        graph, ways = graph_of(tables, dependencies), arcs(tables, dependencies)
        expected = {path for path in simple_paths(ways, ("a",)) if direct(path, ways)}
        found = list(paths(leading(network(graph, [graph.node("a")], [graph.node("z")]))))
        named = [tuple(graph.labels[node] for node in nodes) for nodes, _ in found]
        assert set(named) == expected, seed
        assert [len(path) for path in named] == sorted(len(path) for path in named)
        for path, (_, through) in zip(named, found, strict=True):
            for before, after, table in zip(path[:-1], path[1:], through, strict=True):
                assert {before, after} <= set(tables[table])
        several += len(expected) > 2
    assert several > 10


def test_dead_ends_lie_between_nothing() -> None:
    graph = graph_of([["a", "b"], ["b", "z"], ["b", "c"], ["c", "d"]])
    found = leading(network(graph, [graph.node("a")], [graph.node("z")]))
    assert {graph.labels[vertex] for vertex in found if isinstance(vertex, int)} == {"a", "b", "z"}
    assert {vertex.table for vertex in found if isinstance(vertex, Passage)} == {0, 1}


def test_a_search_that_gives_up_says_so() -> None:
    graph = graph_of([["a", "b"], ["b", "z"], ["a", "c"], ["c", "z"]])
    found = leading(network(graph, [graph.node("a")], [graph.node("z")]))
    every = list(paths(found))
    for examined in range(40):
        some, gave_up = [], False
        try:
            for path in paths(found, examined):
                some.append(path)
        except BudgetSpent:
            gave_up = True
        assert some == every[: len(some)]
        assert gave_up or some == every
    assert len(every) == 2 and not gave_up
