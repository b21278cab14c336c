"""What reaches a file: all of a document or nothing of it, and every byte of a line."""

from pathlib import Path

import pytest

from qidsql.cli.streams import lines, parts
from qidsql.errors import UsageError
from tests.commandline import inside
from tests.policies import SAFE, entries, fill, policy_file
from tests.stores import DuckDBStore


def test_a_document_takes_the_place_of_the_last_one_when_it_is_whole(tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    report.write_text("yesterday's")
    with parts(report) as put:
        put("today")
        assert report.read_text() == "yesterday's"
        put("'s")
    assert report.read_text() == "today's"
    with pytest.raises(ZeroDivisionError), parts(report) as put:
        put("half")
        raise ZeroDivisionError
    assert report.read_text() == "today's"
    assert list(tmp_path.iterdir()) == [report]


def test_a_link_stays_one_and_a_device_is_written_to(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("file")
    with parts(tmp_path / "link") as put:
        put("text")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "text"
    with parts(Path("/dev/null")) as put:
        put("text")
    assert Path("/dev/null").is_char_device()


def test_a_full_disk_is_said(tmp_path: Path) -> None:
    for writer in (parts, lines):
        with pytest.raises(UsageError, match="No space left on device"), writer(Path("/dev/full")) as put:
            put("text")


def test_a_run_replaces_its_report_at_once(tmp_path: Path, duckdb_store: DuckDBStore) -> None:
    """A reader who opened yesterday's report before still has it whole: the file is another one."""
    fill(duckdb_store, safe=SAFE)
    policy_file(tmp_path, duckdb_store.url, entries("main.safe"))
    report = tmp_path / "metrics.prom"
    report.write_text("yesterday's")
    with report.open() as reader:
        assert inside("run", "-q", "--output", report, cwd=tmp_path).code == 0
        assert reader.read() == "yesterday's"
    assert "qidsql_run_verdict" in report.read_text()
