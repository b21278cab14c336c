"""Ctrl-C in Python while the source is opened: an error of the documented tree, at once."""

import signal
import subprocess
import sys
from pathlib import Path
from socket import create_server

import pytest

import qidsql
from qidsql.errors import Interrupted
from tests.commandline import environment, finished

ASKING = """
import sys, qidsql
from qidsql.errors import QidsqlError
try:
    qidsql.{verb}(sys.argv[1])
except QidsqlError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.parametrize("verb", ["audit", "doctor"])
def test_while_a_server_does_not_answer(verb: str) -> None:
    with create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)
        process = subprocess.Popen(
            [sys.executable, "-c", ASKING.format(verb=verb), f"postgresql://u@127.0.0.1:{server.getsockname()[1]}/d"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
            text=True,
        )
        line, _ = server.accept()
        with line:
            assert line.recv(8)  # the client has begun to speak, and hears nothing
            process.send_signal(signal.SIGINT)
            out, err = finished(process)
    assert (out, err) == ("Interrupted interrupted before there was anything to report\n", "")


def test_while_the_catalog_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    (tmp_path / "t.csv").write_text("a\n1\n")
    monkeypatch.setattr("qidsql.engines.duckdb.engine.DuckDBEngine.describe", interrupted)
    for verb in (qidsql.audit, qidsql.profile, qidsql.keys, qidsql.uniques, qidsql.suppress, qidsql.anonymize):
        with pytest.raises(Interrupted):
            verb(f"{tmp_path}/t.csv")
