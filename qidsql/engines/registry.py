"""All kinds of engines. Adding one takes its folder and an entry in one of the two tuples."""

from typing import TypeVar

from qidsql.engines.duckdb.kind import DuckDBKind
from qidsql.engines.kind import EngineKind, FileKind, ServerKind
from qidsql.engines.postgres.kind import PostgresKind
from qidsql.engines.spark.kind import SparkKind
from qidsql.engines.sqlite.kind import SQLiteKind

SERVERS: tuple[ServerKind, ...] = (PostgresKind(), SparkKind())
FILES: tuple[FileKind, ...] = (SQLiteKind(), DuckDBKind())  # the last one takes all paths that no other recognizes
KINDS: tuple[EngineKind, ...] = (*SERVERS, *FILES)

EXPECTED = ", ".join(kind.sources for kind in KINDS) + ", or env:NAME"
STORES = ", ".join(["a path", *(kind.url for kind in SERVERS if kind.keeps_history)]) + ", or env:NAME of one"
STORE_SCHEMES = frozenset(scheme for kind in KINDS if kind.keeps_history for scheme in kind.schemes)

Kind = TypeVar("Kind", bound=EngineKind)


def recognized(text: str, kinds: tuple[Kind, ...]) -> Kind | None:
    """The kind that recognizes a source by its text, if any."""
    return next((kind for kind in kinds if kind.recognizes(text)), None)
