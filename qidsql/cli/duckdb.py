"""qidsql duckdb: the extension for DuckDB's shells"""

from pathlib import Path
from typing import Annotated

import typer

from qidsql.cli.script_output import ScriptOutput
from qidsql.cli.streams import put, write_output

EXAMPLES = """\b
Examples:
  qidsql duckdb install
  qidsql duckdb uninstall
  qidsql duckdb doctor
  qidsql duckdb macros > qidsql.sql
  qidsql duckdb sign --key key.pem --to /srv/duckdb"""

app = typer.Typer(
    help="Use qidsql inside DuckDB: the extension, and macros for shells that cannot load it.",
    epilog=EXAMPLES,
    rich_markup_mode=None,
    no_args_is_help=True,
    add_completion=False,
)

ShellOption = Annotated[
    list[Path] | None,
    typer.Option("--shell", metavar="PATH", help="a DuckDB shell; default: those found", show_default=False),
]


@app.command(
    "install",
    short_help="Install the extension for this user",
    epilog="\b\nExample:\n  qidsql duckdb install --shell ~/bin/duckdb",
)
def install_command(shell: ShellOption = None) -> None:
    """Install the DuckDB extension for this user; needs a C compiler unless the wheel includes a build.

    Installs for the DuckDB module of this Python and for every shell found, and lists what it replaces. In a shell the
    extension starts this Python, so install again after moving the environment.
    """
    import sys

    from qidsql.duckdb_extension.hosts import find_hosts
    from qidsql.duckdb_extension.install import install, installed_as, instructions, paths_of
    from qidsql.duckdb_extension.settings import Settings

    hosts = find_hosts(shell or ())
    replaced = [installed_as(path) for path in paths_of(hosts) if path.exists()]
    text = instructions(install(hosts), hosts)
    put("".join(f"Replaced {each}\n" for each in replaced) + text, sys.stdout)
    if any(host.shell for host in hosts):
        for problem in Settings.of_this_python().problems():
            put(f"\nNot usable in shells yet: {problem}\n", sys.stdout)


@app.command("uninstall", short_help="Remove it for this user", epilog="\b\nExample:\n  qidsql duckdb uninstall")
def uninstall_command(shell: ShellOption = None) -> None:
    """Remove the DuckDB extension of this user, for every version of DuckDB or for the given shells, and its settings.

    Shells that have loaded it keep it until they end.
    """
    import sys

    from qidsql.duckdb_extension.hosts import find_hosts
    from qidsql.duckdb_extension.install import installed_paths, paths_of, uninstall

    paths = paths_of(host for host in find_hosts(shell) if host.shell) if shell else installed_paths()
    removed = uninstall(paths, settings=not shell)
    put("".join(f"Removed {each}\n" for each in removed) or "The extension is not installed.\n", sys.stdout)


@app.command(
    "doctor",
    short_help="What is installed, what is missing, how to fix it",
    epilog="\b\nExample:\n  qidsql duckdb doctor\nExit codes: 0 complete, 2 something is missing",
)
def doctor_command(shell: ShellOption = None) -> None:
    """Check what is installed, which Python a shell starts, what is missing and how to fix it."""
    import sys

    from qidsql.cli.exit_codes import ExitCode
    from qidsql.duckdb_extension.doctor import examine
    from qidsql.duckdb_extension.hosts import find_hosts

    incomplete = False
    for check in examine(find_hosts(shell or ())):
        incomplete = incomplete or check.good is False
        mark = {True: "ok", False: "MISSING", None: "note"}[check.good]
        put(f"{mark:8} {check.text}\n", sys.stdout)
    raise typer.Exit(ExitCode.ERROR if incomplete else ExitCode.PASS)


@app.command(
    "macros",
    short_help="SQL macros for shells that cannot load it",
    epilog="\b\nExample:\n  qidsql duckdb macros > qidsql.sql, then in a shell: .read qidsql.sql",
)
def macros(output: ScriptOutput = None) -> None:
    """Print the single-statement checks as SQL macros, for shells that cannot load the extension."""
    from qidsql.engines.duckdb.macros import duckdb_macros

    write_output(duckdb_macros(), output)


@app.command(
    "sign",
    short_help="A repository of extensions signed with your key",
    epilog="\b\nExample:\n  openssl genrsa -out key.pem 2048\n  qidsql duckdb sign --key key.pem --to /srv/duckdb",
)
def sign(
    key: Annotated[
        Path, typer.Option("--key", metavar="FILE", help="an RSA key of 2048 bits, PEM", show_default=False)
    ],
    to: Annotated[Path, typer.Option("--to", metavar="FOLDER", help="the repository's folder", show_default=False)],
    shell: ShellOption = None,
) -> None:
    """Create a repository of signed extensions, for DuckDB 2.0 without -unsigned, and print the SQL to use it.

    The folder can also be served over https.
    """
    import sys

    from qidsql.duckdb_extension.hosts import find_hosts
    from qidsql.duckdb_extension.signing import repository_sql, sign_repository

    for path in sign_repository(to, key, find_hosts(shell or ())):
        put(f"-- {path}\n", sys.stdout)
    put(repository_sql(to, key), sys.stdout)
