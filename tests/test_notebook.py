"""Results in a notebook, run for real in a kernel of its own, and the forms that a notebook asks for."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from lxml import html as lxml_html

import qidsql
from qidsql.core.results import Result
from qidsql.declarations.results import plain
from qidsql.errors import UnknownName
from tests.formats.documents import filled

NOTEBOOK = Path(__file__).with_name("notebook.ipynb")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Result]:
    source = filled(tmp_path_factory.mktemp("people") / "p.duckdb", {"<a>": "i % 7", "b": "i % 2", "c": "i % 31"}, 60)
    return {
        "audit": qidsql.audit(source, k=3),
        "keys": qidsql.keys(source, all=True, violates=3),
        "tables": qidsql.tables(source),
        "none": qidsql.keys(source),
    }


def test_a_frame_has_a_row_for_each_item_and_its_values(results: Mapping[str, Result]) -> None:
    for name, part in (("audit", "columns"), ("audit", "column_sets"), ("keys", None), ("tables", None)):
        result = results[name]
        items = plain(result)[part or {"keys": "column_sets", "tables": "tables"}[name]]
        frames = {library: result.to_frame(part, library=library) for library in ("pandas", "polars", "pyarrow")}
        rows = {
            "pandas": frames["pandas"].to_dict("records"),
            "polars": frames["polars"].to_dicts(),
            "pyarrow": frames["pyarrow"].to_pylist(),
        }
        for found in rows.values():
            assert len(found) == len(items)
            for row, item in zip(found, items, strict=True):
                assert all(same(row[key], value) for key, value in flat(item).items() if value is not None)
    assert len(results["none"].to_frame()) == len(plain(results["none"])["column_sets"])


def same(shown: Any, value: Any) -> bool:
    return list(shown) == value if isinstance(value, list) and not isinstance(shown, str) else shown == value


def flat(item: Mapping[str, Any]) -> dict[str, Any]:
    pairs = ((f"{key}_{inner}" if inner else key, each) for key, value in item.items() for inner, each in parts(value))
    return dict(pairs)


def parts(value: Any) -> Sequence[tuple[str, Any]]:
    return list(value.items()) if isinstance(value, dict) else [("", value)]


def test_a_part_or_library_that_is_not_there(results: Mapping[str, Result]) -> None:
    with pytest.raises(UnknownName, match=r"no list sets .*in AuditResult"):
        results["audit"].to_frame("sets")
    with pytest.raises(UnknownName, match=r"no library pands .*did you mean pandas"):
        results["audit"].to_frame(library="pands")


def test_a_result_shows_itself(results: Mapping[str, Result]) -> None:
    for result in results.values():
        assert result.to_html().startswith("<!doctype html>")
        assert result.to_markdown().startswith("### ")
        shown = result._repr_html_()
        assert "<style" not in shown and "<script" not in shown  # which would reach the rest of the notebook
        assert "<a>" not in shown
        assert result.reason in " ".join(lxml_html.fromstring(f"<div>{shown}</div>").text_content().split())
        assert len(repr(result)) < 300


@pytest.mark.exhaustive
def test_a_notebook_runs(tmp_path: Path) -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    place = {"metadata": {"path": tmp_path}}
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources=place).execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    shown = [cell.outputs[0].data if cell.outputs else {} for cell in cells]
    assert "Violation" in shown[1]["text/html"]
    assert shown[1]["text/plain"].startswith("<AuditResult: violation: ")
    assert "Column set" in shown[2]["text/html"]
    assert "smallest" in shown[3]["text/html"]
    assert "finished" in shown[4]["text/plain"]
    assert "Suppressed" in shown[5]["text/html"]
