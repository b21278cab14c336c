"""Which blank cells of a copy its unprotected columns give back, counted in the engine.

Someone fills in the blank cells of a protected column by an unprotected one: the value that is suggested by the rows of
the copy with the same unprotected value that show the cell's column. They suggest a value if all of them show it, or so
many that at most a tenth of the doubt is left: of the share of other values among all rows that show the column. And
they have to be so many that one that shows another value was to be expected nearly (0.9), if both columns had nothing
to do with each other. Suggestions by few rows can be left alone. Given back are the cells that are filled in rightly:
the most of which at least nine in ten are right.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Annotated, TypeAlias

from sqlglot import exp

from qidsql.core.tables import Column, Table
from qidsql.declarations.results import OMITTED
from qidsql.engines.base import Engine
from qidsql.sql.dialects import Dialect
from qidsql.sql.given_back import cells_given_back
from qidsql.sql.relation import ALIAS, Relation, comparable_columns, relation
from qidsql.sql.statements import Row, Statement, integer
from qidsql.wording.numbers import count, plural


@dataclass(frozen=True)
class GivenBack:
    """Blank cells of a protected column that an unprotected column of the copy gives back."""

    column: Annotated[str, "the unprotected column"]
    of: Annotated[str, "the protected column"]
    cells: Annotated[
        int,
        "blank cells that are filled in rightly by the rows of the copy with the same value of the unprotected column, "
        "where at least nine in ten are right",
    ]
    certain: Annotated[int, "those of them of which these rows show no other value"]
    blank: Annotated[int, "cells of the protected column whose value is not in the copy"]

    def __str__(self) -> str:
        return f"{self.column} gives back {count(self.cells)} of {plural(self.blank, 'blank cell')} of {self.of}"


# What results say of a copy, or of what their script makes.
KeptColumns: TypeAlias = Annotated[tuple[str, ...] | None, OMITTED, "unprotected columns that the copy has on request"]
CellsGivenBack: TypeAlias = Annotated[
    tuple[GivenBack, ...] | None,
    OMITTED,
    "blank cells that unprotected columns of the copy, or of what the script makes, give back, the most first; "
    "no key: there is neither",
]


def given_back(
    engine: Engine,
    table: Table,
    rows_with: Callable[[Sequence[Column]], exp.Expr],
    copied: Sequence[Column],
    blanked: Collection[str],
    protected: Collection[str],
    deadline: float | None,
) -> tuple[GivenBack, ...]:
    """What the unprotected columns of a copy give back of the columns `blanked`, the most first.

    `rows_with` returns the node to select the rows of the copy from, with some of its columns in their comparable form.
    One statement, which reads the table and the copy; none where nothing is blank or unprotected. Raises Stopped,
    StatementError.
    """
    hidden = [column for column in copied if column.name in blanked]
    given = [column for column in copied if column.name not in protected]
    if not hidden or not given:
        return ()
    columns = [column.learned for column in (*hidden, *given)]
    names = [column.name for column in columns]
    whole, copy = relation(engine.dialect, table, columns), Relation(rows_with(columns))
    query = cells_given_back((whole.node, whole.columns(names)), (copy.node, copy.columns(names)), len(hidden))
    pairs = list(product(hidden, given))

    def read(rows: list[Row]) -> list[GivenBack]:
        figures = [tuple(map(integer, row)) for row in rows]
        return [
            GivenBack(pairs[pair][1].name, pairs[pair][0].name, cells, certain, blank)
            for pair, blank, cells, certain in sorted(figures)
        ]

    statement = Statement(engine.dialect.render(query), "cells that other columns give back", read, scans=2)
    found = [each for each in engine.run(statement, deadline) if each.cells]
    return tuple(sorted(found, key=lambda each: -each.cells))


def rows_of_query(dialect: Dialect, query: exp.Query, columns: Sequence[Column]) -> exp.Expr:
    """The rows of a query for a copy, with some of the columns in their comparable form."""
    return exp.select(*comparable_columns(dialect, columns)).from_(query.subquery("copied")).subquery(ALIAS)


def as_sentence(found: Sequence[GivenBack] | None) -> str:
    """The same for people who sign."""
    return f" But {found[0]}: leave {found[0].column} out, or protect it too." if found else ""


def in_the_headline(found: Sequence[GivenBack] | None) -> str:
    """What a headline adds about a copy whose columns give cells back; empty if none does."""
    if not found:
        return ""
    most, *others = found
    more = f" (and {plural(len(others), 'more pair')} of columns alike)" if others else ""
    return f", but {most}{more}: leave {most.column} out, or protect it too"
