"""qidsql shell"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from qidsql.declarations.commands import Command
from qidsql.declarations.options import Names, Option
from qidsql.sql import quoted


@dataclass(frozen=True, kw_only=True)
class ShellRequest:
    """Start the DuckDB shell with qidsql loaded: audits are table functions on the shell's tables.

    Installs the extension first if needed. The functions: FROM qidsql.report('table', k := 5), and there are verdict,
    audit, keys, mask, uniques, suppress, anonymize, turns, impact, risk, link, kmap, graph, profile, violations and
    columns.
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
