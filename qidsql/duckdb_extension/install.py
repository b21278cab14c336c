"""Installs the extension for the DuckDBs of this user."""

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from qidsql.duckdb_extension.build import NAME, build_extension
from qidsql.duckdb_extension.hosts import CLIENT, Host, extension_folder
from qidsql.duckdb_extension.settings import SUFFIX, Settings, user_settings
from qidsql.errors import SourceError
from qidsql.sql import quoted


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
