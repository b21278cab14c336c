"""Real processes of the command line, forked from one that is warm: starting Python and parsing SQL takes most time.

A child runs `qidsql.__main__.main` with its own arguments, streams and variables, in a folder of its own, and ends as
any Python does. It differs from a new interpreter in what comes before: all is imported, and what a process keeps in
memory of SQL (parsed templates, rendered statements) is there from the process that is forked.
"""

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from tests.commandline import HOUSE, SIGNALS, environment


@dataclass
class Child:
    """A process. `started` and `when` are moments of `time.monotonic`."""

    pid: int
    folder: Path
    started: float
    over: threading.Event = field(default_factory=threading.Event)
    code: int = 0
    when: float = 0.0

    def ended(self, seconds: float) -> bool:
        """Whether it has ended within so many seconds from now."""
        return self.over.wait(seconds)

    def kill(self, number: int) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    @property
    def heeds_signals(self) -> bool:
        """Whether its own code has begun, and has not ended."""
        try:
            status = Path(f"/proc/{self.pid}/status").read_text()
        except OSError:
            return False
        return bool(int(status.partition("SigCgt:")[2].split()[0], 16) >> (signal.SIGTERM - 1) & 1)

    @property
    def out(self) -> str:
        return (self.folder / "out").read_text()

    @property
    def err(self) -> str:
        return (self.folder / "err").read_text()

    @property
    def left(self) -> list[str]:
        """What it has left in its temporary folder."""
        return sorted(os.listdir(self.folder / "tmp"))

    @property
    def seconds(self) -> float:
        return self.when - self.started


class Forks:
    """The process that is forked, once it has run some commands. Use it in a `with` block, in any thread."""

    def __init__(self, *warming: Sequence[str]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="qidsql-forks-", ignore_cleanup_errors=True)
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tests.forks", json.dumps(warming)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=HOUSE,
            env=environment({"PYTHONDONTWRITEBYTECODE": "1"}),
            text=True,
        )
        self._lock = threading.Lock()
        self._number = 0
        self._started: dict[int, Child] = {}
        self._children: dict[int, Child] = {}
        self._news = threading.Condition(self._lock)
        threading.Thread(target=self._listen, daemon=True).start()

    def start(self, *arguments: object, variables: Mapping[str, str] | None = None) -> Child:
        """Begins `qidsql arguments`."""
        assert self._server.stdin is not None
        with self._lock:
            self._number += 1
            number = self._number
            folder = Path(self._folder.name) / str(number)
            folder.mkdir()
            request = {"number": number, "folder": str(folder), "arguments": list(map(str, arguments))}
            self._server.stdin.write(json.dumps({**request, "variables": dict(variables or {})}) + "\n")
            self._server.stdin.flush()
            while number not in self._started:
                assert self._news.wait(300), "the process that is forked does not answer"
            return self._started.pop(number)

    def _listen(self) -> None:
        assert self._server.stdout is not None
        for line in self._server.stdout:
            news = json.loads(line)
            with self._lock:
                if "number" in news:
                    child = Child(news["pid"], Path(self._folder.name) / str(news["number"]), news["when"])
                    self._started[news["number"]] = self._children[child.pid] = child
                else:
                    child = self._children.pop(news["pid"])
                    child.code, child.when = news["code"], news["when"]
                    child.over.set()
                self._news.notify_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for child in list(self._children.values()):
            child.kill(signal.SIGKILL)
        assert self._server.stdin is not None
        self._server.stdin.close()
        self._server.wait(60)
        assert self._server.stdout is not None
        self._server.stdout.close()
        self._folder.cleanup()


def _say(**news: object) -> None:
    sys.stdout.write(json.dumps({**news, "when": time.monotonic()}) + "\n")
    sys.stdout.flush()


def _serve() -> None:
    """Forks a child for each line of stdin, and says when each begins and ends."""
    import duckdb  # noqa: F401
    import psycopg  # noqa: F401

    import qidsql.__main__
    import qidsql.api
    import qidsql.cli.app
    import qidsql.commands.audit.report
    import qidsql.engines.duckdb.engine
    import qidsql.engines.postgres.engine
    import qidsql.formats.json
    import qidsql.formats.registry
    import qidsql.operations.document
    from tests.commandline import inside

    for arguments in json.loads(sys.argv[1]):
        outcome = inside(*arguments)
        assert outcome.code in (0, 1), outcome
    while threading.active_count() > 1:  # a fork would not have them
        time.sleep(0.01)
    pending, listening, alive = b"", True, 0
    while listening or alive:
        if listening and select.select([0], [], [], 0.005)[0]:
            block = os.read(0, 1 << 16)
            listening, pending = bool(block), pending + block
        elif not listening:
            time.sleep(0.005)
        *lines, pending = pending.split(b"\n")
        for line in lines:
            request = json.loads(line)
            pid = os.fork()
            if not pid:
                _become(request)
                qidsql.__main__.main()
                return
            alive += 1
            _say(number=request["number"], pid=pid)
        while alive:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                break
            alive -= 1
            _say(pid=pid, code=os.waitstatus_to_exitcode(status))


def _become(request: Mapping[str, Any]) -> None:
    """Makes this process look like one that a shell has started."""
    folder = request["folder"]
    for number, name, mode in ((0, os.devnull, os.O_RDONLY), (1, "out", os.O_WRONLY), (2, "err", os.O_WRONLY)):
        opened = os.open(os.path.join(folder, name), mode | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    for kind in SIGNALS:  # which nohup, for one, has children ignore
        signal.signal(kind, signal.SIG_DFL)
    os.chdir(folder)
    os.mkdir("tmp")
    os.environ.update({"TMPDIR": os.path.join(folder, "tmp"), **request["variables"]})
    tempfile.tempdir = None  # it is asked for again
    sys.argv = ["qidsql", *request["arguments"]]


if __name__ == "__main__":
    _serve()
