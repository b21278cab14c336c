"""The minimal unsafe value combinations of a table, counted and scored."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qidsql.commands import gate
from qidsql.commands.table_search import TableSearch, one_answer
from qidsql.commands.uniques.command import (
    ColumnUniques,
    RecordScore,
    ScoreBin,
    ScoreKind,
    Scores,
    SetUniques,
    UniquesRequest,
    UniquesResult,
    judged,
)
from qidsql.core.results import Verdict
from qidsql.core.tables import Nulls, names_of
from qidsql.engines.base import Engine
from qidsql.errors import Stopped
from qidsql.protection.copies import ProtectedCopy, planned_copy
from qidsql.protection.row_patterns import RowPatterns
from qidsql.protection.uniques.listing import RecordKeys, UniquesList, check_file
from qidsql.protection.uniques.minimal_uniques import UniqueCounts, contributions, dis_scores, suda_scores
from qidsql.wording.texts import count, plural

if TYPE_CHECKING:
    from qidsql.protection.uniques.minimal_uniques import MinimalUniques, UniqueCounts


# The figures of a result of `uniques` from the counted combinations: sums by size, column, set and row, and scores.


DIS_ENDS = tuple(tenth / 10 for tenth in range(8))


def figures_of(names: tuple[str, ...], counts: UniqueCounts, most: int) -> dict[str, Any]:
    """The counts, with at most so many column sets."""
    in_all, top = counts.top_sets(most)
    smallest = counts.by_smallest
    by_column = zip(names, counts.by_column(), contributions(counts), strict=True)
    return {
        "combinations": counts.combinations,
        "by_size": counts.by_size,
        "by_column": tuple(ColumnUniques(name, sum(sizes.values()), share) for name, sizes, share in by_column),
        "column_sets": tuple(SetUniques(names_of(mask, names), number) for mask, number in top),
        "column_sets_in_all": in_all,
        "rows_unsafe": sum(smallest.values()),
        "by_smallest": smallest,
    }


def scores_by_record(kind: ScoreKind, fraction: Fraction, counts: UniqueCounts) -> NDArray[Any]:
    """The score of every record."""
    suda = suda_scores(counts)
    return suda if kind is ScoreKind.SUDA else dis_scores(suda, counts.records, fraction)


def scores_of(kind: ScoreKind, fraction: Fraction, most: int, counts: UniqueCounts, keys: RecordKeys | None) -> Scores:
    """The scores of the records, of which at most so many are listed."""
    suda, scores = suda_scores(counts), scores_by_record(kind, fraction, counts)
    total = sum(int(score) * int(size) for score, size in zip(suda, counts.records.sizes, strict=True))
    order = [int(record) for record in np.argsort(-scores, kind="stable")[:most] if scores[record] > 0]
    called = {} if keys is None else keys.of(order)
    top = [
        RecordScore(
            record=record + 1,
            key=called.get(record),
            score=int(scores[record]) if kind is ScoreKind.SUDA else round(float(scores[record]), 6),
            combinations=int(counts.by_record[record].sum()),
            smallest=int(np.argmax(counts.by_record[record] > 0)),
        )
        for record in order
    ]
    return Scores(
        kind=kind,
        sampling_fraction=fraction if kind is ScoreKind.DIS else None,
        total=total if kind is ScoreKind.SUDA else None,
        distribution=_distribution(kind, scores, counts),
        top=tuple(top),
    )


def _distribution(kind: ScoreKind, scores: NDArray[Any], counts: UniqueCounts) -> tuple[ScoreBin, ...]:
    """Rows by score: 0, then tenths for DIS as in sdcMicro, powers of ten for SUDA."""
    ends: list[int | float | None] = [*DIS_ENDS] if kind is ScoreKind.DIS else [0]
    if kind is ScoreKind.SUDA:
        largest = max((int(score) for score in scores), default=0)
        ends += [10**power for power in range(1, len(str(largest)) + 1)] if largest else []
    else:
        ends.append(None)
    found = []
    for low, high in zip([None, *ends], ends, strict=False):
        inside = scores >= 0 if high is None else scores <= high
        if low is not None:
            inside = inside & (scores > low)
        found.append(ScoreBin(low, high, int(counts.records.sizes[inside.astype(bool)].sum())))
    return tuple(found)


FRACTION = Fraction(1, 100)  # sdcMicro's default too
NO_FIGURES: dict[str, Any] = {
    "combinations": 0,
    "by_size": {},
    "by_column": (),
    "column_sets": (),
    "column_sets_in_all": 0,
    "rows_unsafe": 0,
    "by_smallest": {},
}


@one_answer
def uniques(
    engine: Engine, request: UniquesRequest, on_stage: Callable[[str], None] = lambda stage: None
) -> UniquesResult:
    """Every minimal unsafe combination of the searched columns, counted by size, column, column set and record.

    Sends one statement to the source, which codes the rows; the search works on codes. A stop (budget, Ctrl-C) makes
    the verdict inconclusive: the result has what was counted by then, and how far the search got. Raises UsageError,
    UnknownName, AccessError, StatementError.

    [Wilson, 2 and 3.2; Elliot et al. for the scores]
    """
    policy = request.policy
    if request.file is not None:
        check_file(request.file, request.replace)
    on_stage("reading the catalog")
    if request.key is not None:
        with suppress(Stopped):  # the search will raise it again, and reports it
            key = engine.describe(request.table).column(request.key).name
            policy = replace(policy, exclude=(*policy.exclude, key))
    search = TableSearch(engine, request.table, policy, {})
    copy = None
    if request.writable and not search.stopped:
        copy = planned_copy(engine, search.table, (), str(request.into), request.replace)
    run = _Run(copy)
    try:
        run.search(search, request, on_stage)
    except Stopped as stop:
        run.unfinished = str(stop)
    except KeyboardInterrupt:
        run.unfinished = "interrupted"
    if run.unfinished and request.into is not None:
        run.unfinished += "; the list was not written"
    return _result(search, request, run)


class _Run:
    """One search; keeps its findings if it is stopped."""

    def __init__(self, copy: ProtectedCopy | None) -> None:
        self.copy = copy
        self.counts: UniqueCounts | None = None
        self.found: MinimalUniques | None = None
        self.scores: Scores | None = None
        self.listed: int | None = None
        self.unfinished = ""

    def search(self, search: TableSearch, request: UniquesRequest, on_stage: Callable[[str], None]) -> None:
        from qidsql.protection.uniques.minimal_uniques import MinimalUniques, UniqueCounts

        policy, profiler = request.policy, search.profiler
        search.begin()
        on_stage("coding the rows")
        with RowPatterns.of(profiler) as patterns:
            records = patterns.records()
            self.found = found = MinimalUniques(
                records, policy.k, policy.max_size, policy.nulls == Nulls.WILDCARD, profiler.check_time
            )
            self.counts = counts = UniqueCounts(records, found.largest)
            path = request.file
            if self.copy is not None:
                path = profiler.engine.exports() / f"uniques.{profiler.engine.export_format}"
            listing = None if path is None else UniquesList(patterns, path)
            for block, masks in found:
                counts.add(block, masks)
                if listing is not None:
                    listing.add(block, masks)
                on_stage(_stage(found, records.rows))
            if found.largest >= records.columns and policy.nulls == Nulls.EQUAL:
                gate.unique_counts(counts, policy.k)
            search.note_persons()
            keys = None
            if request.key is not None:
                on_stage("fetching keys")
                keys = keys_of(search, request.key, patterns)
            if request.score_kind is not None:
                fraction = request.fraction or FRACTION
                self.scores = scores_of(request.score_kind, fraction, request.limit, counts, keys)
                if listing is not None:
                    listing.add_scores(scores_by_record(request.score_kind, fraction, counts))
            if listing is not None:
                on_stage("writing the list")
                if request.show_values:
                    listing.add_values(profiler)
                sets = (mask for mask, _ in counts.sets())
                listed = listing.write(sets, keys is not None, request.show_values, profiler.deadline)
                if self.copy is not None and path is not None:
                    types = listing.types(keys is not None, request.show_values)
                    self.copy.receive(path, types, profiler.deadline)
                    self.copy.keep()
                self.listed = listed


def keys_of(search: TableSearch, key: str, patterns: RowPatterns) -> RecordKeys:
    """The values of the key column, by row pattern. One statement. Raises UnknownName, Stopped, StatementError."""
    name = search.table.column(key).name
    return RecordKeys(patterns, search.profiler, search.with_columns(name), name)


def _stage(found: "MinimalUniques", rows: int) -> str:
    if found.method == "pairs":
        return f"comparing records: {count(found.progress.rows)} of {plural(rows, 'row')} searched"
    return f"counting classes of column sets: all of up to {plural(found.progress.size, 'column')} searched"


def _result(search: TableSearch, request: UniquesRequest, run: _Run) -> UniquesResult:

    names, counts, found = search.profiler.names, run.counts, run.found
    rows = None if counts is None else counts.records.rows
    rows_looked_at, size = (0, 0) if found is None else (found.progress.rows, found.progress.size)
    return judged(
        UniquesResult(
            verdict=Verdict.INCONCLUSIVE,
            reason="",
            k=request.policy.k,
            algorithm="none" if found is None else found.method,
            **NO_FIGURES if counts is None else figures_of(names, counts, request.limit),
            complete=bool(rows) and rows_looked_at == rows and size == len(names),
            rows_looked_at=rows_looked_at,
            complete_to_size=size,
            scores=run.scores,
            into=None if run.listed is None else str(run.copy or request.into),
            listed=run.listed,
            key=request.key,
            values_listed=request.show_values,
            shown=request.shown,
            account=search.account(rows, [run.unfinished] if run.unfinished else []),
        )
    )
