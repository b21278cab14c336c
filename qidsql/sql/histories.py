"""Statements on the rows of persons: what whoever knows some rows of a person, or all, finds."""

from typing import Any

from sqlglot import exp

from qidsql.measures.histories import Choices, Drawn, Histories, KnownRows, Tried
from qidsql.sql.classes import grouping_nodes
from qidsql.sql.dialects import Dialect
from qidsql.sql.relation import Relation
from qidsql.sql.templates import ColumnNames, Row, Statement, fill, fill_query, whole_count

DRAW = 1  # of the draws: an audit of the same rows draws the same


def _coded(
    dialect: Dialect, source: Relation, columns: ColumnNames, entity: str, coarser: tuple[str, str] | None = None
) -> exp.Expr:
    nodes = grouping_nodes(source, columns)
    if coarser is not None:  # a column by the start of its hour, day, week or month
        place, unit = columns.index(coarser[0]), exp.Literal.string(coarser[1])
        moment = exp.cast(nodes["columns"][place], exp.DataType.Type.TIMESTAMP)
        nodes["columns"][place] = exp.Anonymous(this="DATE_TRUNC", expressions=[unit, moment])
        nodes["aliased"][place] = exp.alias_(nodes["columns"][place].copy(), f"c{place}")
    parts: dict[str, Any] = {"relation": source.node, "entity": source.column(entity), **nodes}
    if not dialect.joins_nulls:
        return fill_query("histories/coded", **parts).subquery("rows_of_persons")
    pairs = ((exp.column(f"c{place}", "known"), exp.column(f"c{place}", "numbered")) for place in range(len(columns)))
    same = exp.and_(*(exp.NullSafeEQ(this=known, expression=numbered) for known, numbered in pairs))
    query = fill_query("histories/coded_by_join", same=same, **parts)
    return query.subquery("rows_of_persons")


def _counts(rows: list[Row]) -> list[list[int]]:
    return [[whole_count(cell or 0) for cell in row] for row in rows]


def choices(
    dialect: Dialect, source: Relation, columns: ColumnNames, k: int, entity: str, known: KnownRows
) -> Statement[list[Choices]]:
    """Of persons by their number of rows: the choices of one row, or of two, by who has them. One statement."""
    template = "histories/one" if known is KnownRows.ONE else "histories/two"
    tree = fill(template, coded=_coded(dialect, source, columns, entity), k=k)

    def read(rows: list[Row]) -> list[Choices]:
        return [Choices(*counts) for counts in sorted(_counts(rows))]

    return Statement(dialect.render(tree), f"persons by {known.words}", read)


def whole_histories(
    dialect: Dialect, source: Relation, columns: ColumnNames, k: int, entity: str, most_copies: int
) -> Statement[Histories]:
    """The classes of persons with the same rows, each as often. One statement, one scan."""
    tree = fill("histories/whole", coded=_coded(dialect, source, columns, entity), k=k, beyond_copies=most_copies + 1)

    def read(rows: list[Row]) -> Histories:
        [[persons, smallest, below, classes, alone]] = _counts(rows)
        return Histories(
            known_rows=KnownRows.ALL,
            persons=persons,
            smallest=smallest,
            persons_below_k=below,
            classes=classes,
            alone=alone,
        )

    return Statement(dialect.render(tree), f"persons by {KnownRows.ALL.words}", read)


def tried_pairs(
    dialect: Dialect, source: Relation, columns: ColumnNames, k: int, entity: str, persons: int, rows: int
) -> Statement[Tried]:
    """Pairs of the rows of so many persons, of so many rows of each, by who has both. One statement, one scan."""
    tree = fill(
        "histories/tried",
        coded=_coded(dialect, source, columns, entity),
        place=dialect.shuffled(dialect.row_hash([exp.column("person")]), DRAW),
        half=persons // 2,
        rows=rows,
        k=k,
    )
    return Statement(dialect.render(tree), "two rows of some persons", lambda found: Tried(*_counts(found)[0]))


