"""Exit codes: what each verdict ends a command with, and an interrupt."""

import subprocess
import sys
from pathlib import Path

from qidsql.core.results import Verdict
from qidsql.errors import ExitCode
from tests.commandline import environment

CODES = {"pass": 0, "finished": 0, "violation": 1, "error": 2, "inconclusive": 3}
INTERRUPTED_IN_EXEC = """
import qidsql.engines.workers
from qidsql.__main__ import _leave
try:
    exec("raise KeyboardInterrupt")  # as within the import of a module with dataclasses
except KeyboardInterrupt:
    _leave(3)
"""


def test_a_verdict_ends_a_command_with_its_exit_code() -> None:
    assert {str(each): int(each.exit_code) for each in Verdict} == CODES
    assert {int(each) for each in ExitCode} == set(CODES.values())


def test_an_interrupt_within_exec_ends_python_with_the_exit_code(tmp_path: Path) -> None:
    """`python -m` would end by the signal otherwise, as Python remembers it."""
    (tmp_path / "ends.py").write_text(INTERRUPTED_IN_EXEC)
    start = [sys.executable, "-m", "ends"]
    assert subprocess.run(start, cwd=tmp_path, env=environment(), timeout=60).returncode == 3
