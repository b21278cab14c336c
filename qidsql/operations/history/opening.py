"""Opens the history that a policy file names. Imports only the driver that is needed."""

import os
import re
from pathlib import Path

from qidsql.engines.connect import POSTGRES_KEYWORDS
from qidsql.engines.store import PATIENCE
from qidsql.errors import UsageError, names_a_secret
from qidsql.operations.history.records import History


def open_history(url: str, schema: str = "qidsql", patience: float = PATIENCE) -> History:
    """The history at a path, a Postgres URL or env:NAME; connects on first use. Raises UsageError, SourceError."""
    text = url
    if url.startswith("env:"):
        name = url.removeprefix("env:")
        text = os.environ.get(name, "")
        if not text:
            known = name if re.fullmatch(r"\w+", name) else "behind env:"  # else a URL was put there
            raise UsageError(f"the environment variable {known} is not set; it should name the history")
    if re.match(r"^postgres(ql)?://", text) or re.match(POSTGRES_KEYWORDS, text):
        from qidsql.engines.postgres.store import PostgresStore

        return History(PostgresStore(text, schema, patience))
    path = re.sub(r"^duckdb:(//(?=/))?", "", text)
    nearly = re.search(r":(?![/\\]).*@", path) or names_a_secret(path)  # probably a mistyped URL, not a file name
    if re.match(r"^[a-zA-Z][\w+.-]+://", path) or (nearly and not Path(path).exists()):
        raise UsageError("the history cannot be kept there; expected a path, a Postgres URL, or env:NAME of one")
    from qidsql.engines.duckdb.store import DuckDBStore

    return History(DuckDBStore(Path(path).expanduser(), patience))
