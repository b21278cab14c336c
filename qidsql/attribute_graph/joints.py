"""Which attributes of two tables are one: by the catalog's keys, or by their names where a person accepts these."""

from collections.abc import Mapping, Sequence
from itertools import combinations

from sqlglot import exp
from sqlglot.errors import SqlglotError

from qidsql.attribute_graph.graph import GraphTable
from qidsql.catalog import Attribute, Catalog, Ground, Joint


def foreign_key_joints(catalog: Catalog) -> list[Joint]:
    """Every column of a foreign key with the one it refers to."""
    return [
        Joint(left, right, Ground.FOREIGN_KEY, "declared in the database")
        for key in catalog.foreign_keys
        for left, right in zip(key.columns, key.referenced, strict=True)
    ]


def name_joints(tables: Sequence[GraphTable], types: Mapping[Attribute, str]) -> list[Joint]:
    """Attributes of two tables that have one name, in any letter case, and types of one kind; outside none is known."""
    holders: dict[str, list[Attribute]] = {}
    for table in tables:
        for attribute in table.attributes:
            holders.setdefault(attribute.column.casefold(), []).append(attribute)
    return [
        Joint(left, right, Ground.NAME, "names accepted")
        for group in holders.values()
        for left, right in combinations(group, 2)
        if left.table != right.table and _agree(types.get(left), types.get(right))
    ]


def _agree(one: str | None, other: str | None) -> bool:
    return one is None or other is None or _kind(one) == _kind(other)


def _kind(written: str) -> str:
    """What values of a type are, roughly: two types of one kind can be compared."""
    try:
        kind = exp.DataType.build(written, dialect="postgres").this
    except SqlglotError:
        return written.casefold()
    kinds = {
        "number": exp.DataType.NUMERIC_TYPES,
        "text": exp.DataType.TEXT_TYPES,
        "time": exp.DataType.TEMPORAL_TYPES,
    }
    return next((name for name, members in kinds.items() if kind in members), str(kind))
