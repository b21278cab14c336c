"""Builds the file that DuckDB loads: the compiled stub with a footer of metadata."""

import sys
from pathlib import Path

from qidsql.duckdb_extension.compiling import compile_stub, compiler
from qidsql.errors import SourceError
from qidsql.version import __version__

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
