"""The Python that the stub starts in a shell: four lines in a file beside it, or in the user's configuration."""

import ctypes.util
import os
import sys
import sysconfig
from dataclasses import dataclass, fields
from pathlib import Path

import qidsql

SUFFIX = ".settings"


@dataclass(frozen=True, slots=True)
class Settings:
    """Paths: the shared library of Python, the interpreter of the environment with qidsql, its standard library, and
    the folder of qidsql if it is not installed in the environment (a checkout).
    """

    libpython: str
    python: str
    stdlib: str
    path: str

    @classmethod
    def of_this_python(cls) -> "Settings":
        """The settings of the running Python; `libpython` is empty if it has no shared library."""
        return cls(
            libpython=str(find_libpython() or ""),
            python=sys.executable,
            stdlib=sysconfig.get_path("stdlib"),
            path=_checkout(),
        )

    @classmethod
    def read(cls, path: Path) -> "Settings | None":
        """Reads the file; None if there is none."""
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except OSError:
            return None
        given = dict(line.split("=", 1) for line in lines if "=" in line)
        return cls(**{field.name: given.get(field.name, "") for field in fields(cls)})

    def write(self, path: Path) -> None:
        """Writes the file. Raises OSError."""
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [f"{field.name}={getattr(self, field.name)}\n" for field in fields(self)]
        path.write_text("".join(lines), encoding="utf-8")

    def problems(self) -> list[str]:
        """The reasons why a shell cannot start this Python, each with its remedy."""
        found = []
        if not self.libpython:
            found.append(
                f"no shared libpython of Python {_minor()} was found, which DuckDB shells need; Debian: "
                f"apt install libpython{_minor()}; pyenv: PYTHON_CONFIGURE_OPTS=--enable-shared pyenv install; Python "
                f"processes do not need it"
            )
        elif not os.access(self.libpython, os.R_OK):
            found.append(f"the Python library {self.libpython} no longer exists; run qidsql shell install again")
        if not os.access(self.python, os.X_OK):
            found.append(
                f"{self.python} no longer exists: the environment was moved or removed; run qidsql shell install in "
                f"the one that has qidsql now"
            )
        if not os.access(Path(self.stdlib) / "os.py", os.R_OK):
            found.append(f"Python's standard library is no longer in {self.stdlib}; create the environment again")
        return found


def user_settings() -> Path:
    """The settings in the user's configuration, for an extension that was copied elsewhere."""
    folder = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return folder / "qidsql" / "duckdb_extension.settings"


def find_libpython() -> Path | None:
    """The shared library of this Python, or one of the same minor version."""
    names: list[str | None] = [sysconfig.get_config_var("INSTSONAME"), sysconfig.get_config_var("LDLIBRARY")]
    minor = _minor()
    names += [f"libpython{minor}.so.1.0", f"libpython{minor}.so", f"libpython{minor}.dylib"]
    folders: list[str | Path | None] = [
        sysconfig.get_config_var("LIBDIR"),
        Path(sys.base_prefix) / "lib",
        sysconfig.get_config_var("LIBPL"),
    ]
    for folder in folders:
        for name in names:
            if folder and name and not name.endswith(".a") and (Path(folder) / name).is_file():
                return Path(folder) / name
    framework = Path(sys.base_prefix) / "Python"  # macOS
    if framework.is_file():
        return framework
    known = ctypes.util.find_library(f"python{minor}")  # a name known to the loader
    return _path_of_library(known) if known else None


def _path_of_library(name: str) -> Path | None:
    for folder in ("/usr/lib", "/usr/lib64", "/usr/local/lib", *map(str, Path("/usr/lib").glob("*-linux-*"))):
        if (Path(folder) / name).is_file():
            return Path(folder) / name
    return None


def _minor() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def _checkout() -> str:
    """The folder of the qidsql package; empty if it is installed in the environment."""
    folder = Path(qidsql.__file__).resolve().parents[1]
    installed = {Path(sysconfig.get_path(kind)).resolve() for kind in ("purelib", "platlib")}
    return "" if folder in installed else str(folder)
