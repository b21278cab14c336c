"""The source, the first argument of most commands, and the environment variable that stands for it."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from qidsql.declarations.options import Option
from qidsql.engines.registry import EXPECTED


@dataclass(frozen=True, kw_only=True)
class SourceArgument:
    """The source, the first argument of most commands."""

    source: Annotated[
        str | None,
        Option(
            f"{EXPECTED[0].upper()}{EXPECTED[1:]}. Passwords: PGPASSWORD or ~/.pgpass. Default: $QIDSQL_URL.",
            "SOURCE",
            argument=True,
        ),
    ] = None


def source_and_table(source: str | None, table: str | None) -> tuple[str | None, str | None]:
    """Takes a single argument as the table if QIDSQL_URL gives the source and no file has that name."""
    if source and table is None and os.environ.get("QIDSQL_URL") and not Path(source).exists():
        if source.startswith("env:") or any(sign in source for sign in "*?/=@"):
            return source, table
        return None, source
    return source, table
