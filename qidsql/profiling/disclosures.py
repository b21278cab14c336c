"""Measures what the audited columns disclose about the sensitive ones."""

from collections.abc import Iterator, Mapping

from qidsql.core.disclosure import Disclosed
from qidsql.core.tables import Nulls, Role, Table
from qidsql.profiling.profiler import TableProfiler
from qidsql.sql.disclosure import disclosure
from qidsql.sql.relation import relation


def disclosures(profiler: TableProfiler, table: Table, roles: Mapping[str, tuple[Role, str]]) -> Iterator[Disclosed]:
    """What the profiler's columns disclose about each sensitive column that this user can read, one at a time.

    With several, each also to whoever knows the others: only then does the protection of each hold for all together
    [Machanavajjhala et al. 2006]. One statement and one scan for each. Nothing where a NULL matches anything: there are
    no classes then. Raises as `TableProfiler.ask`.
    """
    columns = [column for column in table.columns if roles[column.name][0] is Role.SENSITIVE and column.readable]
    if profiler.nulls is Nulls.WILDCARD or not columns:
        return
    dialect, sensitive = profiler.engine.dialect, [column.name for column in columns]
    others = dict.fromkeys((*profiler.names, *((profiler.entity,) if profiler.entity else ())))
    source = relation(dialect, table, (*(table.column(name) for name in others), *(each.learned for each in columns)))
    for name in sensitive:
        more = (each for each in sensitive if each != name)
        for known in dict.fromkeys((tuple(profiler.names), (*profiler.names, *more))):
            [figures] = profiler.ask([disclosure(dialect, source, known, name, profiler.k, profiler.entity)])
            yield Disclosed(sensitive=name, known=known, figures=figures)
