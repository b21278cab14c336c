"""Checks the installation of the extension: what is installed, what is missing, and how to fix it."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from qidsql.duckdb_extension.compiling import compiler
from qidsql.duckdb_extension.hosts import Host, extension_folder
from qidsql.duckdb_extension.settings import SUFFIX, Settings
from qidsql.errors import SourceError

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
