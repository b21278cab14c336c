"""What is no table of the catalog: a query's text, or a file. A view in the database `qidsql` stands for it."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from qidsql.engines.duckdb.host import PART
from qidsql.errors import UsageError
from qidsql.sql import quoted

if TYPE_CHECKING:
    from qidsql.engines.duckdb.embedded import HostEngine
    from qidsql.engines.duckdb.host import Caller, HostConnection

QUERY = re.compile(r"(?is)\s*(?:\(|(?:select|from|with|values|table|pivot|unpivot)\s)")
FILE = re.compile(r"(?i).*\.(?:parquet|csv|tsv|json|jsonl|ndjson)(?:\.gz|\.zst)?")
VIEW = re.compile(r"(?:(?:the )?view )?(?:qidsql\.)?main\.qidsql:(.+?):\d+:")  # as made_view names it


def query_rows(typed: str) -> str | None:
    """The rows of a query's text as they stand behind FROM; None if it is a name."""
    return f"({_text(typed)}\n)" if QUERY.match(typed) else None


def _text(typed: str) -> str:
    return typed.strip().rstrip(";")


def as_typed(text: str) -> str:
    """The text without the names of such views: the query, or the file."""
    return VIEW.sub(lambda view: "the query" if view[1] == "query" else view[1], text)


def server_of(host: "HostEngine", typed: str) -> str | None:
    """The attached Postgres that the table is in."""
    return None if QUERY.match(typed) or FILE.fullmatch(typed) else host.attached_postgres(typed)[0]


def made_view(
    connection: "HostConnection", typed: str, number: int, caller: "Caller", beside: Sequence[str] = ()
) -> str | None:
    """Creates the view that stands for what was typed, and returns its name; None if that is a table.

    So is a table of an attached Postgres `beside` one of another place: DuckDB reads both.

    The tables in it are those that the caller's search path finds: whether the caller sees the same, the guard tells.
    Raises QidsqlError.
    """
    if not beside and not QUERY.match(typed) and not FILE.fullmatch(typed):
        return None
    from qidsql.engines.duckdb.dialect import DUCKDB
    from qidsql.engines.duckdb.embedded import UNSEEN, HostEngine
    from qidsql.engines.duckdb.host import CatalogCache, HostError

    host = HostEngine(connection.cursor(), caller, CatalogCache())
    try:
        if QUERY.match(typed):
            label, rows, query = "query", "the query", whole_query(typed, host)
        elif server := server_of(host, typed):
            if all(server_of(host, each) == server for each in beside):
                return None
            whole = PART.sub(r'"\1\2"', typed)
            label, rows, query = typed, f"FROM {whole}", whole_query(f"FROM {whole}", host)
        elif not FILE.fullmatch(typed):
            return None
        elif host.found_in_path(typed) is None:
            label, query = typed.rpartition("/")[2], f"FROM {quoted(typed)}"
            rows = "FROM the file" if "://" in typed else query  # an address can hold a password
        else:
            return None
        name = f"qidsql.main.{DUCKDB.identifier(f'qidsql:{label}:{number}:')}"
        connection.execute(f"{host.search_path}; CREATE VIEW {name} AS {query}")
    except HostError:
        raise UsageError(
            f"the rows of this {'query' if QUERY.match(typed) else 'table or file'} cannot be read: "
            f"{UNSEEN.format(rows=rows)}"
        ) from None
    finally:
        host.close()
    return name


def whole_query(typed: str, host: "HostEngine") -> str:
    """The query with the whole names of its tables. Raises UsageError."""
    from sqlglot import errors, exp, parse

    from qidsql.engines.duckdb.dialect import DUCKDB
    from qidsql.sql.relation import table_node

    try:
        found = [each for each in parse(_text(typed), dialect="duckdb") if each is not None]
    except errors.SqlglotError:
        found = []
    if len(found) != 1 or not isinstance(found[0], exp.Query):
        raise UsageError("the text cannot be read as one query; create a view of it, and audit that")
    own = {each.alias.lower() for each in found[0].find_all(exp.CTE)}
    for table in list(found[0].find_all(exp.Table)):
        parts = [table.args.get("db"), table.this]
        if not isinstance(table.this, exp.Identifier) or table.catalog or (not table.db and table.name.lower() in own):
            continue
        name = host.found_in_path(".".join(part.sql("duckdb", identify=True) for part in parts if part))
        if name is not None:
            for place, part in table_node(name).args.items():
                if place in ("this", "db", "catalog"):
                    table.set(place, part)
    return DUCKDB.render(found[0])
