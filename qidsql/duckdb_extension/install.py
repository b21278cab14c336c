"""Installs the extension for the DuckDBs of this user."""

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from qidsql.duckdb_extension.build import NAME, build_extension
from qidsql.duckdb_extension.hosts import Host
from qidsql.duckdb_extension.settings import SUFFIX, Settings, user_settings
from qidsql.errors import SourceError


def install(hosts: Iterable[Host]) -> list[Path]:
    """Installs the extension where LOAD qidsql of each host looks; returns the files.

    The settings of this Python are written beside each file and to the user's configuration. Raises SourceError.
    """
    settings = Settings.of_this_python()
    paths = list(dict.fromkeys(host.extension for host in hosts))
    for path in paths:
        write_extension(path, path.parent.name, settings)
    _write(settings, user_settings())
    return paths


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
    _write(settings, path.with_name(path.name + SUFFIX))


def instructions(paths: Sequence[Path], hosts: Sequence[Host]) -> str:
    """Instructions for using the extension."""
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
        "Then:                 FROM qid_audit('patients', k := 5);",
        "                      FROM qid_keys('patients', \"all\" := true);",
        "                      FROM qidsql.profile('patients', ['zip', 'sex'], k := 5);",
    ]
    return "\n".join(lines) + "\n"


def _write(settings: Settings, path: Path) -> None:
    try:
        settings.write(path)
    except OSError as error:
        raise SourceError(f"{path} cannot be written ({error.strerror})") from None
