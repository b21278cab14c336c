"""The claims of uniques, checked on the codes of the rows: the combinations are counted anew by their definition.

On each column set of up to the size that was searched, or, if those are too many, on the listed ones alone.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from qidsql.commands.table_search import TableSearch
from qidsql.commands.uniques.command import Scores, UniquesResult
from qidsql.commands.uniques.uniques import FRACTION, keys_of
from qidsql.commands.verify.column_sets import masks_of
from qidsql.commands.verify.command import CODED, Claim, Holds, held, same
from qidsql.core.copies import names_a_file
from qidsql.core.tables import Nulls
from qidsql.engines.base import Engine
from qidsql.engines.connect import connect
from qidsql.errors import AccessError, SourceError, UsageError
from qidsql.protection.row_patterns import RowPatterns
from qidsql.wording.texts import plural

if TYPE_CHECKING:
    from qidsql.protection.uniques.algorithms import UniquesByDefinition
    from qidsql.protection.uniques.minimal_uniques import UniqueCounts


class CombinationClaims:
    """The claims of one result of uniques. `rows` are those of the table, once they are coded."""

    def __init__(
        self, claimed: UniquesResult, search: TableSearch, engine: Engine, on_stage: Callable[[str], None]
    ) -> None:
        self._claimed, self._search, self._engine, self._on_stage = claimed, search, engine, on_stage
        self._names = search.profiler.names
        policy = claimed.account.policy
        self._k, self._wildcard = policy.k, policy.nulls == Nulls.WILDCARD
        self._largest = min(policy.max_size or len(self._names), len(self._names))
        self.rows: int | None = None

    @property
    def rule(self) -> str:
        return f"combinations that fewer than {self._k} rows share"

    def checked(self) -> Iterator[Claim]:
        """Each claim, as soon as it is checked. Raises UsageError, Stopped, StatementError."""
        from qidsql.protection.uniques.algorithms import UniquesByDefinition

        claimed = self._claimed
        if claimed.account.columns != self._names:
            raise UsageError("the columns of the table are no longer in the order of the result; search it again")
        self._on_stage("coding the rows")
        with RowPatterns.of(self._search.profiler) as patterns:
            self.rows = patterns.rows
            rows = {"rows": (claimed.account.rows, patterns.rows), "k": (claimed.k, self._k)}
            yield same("it is about all rows of the table", rows, f"counted {CODED}")
            if not patterns.rows:
                return
            if claimed.account.unfinished or claimed.account.rows != patterns.rows:
                yield Claim("the combinations", Holds.UNKNOWN, "the search did not finish, or not on these rows")
                return
            yield self._progress(patterns.rows)
            if claimed.into is not None or claimed.values_listed:
                yield self._of_values()
            unique = UniquesByDefinition(patterns.records(), self._k, self._largest, self._wildcard)
            if unique.countable:
                yield from self._of_all(patterns, unique)
            else:
                yield from self._of_listed(unique, patterns)

    def _progress(self, rows: int) -> Claim:
        claimed = self._claimed
        figures = {
            "rows_looked_at": (claimed.rows_looked_at, rows),
            "complete_to_size": (claimed.complete_to_size, self._largest),
            "complete": (claimed.complete, self._largest == len(self._names)),
        }
        return same(f"all rows and all sets {self._upto} were searched", figures, "as the policy asks")

    def _of_values(self) -> Claim:
        """Whether the list has values, by its columns."""
        claim = f"the list has {'' if self._claimed.values_listed else 'no '}values"
        columns = None if self._claimed.into is None else self._columns_of(self._claimed.into)
        if columns is None and self._claimed.into is not None:
            return Claim(claim, Holds.UNKNOWN, "the list is not there to be looked at")
        return Claim(claim, held(self._claimed.values_listed == ("values" in (columns or ()))), "by its columns")

    def _columns_of(self, into: str) -> list[str] | None:
        """The columns of the list; None if it cannot be looked at."""
        with suppress(AccessError, SourceError, UsageError):
            if not names_a_file(into):
                return [column.name for column in self._engine.describe(into).columns]
            with connect(into) as engine:
                return [column.name for column in engine.describe(None).columns]
        return None

    @property
    def _upto(self) -> str:
        return f"of up to {plural(self._largest, 'column')}"

    def _of_all(self, patterns: RowPatterns, unique: "UniquesByDefinition") -> Iterator[Claim]:
        from qidsql.commands.uniques.uniques import figures_of
        from qidsql.protection.uniques.minimal_uniques import UniqueCounts

        claimed, profiler = self._claimed, self._search.profiler
        self._on_stage(f"counting combinations on each column set {self._upto}")
        counts = UniqueCounts(patterns.records(), self._largest)
        for records, mask in unique:
            profiler.check_time()
            counts.add(records, mask)
        found = figures_of(self._names, counts, len(claimed.column_sets))
        figures = {name: (getattr(claimed, name), value) for name, value in found.items()}
        how = f"counted anew on all {plural(unique.sets, 'column set')} {self._upto}, by the definition"
        yield same("its combinations are those of the table, and there are no others", figures, how)
        if claimed.scores is not None:
            yield self._of_scores(claimed.scores, patterns, counts)
        if claimed.listed is not None:
            lines = counts.combinations if claimed.key is not None else int(counts.by_record.sum())
            how = "from these counts; the list itself is not read"
            yield same("the list has a line for each of them", {"listed": (claimed.listed, lines)}, how)

    def _of_scores(self, scores: Scores, patterns: RowPatterns, counts: "UniqueCounts") -> Claim:
        from qidsql.commands.uniques.uniques import scores_of

        keys = None
        if any(each.key is not None for each in scores.top):
            keys = keys_of(self._search, str(self._claimed.key), patterns)
        fraction = scores.sampling_fraction or FRACTION
        found = scores_of(scores.kind, fraction, len(scores.top), counts, keys)
        return same(
            f"the {scores.kind.upper()} scores follow", {"scores": (scores, found)}, "computed from these counts"
        )

    def _of_listed(self, unique: "UniquesByDefinition", patterns: RowPatterns) -> Iterator[Claim]:
        """The column sets that are listed."""
        claimed, sizes = self._claimed, patterns.records().sizes
        self._on_stage(f"counting combinations on {plural(len(claimed.column_sets), 'column set')}")
        found = []
        for mask in masks_of(self._names, [each.columns for each in claimed.column_sets]):
            self._search.profiler.check_time()
            found.append(int(sizes[unique.minimal(mask)].sum()))
        figures = {"column_sets": (tuple(each.combinations for each in claimed.column_sets), tuple(found))}
        yield same("the listed column sets have so many combinations", figures, "counted anew, by the definition")
        how = f"too many column sets {self._upto} to count anew"
        yield Claim("its combinations are those of the table, and there are no others", Holds.UNKNOWN, how)
