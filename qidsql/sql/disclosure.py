"""Statements that count what the classes of a column set disclose about a sensitive column."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from qidsql.core.recodings import Hierarchy, read_hierarchy
from qidsql.core.requirements import LIMITS
from qidsql.measures.disclosure_limits import DisclosureLimit, DistantInOrder
from qidsql.measures.profiles import ClassProfile, ClassSizes, ClassValues, Disclosing, Disclosure
from qidsql.sql.classes import grouping_nodes
from qidsql.sql.dialects import Dialect
from qidsql.sql.relation import Relation
from qidsql.sql.templates import ColumnNames, Row, Statement, fill, fill_query, integer

# The templates of the classes that exceed a limit, by its kind.
CLASSES = {limit.kind.finding: f"disclosure/{limit.template}" for limit in LIMITS.values()}


def disclosure(
    dialect: Dialect, source: Relation, known: ColumnNames, sensitive: str, k: int, entity: str | None = None
) -> Statement[Disclosure]:
    """What whoever knows these columns learns about the sensitive one. One statement, one scan.

    It returns a row for each number of different values that a class holds: no value leaves the engine.
    """
    purpose = f"disclosure of {sensitive} by {len(known)} columns"
    column, columns = source.column(sensitive), grouping_nodes(source, known)
    if entity is not None:
        tree = fill("disclosure/by_entities", persons=_persons(source, known, sensitive, entity))

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


def disclosing_profile(
    dialect: Dialect,
    source: Relation,
    columns: ColumnNames,
    k: int,
    limits: Sequence[tuple[DisclosureLimit, str]],
    entity: str | None = None,
) -> Statement[list[ClassProfile]]:
    """The class profile of one column set, with the classes that exceed each limit on a sensitive column.

    One statement, a scan per limit.
    """
    parts = [
        dialect.render(_exceeding(source, columns, number, limit, sensitive, entity))
        for number, (limit, sensitive) in enumerate(limits)
    ]
    purpose = f"class profile and disclosure by {len(columns)} columns"

    def read(rows: list[Row]) -> list[ClassProfile]:
        counts = [[integer(cell) for cell in row] for row in rows]
        found = [[row[1:] for row in counts if row[0] == number] for number in range(len(limits))]
        disclosing = tuple(
            _disclosing(limit, classes) for (limit, _), classes in zip(limits, found, strict=True) if classes
        )
        if entity is None:
            profile = ClassProfile.of_sizes({size: number for size, number, *_ in found[0]}, k)
        else:
            sizes = {size: number for size, number, *_ in found[0] if number}
            entities = {size: number for size, _, number, *_ in found[0] if number}
            profile = ClassSizes(sizes, entities, entities=True).profile(k)
        return [replace(profile, disclosing=disclosing)]

    text = "\nUNION ALL\n".join(f"SELECT * FROM ({part}) AS part" for part in parts)  # a part can begin with WITH
    return Statement(text, purpose, read, scans=len(parts))


def _exceeding(
    source: Relation, columns: ColumnNames, number: int, limit: DisclosureLimit, sensitive: str, entity: str | None
) -> exp.Expr:
    if entity is not None:
        persons = _persons(source, columns, sensitive, entity)
        return fill("disclosure/exceeding_of_entities", set_number=number, persons=persons, **limit.limits)
    nodes = grouping_nodes(source, columns)
    same: dict[str, exp.Expr | int] = {
        "set_number": number,
        "relation": source.node,
        "sensitive": source.column(sensitive),
    }
    classes = classes_by_limit(limit, nodes["names"])
    return fill("disclosure/exceeding", classes=classes.subquery("classes"), **same, **nodes)


def classes_by_limit(limit: DisclosureLimit, names: Sequence[exp.Expr]) -> exp.Query:
    """The query for the classes of these names over `cells` and `shares`, with whether each exceeds the limit: see
    exceeding.sql. Where the rows of a class alone decide, it has the names too."""
    more: dict[str, exp.Expr | int] = {} if limit.hierarchy is None else _hierarchy(read_hierarchy(limit.hierarchy))
    if isinstance(limit, DistantInOrder):
        more["place"] = _place(exp.column("sensitive_value"), limit.listed)
    return fill_query(CLASSES[limit.finding], names=names, **limit.limits, **more)


def _persons(source: Relation, columns: ColumnNames, sensitive: str, entity: str) -> exp.Expr:
    return persons_of(source.node, grouping_nodes(source, columns), source.column(sensitive), source.column(entity))


def persons_of(
    rows: exp.Expr, grouping: Mapping[str, Sequence[exp.Expr]], sensitive: exp.Expr, entity: exp.Expr
) -> exp.Expr:
    """Each person's classes, with the values of a class by persons. `grouping`: as `grouping_nodes`."""
    query = fill_query("disclosure/of_persons", relation=rows, sensitive=sensitive, entity=entity, **grouping)
    return query.subquery("persons")


def values_outside(
    dialect: Dialect, source: Relation, sensitive: str, listed: Sequence[str]
) -> Statement[tuple[int, int]]:
    """How many different values of a column are not listed; and 1 if NULL is one of them, else 0. One scan."""
    texts = exp.values([(text,) for text in listed], alias="texts")
    tree = fill("disclosure/values_outside", relation=source.node, sensitive=source.column(sensitive), listed=texts)

    def read(rows: list[Row]) -> tuple[int, int]:
        [(values, nulls)] = rows
        return integer(values), integer(nulls)

    return Statement(dialect.render(tree), f"values of {sensitive} that are not listed", read)


def texts_among(dialect: Dialect, source: Relation, sensitive: str) -> Statement[int]:
    """How many different values of a column are texts, dates aside, whatever its type. One scan."""
    assert dialect.texts_among is not None
    tree = dialect.texts_among(source.node, source.column(sensitive))

    def read(rows: list[Row]) -> int:
        return integer(rows[0][0])

    return Statement(dialect.render(tree), f"texts among the values of {sensitive}", read)


def _place(value: exp.Expr, listed: Sequence[str] | None) -> exp.Expr:
    """What values are ordered by: themselves, or the place of their texts in a list."""
    if listed is None:
        return value
    texts = enumerate(map(exp.Literal.string, listed))
    places = [exp.If(this=text, true=exp.Literal.number(place)) for place, text in texts]
    return exp.Case(this=exp.cast(value, "TEXT"), ifs=places)


def _hierarchy(hierarchy: Hierarchy) -> dict[str, exp.Expr | int]:
    return {"hierarchy": exp.values(hierarchy.edges, alias="listed"), "height": hierarchy.height}


def _disclosing(limit: DisclosureLimit, classes: Sequence[Sequence[int]]) -> Disclosing:
    """The figures of one limit: rows of exceeding.sql, or of exceeding_of_entities.sql, without the number."""
    by_rows = len(classes[0]) == 4
    return Disclosing(
        limit=limit.label,
        rows=sum(row[0] * row[2] if by_rows else row[4] for row in classes),
        classes=sum(row[2 if by_rows else 3] for row in classes),
        worst=max(row[-1] for row in classes),
    )
