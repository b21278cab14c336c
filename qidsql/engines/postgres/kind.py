"""How a Postgres source is recognized, described and opened."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

from qidsql.engines.kind import ConnectOptions, ServerKind
from qidsql.errors import SourceError

if TYPE_CHECKING:
    from qidsql.engines.base import Engine
    from qidsql.engines.store import Store
    from qidsql.sql.dialects import Dialect

KEYWORDS = (  # of libpq's connection strings
    r"^\s*(service|host|hostaddr|dbname|user|port|password|passfile|options|application_name|connect_timeout|"
    r"target_session_attrs|(ssl|gss|krb|keepalives|channel_|load_|require_|client_|tcp_)\w*)\s*=\s*\S"
)


class PostgresKind(ServerKind):
    schemes = ("postgresql", "postgres")
    sources = "a Postgres URL (postgresql://user@host/db, service=NAME)"
    url = "a Postgres URL"
    keeps_history = True

    def recognizes(self, text: str) -> bool:
        """A URL, or a connection string that is not an existing path."""
        if re.match(KEYWORDS, text):
            return not Path(text).exists()
        return super().recognizes(text) and text.partition(":")[2].startswith("//")

    @property
    def dialect(self) -> "Dialect":
        from qidsql.engines.postgres.dialect import POSTGRES

        return POSTGRES

    def open(self, text: str, options: ConnectOptions) -> "Engine":
        from qidsql.engines.postgres.engine import connect

        return connect(text, options)

    def shown(self, text: str) -> str:
        from qidsql.engines.postgres.server import connection_parameters, parameters_label

        try:
            return parameters_label(connection_parameters(text))
        except SourceError:
            return "a Postgres URL that cannot be read"

    def store(self, text: str, schema: str, patience: float) -> "Store":
        from qidsql.engines.postgres.store import PostgresStore

        return PostgresStore(text, schema, patience)
