"""The content of a picture of an attribute graph: the attributes and tables on the paths, with their roles."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from qidsql.commands.graph.result import AttributeFinding, GraphResult, Part, TableFinding

MOST = 60  # attributes and tables that a reader can still take in
SHOWN_ASIDE = 2  # names of a table's other attributes that fit beside its own


@dataclass(frozen=True, slots=True)
class Picture:
    """Attributes and tables to draw, and the ties between them: (attribute, table) places.

    `aside` names the attributes of each table that are not drawn. If no path leads from an identifier to a sensitive
    attribute, the picture shows these and their tables.
    """

    attributes: tuple[AttributeFinding, ...]
    tables: tuple[TableFinding, ...]
    ties: tuple[tuple[int, int], ...]
    aside: tuple[str, ...]
    left_out: str  # a sentence on the tables that are not drawn


def picture(result: GraphResult) -> Picture:
    """The picture of a result: only what lies between; if that is too much, only what lies on the listed paths."""
    ends = {*result.identifiers, *result.sensitive}
    tables = [table for table in result.tables if table.between]
    if not tables:
        tables = [table for table in result.tables if ends & set(table.attributes)]
    drawn = _drawn(result, tables)
    left_out = ""
    if len(tables) + len(drawn) > MOST and any(path.tables for path in result.paths):
        on_paths, all_tables = _on_paths(result), len(tables)
        tables = [table for table in tables if table.name in on_paths]
        drawn = [each for each in _drawn(result, tables) if each.name in on_paths or each.part is Part.CUT]
        left_out = f"Of {all_tables} tables between, the {len(tables)} on the shortest paths are drawn."
    place = {attribute.name: number for number, attribute in enumerate(drawn)}
    ties = [(place[name], number) for number, table in enumerate(tables) for name in table.attributes if name in place]
    aside = [_aside([name for name in table.attributes if name not in place]) for table in tables]
    return Picture(tuple(drawn), tuple(tables), tuple(ties), tuple(aside), left_out)


def _drawn(result: GraphResult, tables: Sequence[TableFinding]) -> list[AttributeFinding]:
    """The identifiers, the sensitive attributes, the cut, and the attributes that link these tables."""
    held = Counter(name for table in tables for name in table.attributes)
    always = {*result.identifiers, *result.sensitive, *(result.cut or ())}
    return [each for each in result.attributes if held[each.name] > 1 or (each.name in always and held[each.name])]


def _on_paths(result: GraphResult) -> set[str]:
    """The names on the shortest paths: as many as fit, and at least those that reach every part of the cut."""
    shown, cut = set[str](), set(result.cut or ())
    for path in result.paths:
        stops = {*path.attributes, *path.tables}
        if len(shown | stops) <= MOST or (cut & stops) - shown:
            shown |= stops
    return shown


def _aside(names: list[str]) -> str:
    if not names:
        return ""
    shown = ", ".join(names[:SHOWN_ASIDE])
    more = f" and {len(names) - SHOWN_ASIDE} more" if len(names) > SHOWN_ASIDE else ""
    return f"also {shown}{more}"


WORDS = {
    Part.IDENTIFIER: "identifier",
    Part.SENSITIVE: "sensitive",
    Part.CUT: "cut: quasi-identifier",
    Part.BETWEEN: "on a path",
    Part.ASIDE: "aside",
}
