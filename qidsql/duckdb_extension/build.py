"""Makes the file that DuckDB loads: the stub, compiled, with the footer that says what it is."""

import os
import subprocess
import sys
from functools import cache
from importlib.resources import files
from pathlib import Path
from shutil import which

from qidsql.errors import SourceError
from qidsql.version import __version__

NAME = "qidsql.duckdb_extension"
C_API = "v1.2.0"  # the oldest band of functions that the stub takes
SIGNATURE = 256  # bytes at the end, zeros until it is signed
FLAGS = ["-std=c11", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-Wall", "-Wextra"]


def built(folder: Path, platform: str) -> Path:
    """The extension for a DuckDB platform (linux_amd64), made in a folder: the stub of the wheel, else compiled here.

    Raises SourceError.
    """
    path = folder / NAME
    compiled = _compiled(folder)
    path.write_bytes(compiled + footer(platform))
    return path


def footer(platform: str) -> bytes:
    """The end of an extension's file: eight fields of 32 bytes, last one first, and room for the signature."""
    fields = ["4", platform, C_API, __version__, "C_STRUCT", "", "", ""]
    return b"".join(field.encode().ljust(32, b"\0") for field in reversed(fields)) + bytes(SIGNATURE)


def source() -> Path:
    """The stub's C source."""
    return Path(str(files("qidsql.duckdb_extension") / "stub.c"))


@cache
def compiler() -> str | None:
    """The C compiler: $CC, else cc, gcc or clang."""
    return next(
        (found for name in (os.environ.get("CC"), "cc", "gcc", "clang") if name and (found := which(name))), None
    )


def _compiled(folder: Path) -> bytes:
    if sys.platform == "win32":
        raise SourceError("the extension does not run on Windows yet; the macros do: qidsql duckdb macros")
    found = compiler()
    if found is None:
        raise SourceError(
            "no C compiler was found (cc, gcc, clang), which builds the extension; install one (Debian: apt install "
            "gcc), or use the macros, which need none: qidsql duckdb macros"
        )
    library = folder / "stub.so"
    libraries = ["-ldl", "-lpthread"] if sys.platform == "linux" else []
    done = subprocess.run(
        [found, *FLAGS, "-o", str(library), str(source()), *libraries], capture_output=True, text=True, check=False
    )
    if done.returncode:
        first = next(iter(done.stderr.splitlines()), f"exit code {done.returncode}")
        raise SourceError(f"{found} could not compile the extension: {first}")
    try:
        return library.read_bytes()
    finally:
        library.unlink()
