"""Environments of their own for tools that work with qidsql and must not change what the other tests run on."""

import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]


def environment_with(folder: Path, *packages: str) -> Path:
    """The Python of a new environment in which these packages are installed; skips where the index lacks one."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True, timeout=300)
    python = folder / "bin" / "python"
    install = [python, "-m", "pip", "install", "--quiet", "--only-binary", ":all:"]
    done = subprocess.run([*install, *packages], capture_output=True, text=True, timeout=900, check=False)
    if done.returncode:
        pytest.skip(f"{', '.join(packages)} cannot be had from the package index")
    return python
