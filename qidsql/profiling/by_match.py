"""Profiles where a NULL matches anything: there are no classes, and each row matches any number of others.

It first counts the NULLs of each column: column sets without any are profiled as usual.
"""

from collections.abc import Sequence
from typing import Any

from qidsql.core.tables import Nulls, positions
from qidsql.measures.profiles import ClassProfile, ClassSizes, MatchSizes, bin_starts
from qidsql.profiling.batches import ProfileStatement
from qidsql.profiling.by_value import ByValue
from qidsql.profiling.profiler import TableProfiler
from qidsql.sql.matching_rows import Domain, matching_profile, matching_sizes
from qidsql.sql.relation import Relation
from qidsql.sql.templates import Statement


class ByMatch(TableProfiler):
    """The profiler of column sets whose rows match each other."""

    nulls = Nulls.WILDCARD

    _domain: Domain | None = None  # facts that wildcard statements need
    _by_value: TableProfiler | None = None

    @property
    def by_value(self) -> TableProfiler:
        if self._by_value is None:
            self._by_value = ByValue(self.engine, self.source, self.names, self.k, self.rows, meter=self.meter)
        return self._by_value

    def _like(self, source: Relation, names: Sequence[str], rows: int | None) -> "ByMatch":
        return ByMatch(self.engine, source, names, self.k, rows, meter=self.meter)

    def narrowed(self, names: Sequence[str]) -> TableProfiler:
        other = super().narrowed(names)
        assert isinstance(other, ByMatch)
        other._domain, other._by_value = self._domain, self.by_value.narrowed(names)
        return other

    def over(self, source: Relation, rows: int | None, names: Sequence[str] = ()) -> TableProfiler:
        other = self._like(source, names or self.names, rows)
        if source.is_sample:
            other._domain = self._domain_facts()  # a part of the rows has no more values and no other NULLs
        return other

    def begin(self) -> None:
        """Nothing: what is asked depends on the counts."""

    def planned_first(self) -> list[Statement[Any]]:
        return super().planned_first()[:-1]

    def singles(self) -> list[ClassProfile]:
        return self.profiles(self._known.singles)

    def sizes(self, mask: int, failures: int = 0) -> ClassSizes:
        if self._holds_null(mask):
            return super().sizes(mask, failures)
        by_class = self.by_value.sizes(mask)
        self._known[mask] = by_class.profile(self.k).of_matches()
        return MatchSizes.of_classes(by_class, bin_starts(self.k)[-1])

    def _profile(self, masks: Sequence[int]) -> None:
        super()._profile(self._profiled_by_value(masks) if masks else [])

    def _profiled_by_value(self, masks: Sequence[int]) -> list[int]:
        """Profile the sets without NULLs, for which a wildcard changes nothing; return the others."""
        plain = [mask for mask in masks if not self._holds_null(mask)]
        try:
            self.by_value.profiles(plain)
        finally:  # keep the results that came before the work had to end
            known = self.by_value._known
            self._known.update({mask: known[mask].of_matches() for mask in plain if mask in known})
        done = set(plain)
        return [mask for mask in masks if mask not in done]

    def _domain_facts(self) -> Domain:
        """The facts that wildcard statements need: the counts, and the values of the columns with NULLs."""
        if self._domain is None:
            rows, nulls = self.counts()
            self.by_value.rows = rows
            wild = [place for place, number in enumerate(nulls) if number]
            profiles = self.by_value.profiles([1 << place for place in wild])
            values = {self.names[p]: profile.classes - 1 for p, profile in zip(wild, profiles, strict=True)}
            self._domain = Domain(rows, dict(zip(self.names, nulls, strict=True)), values)
        return self._domain

    def _holds_null(self, mask: int) -> bool:
        nulls = self._domain_facts().nulls
        return any(nulls[self.names[place]] for place in positions(mask))

    def _sizes_statement(self, mask: int) -> Statement[ClassSizes]:
        most = bin_starts(self.k)[-1]
        return matching_sizes(self.engine.dialect, self.source, self._names(mask), self._domain_facts(), most)

    def _statements(self, masks: Sequence[int]) -> list[ProfileStatement]:
        dialect, source, k = self.engine.dialect, self.source, self.k
        return [([m], matching_profile(dialect, source, self._names(m), k, self._domain_facts())) for m in masks]
