"""Installs the extension for the DuckDBs of this user, with the Python that it starts; signs and checks it."""

import ctypes.util
import hashlib
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from shutil import which

import qidsql
from qidsql.duckdb_extension.compiling import compiler
from qidsql.duckdb_extension.hosts import CLIENT, NAME, SIGNATURE, Host, build_extension, extension_folder
from qidsql.errors import SourceError
from qidsql.sql import quoted

# The Python that the stub starts in a shell: four lines in a file beside it, or in the user's configuration.


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


def paths_of(hosts: Iterable[Host]) -> list[Path]:
    """The files that LOAD qidsql of these hosts loads."""
    return list(dict.fromkeys(host.extension for host in hosts))


def installed_paths() -> list[Path]:
    """The installed files, for every version of DuckDB, whether or not it is still on this machine."""
    return sorted(extension_folder().glob(f"*/*/{NAME}"))


def installed_as(path: Path) -> str:
    """An installed file, and the Python that it starts in a shell."""
    settings = Settings.read(_settings_beside(path))
    return f"{path} (of {settings.python})" if settings else str(path)


def install(hosts: Iterable[Host]) -> list[Path]:
    """Installs the extension where LOAD qidsql of each host looks; returns the files.

    The settings of this Python are written beside each file and to the user's configuration. Raises SourceError.
    """
    settings = Settings.of_this_python()
    paths = paths_of(hosts)
    for path in paths:
        write_extension(path, path.parent.name, settings)
    _write(settings, user_settings())
    return paths


def uninstall(paths: Iterable[Path], settings: bool) -> list[Path]:
    """Removes these installed files, each with its settings; with `settings` also those of the user's configuration.

    Returns the files removed. Raises SourceError. Shells that have loaded the extension keep it until they end.
    """
    files = [file for path in paths for file in (path, _settings_beside(path))]
    files += [user_settings()] if settings else []
    removed = [file for file in files if file.exists()]
    for file in removed:
        try:
            file.unlink()
        except OSError as error:
            raise SourceError(f"{file} cannot be removed ({error.strerror})") from None
    return removed


def _settings_beside(path: Path) -> Path:
    return path.with_name(path.name + SUFFIX)


