"""The real command line as a process of its own: where exit codes, streams and signals matter."""

import io
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import AnyStr

import pytest

from qidsql.cli.app import main

HOUSE = Path(__file__).resolve().parents[1]
SIGNALS = (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run left behind."""

    code: int
    out: str
    err: str

    @property
    def line(self) -> str:
        """The one line of an error, without the program's name. Fails where there is more or less than that."""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        assert lines[0].startswith("qidsql: "), self.err
        return lines[0].removeprefix("qidsql: ")


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """An environment in which this checkout is the qidsql that runs, and nothing of the user's is set."""
    kept = {name: value for name, value in os.environ.items() if name not in ("QIDSQL_URL", "QIDSQL_DEBUG", "COLUMNS")}
    return {**kept, "PYTHONPATH": str(HOUSE), **(extra or {})}


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "qidsql", *map(str, arguments)]


def finished(process: "subprocess.Popen[AnyStr]", seconds: float = 120) -> tuple[AnyStr, AnyStr]:
    """What else the process writes until it ends. One that does not end is killed, else it slows all that follows."""
    try:
        return process.communicate(timeout=seconds)
    finally:
        process.kill()


def open_files(process: int) -> set[str]:
    """The names of the files that a process has open, and of those that had one when it opened them. Linux only."""
    names = set()
    for link in Path(f"/proc/{process}/fd").iterdir():
        with suppress(OSError):  # closed meanwhile
            names.add(Path(os.readlink(link).removesuffix(" (deleted)")).name)
    return names


def qidsql(*arguments: object, cwd: Path | None = None, **extra: str) -> Outcome:
    """Runs `qidsql arguments` to its end, with these variables set besides."""
    done = subprocess.run(
        command(*arguments), capture_output=True, cwd=cwd, env=environment(extra), timeout=300, check=False
    )
    return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())


def several(runs: Sequence[Sequence[str]], cwd: Path, **extra: str) -> Outcome:
    """Many runs in this process, for tests that look at the streams alone, with each exit code in `out`."""
    done = [inside(*arguments, cwd=cwd, **extra) for arguments in runs]
    return Outcome(0, "".join(f"{run.out}exit code {run.code}\n" for run in done), "".join(run.err for run in done))


def refused(*arguments: object, cwd: Path | None = None, **extra: str) -> str:
    """The one line with which a run in this process was refused."""
    outcome = inside(*arguments, cwd=cwd, **extra)
    assert outcome.code == 2, outcome
    assert outcome.out == "", outcome
    return outcome.line


def inside(*arguments: object, cwd: Path | None = None, **extra: str) -> Outcome:
    """The same in this process: starting Python is what takes long. Nothing of it is left behind."""
    kept, place, argv, handlers = dict(os.environ), Path.cwd(), sys.argv, {s: signal.getsignal(s) for s in SIGNALS}
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    try:
        os.environ.clear()
        os.environ.update(environment(extra))
        os.chdir(cwd or place)
        sys.argv = ["qidsql", *map(str, arguments)]
        with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as end:
            main()
    finally:
        os.chdir(place)
        os.environ.clear()
        os.environ.update(kept)
        sys.argv = argv
        for number, handler in handlers.items():
            signal.signal(number, handler)
    texts = [stream.buffer.getvalue().decode() for stream in (out, err)]  # type: ignore[attr-defined]
    return Outcome(int(end.value.code or 0), *texts)
