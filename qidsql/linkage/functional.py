"""Functional dependencies inside a table: A determines B when no two rows agree on A and differ on B, which is when A
has as many classes as A and B together. NULL is one more value, as in GROUP BY."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

from qidsql.catalog import Attribute, Dependency
from qidsql.engines.base import Engine
from qidsql.errors import BudgetSpent, Stopped
from qidsql.figures import count, plural
from qidsql.measures import ClassProfile
from qidsql.schema import Table
from qidsql.sql.relation import Relation, relation
from qidsql.sql.statements import ColumnNames, class_profiles

K = 2  # of the profiles: only their classes are used


@dataclass(frozen=True, slots=True)
class Determined:
    """The dependencies found between single columns, and what it took."""

    dependencies: tuple[Dependency, ...]
    statements: int = 0
    unfinished: tuple[str, ...] = ()


def discovered(
    engine: Engine,
    table: Table,
    columns: Sequence[str] | None = None,
    *,
    max_statements: int | None = None,
    deadline: float | None = None,
) -> Determined:
    """The dependencies A -> B between single columns of a table: d(A) = d(A, B).

    A key determines every column and a constant is determined by every column: neither says anything, and they are
    left out. A class profile per column and per pair that can be a dependency (d(B) <= d(A)), several to a statement
    on small tables. A stop does not raise: `unfinished` says what is open. Raises UnknownName.
    """
    asked = engine.asked
    chosen = [c for c in (table.columns if columns is None else table.resolve(columns)) if c.readable]
    source = relation(engine.dialect, table, chosen)
    names = [column.name for column in chosen]
    found: list[Dependency] = []
    unfinished: list[str] = []
    ask = _Asking(engine, source, table.estimated_rows, max_statements, deadline)
    try:
        single = dict(zip(names, ask.profiles([(name,) for name in names]), strict=True))
        telling = [name for name in names if 1 < single[name].classes < single[name].rows]
        pairs = [(a, b) for a, b in permutations(telling, 2) if single[b].classes <= single[a].classes]
        together: dict[frozenset[str], int] = {}
        for pair in pairs:
            together.setdefault(frozenset(pair), 0)
        sets = [tuple(sorted(pair)) for pair in together]
        for names_of, profile in zip(sets, ask.profiles(sets), strict=True):
            together[frozenset(names_of)] = profile.classes
        for a, b in pairs:
            if together[frozenset((a, b))] == single[a].classes:
                detail = f"{plural(single[a].classes, 'value')} of {a}, and {count(single[a].classes)} of {a} with {b}"
                found.append(Dependency((Attribute(table.name, a),), Attribute(table.name, b), detail))
    except Stopped as stop:
        unfinished.append(f"dependencies inside {table.name} were not all looked for: {stop}")
    return Determined(tuple(found), engine.asked - asked, tuple(unfinished))


class _Asking:
    """Class profiles of many column sets of one table, under a budget of statements."""

    def __init__(
        self, engine: Engine, source: Relation, rows: int | None, max_statements: int | None, deadline: float | None
    ) -> None:
        self._engine = engine
        self._source = source
        small = rows is not None and rows <= engine.dialect.union_rows
        self._several = engine.dialect.union_sets if small else 1
        self._left = max_statements
        self._deadline = deadline

    def profiles(self, sets: Sequence[ColumnNames]) -> list[ClassProfile]:
        """The profiles in the order of the sets. Raises BudgetSpent before asking when the budget is too small."""
        batches = [sets[start : start + self._several] for start in range(0, len(sets), self._several)]
        if self._left is not None:
            if len(batches) > self._left:
                raise BudgetSpent("the budget of statements (--max-statements) is used up")
            self._left -= len(batches)
        statements = [class_profiles(self._engine.dialect, self._source, batch, K) for batch in batches]
        answers = self._engine.run_many(statements, self._deadline)
        return [profile for answer in answers for profile in answer]
