"""Servers of older Postgres versions, where their programs can be had: from Debian's packages, or from a wheel."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.duckdb_hosts import fetched

DEBIAN = Path("/usr/lib/postgresql")
WHEELS = {"16": ("pgserver==0.1.4", "pgserver/pginstall/bin")}
NOBODY = "nobody"  # Postgres does not start as root


def open_to_servers(folder: Path) -> None:
    """Let a server of another user read a folder of a test: with workers, pytest's own is one level higher."""
    for each in (folder, *(above for above in folder.parents if above.name.startswith(("pytest-", "popen-")))):
        each.chmod(0o755)


@contextmanager
def older_server(version: str) -> Iterator[str]:
    """The superuser's URL of a running server of that major version. Skips where there are no programs of it."""
    place = None if len(tempfile.gettempdir()) < 60 else "/tmp"  # a socket's path is short
    with tempfile.TemporaryDirectory(prefix=f"qidsql-{version}-", dir=place, ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)
        programs = _programs(version, folder)
        data = folder / "data"
        data.mkdir(mode=0o700)
        if os.geteuid() == 0:
            shutil.chown(data, NOBODY)
        _run(programs / "initdb", "-D", str(data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
        start = ["-w", "-D", str(data), "-l", str(data / "log"), "-o", f"-h '' -k {data} -F -c autovacuum=off", "start"]
        _run(programs / "pg_ctl", *start)
        try:
            yield f"postgresql://postgres@/postgres?host={data}"
        finally:
            _run(programs / "pg_ctl", "-w", "-D", str(data), "-m", "immediate", "stop")


def _programs(version: str, folder: Path) -> Path:
    if (found := DEBIAN / version / "bin").is_dir():
        return found
    if version not in WHEELS:
        pytest.skip(f"there are no programs of Postgres {version}")
    package, programs = WHEELS[version]
    return fetched(package, folder / "programs") / programs


def _run(program: Path, *arguments: str) -> None:
    as_user: Sequence[str] = ("runuser", "-u", NOBODY, "--") if os.geteuid() == 0 else ()
    done = subprocess.run([*as_user, str(program), *arguments], capture_output=True, text=True, check=False, cwd="/")
    assert done.returncode == 0, done.stderr
