"""Which Python the stub starts in a shell: four lines in a file beside it, or in the user's configuration."""

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
    """Paths: the shared library of Python, the interpreter of the environment that holds qidsql, its standard library,
    and the folder of qidsql where the environment does not know it (a checkout that is not installed).
    """

    libpython: str
    python: str
    stdlib: str
    path: str

    @classmethod
    def of_this_python(cls) -> "Settings":
        """Those of the Python that runs; `libpython` is empty where no shared library of it is found."""
        return cls(
            libpython=str(find_libpython() or ""),
            python=sys.executable,
            stdlib=sysconfig.get_path("stdlib"),
            path=_checkout(),
        )

    @classmethod
    def read(cls, path: Path) -> "Settings | None":
        """What stands in the file; None where there is none."""
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except OSError:
            return None
        given = dict(line.split("=", 1) for line in lines if "=" in line)
        return cls(**{field.name: given.get(field.name, "") for field in fields(cls)})

    def write(self, path: Path) -> None:
        """Raises OSError."""
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [f"{field.name}={getattr(self, field.name)}\n" for field in fields(self)]
        path.write_text("".join(lines), encoding="utf-8")

    def problems(self) -> list[str]:
        """What keeps a shell from starting this Python, and how to mend it, in words."""
        found = []
        if not self.libpython:
            found.append(
                f"no shared libpython of Python {_minor()} was found, which a shell outside of Python needs; Debian: "
                f"apt install libpython{_minor()}; pyenv: PYTHON_CONFIGURE_OPTS=--enable-shared pyenv install; Python "
                f"processes do without it"
            )
        elif not os.access(self.libpython, os.R_OK):
            found.append(f"the Python library {self.libpython} is gone; run qidsql duckdb install again")
        if not os.access(self.python, os.X_OK):
            found.append(
                f"{self.python} is gone: the environment was moved or removed; run qidsql duckdb install in the one "
                f"that holds qidsql now"
            )
        if not os.access(Path(self.stdlib) / "os.py", os.R_OK):
            found.append(f"Python's standard library is not in {self.stdlib} any more; make the environment anew")
        return found


def user_settings() -> Path:
    """The user's own settings, for an extension that stands elsewhere than where it was installed to."""
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
    known = ctypes.util.find_library(f"python{minor}")  # a name that the loader knows
    return _path_of_library(known) if known else None


def _path_of_library(name: str) -> Path | None:
    for folder in ("/usr/lib", "/usr/lib64", "/usr/local/lib", *map(str, Path("/usr/lib").glob("*-linux-*"))):
        if (Path(folder) / name).is_file():
            return Path(folder) / name
    return None


def _minor() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def _checkout() -> str:
    """The folder that holds qidsql's package, where it is not among the environment's own packages."""
    folder = Path(qidsql.__file__).resolve().parents[1]
    installed = {Path(sysconfig.get_path(kind)).resolve() for kind in ("purelib", "platlib")}
    return "" if folder in installed else str(folder)
