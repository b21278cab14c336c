"""What this process may use: the least of the machine, its control groups and its own limit."""

import subprocess
import sys
from pathlib import Path

import pytest

from qidsql.core import memory
from tests.commandline import environment

MB = 1 << 20
ROOT = {"memory.max": "max"}


@pytest.mark.parametrize(
    "line, files, wanted",
    [
        ("0::/system.slice/audit.service\n", {"system.slice/audit.service/memory.max": "300000000"}, {300_000_000}),
        ("0::/system.slice/audit.service\n", {"system.slice/memory.max": "5", "memory.max": "max"}, {5}),
        ("0::/\n", {"memory.max": "400000000"}, {400_000_000}),  # of a container
        ("9:cpu:/a\n4:cpu,memory:/a/b\n", {"memory/a/b/memory.limit_in_bytes": "7"}, {7}),
        ("4:memory:/a\n", {"memory/a/memory.limit_in_bytes": "9223372036854771712"}, set()),
        ("4:memory:/elsewhere:with\n", {"memory/memory.limit_in_bytes": "8"}, {8}),
    ],
)
def test_limits_of_control_groups(
    line: str, files: dict[str, str], wanted: set[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounted = tmp_path / "cgroup"
    for name, text in files.items():
        (mounted / name).parent.mkdir(parents=True, exist_ok=True)
        (mounted / name).write_text(text + "\n")
    own = tmp_path / "own"
    own.write_text(line)
    monkeypatch.setattr(memory, "GROUPS", own)
    monkeypatch.setattr(memory, "MOUNTED", mounted)
    machine, *groups = memory.bounds()
    assert machine > 100 * MB
    assert set(groups) == wanted


LEFT = """
import resource
from qidsql.core.memory import memory_left

before = memory_left()
resource.setrlimit(resource.RLIMIT_DATA, (500 << 20, 500 << 20))
limited = memory_left()
held = bytearray(100 << 20)
print(before, limited, memory_left())
"""


def test_what_is_left_is_what_the_limit_leaves() -> None:
    if memory.memory_left() is None:
        pytest.skip("the system does not tell what a process uses")
    done = subprocess.run(
        [sys.executable, "-c", LEFT], stdout=subprocess.PIPE, env=environment({}), timeout=60, check=True
    )
    before, limited, held = map(int, done.stdout.split())
    assert limited <= before
    assert 300 * MB < limited < 500 * MB
    assert 99 * MB < limited - held < 105 * MB
