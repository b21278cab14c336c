"""Compiles the stub with the C compiler of the machine, when a wheel is built or the extension is installed.

Uses only the standard library, since the build of the wheel runs this file before anything is installed.
"""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from shutil import which

SOURCE = Path(__file__).with_name("stub.c")
FLAGS = ["-std=c11", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-Wall", "-Wextra"]
LIBRARIES = ["-ldl", "-lpthread"] if sys.platform == "linux" else []


@cache
def compiler() -> str | None:
    """The C compiler: $CC, else cc, gcc or clang."""
    return next(
        (found for name in (os.environ.get("CC"), "cc", "gcc", "clang") if name and (found := which(name))), None
    )


def compile_stub(target: Path) -> str:
    """Compiles the shared library; returns an error text, empty on success."""
    found = compiler()
    if found is None:
        return "no C compiler was found (cc, gcc, clang)"
    command = [found, *FLAGS, "-o", str(target), str(SOURCE), *LIBRARIES]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        first = next(iter(done.stderr.splitlines()), f"exit code {done.returncode}")
        return f"{found} could not compile the extension: {first}"
    return ""
