"""Which attributes of an outside table are the same as others, by their names, if the user accepts these."""

from collections.abc import Sequence

from qidsql.attribute_graph.graph import GraphTable
from qidsql.core.catalog import Ground, SameAttribute


def outside_names(tables: Sequence[GraphTable]) -> list[SameAttribute]:
    """Attributes of outside tables paired with those of the source that have the same name, in any letter case.

    The type of an outside attribute is unknown; two outside ones of one name are the same anyway.
    """
    inside = [attribute for table in tables if not table.outside for attribute in table.attributes]
    return [
        SameAttribute(attribute, other, Ground.NAME, f"{attribute} and {other} have one name")
        for table in tables
        if table.outside
        for attribute in table.attributes
        for other in inside
        if attribute.column.casefold() == other.column.casefold()
    ]
