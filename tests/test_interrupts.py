"""Ctrl-C in Python before a statement: an error of the documented tree, or an inconclusive result, at once."""

import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from socket import create_server

import pytest

import qidsql
from qidsql.commands.table_search import interruptible
from qidsql.core.results import Verdict
from qidsql.errors import Interrupted
from tests.commandline import environment, finished
from tests.ways import measured_set, work

ASKING = """
import sys, qidsql
from qidsql.errors import QidsqlError
try:
    qidsql.{verb}(sys.argv[1])
except QidsqlError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.exhaustive
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
    assert (out, err) == ("Interrupted interrupted; the running statements were cancelled\n", "")


@pytest.mark.parametrize("raised", [KeyboardInterrupt(), Interrupted("interrupted")])
def test_while_the_catalog_is_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, raised: KeyboardInterrupt | Interrupted
) -> None:
    """The first comes from between two statements to the catalog, the second from within one."""

    def interrupted(*_: object) -> None:
        raise raised

    (tmp_path / "t.csv").write_text("a\n1\n")
    monkeypatch.setattr("qidsql.engines.duckdb.engine.DuckDBEngine.describe", interrupted)
    for verb in (qidsql.audit, measured_set, qidsql.keys, qidsql.uniques, work("matching"), work("identical")):
        with suppress(Interrupted):
            result = verb(f"{tmp_path}/t.csv")
            assert (result.verdict, result.account.unfinished) == (Verdict.INCONCLUSIVE, ("interrupted",)), verb


def test_a_library_that_makes_another_error_of_an_interrupt_does_not_take_the_answer() -> None:
    """sqlglot's tokenizer wraps whatever is raised within it."""
    with pytest.raises(Interrupted, match="interrupted"), interruptible():
        try:
            signal.raise_signal(signal.SIGINT)
        except Exception as error:
            raise ValueError("wrapped") from error
    with pytest.raises(ValueError, match="own"), interruptible():
        raise ValueError("own")