def write_extension(path: Path, platform: str, settings: Settings) -> None:
    """Builds the extension for a platform and writes it to this path. Raises SourceError."""
    with tempfile.TemporaryDirectory(prefix="qidsql-") as folder:
        content = build_extension(Path(folder), platform).read_bytes()
    beside = path.with_name(f".{NAME}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_bytes(content)
        beside.replace(path)  # atomic: running shells keep the old file
    except OSError as error:
        raise SourceError(f"{path} cannot be written ({error.strerror})") from None
    _write(settings, _settings_beside(path))


def instructions(paths: Sequence[Path], hosts: Sequence[Host]) -> str:
    """Instructions for using the extension."""
    others = [host for host in hosts if host.client == CLIENT]
    lines = [f"Installed {path}" for path in paths]
    lines += [f"  for {host}" for host in hosts]
    shell = "qidsql shell [database], or: duckdb -unsigned, and there: LOAD qidsql;"
    if all(host.shell is None for host in hosts):
        shell = "no shell was found: pip install duckdb-cli, or https://duckdb.org/install; then install again"
    lines += [
        "",
        f"In the DuckDB shell:  {shell}",
        'In Python:            con = duckdb.connect(path, config={"allow_unsigned_extensions": "true"})',
        '                      con.load_extension("qidsql")',
        *(
            f"In {each.client}:        LOAD {quoted(str(each.extension))}, with allow_unsigned_extensions"
            for each in others
        ),
        "Then:                 FROM qidsql.report('patients', k := 5);",
        "                      FROM qidsql.keys('patients', all_ := true);",
        "                      FROM qidsql.profile('patients', ['zip', 'sex'], k := 5);",
    ]
    return "\n".join(lines) + "\n"


def _write(settings: Settings, path: Path) -> None:
    try:
        settings.write(path)
    except OSError as error:
        raise SourceError(f"{path} cannot be written ({error.strerror})") from None


# Creates a repository of signed extensions, which DuckDB 2.0 and later load without -unsigned.


HASHED_PART = 1 << 20  # bytes per hashed part
METADATA = ".well-known/duckdb-extension-repo.json"  # where DuckDB looks for the keys of a repository


def sign_repository(folder: Path, key: Path, hosts: Sequence[Host]) -> list[Path]:
    """Writes a signed extension for each host with DuckDB 2.0 or later to a repository folder; returns the files.

    `key` is an RSA key of 2048 bits in PEM. Raises SourceError.
    """
    wanted = [host for host in hosts if int(host.version.removeprefix("v").split(".")[0]) >= 2]
    if not wanted:
        raise SourceError("signed repositories need DuckDB 2.0 or later, which was not found")
    settings = Settings.of_this_python()
    paths = []
    for version, platform in dict.fromkeys((host.version, host.platform) for host in wanted):
        path = folder / version / platform / NAME
        write_extension(path, platform, settings)
        path.with_name(path.name + SUFFIX).unlink()  # not copied by DuckDB; the user's settings are used instead
        content = path.read_bytes()[:-SIGNATURE]
        path.write_bytes(content + signature(content, key))
        paths.append(path)
    metadata = folder / METADATA
    metadata.parent.mkdir(exist_ok=True)
    metadata.write_text(
        json.dumps({"version": 1, "signature_keys": [public_key(key)]}, indent=2) + "\n", encoding="utf-8"
    )
    settings.write(user_settings())
    return paths


def signature(content: bytes, key: Path) -> bytes:
    """DuckDB's signature of a file without its last 256 bytes: PKCS #1 v1.5 over the SHA-256 of the SHA-256s of its
    parts. Raises SourceError.
    """
    hashes = b"".join(
        hashlib.sha256(content[at : at + HASHED_PART]).digest() for at in range(0, len(content), HASHED_PART)
    )
    signed = _openssl(["dgst", "-sha256", "-sign", str(key)], hashes)
    if len(signed) != SIGNATURE:
        raise SourceError(f"{key} must be an RSA key of {8 * SIGNATURE} bits: openssl genrsa -out key.pem 2048")
    return signed


def public_key(key: Path) -> str:
    """The public key in PEM. Raises SourceError."""
    return _openssl(["rsa", "-in", str(key), "-pubout"], b"").decode().strip()


def repository_sql(folder: Path, key: Path) -> str:
    """The SQL to run once in DuckDB 2.0; later the last statement is enough."""
    where = quoted(str(folder.resolve()))
    return (
        f"SET allow_extension_repositories = 'allowed';\n"
        f"CREATE EXTENSION REPOSITORY qidsql WITH PREFIX {where} USING PUBLIC KEY '{public_key(key)}';\n"
        f"INSTALL qidsql FROM qidsql;\n"
        f"LOAD qidsql FROM qidsql;  -- in later sessions this alone\n"
    )


def _openssl(arguments: list[str], given: bytes) -> bytes:
    openssl = which("openssl")
    if openssl is None:
        raise SourceError("signing needs the program openssl, which is not on the PATH")
    done = subprocess.run([openssl, *arguments], input=given, capture_output=True, check=False)
    if done.returncode:
        raise SourceError(f"openssl could not use the key {arguments[-1] if 'dgst' in arguments else arguments[2]}")
    return done.stdout


# Checks the installation of the extension: what is installed, what is missing, and how to fix it.


CHECK = "LOAD qidsql; SELECT description FROM qidsql.help() WHERE description LIKE 'All others need Python%'"


@dataclass(frozen=True, slots=True)
class InstallationCheck:
    """The result of one check. `good` is None for information."""

    good: bool | None
    text: str


def examine(hosts: Sequence[Host]) -> Iterator[InstallationCheck]:
    """Runs all checks; loads the extension in every host that has it."""
    if found := compiler():
        yield InstallationCheck(True, f"C compiler: {found}")
    else:
        yield InstallationCheck(None, "no C compiler (cc, gcc, clang), which installing again would need")
    own = Settings.of_this_python()
    problems = own.problems()
    yield from (InstallationCheck(False, problem) for problem in problems)
    if not problems:
        yield InstallationCheck(True, f"Python started in shells: {own.python}, with {own.libpython}")
    for name in ("PYTHONHOME", "PYTHONPATH"):
        if os.environ.get(name):
            yield InstallationCheck(None, f"{name} is set; the Python started in a shell ignores it")
    for host in hosts:
        yield from _examine_host(host)
    if all(host.shell is None for host in hosts):
        yield InstallationCheck(None, "no DuckDB shell: pip install duckdb-cli, or https://duckdb.org/install")
    yield _postgres(hosts)


def _examine_host(host: Host) -> Iterator[InstallationCheck]:
    if not host.extension.is_file():
        yield InstallationCheck(False, f"{host}: not installed; run: qidsql shell install")
        return
    settings = Settings.read(host.extension.with_name(host.extension.name + SUFFIX))
    if settings is None:
        yield InstallationCheck(False, f"{host}: {host.extension.name}{SUFFIX} is missing; run: qidsql shell install")
        return
    for problem in settings.problems() if host.shell else ():
        yield InstallationCheck(False, f"{host}: {problem}")
    try:
        why = host.run(CHECK).strip()  # why there is no Python, else nothing
    except SourceError as error:
        yield InstallationCheck(False, f"{host}: {error}")
        return
    if why:
        yield InstallationCheck(False, f"{host}: {why}")
        return
    yield InstallationCheck(True, f"{host}: LOAD qidsql works ({host.extension})")


def _postgres(hosts: Sequence[Host]) -> InstallationCheck:
    """A note on tables of an attached Postgres."""
    folders = {extension_folder() / host.version / host.platform for host in hosts}
    there = any((folder / "postgres_scanner.duckdb_extension").is_file() for folder in folders)
    return InstallationCheck(
        None,
        "tables of an attached Postgres are audited inside it by qidsql.audit, qidsql.keys and the others; "
        "qidsql.profile, .violations and .columns would fetch their rows: use qidsql shell postgres there"
        if there
        else "DuckDB's postgres extension is not installed here, so no Postgres can be attached: INSTALL postgres, or "
        "audit there: qidsql audit postgresql://..., and qidsql shell postgres for psql",
    )
