"""The tables of a source, the riskiest first: whom each singles out, what it says of them, what can be joined to it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from qidsql.column_roles.names import is_bare_number, words
from qidsql.column_roles.proposal import TableProposal, TableProposals
from qidsql.commands.tables.command import ListedTable, TableCounts
from qidsql.core.tables import Catalog, CatalogTable, PolicyRole, Table, TableName, names_of
from qidsql.engines.base import Engine
from qidsql.errors import AccessError, QidsqlError, StatementError, Stopped
from qidsql.measures.profiles import ClassProfile
from qidsql.search.hitting_sets import minimum_hitting_set
from qidsql.sql.classes import TableOverview, class_profiles, entity_profile, table_overview
from qidsql.sql.matching_rows import witness_rows
from qidsql.sql.relation import relation, rows_with_a_value
from qidsql.sql.templates import Statement
from qidsql.wording.texts import count, plural

Answer = TypeVar("Answer")

TABLES_AT_ONCE = 50  # tables whose statements are asked at once: of these all is known before the next ones are read
ALONE = 2  # k: whoever is below it is alone
ROWS_COMPARED = 8  # rows that are compared with all others
DIFFERENCES = 100_000  # that differ in other columns, at most
ROWS_OF_RANKING = 1_000_000  # rows; of more, these are too many


def ranked(
    engine: Engine,
    catalog: Catalog,
    listed: Sequence[ListedTable],
    on_stage: Callable[[str], None],
    counted: Sequence[ListedTable] = (),
) -> tuple[list[ListedTable], str]:
    """The tables with their counts, the riskiest first; those that were not read at the end, with the reason. And why
    the work ended before all were read; empty if it did not.

    Three statements a table at most, on all sessions side by side: one scan for its rows and the columns that have
    nearly a value for each of them, then the classes of the quasi-identifiers that `init` would propose, then, where
    somebody is alone, a few such rows beside all classes. Tables about persons by the names of their columns come
    first. None for a table that was `counted` earlier, with these columns.
    """
    return _Ranking(engine, catalog, listed, on_stage, counted).ranked()


class _Ranking:
    """The ranking of the tables of one source."""

    def __init__(
        self,
        engine: Engine,
        catalog: Catalog,
        listed: Sequence[ListedTable],
        on_stage: Callable[[str], None],
        counted: Sequence[ListedTable],
    ) -> None:
        self._engine, self._on_stage = engine, on_stage
        self._found = {each.table: each for each in listed}
        proposals = TableProposals(catalog)
        every = {each.name: proposals.of(each) for each in catalog.tables}
        self._proposed = {name: every[name] for name in self._found}
        self._joined = _joined(proposals, every)
        self._take_over(counted)
        self._described: dict[TableName, Table] = {}
        self._waiting: set[TableName] = set()
        self._listed = sorted((each for each in catalog.tables if each.name in self._found), key=self._promise)

    def _take_over(self, counted: Sequence[ListedTable]) -> None:
        earlier = {str(each.table): each for each in counted}  # a name in a document is without its database
        for name, there in self._found.items():
            each = earlier.get(str(name))
            if each is not None and each.counts is not None and each.columns == there.columns:
                self._found[name] = replace(there, counts=replace(each.counts, joined=self._joined[name]))

    def _promise(self, table: CatalogTable) -> tuple[bool, int]:
        """First those with most columns that may identify a person."""
        proposed = self._proposed[table.name]
        personal = (PolicyRole.DIRECT_IDENTIFIER, PolicyRole.QUASI_IDENTIFIER)
        return proposed.of_things, -sum(each.role in personal for each in proposed.columns)

    def ranked(self) -> tuple[list[ListedTable], str]:
        stopped = ""
        try:
            for start in range(0, len(self._listed), TABLES_AT_ONCE):
                part = self._listed[start : start + TABLES_AT_ONCE]
                so_far = f"{count(start)} of {plural(len(self._listed), 'table')} done"
                self._on_stage(f"counting rows; {so_far}")
                self._ask(self._overviews(part), self._counted)
                self._on_stage(f"counting whom they single out; {so_far}")
                self._ask(self._profiles(part), self._singled_out)
                self._on_stage(f"looking for few columns that single somebody out; {so_far}")
                self._ask(self._rare_rows(part), self._singled_out_by)
        except Stopped as stop:
            stopped = str(self._engine.stopped_by or stop)
            for name, each in self._found.items():
                unread = each.counts is None or (self._may_identify(name) and each.counts.alone is None)
                unread = unread or name in self._waiting
                if unread and not each.obstacle:
                    self._found[name] = replace(each, obstacle=f"not reached: {stopped}")
        found = self._found.values()
        return sorted(found, key=lambda each: each.counts.rank if each.counts else (-1,), reverse=True), stopped

    def _may_identify(self, name: TableName) -> bool:
        """Whether a counted table is about persons, by the names of its columns."""
        counts = self._found[name].counts
        return counts is not None and bool(counts.quasi_identifiers) and not self._proposed[name].of_things

    def _overviews(self, part: Sequence[CatalogTable]) -> dict[TableName, Statement[TableOverview]]:
        """The statement that counts rows and values of each table; a table that cannot be read gets its obstacle."""
        asked = {}
        for listed in part:
            if self._found[listed.name].counts is not None:
                continue
            try:
                table = self._engine.describe_listed(listed)
            except Stopped:
                raise
            except QidsqlError as error:
                self._found[listed.name] = replace(self._found[listed.name], obstacle=str(error))
                continue
            columns = [each for each in table.columns if each.readable]
            if columns:
                self._described[listed.name] = table
                rows = relation(self._engine.dialect, table, columns)
                asked[listed.name] = table_overview(self._engine.dialect, rows, tuple(each.name for each in columns))
        return asked

    def _described_as(self, listed: CatalogTable) -> Table:
        """One that was counted before."""
        if listed.name not in self._described:
            self._described[listed.name] = self._engine.describe_listed(listed)
        return self._described[listed.name]

    def _counted(self, name: TableName, overview: TableOverview) -> None:
        proposed = self._proposed[name]
        distinct = overview.rows if overview.distinct_rows is None else min(overview.rows, overview.distinct_rows)
        identifiers = tuple(overview.identifiers)
        unknown = {each.column for each in proposed.columns if each.doubt}  # a number of the row, most likely
        self._found[name] = replace(
            self._found[name],
            counts=TableCounts(
                rows=overview.rows,
                distinct_rows=distinct,
                identifiers=identifiers,
                quasi_identifiers=tuple(
                    each
                    for each in _columns(proposed, PolicyRole.QUASI_IDENTIFIER)
                    if each in overview.present and not (each in identifiers and each in unknown)
                ),
                entity=proposed.entity if proposed.entity in overview.present else None,
                sensitive=_columns(proposed, PolicyRole.SENSITIVE),
                joined=self._joined[name],
            ),
        )

    def _profiles(self, part: Sequence[CatalogTable]) -> dict[TableName, Statement[list[ClassProfile]]]:
        """The statement that counts the classes of each table about persons."""
        asked: dict[TableName, Statement[list[ClassProfile]]] = {}
        for listed in part:
            counts = self._found[listed.name].counts
            if counts is None or counts.alone is not None or not self._may_identify(listed.name):
                continue
            table, dialect = self._described_as(listed), self._engine.dialect
            names = (*counts.quasi_identifiers, *([counts.entity] if counts.entity else []))
            rows = relation(dialect, table, [table.column(each) for each in names])
            if counts.entity is None:
                asked[listed.name] = class_profiles(dialect, rows, [counts.quasi_identifiers], ALONE)
            else:
                known = rows_with_a_value(rows, names, counts.entity)  # a row of nobody may be of anybody
                asked[listed.name] = entity_profile(dialect, known, counts.quasi_identifiers, ALONE, counts.entity)
        return asked

    def _singled_out(self, name: TableName, found: list[ClassProfile]) -> None:
        [profile] = found
        each = self._found[name]
        assert each.counts is not None
        counts = replace(each.counts, alone=profile.rows_below_k, persons=profile.rows)
        self._found[name] = replace(each, counts=counts)

    def _rare_rows(self, part: Sequence[CatalogTable]) -> dict[TableName, Statement[list[dict[int, int]]]]:
        """The statement that compares a few rows with all others, of tables of rows that are not too many."""
        asked, dialect = {}, self._engine.dialect
        for listed in part:
            counts = self._found[listed.name].counts
            if counts is None or not counts.alone or counts.alone_by or counts.entity or counts.rows > ROWS_OF_RANKING:
                continue
            table = self._described_as(listed)
            rows = relation(dialect, table, [table.column(each) for each in counts.quasi_identifiers])
            asked[listed.name] = witness_rows(
                dialect, rows, counts.quasi_identifiers, ALONE, ROWS_COMPARED, DIFFERENCES
            )
        self._waiting = set(asked)
        return asked

    def _singled_out_by(self, name: TableName, witnesses: list[dict[int, int]]) -> None:
        """Whoever differs from each other row in one of the columns is alone with them."""
        self._waiting.discard(name)
        each = self._found[name]
        assert each.counts is not None
        names = each.counts.quasi_identifiers
        found = (minimum_hitting_set([*filter(None, masks)], [1] * len(names)).mask for masks in witnesses)
        fewest = min(found, key=lambda mask: (mask.bit_count(), mask), default=0)
        if fewest:
            self._found[name] = replace(each, counts=replace(each.counts, alone_by=names_of(fewest, names)))

    def _ask(self, asked: Mapping[TableName, Statement[Answer]], keep: Callable[[TableName, Answer], None]) -> None:
        """Asks all, and keeps each answer; a table whose statement fails gets the reason. Raises Stopped."""
        left = list(asked)

        def answered(name: TableName, answer: Answer) -> None:
            keep(name, answer)
            left.remove(name)

        while now := list(left):
            try:
                self._engine.run_many([asked[each] for each in now], keep=lambda n, answer: answered(now[n], answer))
            except (StatementError, AccessError):  # one of them; the others are asked again, the first alone
                first = left[0]
                try:
                    answered(first, self._engine.run(asked[first]))
                except (StatementError, AccessError) as error:
                    left.remove(first)
                    self._found[first] = replace(self._found[first], obstacle=str(error))


def _columns(proposed: TableProposal, role: PolicyRole) -> tuple[str, ...]:
    """The columns of this role that can be read, but for that of the persons."""
    readable = (each for each in proposed.columns if each.readable and each.column != proposed.entity)
    return tuple(each.column for each in readable if each.role is role)


def _joined(proposals: TableProposals, every: Mapping[TableName, TableProposal]) -> dict[TableName, tuple[str, ...]]:
    """The tables that can be joined to each: by a key, or by a column of the same name that identifies persons in both.
    A bare number, such as id, is another person in each."""
    named: dict[str, set[TableName]] = {}
    found: dict[TableName, set[TableName]] = {name: set() for name in every}
    for name, table in every.items():
        for each in table.columns:
            identifies = each.role is PolicyRole.DIRECT_IDENTIFIER or each.column == table.entity
            if identifies and not is_bare_number(words(each.column)):
                named.setdefault(each.column.lower(), set()).add(name)
        for other in proposals.referred(name):
            found[name].add(other)
            found[other].add(name)
    for tables in named.values():
        for name in tables:
            found[name] |= tables
    return {name: tuple(str(each) for each in sorted(others - {name})) for name, others in found.items()}
