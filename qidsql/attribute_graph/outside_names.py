"""Which attributes of an outside table are one with others, by their names, where a person accepts these."""

from collections.abc import Sequence

from qidsql.attribute_graph.graph import GraphTable
from qidsql.core.catalog import Ground, Joint


def outside_names(tables: Sequence[GraphTable]) -> list[Joint]:
    """Attributes of outside tables with those of the source that have the same name, in any letter case.

    Nothing is known of an outside attribute's type; two outside ones of one name are one anyway.
    """
    inside = [attribute for table in tables if not table.outside for attribute in table.attributes]
    return [
        Joint(attribute, other, Ground.NAME, f"{attribute} and {other} have one name")
        for table in tables
        if table.outside
        for attribute in table.attributes
        for other in inside
        if attribute.column.casefold() == other.column.casefold()
    ]
