"""Spark Connect servers for tests: Sail from PyPI, in this process or as one that may be killed; or Spark itself.

QIDSQL_TEST_SPARK is the server for the tests marked spark: sail (the default), pyspark (Spark from PyPI, which needs
Java), or the address of a server that reads the files of this machine.
"""

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from socket import create_server
from typing import Self

import pytest

from tests.postgres_server import wait_until

os.environ.setdefault("RUST_LOG", "off")  # else Sail logs to stderr
SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
SETTINGS = {
    "spark.sql.shuffle.partitions": "2",  # else 200 tasks for a few rows
    "spark.ui.enabled": "false",
    "spark.connect.grpc.binding.address": "127.0.0.1",
}
_kept: list[object] = []  # running as long as this process


@cache
def spark_url() -> str:
    """The address of the server for the tests. Skips the test where what it needs is not there."""
    wanted = os.environ.get("QIDSQL_TEST_SPARK", "sail")
    return {"sail": sail, "pyspark": _pyspark}.get(wanted, lambda: wanted)()


@cache
def sail() -> str:
    """The address of a server in this process."""
    from pysail.spark import SparkConnectServer

    server = SparkConnectServer("127.0.0.1", 0)
    server.start(background=True)
    host, port = server.listening_address
    _kept.append(server)
    return f"sc://{host}:{port}"


def _pyspark() -> str:
    """Spark on two cores of this machine. It ends with this process."""
    found = importlib.util.find_spec("pyspark")
    home = None if found is None or found.origin is None else Path(found.origin).parent
    if home is None or not (home / "bin" / "spark-submit").exists():
        pytest.skip("no Spark here: pip install pyspark")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("no Java here, which Spark needs: install a JRE of version 17 or later")
    with create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    pairs = [*SETTINGS.items(), ("spark.connect.grpc.binding.port", str(port))]
    options = [part for key, value in pairs for part in ("--conf", f"{key}={value}")]
    log = Path(tempfile.mkstemp(suffix=".log")[1])
    with log.open("w") as stream:
        command = [home / "bin" / "spark-submit", "--master", "local[2]", "--driver-memory", "2g"]
        environment = os.environ | {"SPARK_HOME": str(home)}
        server = subprocess.Popen(
            [*command, *options, "--class", SERVER, "spark-internal"], stdout=stream, stderr=stream, env=environment
        )
    _kept.append(_Ending(server, log))
    wait_until(lambda: "Spark Connect server started" in log.read_text() or server.poll() is not None)
    assert server.poll() is None, log.read_text()[-2000:]
    return f"sc://127.0.0.1:{port}"


class _Ending:
    """Ends a server when this process ends."""

    def __init__(self, server: "subprocess.Popen[bytes]", log: Path) -> None:
        self._server, self._log = server, log

    def __del__(self) -> None:
        self._server.terminate()
        self._server.wait()
        self._log.unlink()


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
