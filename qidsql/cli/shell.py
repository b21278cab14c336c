"""qidsql shell: the DuckDB shell with audits, their extension, macros and functions for shells that cannot load it."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from qidsql.cli.streams import put, write_output
from qidsql.declarations.options import Command, Names, Option, Paths
from qidsql.errors import ExitCode, UsageError
from qidsql.sql import quoted


@dataclass(frozen=True, kw_only=True)
class ShellRequest:
    """Start the DuckDB shell with qidsql loaded: audits are table functions on the shell's tables.

    Installs the extension first if needed. FROM qidsql.report('table', k := 5) is one of the functions; FROM
    qidsql.help() lists them.
    """

    database: Annotated[Path | None, Option("a DuckDB file; default: in memory", "[DATABASE]", argument=True)] = None
    sql: Annotated[Names, Option("run this statement and exit (repeat)", "SQL", ("--command", "-c"))] = ()
    readonly: Annotated[bool, Option("open the database read-only", flags=("--readonly",))] = False


COMMAND = Command(
    ShellRequest,
    examples=(
        "qidsql shell",
        "qidsql shell warehouse.duckdb",
        "qidsql shell warehouse.duckdb --readonly -c \"FROM qidsql.audit('patients', k := 5)\"",
    ),
    exit_codes="that of the shell",
    formats=(),
)


def run(request: ShellRequest) -> None:
    """Replaces this process by the shell. Raises SourceError."""
    from qidsql.duckdb_extension.hosts import find_shell
    from qidsql.duckdb_extension.install import install

    host = find_shell()
    if not host.extension.is_file():
        install([host])
    load = f"LOAD {quoted(str(host.extension))}"
    command = [str(host.shell), "-unsigned", "-cmd", load]
    command += ["-readonly"] * request.readonly
    for statement in request.sql:
        command += ["-c", statement]
    command += [] if request.database is None else [str(request.database)]
    os.execv(command[0], command)


ShellPaths: TypeAlias = Annotated[Paths, Option("a DuckDB shell; default: those found (repeat)", "PATH", ("--shell",))]
ScriptFile: TypeAlias = Annotated[Path | None, Option("write to this file, not to stdout", "FILE", ("-o", "--output"))]


@dataclass(frozen=True, kw_only=True)
class InstallRequest:
    """Install the DuckDB extension for this user; needs a C compiler unless the wheel includes a build.

    Installs for the DuckDB module of this Python and for every shell found, and lists what it replaces. In a shell the
    extension starts this Python, so install again after moving the environment. Other clients (Node, JDBC, R) load the
    file of their version of DuckDB by the path that is printed.
    """

    shell: ShellPaths = ()
    versions: Annotated[Names, Option("also for this version of DuckDB (repeat)", "VERSION", ("--for",))] = ()


INSTALL = Command(
    InstallRequest,
    examples=("qidsql shell install", "qidsql shell install --shell ~/bin/duckdb", "qidsql shell install --for v1.4.5"),
    exit_codes="0 installed, 2 error",
)


def install_extension(request: InstallRequest) -> None:
    """Installs the extension, and says how to load it. Raises SourceError."""
    from qidsql.duckdb_extension.hosts import find_hosts, hosts_of
    from qidsql.duckdb_extension.install import Settings, install, installed_as, instructions, paths_of

    hosts = [*find_hosts(request.shell), *hosts_of(request.versions)]
    replaced = [installed_as(path) for path in paths_of(hosts) if path.exists()]
    text = instructions(install(hosts), hosts)
    put("".join(f"Replaced {each}\n" for each in replaced) + text, sys.stdout)
    if any(host.shell for host in hosts):
        for problem in Settings.of_this_python().problems():
            put(f"\nNot usable in shells yet: {problem}\n", sys.stdout)


@dataclass(frozen=True, kw_only=True)
class UninstallRequest:
    """Remove the DuckDB extension of this user, for every version of DuckDB or for the given shells, and its settings.

    Shells that have loaded it keep it until they end.
    """

    shell: ShellPaths = ()


UNINSTALL = Command(UninstallRequest, examples=("qidsql shell uninstall",), exit_codes="0 removed, 2 error")


def uninstall_extension(request: UninstallRequest) -> None:
    """Removes the extension, and lists what it removed. Raises SourceError."""
    from qidsql.duckdb_extension.hosts import find_hosts
    from qidsql.duckdb_extension.install import installed_paths, paths_of, uninstall

    given = [host for host in find_hosts(request.shell) if host.shell] if request.shell else None
    paths = installed_paths() if given is None else paths_of(given)
    removed = uninstall(paths, settings=not request.shell)
    put("".join(f"Removed {each}\n" for each in removed) or "The extension is not installed.\n", sys.stdout)


@dataclass(frozen=True, kw_only=True)
class ShellDoctorRequest:
    """Check what is installed, which Python a shell starts, what is missing and how to fix it."""

    shell: ShellPaths = ()


DOCTOR = Command(ShellDoctorRequest, examples=("qidsql shell doctor",), exit_codes="0 complete, 2 something is missing")


def doctor_extension(request: ShellDoctorRequest) -> None:
    """Lists the checks. Raises SourceError."""
    from qidsql.duckdb_extension.hosts import find_hosts
    from qidsql.duckdb_extension.install import examine

    incomplete = False
    for check in examine(find_hosts(request.shell)):
        incomplete = incomplete or check.good is False
        mark = {True: "ok", False: "MISSING", None: "note"}[check.good]
        put(f"{mark:8} {check.text}\n", sys.stdout)
    raise typer.Exit(ExitCode.ERROR if incomplete else ExitCode.PASS)


@dataclass(frozen=True, kw_only=True)
class MacrosRequest:
    """Print the single-statement checks as SQL macros, for DuckDB shells that cannot load the extension."""

    output: ScriptFile = None


MACROS = Command(
    MacrosRequest,
    examples=("qidsql shell macros > qidsql.sql     then in a shell: .read qidsql.sql",),
    exit_codes="0 written, 2 error",
)


def macros(request: MacrosRequest) -> None:
    """Writes the script. Raises UsageError."""
    from qidsql.engines.duckdb.host import duckdb_macros

    write_output(duckdb_macros(), request.output)


@dataclass(frozen=True, kw_only=True)
class PostgresRequest:
    """Print the single-statement checks as SQL functions, for psql: qidsql.profile and others.

    They are created in a schema `qidsql`, are read-only, and run with the privileges of the caller.
    """

    output: ScriptFile = None


POSTGRES = Command(
    PostgresRequest,
    examples=("qidsql shell postgres > qidsql.sql     then: psql -v ON_ERROR_STOP=1 -f qidsql.sql",),
    exit_codes="0 written, 2 error",
)


def postgres(request: PostgresRequest) -> None:
    """Writes the script. Raises UsageError."""
    from qidsql.engines.postgres.functions import postgres_functions

    write_output(postgres_functions(), request.output)


@dataclass(frozen=True, kw_only=True)
class SignRequest:
    """Create a repository of signed extensions, for DuckDB 2.0 without -unsigned, and print the SQL to use it.

    The folder can also be served over https.
    """

    key: Annotated[Path | None, Option("an RSA key of 2048 bits, PEM", "FILE")] = None
    to: Annotated[Path | None, Option("the folder of the repository", "FOLDER")] = None
    shell: ShellPaths = ()


SIGN = Command(
    SignRequest,
    examples=("openssl genrsa -out key.pem 2048", "qidsql shell sign --key key.pem --to /srv/duckdb"),
    exit_codes="0 written, 2 error",
)


def sign(request: SignRequest) -> None:
    """Signs the extensions, and prints the SQL that uses the repository. Raises SourceError, UsageError."""
    from qidsql.duckdb_extension.hosts import find_hosts
    from qidsql.duckdb_extension.install import repository_sql, sign_repository

    if request.key is None or request.to is None:
        raise UsageError("a repository needs --key FILE and --to FOLDER")
    for path in sign_repository(request.to, request.key, find_hosts(request.shell)):
        put(f"-- {path}\n", sys.stdout)
    put(repository_sql(request.to, request.key), sys.stdout)


ABOUT = """Audit at a SQL prompt: the DuckDB shell with audits as table functions, and what installs them.

Without the name of a part the shell starts: qidsql shell warehouse.duckdb. A part's options: qidsql shell PART
--help
"""


def subcommands() -> "dict[str, tuple[str, Command, Callable[[Any], None]]]":
    """The parts of the command: summary, declaration, work."""
    return {
        "open": ("Start the DuckDB shell with audits as table functions", COMMAND, run),
        "install": ("Install the extension for this user", INSTALL, install_extension),
        "uninstall": ("Remove it for this user", UNINSTALL, uninstall_extension),
        "doctor": ("What is installed, what is missing, how to fix it", DOCTOR, doctor_extension),
        "macros": ("SQL macros for DuckDB shells that cannot load it", MACROS, macros),
        "sign": ("A repository of extensions signed with your key", SIGN, sign),
        "postgres": ("SQL functions that audit, for psql", POSTGRES, postgres),
    }
