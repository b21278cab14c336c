"""Build hook for wheels: compiles the DuckDB extension's stub, where there is a C compiler.

The wheel is then one for this platform, and `qidsql shell install` needs no compiler; else it is one for all, and
compiles when it installs.
"""

import runpy
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = Path("qidsql") / "duckdb_extension"


class StubHook(BuildHookInterface):  # type: ignore[type-arg]
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable" or sys.platform == "win32":
            return
        self._made = tempfile.TemporaryDirectory(prefix="qidsql-")
        library = Path(self._made.name) / "stub.so"
        compile_stub = runpy.run_path(str(Path(self.root) / FOLDER / "compiling.py"))["compile_stub"]
        if problem := compile_stub(library):
            self.app.display_warning(f"the DuckDB extension is compiled when it is installed: {problem}")
            return
        build_data["force_include"][str(library)] = str(FOLDER / "stub.so")
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if hasattr(self, "_made"):
            self._made.cleanup()
