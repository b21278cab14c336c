"""Makes the file that DuckDB loads: the stub, compiled, with the footer that says what it is."""

import sys
from pathlib import Path

from qidsql.duckdb_extension.compiling import SOURCE, compile_stub, compiler
from qidsql.errors import SourceError
from qidsql.version import __version__

NAME = "qidsql.duckdb_extension"
C_API = "v1.2.0"  # the oldest band of functions that the stub takes
SIGNATURE = 256  # bytes at the end, zeros until it is signed
PREBUILT = SOURCE.with_name("stub.so")  # that a wheel for this platform brings


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


def _compiled(folder: Path) -> bytes:
    if sys.platform == "win32":
        raise SourceError("the extension does not run on Windows yet; the macros do: qidsql duckdb macros")
    if PREBUILT.is_file():
        return PREBUILT.read_bytes()
    library = folder / "stub.so"
    if problem := compile_stub(library):
        if compiler() is None:
            problem += ", which builds the extension; install one (Debian: apt install gcc)"
        raise SourceError(f"{problem}, or use the macros, which need none: qidsql duckdb macros")
    try:
        return library.read_bytes()
    finally:
        library.unlink()
