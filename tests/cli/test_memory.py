"""The limit of the process counts what DuckDB uses, not the addresses that its allocator once had."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.commandline import environment

MB = 1_000_000
USES_AND_RETURNS = """
import re
from pathlib import Path
from qidsql.cli.memory import bounded_memory

with bounded_memory():
    import duckdb

    duckdb.sql("SELECT length(repeat('x', 300_000_000))").fetchall()
    print(int(re.search(r"VmData:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) * 1000)
"""


def counted_after(settings: dict[str, str]) -> int:
    """Bytes that count towards the limit after a statement of about 600 MB, with these variables set."""
    if not Path("/proc/self/status").is_file():
        pytest.skip("the system does not say what counts towards the limit")
    command = [sys.executable, "-c", USES_AND_RETURNS]
    done = subprocess.run(command, stdout=subprocess.PIPE, env=environment(settings), timeout=60, check=True)
    return int(done.stdout)


@pytest.mark.exhaustive  # 600 MB, twice
def test_returned_memory_does_not_count() -> None:
    kept = counted_after({"DUCKDB_JE_MALLOC_CONF": "retain:true"})  # a user's own setting stays
    assert counted_after({}) < kept - 300 * MB
