"""The option of commands that print a script."""

from pathlib import Path
from typing import Annotated

import typer

ScriptOutput = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="FILE", help="write it to this file, not to stdout", show_default=False),
]
