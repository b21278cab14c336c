"""What a user installs: the wheel, in an empty environment, with nothing of the checkout near."""

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from qidsql.duckdb_extension.compiling import compiler

pytestmark = pytest.mark.exhaustive  # to build it and to install what it needs takes half a minute

CHECKOUT = Path(__file__).resolve().parents[1]


def run(*command: object, cwd: Path, **extra: str) -> str:
    """The output of a command that must succeed, in an environment that knows no checkout and no site packages."""
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")} | extra
    done = subprocess.run([*map(str, command)], cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the commands of an environment that holds the wheel, built from the source distribution, and what
    it depends on."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, CHECKOUT, cwd=folder)
    [wheel] = folder.glob("*.whl")
    assert wheel.name.endswith("py3-none-any.whl"), "one for every platform, wherever it was made"
    names = zipfile.ZipFile(wheel).namelist()
    assert "qidsql/duckdb_extension/stub.c" in names
    assert not any(name.endswith(".so") for name in names)
    venv.create(folder / "env", with_pip=False)  # this environment's pip does for both
    bin = folder / "env" / "bin"
    pip = [sys.executable, "-m", "pip", "--python", bin / "python", "install", "--quiet", "--disable-pip-version-check"]
    run(*pip, "--no-compile", wheel, cwd=folder)
    return bin


def test_the_demo_runs_from_a_wheel(installed: Path, tmp_path: Path) -> None:
    output = run(installed / "qidsql", "demo", cwd=tmp_path)
    assert output.startswith("VIOLATION")
    assert "main.patients is 1-anonymous" in " ".join(output.split())


def test_the_wheel_knows_its_version(installed: Path, tmp_path: Path) -> None:
    from qidsql import __version__

    assert run(installed / "qidsql", "--version", cwd=tmp_path).strip() == f"qidsql {__version__}"


def test_the_wheel_brings_the_manual(installed: Path, tmp_path: Path) -> None:
    assert run(installed / "qidsql", "help", "protect", cwd=tmp_path).startswith("# Protect a table")


def test_the_wheel_brings_what_sql_shells_need(installed: Path, tmp_path: Path) -> None:
    assert "MACRO qidsql.main.profile" in run(installed / "qidsql", "shell", "macros", cwd=tmp_path)
    assert "FUNCTION qidsql.profile" in run(installed / "qidsql", "shell", "postgres", cwd=tmp_path)


def test_the_extension_is_compiled_when_it_is_installed(installed: Path, tmp_path: Path) -> None:
    if compiler() is None:
        pytest.skip("no C compiler (cc, gcc, clang)")
    home = {"HOME": str(tmp_path)}
    assert "In Python: " in run(installed / "qidsql", "shell", "install", cwd=tmp_path, **home)
    run(installed / "python", "-c", LOADED, cwd=tmp_path, **home)


def test_without_a_compiler_the_macros_are_named(installed: Path, tmp_path: Path) -> None:
    nothing = {"HOME": str(tmp_path), "PATH": str(tmp_path), "CC": ""}
    said = run("/bin/sh", "-c", f"{installed}/qidsql shell install 2>&1 || true", cwd=tmp_path, **nothing)
    assert "which builds the extension; install one" in said
    assert "qidsql shell macros" in said


LOADED = """
import duckdb
connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
connection.load_extension("qidsql")
connection.execute("CREATE TABLE people AS SELECT 1 AS id")
assert connection.execute("SELECT columns FROM qidsql.keys('people')").fetchall() == [(["id"],)]
"""


def test_a_bare_checkout_runs_without_an_installation(tmp_path: Path) -> None:
    path = f"import sys; sys.path.insert(0, {str(CHECKOUT)!r}); "
    code = path + "from qidsql.sql.templates import fill; fill('classes/class_sizes', classes=1)"
    run(sys.executable, "-c", code, cwd=tmp_path)
