"""Finds the table of the catalog that a user's text names."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations

import sqlglot
from sqlglot import exp

from qidsql.core.tables import TableName
from qidsql.errors import UnknownName, UsageError


def find_table(
    typed: str | None, known: Sequence[TableName], dialect: str, search_path: Sequence[str], label: str
) -> TableName:
    """The table that the text names: exactly as typed, else as the engine would read it, else in other letter case.

    `search_path` lists the schemas for unqualified names in order. None stands for the only table.
    Raises UnknownName with similar names, UsageError if the name is ambiguous.
    """
    names = [str(name) for name in known]
    if typed is None:
        if len(known) == 1:
            return known[0]
        if not known:
            raise UsageError(f"{label} has no table that this user may read")
        shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
        raise UsageError(f"{label} has {len(names)} tables, name one: {shown}")
    if "://" in typed and not typed.startswith('"'):  # not echoed: it can contain a password; in quotes it is a name
        raise UsageError("the table's name looks like a URL; the source comes first, then the table")
    for readings in _readings(typed, dialect):
        for same in (str.__eq__, lambda a, b: a.lower() == b.lower()):
            found = [name for name in known if any(_matches(name, parts, same) for parts in readings)]
            if len(found) > 1 and all(_matches(name, readings[0], same) for name in found):
                first = [[name for name in found if name.schema == schema] for schema in search_path]
                found = next((names for names in first if names), found)
            if len(found) == 1:
                return found[0]
            if found:
                meant = ", ".join(str(name) for name in found[:6])
                raise UsageError(f'{typed} could be any of {meant}; write schema and name, quoted: "schema"."name"')
    raise UnknownName("table", [typed], label, names, hint="" if known else "this user sees no tables there")


def no_schema(name: TableName, label: str) -> str:
    """The message that there is no such schema to create a table in."""
    return f"there is no schema {name.schema} in {label} for the table {name.name}; --into takes name or schema.name"


def _readings(typed: str, dialect: str) -> Iterator[list[list[str]]]:
    """The possible readings of a typed name: as plain text, split at any of its dots, and as SQL.

    A name with quotes is read as SQL first, any other only if no table has the name as plain text.
    """
    dots = [place for place, letter in enumerate(typed) if letter == "."]
    pairs = [[typed[:dot], typed[dot + 1 :]] for dot in dots]
    triples = [[typed[:a], typed[a + 1 : b], typed[b + 1 :]] for a, b in combinations(dots, 2)]
    plain = [[typed], *pairs, *triples]
    if '"' not in typed:
        yield plain
    if table := parsed_name(typed, dialect):
        yield [[part.name for part in table.parts]]
    if '"' in typed:
        yield plain


@lru_cache(maxsize=64)
def parsed_name(typed: str, dialect: str) -> exp.Table | None:
    """A typed name parsed as a table of SQL (do not change it in place); None if it is not one."""
    try:
        table = exp.to_table(typed, dialect=dialect)
    except (sqlglot.errors.SqlglotError, ValueError):
        return None
    # sqlglot parses a name such as ?;? as several statements and not as a table.
    return table if isinstance(table, exp.Table) and table.name else None


def _matches(name: TableName, parts: Sequence[str], same: object) -> bool:
    full = [name.catalog, name.schema, name.name]
    assert callable(same)
    return len(parts) <= 3 and all(same(a, b) for a, b in zip(reversed(full), reversed(parts), strict=False))
