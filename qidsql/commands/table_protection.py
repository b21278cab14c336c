"""The common part of the commands that suppress cells: the columns they work on, the copy they write, the account."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, TypeVar

from sqlglot import exp

from qidsql.column_roles.resolution import Columns, Resolved, columns_of, stated_columns
from qidsql.commands.table_search import TableSearch
from qidsql.core.copies import Script, by_rows, keeping
from qidsql.core.options import names
from qidsql.core.policy import Policy
from qidsql.core.results import LeftOut, SearchAccount
from qidsql.core.tables import FILES, Column, Role, Table, TableName, identifies
from qidsql.declarations.options import Names
from qidsql.engines.base import Engine
from qidsql.errors import Stopped, UsageError
from qidsql.generalization.hierarchies import dates_among
from qidsql.measures.disclosure_limits import limits_among
from qidsql.measures.profiles import ClassProfile
from qidsql.profiling.by_entity import profiler_for
from qidsql.profiling.profiler import TableProfiler
from qidsql.protection.copies import GivenBack, ProtectedCopy, given_back, planned_copy, rows_of_query
from qidsql.sql.copies import created, dbt_model
from qidsql.sql.disclosure import disclosing_profile
from qidsql.sql.relation import Relation

Kind = TypeVar("Kind")


@dataclass(frozen=True)
class Printed:
    """Statements that make a copy, printed instead of writing it: the rows that they make, and their columns."""

    statements: tuple[str, ...]
    rows: exp.Query
    columns: tuple[Column, ...]

    def given_back(
        self, protection: "TableProtection", cells: Mapping[str, int], deadline: float | None
    ) -> tuple[GivenBack, ...]:
        """The cells that unprotected columns of these rows give back. `cells` are blank, by column."""
        rows_with = partial(rows_of_query, protection.engine.dialect, self.rows)
        return protection.given_back(rows_with, cells, deadline, self.columns)


def printed(
    engine: Engine, script: Script, table: Table, ending: str, query: exp.Query, columns: tuple[Column, ...]
) -> Printed:
    """The statement that makes a copy with these rows, beside the table, or the dbt model. Raises UsageError."""
    dialect = engine.dialect
    refuse_files(table)
    if script is Script.DBT:
        return Printed((dbt_model(dialect, query),), query, columns)
    if script is Script.MATERIALIZED_VIEW and not dialect.materialized_views:
        raise UsageError(f"{dialect.name} has no materialized views; use --sql table")
    kind = script.replace("-", " ").upper()
    name = TableName(dialect.name_beside(table.name.name, ending), table.name.schema, table.name.catalog)
    return Printed(dialect.script(created(dialect, kind, name, query)), query, columns)


def refuse_files(table: Table) -> None:
    """Raises UsageError for a file, which no statement copies."""
    if table.kind in FILES:
        raise UsageError(f"a {table.kind} takes no statements; protect the file itself: --into writes a copy of it")


def until_stopped(work: Callable[[], Kind], result: Callable[[str], Kind]) -> Kind:
    """What the work returns; where it is stopped, the result so far with the reason."""
    try:
        return work()
    except Stopped as stop:
        return result(str(stop) or "stopped")
    except KeyboardInterrupt:
        return result("interrupted")


class CopyRequest(Protocol):
    """The options of a command that protects cells and can write a copy."""

    @property
    def table(self) -> str | None: ...

    @property
    def policy(self) -> Policy: ...

    @property
    def column_weights(self) -> Mapping[str, int]: ...

    @property
    def into(self) -> str | None: ...

    @property
    def replace(self) -> bool: ...

    @property
    def keep(self) -> Names: ...


class TableProtection:
    """One protection of one table. Reads the catalog on creation, and refuses a copy that cannot be written.

    `profiler` covers the columns whose cells may be suppressed, `copied` are the columns of the copy, `kept` those of
    them that are there on request alone, `not_copied` the others with the reason. Raises UsageError, UnknownName,
    AccessError, SourceError.
    """

    def __init__(
        self,
        engine: Engine,
        table: str | None,
        policy: Policy,
        weights: Mapping[str, int],
        into: str | None,
        replacing: bool,
        keep: Sequence[str] = (),
        stated: Sequence[LeftOut] | None = None,
    ) -> None:
        self._entity, self._known_rows = policy.entity, policy.known_rows
        self.persons: Column | None = None  # counted, as some have several rows
        policy = keeping(by_rows(policy), keep)

        def protected(table: Table) -> Columns:
            asked = columns_of(engine, table, policy, weights) if stated is None else None
            return (asked or stated_columns(table, policy, stated or ())).protected

        self._search = TableSearch(engine, table, policy, weights, protected)
        self.kept = () if self._search.stopped else tuple(each.name for each in self._search.table.resolve(keep))
        self.engine, self._policy, self._into, self._replacing = engine, policy, into, replacing
        self._counted: int | None = None
        self.table = self._search.table
        self.profiler: TableProfiler = self._search.profiler.by_value
        self._plan_copy()

    @classmethod
    def of(cls, engine: Engine, request: CopyRequest) -> "TableProtection":
        """That of a request, with its copy."""
        weights, keep = request.column_weights, names(request.keep)
        return cls(engine, request.table, request.policy, weights, request.into, request.replace, keep)

    @property
    def names(self) -> tuple[str, ...]:
        return self.profiler.names

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.table.resolve(self.names)

    @property
    def weights(self) -> list[int]:
        return list(self._search.weights)

    @property
    def counted(self) -> int:
        """The rows, as far as `recognise` has counted them."""
        return self._counted or 0

    def begin(self) -> None:
        """Raise the stop that ended the work while the catalog was read, if any."""
        self._search.begin()

    def counting(self, policy: Policy) -> Policy:
        """The policy by what is counted: persons of whom some have several rows, else rows."""
        return replace(policy, entity=self.persons.name if self.persons else None, known_rows=None)

    def recognise(self, on_stage: Callable[[str], None], *, several: bool = False) -> None:
        """Exclude the columns whose values identify directly, by the same rule whichever the way: none would be left.

        Dates stay, as years can be. Sends no statement if the request names the columns and none is named like the
        persons. `several`: the way counts persons of whom some have several rows, one of which is known. Raises
        UsageError, Stopped, StatementError.
        """
        several = several and self._known_rows is None
        if self._search.confirm_rows(self._entity, by_persons=False, several=several) and self._entity:
            self.persons = self.table.column(self._entity)
        if self._policy.columns or self._policy.keep_identifiers:
            return
        on_stage("profiling the columns")
        self._counted, nulls = self.profiler.counts()
        profiles = zip(self.names, self.profiler.singles(), nulls, strict=True)
        dates = dates_among(self.columns, self.engine.dialect)
        declared = set(map(str.lower, (*self._policy.quasi_identifiers, *dates)))
        found = [
            name
            for name, profile, missing in profiles
            if name.lower() not in declared and identifies(profile, missing, None)
        ]
        if len(found) == len(self.names):
            raise UsageError("every column is a direct identifier by its values; name those to keep with --column")
        reason = "recognised as a direct identifier (--keep-identifiers treats it as any other column)"
        self._search.leave_out(dict.fromkeys(found, Resolved(Role.DIRECT_IDENTIFIER, reason, proposed=True)))
        self.profiler = self._search.profiler.by_value
        self._plan_copy()

    def search_deadline(self, coding: float) -> float | None:
        """The end of a search for a plan, which leaves time for a copy and its audit, at most half of it: each takes
        about as long as the `coding` of the rows did, in seconds."""
        deadline = self.profiler.deadline
        if deadline is not None and self.copy is not None:
            deadline -= min(2 * coding, (deadline - time.monotonic()) / 2)
        return deadline

    def account(self, rows: int | None, unfinished: Sequence[str]) -> SearchAccount:
        """The account of the work so far."""
        found = self._search.account(self._counted if rows is None else rows, unfinished)
        return replace(found, policy=replace(found.policy, entity=self.persons.name)) if self.persons else found

    def given_back(
        self,
        rows_with: Callable[[Sequence[Column]], exp.Expr],
        cells: Mapping[str, int],
        deadline: float | None,
        copied: Sequence[Column] = (),
    ) -> tuple[GivenBack, ...]:
        """The cells of a copy that its unprotected columns give back (see there). `cells` are blank, by column."""
        blanked = [name for name, blank in cells.items() if blank]
        columns = copied or self.copied
        return given_back(self.engine, self.table, rows_with, columns, blanked, self.names, deadline)

    def audited(
        self,
        rows_with: Callable[[Sequence[Column]], exp.Expr],
        columns: Sequence[Column],
        policy: Policy,
    ) -> ClassProfile:
        """The classes of a copy, and what they disclose where the policy limits that. `columns` are the protected ones
        as the copy has them, `rows_with` returns its rows with some columns in their comparable form, `persons` too."""
        limits = limits_among(policy.criteria)
        sensitive = [self.table.column(each.sensitive).learned for each in limits]
        persons = (self.persons,) if self.persons else ()
        source = Relation(rows_with((*columns, *dict.fromkeys(sensitive), *persons)))
        entity = persons[0].name if persons else None
        profiler = profiler_for(self.engine, source, self.names, policy.k, entity)
        if not limits:
            return profiler.profile(profiler.everything)
        pairs = [(limit, column.name) for limit, column in zip(limits, sensitive, strict=True)]
        about = source, self.names, policy.k, pairs, entity
        [[profile]] = profiler.ask([disclosing_profile(self.engine.dialect, *about)])
        return profile

    def _plan_copy(self) -> None:
        """Decide the columns and the place of the copy: an impossible copy is refused before the work, not after it.

        Only protected and sensitive columns are copied, and those that the user keeps: any other one could give
        suppressed cells back.
        """
        columns = self._search.resolved
        self.not_copied, self.copied = columns.not_copied(self.kept), columns.copied(self.kept)
        self.copy: ProtectedCopy | None = None
        if self._into is not None and not self._search.stopped:
            self.copy = planned_copy(self.engine, self.table, self.copied, self._into, self._replacing)