def drawn_rows(
    dialect: Dialect,
    source: Relation,
    columns: ColumnNames,
    k: int,
    entity: str,
    *,
    persons: int,
    first: int,
    candidates: int,
    most_copies: int,
    coarser: tuple[str, str] | None = None,
) -> Statement[list[Drawn]]:
    """Persons drawn at random, by who has the first so many of their rows, likewise drawn. One statement, one scan."""
    row = [exp.column("person", table="coded"), exp.column("item"), exp.column("copy")]
    tree = fill(
        "histories/drawn",
        coded=_coded(dialect, source, columns, entity, coarser),
        person_place=dialect.shuffled(dialect.row_hash([exp.column("person")]), DRAW),
        row_place=dialect.shuffled(dialect.row_hash(row), DRAW + 1),
        persons=persons,
        first=first,
        candidates=candidates,
        most_copies=most_copies,
        k=k,
    )

    def read(rows: list[Row]) -> list[Drawn]:
        counts = sorted(_counts(rows))
        return [Drawn(own, number, tuple(rest[:5]), tuple(rest[5:])) for own, number, *rest in counts]

    return Statement(dialect.render(tree), "rows of persons drawn at random", read)


def varying_columns(dialect: Dialect, source: Relation, columns: ColumnNames, entity: str) -> Statement[dict[str, int]]:
    """Of each column the persons who have several values of it. One statement, one scan."""
    several = []
    for place, node in enumerate(source.columns(columns)):
        null = exp.Case(ifs=[exp.If(this=exp.Is(this=node.copy(), expression=exp.null()), true=_number(1))])
        null.set("default", _number(0))
        values = exp.Count(this=exp.Distinct(expressions=[node.copy()])) + exp.Max(this=null)
        one = exp.Case(ifs=[exp.If(this=exp.GT(this=values, expression=_number(1)), true=_number(1))])
        one.set("default", _number(0))
        several.append(exp.alias_(one, f"c{place}"))
    sums = [exp.Sum(this=exp.column(f"c{place}")) for place in range(len(columns))]
    holes = {"relation": source.node, "entity": source.column(entity)}
    tree = fill("histories/varying", several=several, sums=sums, **holes)
    return Statement(
        dialect.render(tree),
        "columns that differ between the rows of a person",
        lambda rows: dict(zip(columns, _counts(rows)[0], strict=True)),
    )


def _number(value: int) -> exp.Expr:
    return exp.Literal.number(value)


def compared_values(
    dialect: Dialect, source: Relation, columns: ColumnNames, entity: str, sensitive: str
) -> Statement[int]:
    """How many pairs of rows `certain_persons` compares, for each value of their person, twice. One statement."""
    tree = fill("histories/values", coded=_coded(dialect, source, columns, entity), **_held(source, entity, sensitive))
    return Statement(dialect.render(tree), f"values of {sensitive} of persons", lambda rows: _counts(rows)[0][0])


def certain_persons(
    dialect: Dialect,
    source: Relation,
    columns: ColumnNames,
    entity: str,
    sensitive: str,
    known: KnownRows,
    most_copies: int,
) -> Statement[int]:
    """The persons of whom two known rows, or all, tell a value of the sensitive column. One statement."""
    holes = {"coded": _coded(dialect, source, columns, entity), **_held(source, entity, sensitive)}
    if known is KnownRows.ALL:
        tree = fill("histories/certain_all", beyond_copies=most_copies + 1, **holes)
    else:
        tree = fill("histories/certain_two", **holes)
    purpose = f"{sensitive} of persons by {known.words}"
    return Statement(dialect.render(tree), purpose, lambda rows: _counts(rows)[0][0])


def _held(source: Relation, entity: str, sensitive: str) -> dict[str, exp.Expr]:
    return {"relation": source.node, "entity": source.column(entity), "sensitive": source.column(sensitive)}
