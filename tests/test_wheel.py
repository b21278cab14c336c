"""What a user installs: the wheel, in an empty environment, with nothing of the checkout near."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[1]


def run(*command: object, cwd: Path) -> str:
    """The output of a command that must succeed, in an environment that knows no checkout and no site packages."""
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run([*map(str, command)], cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the commands of an environment that holds the wheel and what it depends on."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, CHECKOUT, cwd=folder)
    [wheel] = folder.glob("*.whl")
    venv.create(folder / "env", with_pip=True)
    bin = folder / "env" / "bin"
    run(bin / "pip", "install", "--quiet", "--disable-pip-version-check", wheel, cwd=folder)
    return bin


def test_the_demo_runs_from_a_wheel(installed: Path, tmp_path: Path) -> None:
    output = run(installed / "qidsql", "demo", cwd=tmp_path)
    assert output.startswith("VIOLATION")
    assert "main.patients is 1-anonymous" in output


def test_the_wheel_knows_its_version(installed: Path, tmp_path: Path) -> None:
    from qidsql import __version__

    assert run(installed / "qidsql", "--version", cwd=tmp_path).strip() == f"qidsql {__version__}"


def test_the_wheel_brings_what_sql_shells_need(installed: Path, tmp_path: Path) -> None:
    assert "MACRO qidsql.main.profile" in run(installed / "qidsql", "duckdb", "macros", cwd=tmp_path)
    assert "FUNCTION qidsql.profile" in run(installed / "qidsql", "postgres", "functions", cwd=tmp_path)
    code = "from qidsql.duckdb_extension.build import source; print(source().read_text())"
    assert "qidsql_init_c_api" in run(installed / "python", "-c", code, cwd=tmp_path)


def test_a_bare_checkout_runs_without_an_installation(tmp_path: Path) -> None:
    path = f"import sys; sys.path.insert(0, {str(CHECKOUT)!r}); "
    code = path + "from qidsql.sql.templates import fill; fill('class_sizes', classes=1)"
    run(sys.executable, "-c", code, cwd=tmp_path)
