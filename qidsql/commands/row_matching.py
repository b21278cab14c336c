"""The common part of `link` and `risk --population`: rows to be published are matched with those of another table."""

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from qidsql.column_roles.resolution import columns_of
from qidsql.commands.table_search import (
    Accounting,
    confirmed,
    named_like_persons,
    rows_of_persons,
    say_what,
    table_profiler,
    unknown_table,
)
from qidsql.core.policy import MatchesRows, Policy
from qidsql.core.results import Account, LeftOut, Verdict
from qidsql.core.tables import Role, Table
from qidsql.engines.base import Engine
from qidsql.errors import Stopped
from qidsql.linkage.join_columns import (
    JoinColumns,
    Sides,
    columns_left_out,
    columns_to_join,
    joined_source,
    listed_sides,
    without_withheld,
)
from qidsql.sql.templates import Statement

Counts = TypeVar("Counts")


class RowMatching:
    """The work on one request: its two tables, the columns that are compared, and what is open about them."""

    def __init__(
        self, engine: Engine, request: MatchesRows, names: Sequence[str | None], on_stage: Callable[[str], None]
    ) -> None:
        self._accounting, self._engine, self._request = Accounting(engine), engine, request
        self._names, self._on_stage = names, on_stage
        seconds = request.policy.max_seconds
        self._deadline = None if seconds is None else time.monotonic() + seconds
        self._sides: Sides | None = None
        self._withheld: tuple[LeftOut, ...] = ()
        self.tables = [unknown_table(name) for name in names]
        self.columns = JoinColumns()

    def counted(
        self,
        other: Callable[[], Table],
        asked: Callable[..., Statement[Counts]],
        compared: Callable[[Sides], Sides] | None = None,
    ) -> Counts | None:
        """What a statement counts, which is made of the rows of both tables and of the pairs of values to match.

        None if there are no columns to compare, or a stop came before. `compared`: the tables without columns that are
        no values. Raises UsageError, UnknownName, AccessError, StatementError.
        """
        engine, request = self._engine, self._request
        self._on_stage("reading the catalog")
        try:
            published = engine.narrowed(engine.describe(self._names[0]), request.where)
            self.tables = [published, engine.narrowed(other(), None)]
            sides = listed_sides(engine, *self.tables)
            if not request.pairs:
                left_out = columns_of(engine, published, request.policy).left_out
                self._withheld = tuple(each for each in left_out if each.role is Role.DIRECT_IDENTIFIER)
                sides = without_withheld(sides, [each.name for each in self._withheld])
            self._sides = sides = compared(sides) if compared else sides
            self.columns = columns_to_join(
                engine, sides, request.pairs, request.max_statements, self._deadline, self._on_stage
            )
            if self.columns.pairs and not self.columns.unfinished:
                self._on_stage("counting rows by their matches")
                values = [pair.values(engine.dialect, sides) for pair in self.columns.pairs]
                return engine.run(asked(*map(joined_source, self.tables), values), self._deadline)
        except Stopped as stop:
            self.columns.unfinished.append(str(stop))
        except KeyboardInterrupt:
            self.columns.unfinished.append("interrupted")
        return None

    def judged(self, verdict: Verdict, reason: str, each_row: bool) -> tuple[Verdict, str]:
        """The verdict and its reason; no pass on columns left out by proposal, nor if each row of the other table is
        taken for a person and may be one of several of a person. One statement or two.
        """
        if (
            verdict is Verdict.PASS
            and each_row
            and (doubt := not_persons(self._engine, self.tables[1], self._request.policy))
        ):
            verdict, reason = Verdict.INCONCLUSIVE, f"{reason}, but {doubt}"
        return confirmed(verdict, reason, self._withheld)

    def account(self, rows: int | None) -> Account:
        notes = [f"{table.name}: {note}" for table in self.tables for note in table.notes]
        notes += () if self._sides is None else columns_left_out(self._sides, self.columns.pairs)
        notes += [f"{each.name} is not compared: {each.reason}" for each in self._withheld]
        unfinished = self.columns.unfinished
        return self._accounting.account(self.tables[0], self._request.policy, rows, 0, unfinished, notes)


def not_persons(engine: Engine, table: Table, policy: Policy) -> str:
    """Why the rows of a table of people may be fewer persons; empty if they are not. Raises StatementError."""
    readable = [column for column in table.columns if column.readable]
    try:
        found = named_like_persons(table_profiler(engine, table, readable, policy), table, policy, {})
    except Stopped as stop:
        return f"whether each row of {table.name} is another person was not examined: {stop}"
    return f"in {table.name}, {rows_of_persons(found[0])}. {say_what(None)}" if found else ""
