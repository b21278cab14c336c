"""The option --output of commands that print a script."""

from pathlib import Path
from typing import Annotated

import typer

ScriptOutput = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="FILE", help="write to this file, not to stdout", show_default=False),
]
