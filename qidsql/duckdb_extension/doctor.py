"""What is installed, which Python it starts, what is missing, and how to mend it."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from qidsql.duckdb_extension.build import PREBUILT
from qidsql.duckdb_extension.compiling import compiler
from qidsql.duckdb_extension.hosts import Host, extension_folder
from qidsql.duckdb_extension.settings import SUFFIX, Settings
from qidsql.errors import SourceError

CHECK = "LOAD qidsql; SELECT COUNT(*) FROM duckdb_functions() WHERE function_name = 'qid_audit'"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. `good` is None for what is only worth knowing."""

    good: bool | None
    text: str


def examine(hosts: Sequence[Host]) -> Iterator[Finding]:
    """Looks at everything, one finding after the other; loads the extension in every host that has it."""
    if PREBUILT.is_file():
        yield Finding(True, "the extension comes ready with this package: no C compiler is needed")
    elif found := compiler():
        yield Finding(True, f"C compiler: {found}")
    else:
        yield Finding(None, "no C compiler (cc, gcc, clang): installing anew would need one")
    own = Settings.of_this_python()
    problems = own.problems()
    yield from (Finding(False, problem) for problem in problems)
    if not problems:
        yield Finding(True, f"Python to start in shells: {own.python}, by {own.libpython}")
    for name in ("PYTHONHOME", "PYTHONPATH"):
        if os.environ.get(name):
            yield Finding(None, f"{name} is set; the Python started in a shell ignores it")
    for host in hosts:
        yield from _examine_host(host)
    if all(host.shell is None for host in hosts):
        yield Finding(None, "no DuckDB shell: pip install duckdb-cli, or https://duckdb.org/install")
    yield _postgres(hosts)


def _examine_host(host: Host) -> Iterator[Finding]:
    if not host.extension.is_file():
        yield Finding(False, f"{host}: not installed; run: qidsql duckdb install")
        return
    settings = Settings.read(host.extension.with_name(host.extension.name + SUFFIX))
    if settings is None:
        yield Finding(False, f"{host}: {host.extension.name}{SUFFIX} is missing; run: qidsql duckdb install")
        return
    for problem in settings.problems() if host.shell else ():
        yield Finding(False, f"{host}: {problem}")
    try:
        host.run(CHECK)
    except SourceError as error:
        yield Finding(False, f"{host}: {error}")
        return
    yield Finding(True, f"{host}: LOAD qidsql works ({host.extension})")


def _postgres(hosts: Sequence[Host]) -> Finding:
    """Tables of an attached Postgres."""
    folders = {extension_folder() / host.version / host.platform for host in hosts}
    there = any((folder / "postgres_scanner.duckdb_extension").is_file() for folder in folders)
    return Finding(
        None,
        "tables of an attached Postgres are audited inside it by qid_audit, qid_keys and the others; the qidsql. ones "
        "would fetch their rows: use qidsql postgres functions there"
        if there
        else "DuckDB's postgres extension is not installed here, so no Postgres can be attached: INSTALL postgres, or "
        "audit there: qidsql audit postgresql://..., and qidsql postgres functions for psql",
    )
