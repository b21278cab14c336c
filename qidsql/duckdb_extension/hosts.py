"""The DuckDBs on this machine that can load the extension (shells, and the module of this Python), and its file."""

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from shutil import which

from qidsql.duckdb_extension.compiling import compile_stub, compiler
from qidsql.errors import SourceError, UsageError
from qidsql.sql.templates import fill
from qidsql.version import __version__

# Builds the file that DuckDB loads: the compiled stub with a footer of metadata.


NAME = "qidsql.duckdb_extension"
C_API = "v1.2.0"  # the oldest version of the C API that the stub supports
SIGNATURE = 256  # bytes at the end; zeros if not signed


def build_extension(folder: Path, platform: str) -> Path:
    """Compiles the extension for a DuckDB platform (linux_amd64) in a folder. Raises SourceError."""
    path = folder / NAME
    compiled = _compiled(folder)
    path.write_bytes(compiled + footer(platform))
    return path


def footer(platform: str) -> bytes:
    """The end of an extension file: eight fields of 32 bytes in reverse order, and space for the signature."""
    fields = ["4", platform, C_API, __version__, "C_STRUCT", "", "", ""]
    return b"".join(field.encode().ljust(32, b"\0") for field in reversed(fields)) + bytes(SIGNATURE)


def _compiled(folder: Path) -> bytes:
    if sys.platform == "win32":
        raise SourceError("the extension does not run on Windows yet; the macros do: qidsql shell macros")
    library = folder / "stub.so"
    if problem := compile_stub(library):
        if compiler() is None:
            problem += ", which builds the extension; install one (Debian: apt install gcc)"
        raise SourceError(f"{problem}, or use the macros, which need none: qidsql shell macros")
    try:
        return library.read_bytes()
    finally:
        library.unlink()


VERSION = re.compile(r"v?(\d+)\.(\d+)\.\d+")
CLIENT = "any client"  # of a version: Node, JDBC, R, another Python
OLDEST = (1, 3)  # whose C API the extension needs
HOST_SECONDS = 60  # the timeout for running a DuckDB


@dataclass(frozen=True, slots=True)
class Host:
    """A DuckDB; `shell` is its executable, None for the module of this Python, or for what `client` says."""

    shell: Path | None
    version: str  # v1.5.6
    platform: str  # linux_amd64
    client: str = "Python module"

    def __str__(self) -> str:
        kind = self.client if self.shell is None else f"shell {self.shell}"
        return f"DuckDB {self.version.removeprefix('v')}, {kind}"

    @property
    def extension(self) -> Path:
        """The file that LOAD qidsql loads."""
        return extension_folder() / self.version / self.platform / NAME

    def run(self, sql: str) -> str:
        """Runs statements with unsigned extensions allowed; returns their output. Raises SourceError."""
        if self.shell is None:
            command = [sys.executable, "-c", MODULE, sql]
        else:
            command = [str(self.shell), "-unsigned", "-csv", "-noheader", "-c", sql]
        return _output(command)


MODULE = """
import sys, duckdb
con = duckdb.connect(config={"allow_unsigned_extensions": "true"})
con.execute("SET enable_progress_bar = false")  # which is printed like an answer where LOAD takes two seconds
for row in con.execute(sys.argv[1]).fetchall():
    print(*row, sep=",")
"""


def extension_folder() -> Path:
    """The folder of the user's DuckDB extensions."""
    return Path.home() / ".duckdb" / "extensions"


def find_hosts(shells: Iterable[Path] = ()) -> list[Host]:
    """The module of this Python and the given shells, by default those found. Raises SourceError.

    A given shell that does not run is an error; one that was found is skipped.
    """
    named = list(shells)
    hosts = [_host(None)]
    for shell in named or _found_shells():
        try:
            hosts.append(_host(shell))
        except SourceError:
            if named:
                raise
    return hosts


def hosts_of(versions: Iterable[str]) -> list[Host]:
    """Clients of these versions (v1.4.5) on this platform: Node, JDBC, R, another Python. Raises UsageError."""
    platform, hosts = _host(None).platform, []
    for version in versions:
        numbers = VERSION.fullmatch(version)
        if numbers is None or (int(numbers[1]), int(numbers[2])) < OLDEST:
            raise UsageError(f"--for must be a version of DuckDB from 1.3 on, such as v1.4.5, got {version}")
        hosts.append(Host(None, f"v{version.removeprefix('v')}", platform, CLIENT))
    return hosts


def find_shell() -> Host:
    """The first DuckDB shell found that runs. Raises SourceError."""
    for shell in _found_shells():
        try:
            return _host(shell)
        except SourceError:
            continue
    raise SourceError(
        "no DuckDB shell was found: put duckdb on the PATH (https://duckdb.org/install), or pip install duckdb-cli"
    )


def _found_shells() -> Iterator[Path]:
    beside = Path(sys.executable).parent / "duckdb"
    latest = Path.home() / ".duckdb" / "cli" / "latest" / "duckdb"
    seen = set()
    for path in (beside, Path(which("duckdb") or beside), latest):
        if os.access(path, os.X_OK) and path.resolve() not in seen:
            seen.add(path.resolve())
            yield path


def _host(shell: Path | None) -> Host:
    unknown = Host(shell, "", "")
    fields = unknown.run(fill("duckdb_extension/host").sql("duckdb", comments=False)).strip().split(",")
    if len(fields) != 2:
        raise SourceError(f"{shell or sys.executable} does not report a DuckDB version")
    return Host(shell, *fields)


def _output(command: list[str]) -> str:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=HOST_SECONDS, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SourceError(f"{command[0]} cannot be run ({type(error).__name__})") from None
    if done.returncode or "Error:" in done.stderr:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        reason = next((line for line in lines if "Error" in line), lines[-1] if lines else f"exit {done.returncode}")
        raise SourceError(f"{command[0]}: {reason}")
    return done.stdout
