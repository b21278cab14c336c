"""Spark Connect servers for tests: Sail from PyPI, in this process or as one that may be killed; or Spark itself.

QIDSQL_TEST_SPARK is the server for the tests marked spark: sail (the default), pyspark (Spark from PyPI, which needs
Java), or the address of a server that reads the files of this machine.
"""

import atexit
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from socket import create_connection, create_server
from typing import Self

import pytest

from tests.postgres_server import wait_until

os.environ.setdefault("RUST_LOG", "off")  # else Sail logs to stderr
SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
STANDALONE = "org.apache.spark.deploy"
# Every statement is other code, which is compiled quickly, not well, and kept.
QUICK = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"
SETTINGS = {
    "spark.sql.shuffle.partitions": "2",  # else 200 tasks for a few rows
    "spark.ui.enabled": "false",
    "spark.log.level": "WARN",  # else each plan is written to the log
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


def spark_home() -> Path:
    """The folder of Spark: SPARK_HOME, or that of pyspark. Skips the test where there is none, or no Java."""
    found = importlib.util.find_spec("pyspark")
    installed = "" if found is None or found.origin is None else str(Path(found.origin).parent)
    home = Path(os.environ.get("SPARK_HOME", installed))
    if not (home / "bin" / "spark-submit").exists():
        pytest.skip("no Spark here: pip install pyspark, or set SPARK_HOME")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("no Java here, which Spark needs: install a JRE of version 17 or later")
    return home


def _pyspark() -> str:
    """Spark on two cores of this machine. It ends with this process."""
    port = _free_port()
    server = _Java("spark-submit", *_connect_server("local[2]", "2g", port))
    _kept.append(server)
    server.wait_for(port)
    return f"sc://127.0.0.1:{port}"


def _connect_server(master: str, memory: str, port: int, **settings: str) -> list[str]:
    """The arguments of spark-submit for a server on that port."""
    pairs = SETTINGS | {"spark.connect.grpc.binding.port": str(port)} | settings
    options = [part for key, value in pairs.items() for part in ("--conf", f"{key}={value}")]
    return ["--master", master, "--driver-memory", memory, *options, "--class", SERVER, "spark-internal"]


def _free_port() -> int:
    with create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def _answers(port: int) -> bool:
    with suppress(OSError), create_connection(("127.0.0.1", port), 1):
        return True
    return False


class _Java:
    """A process of Spark's, which ends with this object."""

    def __init__(self, script: str, *arguments: str) -> None:
        home = spark_home()
        self._log = Path(tempfile.mkstemp(suffix=".log")[1])
        environment = os.environ | {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "JDK_JAVA_OPTIONS": QUICK}
        with self._log.open("w") as stream:
            command = [home / "bin" / script, *arguments]
            self.process = subprocess.Popen(
                command, stdout=stream, stderr=stream, env=environment, start_new_session=True
            )
        atexit.register(self.kill)  # what a module keeps is not deleted at the end

    def wait_for(self, sign: str | int) -> None:
        """For words in the log, or a port that answers."""
        there = (lambda: _answers(sign)) if isinstance(sign, int) else lambda: sign in self._log.read_text()
        wait_until(lambda: there() or self.process.poll() is not None)
        assert self.process.poll() is None, self._log.read_text()[-2000:]

    def kill(self) -> None:
        """The process, and what it started: the executors of a worker."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def __del__(self) -> None:
        self.kill()
        self._log.unlink(missing_ok=True)


class SparkCluster:
    """A standalone cluster on this machine: a server and two workers of one core each. Use it in a `with` block."""

    def __init__(self) -> None:
        port, web, connect = _free_port(), _free_port(), _free_port()
        self._folder = tempfile.TemporaryDirectory()
        here = ("--host", "127.0.0.1")
        self._master = _Java(
            "spark-class", f"{STANDALONE}.master.Master", *here, "--port", str(port), "--webui-port", str(web)
        )
        self._master.wait_for("I have been elected leader")
        url = f"spark://127.0.0.1:{port}"
        size = ("--cores", "1", "--memory", "1g", "--work-dir", self._folder.name)
        self.workers = [
            _Java("spark-class", f"{STANDALONE}.worker.Worker", *here, *size, "--webui-port", "0", url)
            for _ in range(2)
        ]
        for worker in self.workers:
            worker.wait_for("Successfully registered with master")
        settings = {"spark.executor.memory": "900m", "spark.driver.host": "127.0.0.1"}
        self.server = _Java("spark-submit", *_connect_server(url, "1g", connect, **settings))
        self.server.wait_for(connect)
        self.url = f"sc://127.0.0.1:{connect}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for each in (self.server, *self.workers, self._master):
            each.kill()
        self._folder.cleanup()


class SailProcess:
    """A server of a test's own, with settings of its own, to be frozen or killed. Use it in a `with` block."""

    def __init__(self, port: int = 0, **settings: str) -> None:
        command = [sys.executable, "-m", "pysail", "spark", "server", "--port", str(port)]
        self.process = subprocess.Popen(
            command, stderr=subprocess.PIPE, text=True, env=os.environ | {"RUST_LOG": "info"} | settings
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
