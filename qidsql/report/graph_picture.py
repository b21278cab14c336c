"""What a picture of an attribute graph shows: the attributes and tables on the ways, and who stands where."""

from dataclasses import dataclass

from qidsql.findings.graph import AttributeFinding, GraphResult, Part, TableFinding

SHOWN_ASIDE = 3  # names of a table's other attributes that fit beside its own


@dataclass(frozen=True, slots=True)
class Picture:
    """Attributes and tables to draw, and the ties between them: (attribute, table) places.

    `cut` are the ties at an attribute of the cut; `aside` what stands in each table besides, in words. Where nothing
    leads from an identifier to a sensitive attribute the picture shows these and their tables.
    """

    attributes: tuple[AttributeFinding, ...]
    tables: tuple[TableFinding, ...]
    ties: tuple[tuple[int, int], ...]
    aside: tuple[str, ...]
    summary: str  # in words, for those who do not see it


def picture(result: GraphResult) -> Picture:
    """What to draw of a result: what lies between, never the whole source."""
    ends = {*result.identifiers, *result.sensitive}
    tables = [table for table in result.tables if table.between]
    if not tables:
        tables = [table for table in result.tables if ends & set(table.attributes)]
    names = {name for table in tables for name in table.attributes}
    shared = {each for each in names if sum(each in table.attributes for table in tables) > 1}
    drawn = [each for each in result.attributes if each.name in names & (ends | shared | set(result.cut or ()))]
    place = {attribute.name: number for number, attribute in enumerate(drawn)}
    ties = [(place[name], number) for number, table in enumerate(tables) for name in table.attributes if name in place]
    aside = [_aside([name for name in table.attributes if name not in place]) for table in tables]
    return Picture(tuple(drawn), tuple(tables), tuple(ties), tuple(aside), _summary(result))


def _aside(names: list[str]) -> str:
    if not names:
        return ""
    shown = ", ".join(names[:SHOWN_ASIDE])
    more = f" and {len(names) - SHOWN_ASIDE} more" if len(names) > SHOWN_ASIDE else ""
    return f"also {shown}{more}"


def _summary(result: GraphResult) -> str:
    return f"Attribute graph. {result.reason}."


WORDS = {
    Part.IDENTIFIER: "identifier",
    Part.SENSITIVE: "sensitive",
    Part.CUT: "cut: quasi-identifier",
    Part.BETWEEN: "on a path",
    Part.ASIDE: "aside",
}
