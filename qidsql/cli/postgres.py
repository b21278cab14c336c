"""qidsql postgres: SQL functions for psql"""

import typer

from qidsql.cli.script_output import ScriptOutput
from qidsql.cli.streams import write_output

EXAMPLES = """\b
Example:
  qidsql postgres functions > qidsql.sql, then: psql -f qidsql.sql"""

app = typer.Typer(
    help="Use qidsql inside Postgres: SQL functions for the single-statement checks.",
    epilog=EXAMPLES,
    rich_markup_mode=None,
    no_args_is_help=True,
    add_completion=False,
)


@app.callback()
def group() -> None:
    pass


@app.command("functions", short_help="SQL functions that audit, for psql", epilog=EXAMPLES)
def functions(output: ScriptOutput = None) -> None:
    """Print the SQL functions qidsql.profile, qidsql.violations and qidsql.columns, for psql.

    They are created in a schema `qidsql`, are read-only, and run with the privileges of the caller.
    """
    from qidsql.engines.postgres.functions import postgres_functions

    write_output(postgres_functions(), output)
