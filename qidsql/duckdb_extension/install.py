"""Puts the extension where the DuckDBs of this user find it."""

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from qidsql.duckdb_extension.build import NAME, built
from qidsql.duckdb_extension.hosts import Host
from qidsql.duckdb_extension.settings import SUFFIX, Settings, user_settings
from qidsql.errors import SourceError


def install(hosts: Iterable[Host]) -> list[Path]:
    """Builds the extension for each kind of host and puts it where LOAD qidsql looks. The files.

    What Python to start is written beside each, and into the user's configuration. Raises SourceError.
    """
    settings = Settings.of_this_python()
    paths = list(dict.fromkeys(host.extension for host in hosts))
    for path in paths:
        place(path, path.parent.name, settings)
    _write(settings, user_settings())
    return paths


def place(path: Path, platform: str, settings: Settings) -> None:
    """Builds the extension for a platform, as that file. Raises SourceError."""
    with tempfile.TemporaryDirectory(prefix="qidsql-") as folder:
        content = built(Path(folder), platform).read_bytes()
    beside = path.with_name(f".{NAME}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_bytes(content)
        beside.replace(path)  # a shell that has the old one loaded keeps it
    except OSError as error:
        raise SourceError(f"{path} cannot be written ({error.strerror})") from None
    _write(settings, path.with_name(path.name + SUFFIX))


def usage(paths: Sequence[Path], hosts: Sequence[Host]) -> str:
    """What to type from here on."""
    lines = [f"Installed {path}" for path in paths]
    lines += [f"  for {host}" for host in hosts]
    shell = "qidsql shell [database], or: duckdb -unsigned, and there: LOAD qidsql;"
    if all(host.shell is None for host in hosts):
        shell = "none was found: pip install duckdb-cli, or https://duckdb.org/install; then install again"
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
