"""Statements on the rows of persons: what whoever knows some of a person's rows, or all, finds."""

from qidsql.measures.histories import Histories, KnownRows
from qidsql.sql.classes import grouping_nodes
from qidsql.sql.dialects import Dialect
from qidsql.sql.relation import Relation
from qidsql.sql.templates import ColumnNames, Row, Statement, fill, whole_count

TEMPLATES = {KnownRows.TWO: "histories/known_rows", KnownRows.ALL: "histories/whole"}


def pairs_of_rows(dialect: Dialect, source: Relation, columns: ColumnNames, entity: str) -> Statement[int]:
    """How many pairs of different rows of one person there are. One statement, one scan."""
    nodes = {name: each for name, each in grouping_nodes(source, columns).items() if name != "names"}
    tree = fill("histories/pairs", relation=source.node, entity=source.column(entity), **nodes)
    return Statement(dialect.render(tree), "pairs of rows of a person", lambda rows: whole_count(rows[0][0] or 0) // 2)


def histories(
    dialect: Dialect, source: Relation, columns: ColumnNames, k: int, entity: str, known: KnownRows
) -> Statement[Histories]:
    """The persons below k for whoever knows so many of their rows. One statement, one scan."""
    tree = fill(
        TEMPLATES[known],
        relation=source.node,
        entity=source.column(entity),
        k=k,
        **grouping_nodes(source, columns),
    )

    def read(rows: list[Row]) -> Histories:
        persons, smallest, below, classes = (whole_count(cell or 0) for cell in rows[0])
        return Histories(
            known_rows=known, persons=persons, smallest=smallest, persons_below_k=below, classes=classes or None
        )

    return Statement(dialect.render(tree), f"persons by {known.words}", read)
