"""Profiles by entities: a class is as large as the number of distinct persons that have its rows."""

from collections.abc import Sequence
from dataclasses import replace

from qidsql.core.tables import Nulls
from qidsql.engines.base import Engine
from qidsql.measures.profiles import ClassProfile, ClassSizes
from qidsql.profiling.batches import ProfileStatement
from qidsql.profiling.by_match import ByMatch
from qidsql.profiling.by_value import ByValue
from qidsql.profiling.knowledge import Budget, Meter
from qidsql.profiling.profiler import TableProfiler
from qidsql.sql.classes import class_profiles, class_sizes, entity_profile
from qidsql.sql.relation import Relation
from qidsql.sql.templates import Statement

ENTITIES = 50_000  # rows; of fewer, it hardly matters whether entities or rows are counted


class ByEntity(TableProfiler):
    """The profiler of column sets whose classes are of distinct entities. By rows, where each entity has one."""

    def __init__(
        self,
        engine: Engine,
        source: Relation,
        names: Sequence[str],
        k: int,
        entity: str,
        rows: int | None = None,
        budget: Budget | None = None,
        meter: Meter | None = None,
    ) -> None:
        super().__init__(engine, source, names, k, rows, budget, meter)
        self.entity: str = entity

    def _like(self, source: Relation, names: Sequence[str], rows: int | None) -> "ByEntity":
        return ByEntity(self.engine, source, names, self.k, self.entity, rows, meter=self.meter)

    def narrowed(self, names: Sequence[str]) -> TableProfiler:
        other = super().narrowed(names)
        other.by_row = self.by_row and self.by_row.narrowed(names)
        return other

    def compare_entities(self) -> None:
        if (self.rows or 0) < ENTITIES:
            return
        [[entities]] = self.ask([class_profiles(self.engine.dialect, self.source, [(self.entity,)], self.k)])
        if entities.largest == 1:
            self.by_row = ByValue(self.engine, self.source, self.names, self.k, self.rows, meter=self.meter)

    def affords(self, masks: Sequence[int]) -> bool:
        return super().affords(masks) or (self.by_row is not None and self.by_row.affords(masks))

    def samples_classes(self) -> bool:
        return self.by_row is not None and self.by_row.samples_classes()

    def sampled(self, masks: Sequence[int], share: int) -> list[ClassProfile]:
        assert self.by_row is not None
        return self.by_row.sampled(masks, share)

    def singles(self) -> list[ClassProfile]:
        return super().singles() if self.by_row is None else self.profiles(self._known.singles)

    def sizes(self, mask: int, failures: int = 0) -> ClassSizes:
        if self.by_row is None or self._names(mask) in self._sizes:
            return super().sizes(mask, failures)
        sizes = replace(self.by_row.sizes(mask, failures), entities=True)
        self._known[mask] = sizes.profile(self.k)
        return sizes

    def _profile(self, masks: Sequence[int]) -> None:
        if self.by_row is None:
            super()._profile(masks)
        else:
            self._profiled_by_row(self.by_row, masks)

    def _profiled_by_row(self, by_row: "TableProfiler", masks: Sequence[int]) -> None:
        try:
            by_row.singles() if masks == self._known.singles else by_row.profiles(masks)
        finally:  # keep the results that came before the work had to end
            known = by_row.measured
            self._known.update({mask: replace(known[mask], entities=True) for mask in masks if mask in known})

    def _sizes_statement(self, mask: int) -> Statement[ClassSizes]:
        return class_sizes(self.engine.dialect, self.source, self._names(mask), self.entity)

    def _statements(self, masks: Sequence[int]) -> list[ProfileStatement]:
        dialect, source, k = self.engine.dialect, self.source, self.k
        return [([m], entity_profile(dialect, source, self._names(m), k, self.entity)) for m in masks]


def profiler_for(
    engine: Engine,
    source: Relation,
    names: Sequence[str],
    k: int,
    entity: str | None = None,
    rows: int | None = None,
    budget: Budget | None = None,
    nulls: Nulls = Nulls.EQUAL,
) -> TableProfiler:
    """The profiler of the relation: by its values, by entities if there is one, or where a NULL matches anything."""
    if entity is not None and nulls is Nulls.WILDCARD:
        raise ValueError("entities cannot be counted where a NULL matches anything")
    if entity is not None:
        return ByEntity(engine, source, names, k, entity, rows, budget)
    return (ByMatch if nulls is Nulls.WILDCARD else ByValue)(engine, source, names, k, rows, budget)
