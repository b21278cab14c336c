"""The C stub under Address-, UndefinedBehavior- and ThreadSanitizer: every path, several threads, a real Python."""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from qidsql.duckdb_extension.install import Settings
from tests.commandline import environment

SOURCE = Path(__file__).with_name("stub_harness.c")
FLAGS = ["-std=gnu11", "-g", "-Wall", "-Wextra", "-Werror"]
SANITIZERS = {
    "address": ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
    "threads": ["-fsanitize=thread"],  # a finding is the program's exit code 66
}
ENTRY = """
import ctypes
from qidsql.duckdb_extension.original import EntryPoints, LAYOUT, ON_CALL, ON_EVALUATE, ON_SCAN

calls = []

def load(address, layout):
    assert layout == LAYOUT
    calls.append(address)
    if len(calls) == 1:
        raise RuntimeError("out of order")
    if len(calls) == 2:
        return "not today"
    entry = EntryPoints.from_address(address)
    calls.append(entry)
    entry.on_bind, entry.on_init = ON_CALL(lambda info: entry.next_forgotten() and None), ON_CALL(lambda info: None)
    entry.on_scan = ON_SCAN(lambda info, chunk: None)
    entry.on_evaluate = ON_EVALUATE(lambda info, chunk, vector: None)
    return ""
"""


@pytest.fixture(params=SANITIZERS)
def program(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The harness, compiled. Skips where the compiler or its sanitizers are missing."""
    flags = [*FLAGS, *SANITIZERS[request.param]]
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler (cc)")
    made = tmp_path / "harness"
    empty = tmp_path / "empty.c"
    empty.write_text("int main(void) { return 0; }")
    if subprocess.run([compiler, *flags, "-o", made, empty], capture_output=True, check=False).returncode:
        pytest.skip(f"the C compiler has no sanitizer of {request.param}")
    subprocess.run([compiler, *flags, "-o", made, SOURCE, "-ldl", "-lpthread"], check=True)
    return made


def test_every_path_of_the_stub_is_clean(program: Path, tmp_path: Path) -> None:
    settings = Settings.of_this_python()
    if not settings.libpython:
        pytest.skip("this Python has no shared library, so the stub cannot start it")
    package = tmp_path / "package" / "qidsql" / "duckdb_extension"
    package.mkdir(parents=True)
    for name in ("qidsql/__init__.py", "qidsql/duckdb_extension/__init__.py"):
        (tmp_path / "package" / name).touch()
    (package / "original.py").write_text(_entry_of_the_package())
    (package / "entry.py").write_text(ENTRY)
    place = Path("qidsql") / "duckdb_extension.settings"
    replace(settings, path=str(tmp_path / "package")).write(tmp_path / "good" / place)
    replace(settings, libpython="/nowhere/libpython.so").write(tmp_path / "faulty" / place)
    variables = environment(
        {
            "XDG_CONFIG_HOME": str(tmp_path / "good"),
            "FAULTY": str(tmp_path / "faulty"),
            "ASAN_OPTIONS": "detect_leaks=0",  # Python itself keeps what it has until the end
        }
    )
    done = subprocess.run([program], env=variables, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, "every path was walked\n"), done.stderr


def _entry_of_the_package() -> str:
    """The structure that Python and the stub share, as it stands in the package."""
    from qidsql.duckdb_extension import entry

    text = Path(entry.__file__).read_text()
    start, end = text.index("LAYOUT = "), text.index("@dataclass")
    return "import ctypes\nfrom ctypes import CFUNCTYPE, c_int, c_uint, c_void_p\n\n" + text[start:end]
