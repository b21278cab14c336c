"""`qidsql demo`: the sample database, its audit, and commands that work when they are typed."""

import re
import shlex
from pathlib import Path

from tests.commandline import inside, refused


def test_demo(tmp_path: Path) -> None:
    kept = tmp_path / "clinic.duckdb"
    first = inside("demo", "--keep", kept)
    assert (first.code, first.err) == (0, "")
    assert first.out.startswith("VIOLATION")
    for line in first.out.splitlines():
        if line.strip().startswith("qidsql ") and str(kept) in line:
            arguments = shlex.split(line, comments=True)[1:]
            assert inside(*arguments).code in (0, 1), line
    assert "exists already" in refused("demo", "--keep", kept)
    assert "cannot be written" in refused("demo", "--keep", "/no/such/folder/x.duckdb")


def test_the_demo_is_the_same_every_time() -> None:
    def facts(text: str) -> str:
        return re.sub(r"DuckDB [\d.]+|[\d.]+ s,", "", text)

    first, second = inside("demo"), inside("demo")
    assert facts(first.out) == facts(second.out)
    assert "tmp" not in first.out
