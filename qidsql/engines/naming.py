"""From the name a user types to a table of the catalog."""

from collections.abc import Sequence

from sqlglot import exp
from sqlglot.errors import SqlglotError

from qidsql.errors import UnknownName, UsageError
from qidsql.schema import TableName


def find_table(
    typed: str | None, known: Sequence[TableName], dialect: str, search_path: Sequence[str], label: str
) -> TableName:
    """The table that was meant: exactly as typed, else as the engine would read it, else in other letter case.

    `search_path` lists the schemas of unqualified names, first one first. None stands for the only table there is.
    Raises UnknownName with near misses, UsageError when more than one table is meant.
    """
    names = [str(name) for name in known]
    if typed is None:
        if len(known) == 1:
            return known[0]
        if not known:
            raise UsageError(f"{label} has no table that this user may read")
        shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
        raise UsageError(f"{label} has {len(names)} tables, name one: {shown}")
    if "://" in typed:  # not echoed: it may hold a password
        raise UsageError("the table's name looks like a URL; the source comes first, then the table")
    for parts in _readings(typed, dialect):
        for same in (str.__eq__, lambda a, b: a.lower() == b.lower()):
            found = [name for name in known if _matches(name, parts, same)]
            if len(found) > 1 and len(parts) == 1:
                first = [[name for name in found if name.schema == schema] for schema in search_path]
                found = next((names for names in first if names), found)
            if len(found) == 1:
                return found[0]
            if found:
                meant = ", ".join(str(name) for name in found[:6])
                raise UsageError(f"{typed} could be any of {meant}; write the schema and the exact name")
    pool = {name.name: None for name in known} | {str(name): None for name in known}
    raise UnknownName("table", [typed], label, pool, hint="" if known else "this user sees no tables there")


def _readings(typed: str, dialect: str) -> list[list[str]]:
    """The ways to read a typed name: as one plain name, split at the dots, parsed as SQL."""
    readings = [[typed], typed.split(".")]
    try:
        table = exp.to_table(typed, dialect=dialect)
        readings.append([part.name for part in table.parts])
    except (SqlglotError, ValueError):
        pass
    return readings


def _matches(name: TableName, parts: Sequence[str], same: object) -> bool:
    full = [name.catalog, name.schema, name.name]
    assert callable(same)
    return len(parts) <= 3 and all(same(a, b) for a, b in zip(reversed(full), reversed(parts), strict=False))
