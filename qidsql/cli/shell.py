"""qidsql shell"""

import os
from pathlib import Path
from typing import Annotated

import typer

EXAMPLES = """\b
Examples:
  qidsql shell
  qidsql shell warehouse.duckdb
  qidsql shell warehouse.duckdb --readonly -c "FROM qid_audit('patients', k := 5)" """


def run(
    database: Annotated[
        Path | None, typer.Argument(metavar="[DATABASE]", help="a DuckDB file; default: in memory", show_default=False)
    ] = None,
    sql: Annotated[
        list[str] | None, typer.Option("--command", "-c", metavar="SQL", help="run this and end", show_default=False)
    ] = None,
    readonly: Annotated[bool, typer.Option("--readonly", help="open the database read-only")] = False,
) -> None:
    """The DuckDB shell with qidsql loaded: audits as table functions on the shell's own tables.

    The extension is installed first where it is not. FROM qid_audit('table', k := 5), qid_keys, qid_mask, qid_uniques,
    qid_suppress; qidsql.profile, qidsql.violations, qidsql.columns.
    """
    from qidsql.duckdb_extension.hosts import find_shell
    from qidsql.duckdb_extension.install import install

    host = find_shell()
    if not host.extension.is_file():
        install([host])
    load = "LOAD '{}'".format(str(host.extension).replace("'", "''"))
    command = [str(host.shell), "-unsigned", "-cmd", load]
    command += ["-readonly"] * readonly
    for statement in sql or ():
        command += ["-c", statement]
    command += [] if database is None else [str(database)]
    os.execv(command[0], command)
