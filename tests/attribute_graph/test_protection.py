"""What protecting columns of a table does, and the fewest to protect, against every choice of columns."""

from itertools import combinations

import pytest

from qidsql.attribute_graph.graph import AttributeGraph, Membership
from qidsql.attribute_graph.separation import CutAlgorithm, VertexCuts, bypass, least_protection, separate
from tests.attribute_graph.graphs import Dependencies, arcs, brute_force, graph_of, random_tables, separates

Kept = frozenset[tuple[int, str]]


def open_arcs(tables: list[list[str]], dependencies: Dependencies, kept: Kept) -> set[tuple[str, str]]:
    """Written again: within a table no way begins or ends at a column that is protected in it."""
    found = set()
    for number, columns in enumerate(tables):
        own = arcs([columns], {0: dependencies.get(number, ())})
        found |= {(a, b) for a, b in own if (number, a) not in kept and (number, b) not in kept}
    return found


@pytest.mark.parametrize("part", range(4))
def test_the_fewest_columns_to_protect(part: int) -> None:
    answers = set()
    for seed in range(part * 25, part * 25 + 25):
        tables, dependencies = random_tables(seed)
        graph = graph_of(tables, dependencies)
        a, z = graph.node("a"), graph.node("z")
        protected = [0] if seed % 2 else [0, 1]
        choices = [(number, name) for number in protected for name in tables[number] if name not in "az"]
        expected = None
        for size in range(len(choices) + 1):
            sets = (frozenset(kept) for kept in combinations(choices, size))
            if any(separates((), open_arcs(tables, dependencies, kept), "a", "z") for kept in sets):
                expected = size
                break
        found = least_protection(graph, [a], [z], protected)
        answers.add(expected)
        assert (None if found is None else len(found)) == expected, seed
        if found is not None:
            kept = frozenset((each.table, graph.labels[each.node]) for each in found)
            assert separates((), open_arcs(tables, dependencies, kept), "a", "z"), seed
    assert {None, 0} < answers or len(answers) > 2


@pytest.mark.parametrize("part", range(4))
def test_a_way_round_is_open_and_there_is_none_when_protection_separates(part: int) -> None:
    found = 0
    for seed in range(part * 25, part * 25 + 25):
        tables, dependencies = random_tables(seed)
        graph = graph_of(tables, dependencies)
        a, z = graph.node("a"), graph.node("z")
        kept = frozenset((number, name) for number in (0, 2) if number < len(tables) for name in tables[number][:2])
        kept = frozenset((number, name) for number, name in kept if name not in "az")
        ways = open_arcs(tables, dependencies, kept)
        way = bypass(graph, [a], [z], frozenset(Membership(number, graph.node(name)) for number, name in kept))
        assert (way is None) == separates((), ways, "a", "z"), seed
        if way is not None:
            found += 1
            named = [graph.labels[node] for node in way[0]]
            assert (named[0], named[-1]) == ("a", "z")
            for before, after, table in zip(named[:-1], named[1:], way[1], strict=True):
                assert (before, after) in ways, seed
                assert {before, after} <= set(tables[table]), seed
    assert 5 < found < 25


def several(seed: int, algorithm: CutAlgorithm) -> tuple[AttributeGraph, VertexCuts, set[tuple[str, str]], list[str]]:
    """A random graph with two sensitive attributes: what is found, the ways of the definition, and the names."""
    tables, dependencies = random_tables(seed)
    names = sorted({column for table in tables for column in table})
    graph = graph_of(tables, dependencies)
    goals = [graph.node(name) for name in ("z", names[-2])]
    found = separate(graph, [graph.node("a")], goals, algorithm, 100)
    return graph, found, arcs(tables, dependencies), names


def test_the_smallest_cuts_separate_several_sensitive_attributes_together() -> None:
    directed = 0
    for seed in range(90):
        graph, found, ways, names = several(seed, CutAlgorithm.MINIMUM_CUT)
        expected = brute_force(ways, names, ["a"], ["z", names[-2]])
        assert {frozenset(graph.labels[node] for node in cut) for cut in found.cuts} == expected, seed
        assert bool(found.together) != bool(expected), seed
        assert not expected or found.minimum == len(next(iter(expected))), seed
        directed += graph.directed
    assert directed > 10


def test_by_paths_each_sensitive_attribute_is_separated_by_itself() -> None:
    directed = 0
    for seed in range(60):
        graph, found, ways, names = several(seed, CutAlgorithm.PATHS)
        sensitive = ["z", names[-2]]
        for cut in found.cuts:
            assert separates([graph.labels[node] for node in cut], ways, ["a"], sensitive), seed
            assert found.minimum == len(next(iter(brute_force(ways, names, ["a"], sensitive)))), seed
        if found.parts:
            directed += 1
            assert {graph.labels[goal] for goal, _ in found.parts} == set(sensitive)
            assert set(found.cuts[0]) == {node for _, part in found.parts for node in part}
            for goal, part in found.parts:
                alone = {arc for arc in ways if not set(arc) & (set(sensitive) - {graph.labels[goal]})}
                assert separates([graph.labels[node] for node in part], alone, ["a"], [graph.labels[goal]]), seed
    assert directed > 3


def test_a_union_of_smallest_cuts_is_not_called_smallest() -> None:
    # Each of "g" and "i" by itself is separated by "a" as well as by "d"; only "d" separates both.
    tables = ["ahd", "ifba", "ie", "bi", "edga"]
    graph = graph_of([list(table) for table in tables], {0: [("a", "h")], 2: [("i", "e")]})
    goals = [graph.node("g"), graph.node("i")]
    found = separate(graph, [graph.node("h")], goals, CutAlgorithm.MINIMUM_CUT, 10)
    assert (found.cuts, found.minimum, found.parts) == (((graph.node("d"),),), 1, ())


def test_as_many_cuts_as_asked_for() -> None:
    graph = graph_of([["a", "b"], ["b", "c"], ["c", "d"], ["d", "z"]])
    ends = [graph.node("a")], [graph.node("z")]
    every = separate(graph, *ends, CutAlgorithm.MINIMUM_CUT, 3)
    assert (len(every.cuts), every.complete) == (3, True)
    some = separate(graph, *ends, CutAlgorithm.MINIMUM_CUT, 2)
    assert (len(some.cuts), some.complete) == (2, False)
