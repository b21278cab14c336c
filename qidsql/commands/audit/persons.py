"""What a row is: another person, or one of several of a person, where nobody has said which.

A pass by rows counts only if no column that is named like the persons repeats, or if the table also passes by each such
column. An entity confirms what a row is: a column, or "row".
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from qidsql.column_roles.proposal import TableEvidence, ValueCounts
from qidsql.column_roles.table_proposals import named_like, persons
from qidsql.commands.audit.result import Persons
from qidsql.core.catalog import CatalogColumn, CatalogTable
from qidsql.core.policy import Policy
from qidsql.core.tables import Column, Nulls, Table
from qidsql.errors import UsageError
from qidsql.profiling.disclosing import disclosing
from qidsql.profiling.profiler import TableProfiler
from qidsql.sql.classes import column_counts
from qidsql.sql.relation import relation


def unconfirmed_persons(
    profiler: TableProfiler,
    table: Table,
    policy: Policy,
    published: Sequence[str],
    measured: Mapping[str, ValueCounts],
) -> tuple[Persons, ...]:
    """The columns that may identify the persons, as far as nobody has confirmed what a row is.

    One statement for the columns that are named so and not `measured`, one more if they have fewer values than rows,
    and two for each that repeats and is not `published`. Raises Stopped, StatementError.
    """
    if policy.entity is not None or policy.each_row:
        return ()
    columns = tuple(CatalogColumn(each.name, each.type, base=each.base) for each in table.columns)
    listed = TableEvidence(CatalogTable(table.name, table.kind, columns))
    named = {each.name for each in columns if named_like(listed, each)[0] is not None}
    if not named:
        return ()
    left = [each for each in table.columns if each.name in named - {*measured} and each.readable]
    counts = {**measured, **_counted(profiler, table, left)}
    return tuple(
        _in_persons(profiler, table, policy, published, name) for name in persons(replace(listed, measured=counts), {})
    )


def _counted(profiler: TableProfiler, table: Table, columns: Sequence[Column]) -> dict[str, ValueCounts]:
    if not columns:
        return {}
    source = relation(profiler.engine.dialect, table, columns)
    alone = profiler.by_value.over(source, profiler.rows, [each.name for each in columns])
    profiles = alone.singles()
    unique = all(each.classes == each.rows for each in profiles)
    nulls = (0,) * len(columns) if unique else alone.counts()[1]
    return {
        name: ValueCounts(profile, missing) for name, profile, missing in zip(alone.names, profiles, nulls, strict=True)
    }


def _in_persons(
    profiler: TableProfiler, table: Table, policy: Policy, published: Sequence[str], column: str
) -> Persons:
    """The column, with the classes of the published columns counted in its values."""
    if column in published or policy.nulls != Nulls.EQUAL or not table.column(column).readable:
        return Persons(column)
    try:
        replace(policy, entity=column)
    except UsageError:  # a requirement measures rows
        return Persons(column)
    dialect = profiler.engine.dialect
    source = relation(dialect, table, table.resolve([*published, column]))
    counting = profiler.over(source, profiler.rows, published, column)
    limited = disclosing(counting, table, policy.criteria)
    profile = limited.profile(limited.everything)
    [(_, (unnamed,))] = counting.ask([column_counts(dialect, source, (column,))])
    return Persons(column, profile, unnamed)
