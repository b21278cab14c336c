"""qidsql postgres: what Postgres' own shells can take"""

import typer

from qidsql.cli.script_output import ScriptOutput
from qidsql.cli.streams import write

EXAMPLES = """\b
Example:
  qidsql postgres functions > qidsql.sql, then: psql -f qidsql.sql"""

app = typer.Typer(
    help="qidsql inside Postgres' shells: SQL functions for the single-statement checks.",
    epilog=EXAMPLES,
    rich_markup_mode=None,
    no_args_is_help=True,
    add_completion=False,
)


@app.callback()
def group() -> None:
    pass


@app.command("functions", epilog=EXAMPLES)
def functions(output: ScriptOutput = None) -> None:
    """Print functions qidsql.profile, qidsql.violations and qidsql.columns for psql; they live in a schema `qidsql`.

    They read only, with the rights of who calls them.
    """
    from qidsql.engines.postgres.functions import postgres_functions

    write(postgres_functions(), output)
