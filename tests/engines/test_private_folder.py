"""What lies on the disk: seen by its user alone, gone with its process, and swept where that was killed."""

import os
import signal
import stat
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import duckdb
import pytest

from qidsql.engines.private_folder import LOCK, PrivateFolder, file_lock, in_memory
from qidsql.errors import LockHeld, SourceError
from tests.commandline import command, environment, open_files

OWNER = """
import os, sys
os.umask(0)
from qidsql.engines.private_folder import PrivateFolder

folder = PrivateFolder()
(folder.exports / "rows.csv").write_text("cnry")
(folder.path / "spill").mkdir()
(folder.path / "spill" / "block.tmp").write_text("cnry")
print(folder.path, flush=True)
sys.stdin.read()
"""


def owner(place: Path) -> tuple["subprocess.Popen[str]", Path]:
    """A process that has a private folder with files in it, until it is killed or its stdin ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment({"TMPDIR": str(place)}),
        text=True,
    )
    assert process.stdout
    return process, Path(process.stdout.readline().strip())


def test_only_the_user_sees_it_and_the_next_start_sweeps_what_a_killed_one_left(tmp_path: Path) -> None:
    stranger = tmp_path / "qidsql-1-of-somebody"
    stranger.mkdir()
    living, kept = owner(tmp_path)
    killed, left = owner(tmp_path)
    killed.kill()
    killed.communicate()
    assert left.name.startswith(f"qidsql-{killed.pid}-")
    modes = {stat.filemode(path.stat().st_mode) for path in (left, *left.rglob("*"))}
    assert modes == {"drwx------", "-rw-------"}
    next_one, _ = owner(tmp_path)
    assert not left.exists()
    assert [path.read_text() for path in kept.rglob("rows.csv")] == ["cnry"]  # its owner lives
    for process in (living, next_one):
        process.communicate()
        assert process.returncode == 0
    assert list(tmp_path.iterdir()) == [stranger]  # without a lock it is none of ours


def test_a_folder_of_a_process_of_the_same_number_is_no_folder_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Containers that share a folder all count from 1: a lock that nobody holds tells, not the number."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    left = tmp_path / f"qidsql-{os.getpid()}-left"
    left.mkdir()
    (left / LOCK).touch()
    folder = PrivateFolder()
    assert not left.exists()
    assert folder.path.parent == tmp_path
    folder.remove()
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_while_it_is_made_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(path: Path) -> None:
        assert path.parent.is_dir()
        raise KeyboardInterrupt

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("qidsql.engines.private_folder.file_lock", interrupted)
    with suppress(KeyboardInterrupt):
        PrivateFolder()
    assert list(tmp_path.iterdir()) == []


def test_where_no_folder_can_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(SourceError, match="point TMPDIR to a folder with space"):
        PrivateFolder()


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="Linux only")
def test_codes_of_rows_stay_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "codes.parquet"
    with in_memory(path) as given, duckdb.connect() as connection:
        assert given == path
        connection.execute(f"COPY (SELECT * FROM range(1000)) TO '{path}' (USE_TMP_FILE false)")
        assert path.is_symlink()
        assert connection.execute(f"SELECT count(*) FROM '{path}'").fetchall() == [(1000,)]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.exhaustive
@pytest.mark.skipif(sys.platform != "linux", reason="looks at what a process has open")
def test_a_killed_audit_of_a_csv_leaves_no_row(tmp_path: Path) -> None:
    """If memory is limited, its rows are in a file that has no name any more. What would be spilled has one, and is
    swept."""
    rows = "".join(f"cnry{i},{i % 7},{i % 1009}\n" for i in range(200_000))
    (tmp_path / "people.csv").write_text(f"name,a,b\n{rows}")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    process = subprocess.Popen(
        command("audit", f"{tmp_path}/people.csv?memory_limit=1GB", "--show-sql", "--keep-identifiers"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment({"TMPDIR": str(scratch)}),
    )
    assert process.stderr
    assert process.stderr.readline()  # the rows are there: they are counted
    assert "parsed.duckdb" in open_files(process.pid)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    left = [path for path in scratch.rglob("*") if path.is_file()]
    assert [path.name for path in left if path.stat().st_size] == []
    assert left, "the folder itself waits for the next start"
    living, _ = owner(scratch)
    living.communicate()
    assert list(scratch.iterdir()) == []


def test_a_lock_on_a_removed_file_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process may lock and remove the file between its opening and its locking."""
    lock = tmp_path / "lock"
    monkeypatch.setattr("qidsql.engines.private_folder._lock", lambda descriptor: lock.unlink())
    with pytest.raises(LockHeld), file_lock(lock):
        raise AssertionError("held")
    monkeypatch.setattr("qidsql.engines.private_folder._lock", lambda descriptor: (lock.unlink(), lock.touch()))
    with pytest.raises(LockHeld), file_lock(lock):
        raise AssertionError("held")


INTERRUPTED = """
import os, signal
from qidsql.core.budget import ending
from qidsql.engines.private_folder import PrivateFolder

with ending():
    folder = PrivateFolder()
    folder.on_disk.held.callback(os.kill, os.getpid(), signal.SIGTERM)
    try:
        folder.remove()
    except KeyboardInterrupt:
        print("interrupted", os.path.exists(folder.path))
"""


def test_a_signal_while_a_folder_is_removed_is_not_lost(tmp_path: Path) -> None:
    """What is raised in a finalizer is printed and forgotten."""
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED],
        env=environment({"TMPDIR": str(tmp_path)}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("interrupted False\n", "")


HANGING = """
import sys, threading
from qidsql.__main__ import _leave
from qidsql.engines.private_folder import PrivateFolder
from qidsql.engines.workers import _started

folder = PrivateFolder()
(folder.exports / "rows.csv").write_text("cnry")
_started(threading.Event().wait)
try:
    raise SystemExit(3)  # whose frames hold the folder
except SystemExit as end:
    _leave(end.code)
"""


def test_a_process_that_ends_with_a_driver_at_work_leaves_nothing(tmp_path: Path) -> None:
    """One in 50 commands that were interrupted while a working database was opened had left its folder (`kills`)."""
    ended = subprocess.run([sys.executable, "-c", HANGING], env=environment({"TMPDIR": str(tmp_path)}), timeout=60)
    assert ended.returncode == 3
    assert not list(tmp_path.iterdir())
