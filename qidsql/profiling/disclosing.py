"""Profiles column sets with what their classes disclose about sensitive columns."""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from qidsql.core.recodings import read_hierarchy
from qidsql.core.results import Disclosed
from qidsql.core.tables import Nulls, Table
from qidsql.errors import UsageError
from qidsql.measures.criteria import Criterion
from qidsql.measures.disclosure_limits import DisclosureLimit, DistantInOrder, limits_among
from qidsql.profiling.batches import ProfileStatement
from qidsql.profiling.by_entity import ByEntity
from qidsql.profiling.by_value import ByValue
from qidsql.profiling.profiler import TableProfiler
from qidsql.sql.disclosure import disclosing_profile, disclosure, texts_among, values_outside
from qidsql.sql.relation import Relation, relation
from qidsql.sql.templates import ColumnNames
from qidsql.wording.texts import plural, setting


class DisclosingProfiler(TableProfiler):
    """Profiles the same columns over the same rows, on the same budget; each profile has the figures of the limits.

    One statement per column set, with a scan for each limit.
    """

    _limits: Sequence[tuple[DisclosureLimit, str]]  # each with its column

    def foresee(self, sets: Sequence[ColumnNames]) -> None:
        """Nothing: statements about many sets tell no figures of the limits."""

    def foresee_sizes(self, names: Sequence[str], others: Sequence[str]) -> None:
        """Nothing: sizes tell no figures of the limits."""

    def check_values(self) -> None:
        """Raise UsageError if a hierarchy, or an order, lacks values of its column. A statement for each. Raises as
        `ask`."""
        for limit, sensitive in self._limits:
            if limit.hierarchy is not None:
                values, null = self._outside(sensitive, [text for text, _ in read_hierarchy(limit.hierarchy).nodes])
                also = ", NULL among them: leave these rows out (--where)" if null else ": add a line for each"
                file = f"{setting('hierarchy')} {Path(limit.hierarchy).name}"
                if values:
                    raise UsageError(f"{file} lacks {plural(values, 'value')} of {sensitive}{also}")
            if isinstance(limit, DistantInOrder) and limit.listed is not None:
                values, null = self._outside(sensitive, limit.listed)  # NULL has its place: the last
                if values - null:
                    lacking = plural(values - null, "value")
                    raise UsageError(f"{setting('order')} lacks {lacking} of {sensitive}: name each in its place")

    def _outside(self, sensitive: str, listed: Sequence[str]) -> tuple[int, int]:
        [found] = self.ask([values_outside(self.engine.dialect, self.source, sensitive, listed)])
        return found

    def check_texts(self) -> None:
        """Raise UsageError if a column whose order counts holds texts, where its type does not exclude them. A
        statement for each. Raises as `ask`."""
        for limit, sensitive in self._limits:
            if limit.by_order and self.engine.dialect.texts_among is not None:
                [texts] = self.ask([texts_among(self.engine.dialect, self.source, sensitive)])
                if texts:
                    raise _without_order(sensitive, f"has {plural(texts, 'value')} that are texts")

    def _single_statements(self, masks: Sequence[int]) -> list[ProfileStatement]:
        return self._statements(masks)

    def _statements(self, masks: Sequence[int]) -> list[ProfileStatement]:
        return [
            (
                [m],
                disclosing_profile(self.engine.dialect, self.source, self._names(m), self.k, self._limits, self.entity),
            )
            for m in masks
        ]


class DisclosingByValue(DisclosingProfiler, ByValue):
    """Of classes of rows."""

    def _has_a_hash_per_row(self) -> bool:
        return False


class DisclosingByEntity(DisclosingProfiler, ByEntity):
    """Of classes of distinct entities."""


def disclosing_profiler(
    profiler: TableProfiler, table: Table, limits: Sequence[DisclosureLimit], source: Relation | None = None
) -> DisclosingProfiler:
    """A profiler that also measures the limits. `source`: other rows with these columns, instead of the table's."""
    sensitive = [table.column(each.sensitive).name for each in limits]
    entity = (profiler.entity,) if profiler.entity else ()
    names = dict.fromkeys((*profiler.names, *entity, *sensitive))
    columns = [table.column(name).learned if name in sensitive else table.column(name) for name in names]
    rows = source or relation(profiler.engine.dialect, table, columns)
    about = profiler.engine, rows, profiler.names, profiler.k
    found: DisclosingProfiler
    if profiler.entity is None:
        found = DisclosingByValue(*about, profiler.rows, meter=profiler.meter)
    else:
        found = DisclosingByEntity(*about, profiler.entity, profiler.rows, meter=profiler.meter)
    found._limits = list(zip(limits, sensitive, strict=True))
    return found


def disclosing(profiler: TableProfiler, table: Table, criteria: Sequence[Criterion]) -> TableProfiler:
    """The profiler itself, or one that also measures the limits on disclosure among the criteria, if there are any.

    Raises UnknownName, UsageError if a sensitive column is one of the profiler's, or has no order that a limit needs.
    """
    limits = limits_among(criteria)
    for each in limits:
        if table.column(each.sensitive).name in profiler.names:
            raise UsageError(f"{each.sensitive} is searched itself; leave it out to search for what discloses it")
        column = table.column(each.sensitive)
        if each.by_order and profiler.engine.dialect.texts_among is None and not column.learned.in_order:
            raise _without_order(column.name, f"is {column.type}")
    if not limits:
        return profiler
    found = disclosing_profiler(profiler, table, limits)
    found.check_texts()
    found.check_values()
    return found


def _without_order(sensitive: str, why: str) -> UsageError:
    """Texts are in the order of their letters, 100 before 11, so classes far apart can seem close."""
    return UsageError(
        f"{setting('t_ordered')} needs the order of the values, and {sensitive} {why}, which the engine puts in order "
        f"by letters, 100 before 11; name it with {setting('order')}, cast it to a number, a date or an enum in a "
        f"view, or use {setting('t_closeness')}, which needs no order"
    )


# Measures what the audited columns disclose about the sensitive ones.


def disclosures(profiler: TableProfiler, table: Table, about: Collection[str]) -> Iterator[Disclosed]:
    """What the profiler's columns disclose about each of these sensitive columns that this user can read, one by one.

    With several, each also to whoever knows the others: only then does the protection of each hold for all together
    [Machanavajjhala et al. 2006]. One statement and one scan for each. Nothing where a NULL matches anything: there are
    no classes then. Raises as `TableProfiler.ask`.
    """
    columns = [column for column in table.columns if column.name in about and column.readable]
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
