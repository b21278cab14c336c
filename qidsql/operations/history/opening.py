"""Opens the history that a policy file names. Imports only the driver that is needed."""

import re
from pathlib import Path

from qidsql.core.files import resolved
from qidsql.engines.registry import FILES, SERVERS, STORES, recognized
from qidsql.engines.store import STORE_PATIENCE
from qidsql.errors import UsageError, names_a_secret
from qidsql.operations.history.records import History


def open_history(url: str, schema: str = "qidsql", patience: float = STORE_PATIENCE) -> History:
    """The history at a path, a URL of a server or env:NAME; connects on first use. Raises UsageError, SourceError."""
    text = resolved(url, "the history's path or URL")
    server = recognized(text, SERVERS)
    if server is not None and server.keeps_history:
        return History(server.store(text, schema, patience))
    kind = recognized(text, FILES)
    path = text if kind is None else re.sub(r"^\w+:(//(?=/))?", "", text)
    kind = kind or FILES[-1]
    nearly = re.search(r":(?![/\\]).*@", path) or names_a_secret(path)  # probably a mistyped URL, not a file name
    is_url = server is not None or re.match(r"^[a-zA-Z][\w+.-]+://", path)
    if is_url or not kind.keeps_history or (nearly and not Path(path).exists()):
        raise UsageError(f"the history cannot be kept there; expected {STORES}")
    return History(kind.store(Path(path).expanduser(), patience))
