"""Statements that count what the classes of a column set disclose about a sensitive column."""

from qidsql.measures.disclosure import ClassValues, Disclosure
from qidsql.sql.classes import grouping_nodes
from qidsql.sql.dialects import Dialect
from qidsql.sql.relation import Relation
from qidsql.sql.statements import ColumnNames, Row, Statement, integer
from qidsql.sql.templates import fill


def disclosure(
    dialect: Dialect, source: Relation, known: ColumnNames, sensitive: str, k: int, entity: str | None = None
) -> Statement[Disclosure]:
    """What whoever knows these columns learns about the sensitive one. One statement, one scan.

    It returns a row for each number of different values that a class holds: no value leaves the engine.
    """
    purpose = f"disclosure of {sensitive} by {len(known)} columns"
    column, columns = source.column(sensitive), grouping_nodes(source, known)
    if entity is not None:
        tree = fill(
            "disclosure/by_entities",
            relation=source.node,
            sensitive=column,
            entity=source.column(entity),
            **columns,
        )

        def of_entities(rows: list[Row]) -> Disclosure:
            counts = [[integer(cell) for cell in row] for row in rows]
            found = [ClassValues(code // 2, code // 2 - code % 2, False, number, 0) for code, number, _ in counts]
            return Disclosure.of_entities(found, max((row[-1] for row in counts), default=0), k)

        return Statement(dialect.render(tree), purpose, of_entities)
    tree = fill("disclosure/by_rows", relation=source.node, sensitive=column, k=k, **columns)

    def of_classes(rows: list[Row]) -> Disclosure:
        counts = [[integer(cell) for cell in row] for row in rows]
        found = [ClassValues(values, stated, bool(small), *rest) for values, stated, small, *rest, _, _ in counts]
        whole = counts[0][-2:] if counts else [0, 0]
        return Disclosure.of_classes(found, whole[0], whole[1], k)

    return Statement(dialect.render(tree), purpose, of_classes)
