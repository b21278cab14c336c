"""What a row is: another person, or one of several of a person, where nobody has said which."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from qidsql.column_roles.proposal import TableEvidence, ValueCounts
from qidsql.column_roles.table_proposals import named_like, persons
from qidsql.core.catalog import CatalogColumn, CatalogTable
from qidsql.core.policy import Policy
from qidsql.core.tables import Column, Table
from qidsql.profiling.profiler import TableProfiler
from qidsql.sql.relation import relation


def named_like_persons(
    profiler: TableProfiler, table: Table, policy: Policy, measured: Mapping[str, ValueCounts]
) -> tuple[str, ...]:
    """The columns that are named like the persons and repeat, as far as nobody has confirmed what a row is.

    One statement for the columns that are named so and not `measured`, one more if they have fewer values than rows.
    Raises Stopped, StatementError.
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
    return tuple(persons(replace(listed, measured=counts), {}))


def repeats(profiler: TableProfiler, table: Table, name: str) -> bool:
    """Whether a column has fewer values than rows, NULLs among them, as far as it can be read.

    Raises UnknownName, Stopped, StatementError.
    """
    [column] = table.resolve([name])
    if not column.readable:
        return True
    alone = profiler.by_value.over(relation(profiler.engine.dialect, table, [column]), profiler.rows, [column.name])
    [profile], [nulls] = alone.singles(), alone.counts()[1]
    return nulls > 0 or profile.classes < profile.rows


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
