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
TEMPLATES = next(
    folder for folder in (SOURCE.parents[1] / "sql_templates", SOURCE.parents[2] / "sql_templates") if folder.is_dir()
)
SCRIPTS = {  # what the stub runs where no Python can be started
    "checks": [TEMPLATES / "duckdb" / f"{name}.sql" for name in ("shell_macros", "shell_measures")],
    "refusals": [TEMPLATES.joinpath("duckdb_extension/shell_without_python").with_suffix(".sql")],
}
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
    script = target.with_suffix(".h")
    script.write_text("".join(_embedded(name) for name in SCRIPTS), encoding="ascii")
    command = [found, *FLAGS, f'-DSCRIPT="{script}"', "-o", str(target), str(SOURCE), *LIBRARIES]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    script.unlink()
    if done.returncode:
        first = next(iter(done.stderr.splitlines()), f"exit code {done.returncode}")
        return f"{found} could not compile the extension: {first}"
    return ""


def _embedded(name: str) -> str:
    """The scripts as an array of C."""
    text = "\n".join(script.read_text(encoding="utf-8") for script in SCRIPTS[name])
    return f"static const char {name}[] = {{{','.join(map(str, text.encode('ascii')))},0}};\n"
