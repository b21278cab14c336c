"""qidsql duckdb: the extension for DuckDB's shells"""

from pathlib import Path
from typing import Annotated

import typer

from qidsql.cli.script_output import ScriptOutput
from qidsql.cli.streams import put, write

EXAMPLES = """\b
Examples:
  qidsql duckdb install
  qidsql duckdb doctor
  qidsql duckdb macros > qidsql.sql
  qidsql duckdb sign --key key.pem --to /srv/duckdb"""

app = typer.Typer(
    help="qidsql inside DuckDB's shells: the extension, and macros for where nothing can be loaded.",
    epilog=EXAMPLES,
    rich_markup_mode=None,
    no_args_is_help=True,
    add_completion=False,
)

ShellOption = Annotated[
    list[Path] | None,
    typer.Option("--shell", metavar="PATH", help="a DuckDB shell; default: those found", show_default=False),
]


@app.command("install", epilog="\b\nExample:\n  qidsql duckdb install --shell ~/bin/duckdb")
def install_(shell: ShellOption = None) -> None:
    """Build the extension (a C compiler does it in a second) and put it where the DuckDBs of this user look.

    For the DuckDB module of this Python and every shell found. In a shell it starts this Python, so install again when
    the environment moves.
    """
    import sys

    from qidsql.duckdb_extension.hosts import find_hosts
    from qidsql.duckdb_extension.install import install, usage
    from qidsql.duckdb_extension.settings import Settings

    hosts = find_hosts(shell or ())
    put(usage(install(hosts), hosts), sys.stdout)
    if any(host.shell for host in hosts):
        for problem in Settings.of_this_python().problems():
            put(f"\nNot yet in shells: {problem}\n", sys.stdout)


@app.command("doctor", epilog="\b\nExample:\n  qidsql duckdb doctor\nExit codes: 0 all is well, 2 something is missing")
def doctor_(shell: ShellOption = None) -> None:
    """Say what is installed, which Python a shell starts, what is missing and how to mend it."""
    import sys

    from qidsql.cli.exit_codes import ExitCode
    from qidsql.duckdb_extension.doctor import examine
    from qidsql.duckdb_extension.hosts import find_hosts

    ill = False
    for finding in examine(find_hosts(shell or ())):
        ill = ill or finding.good is False
        mark = {True: "ok", False: "MISSING", None: "note"}[finding.good]
        put(f"{mark:8} {finding.text}\n", sys.stdout)
    raise typer.Exit(ExitCode.ERROR if ill else ExitCode.PASS)


@app.command("macros", epilog="\b\nExample:\n  qidsql duckdb macros > qidsql.sql, then in a shell: .read qidsql.sql")
def macros(output: ScriptOutput = None) -> None:
    """Print the single-statement checks as plain SQL, for shells where nothing can be loaded."""
    from qidsql.engines.duckdb.macros import duckdb_macros

    write(duckdb_macros(), output)


@app.command(
    "sign",
    epilog="\b\nExample:\n  openssl genrsa -out key.pem 2048\n  qidsql duckdb sign --key key.pem --to /srv/duckdb",
)
def sign(
    key: Annotated[
        Path, typer.Option("--key", metavar="FILE", help="an RSA key of 2048 bits, PEM", show_default=False)
    ],
    to: Annotated[Path, typer.Option("--to", metavar="FOLDER", help="the repository's folder", show_default=False)],
    shell: ShellOption = None,
) -> None:
    """Make a repository of signed extensions, from which DuckDB 2.0 loads without -unsigned; prints the SQL for it.

    The folder may be served over https as well.
    """
    import sys

    from qidsql.duckdb_extension.hosts import find_hosts
    from qidsql.duckdb_extension.signing import sign_repository, usage

    for path in sign_repository(to, key, find_hosts(shell or ())):
        put(f"-- {path}\n", sys.stdout)
    put(usage(to, key), sys.stdout)
