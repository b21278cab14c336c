"""Both figures of Yan et al.: relationship matrices, Tables I and II, the sets of Examples 1 and 2."""

import json
from pathlib import Path

import pytest

from qidsql.attribute_graph.graph import AttributeGraph, every_path
from tests.attribute_graph.graphs import graph_of
from tests.attribute_graph.paper import FIGURE_3, FIGURES, Figure
from tests.commandline import inside


@pytest.fixture(params=FIGURES)
def paper(request: pytest.FixtureRequest) -> Figure:
    return FIGURES[request.param]


def in_the_papers_order(matrix: list[list[int]], graph: AttributeGraph, names: tuple[str, ...]) -> list[list[int]]:
    places = [graph.node(name) for name in names]
    return [[matrix[row][column] for column in places] for row in places]


def relationship_matrix(graph: AttributeGraph) -> list[list[int]]:
    """Definition 2: 1 if a table contains two nodes and the step from row to column is open."""
    nodes, open_steps = range(len(graph.nodes)), set()
    for members, closed in zip(graph.members, graph.closed, strict=True):
        open_steps |= {(one, other) for one in members for other in members if one != other} - closed
    return [[int((one, other) in open_steps) for other in nodes] for one in nodes]


def test_relationship_matrix(paper: Figure) -> None:
    graph = graph_of(paper.tables)
    assert in_the_papers_order(relationship_matrix(graph), graph, paper.names) == paper.matrix


def test_path_tables(paper: Figure) -> None:
    graph = graph_of(paper.tables)
    paths = list(every_path(graph, graph.node(paper.identifier), graph.node(paper.sensitive)))
    named = [tuple(graph.labels[node] for node in path) for path in paths]
    assert sorted(named) == sorted(paper.paths)
    assert [len(path) for path in named] == sorted(len(path) for path in named)


@pytest.mark.parametrize("algorithm", ["minimum-cut", "paths"])
def test_sets_of_the_examples(paper: Figure, tmp_path: Path, algorithm: str) -> None:
    (tmp_path / "outside.toml").write_text(paper.outside())
    asked = ["--identifier", paper.identifier, "--sensitive", paper.sensitive, "--algorithm", algorithm]
    outcome = inside(
        "graph",
        "--outside",
        "outside.toml",
        *asked,
        "--every-path",
        "--max-paths",
        "99",
        "--format",
        "json",
        cwd=tmp_path,
    )
    report = json.loads(outcome.out)
    assert (outcome.code, outcome.err) == (0, "")
    assert tuple(report["cut"]) == paper.cut
    assert report["optimal"]
    assert sorted(tuple(path["attributes"]) for path in report["paths"]) == sorted(paper.paths)
    assert report["paths_complete"]


def test_the_warning_of_example_2(tmp_path: Path) -> None:
    (tmp_path / "outside.toml").write_text(FIGURE_3.outside())
    asked = ["graph", "--outside", "outside.toml", "--identifier", "owner", "--sensitive", "selling price"]
    alone = inside(*asked, "--protect", "t2", "--format", "json", cwd=tmp_path)
    found = json.loads(alone.out)["protection"]
    assert (alone.code, found["sufficient"]) == (1, False)
    assert found["exposed"] == {"brand": ["t1", "t3"], "years": ["t1", "t3"]}
    assert found["way_round"]["tables"] == ["t3", "t1"]  # background knowledge, then what is published already
    both = inside(*asked, "--protect", "t1", "--protect", "t2", "--format", "json", cwd=tmp_path)
    protection = json.loads(both.out)["protection"]
    assert (both.code, protection["sufficient"]) == (0, True)
    assert {each["table"]: each["columns"] for each in protection["tables"]} == {
        "t1": ["brand", "years"],
        "t2": ["brand"],
    }


def test_dependencies_close_ways_but_not_these(tmp_path: Path) -> None:
    text = FIGURE_3.outside().replace(
        'name = "t1"\n',
        'name = "t1"\ndependencies = {brand = ["selling price"], "purchasing price" = ["selling price"]}\n',
    )
    text = text.replace('name = "t2"\n', 'name = "t2"\ndependencies = {"driven distance" = ["condition"]}\n')
    (tmp_path / "outside.toml").write_text(text)
    asked = ["graph", "--outside", "outside.toml", "--identifier", "owner", "--sensitive", "selling price"]
    report = json.loads(inside(*asked, "--every-path", "--max-paths", "99", "--format", "json", cwd=tmp_path).out)
    assert report["directed"]
    assert report["cut"] == ["brand", "years"]
    assert 0 < len(report["paths"]) < 22  # none from condition to driven distance
    assert not any("condition-driven distance" in "-".join(path["attributes"]) for path in report["paths"])
