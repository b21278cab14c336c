"""Spark Connect servers for tests: Sail from PyPI in this process or as one that may be killed, and Spark itself."""

import os
import re
import signal
import subprocess
import sys
from functools import cache
from typing import Self

os.environ.setdefault("RUST_LOG", "off")  # else it logs to stderr


@cache
def sail() -> str:
    """The address of a server in this process, which ends with it."""
    from pysail.spark import SparkConnectServer

    server = SparkConnectServer("127.0.0.1", 0)
    server.start(background=True)
    host, port = server.listening_address
    _kept.append(server)
    return f"sc://{host}:{port}"


_kept: list[object] = []


class SailProcess:
    """A server of a test's own, to be frozen or killed. Use it in a `with` block."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "pysail", "spark", "server", "--port", "0"]
        self.process = subprocess.Popen(
            command, stderr=subprocess.PIPE, text=True, env=os.environ | {"RUST_LOG": "info"}
        )
        assert self.process.stderr is not None
        found = None
        while found is None:
            line = self.process.stderr.readline()
            assert line, "Sail did not start"
            found = re.search(r"on (127\.0\.0\.1:\d+)", line)
        self.url = f"sc://{found[1]}"

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()
