"""The minimal unsafe value combinations of a table, counted and scored."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from qidsql.commands import gate
from qidsql.commands.table_search import TableSearch, one_answer
from qidsql.commands.uniques.request import ScoreKind, UniquesRequest
from qidsql.commands.uniques.result import (
    ColumnUniques,
    RecordScore,
    ScoreBin,
    Scores,
    SetUniques,
    UniquesResult,
)
from qidsql.core.policy import Policy
from qidsql.core.results import Verdict
from qidsql.core.tables import Nulls
from qidsql.engines.base import Engine
from qidsql.errors import Stopped
from qidsql.protection.copies import ProtectedCopy, planned_copy
from qidsql.protection.row_patterns import RowPatterns
from qidsql.protection.uniques.listing import RecordKeys, UniquesList, check_file
from qidsql.wording.numbers import count, plural

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from qidsql.protection.uniques.counts import UniqueCounts
    from qidsql.protection.uniques.minimal_uniques import MinimalUniques

FRACTION = Fraction(1, 100)  # sdcMicro's default too
DIS_ENDS = tuple(tenth / 10 for tenth in range(8))


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
        from qidsql.protection.uniques.counts import UniqueCounts
        from qidsql.protection.uniques.minimal_uniques import MinimalUniques

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
            keys = None
            if request.key is not None:
                on_stage("fetching keys")
                key = search.table.column(request.key).name
                keys = RecordKeys(patterns, profiler, search.with_column(key), key)
            if request.score_kind is not None:
                self.scores = _scores(request, request.score_kind, counts, keys)
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


def _stage(found: "MinimalUniques", rows: int) -> str:
    if found.method == "pairs":
        return f"comparing records: {count(found.progress.rows)} of {plural(rows, 'row')} searched"
    return f"counting classes of column sets: all of up to {plural(found.progress.size, 'column')} searched"


def _result(search: TableSearch, request: UniquesRequest, run: _Run) -> UniquesResult:
    policy, names, counts, found = request.policy, search.profiler.names, run.counts, run.found
    rows = None if counts is None else counts.records.rows
    in_all, top = (0, []) if counts is None else counts.top_sets(request.limit)
    smallest = {} if counts is None else counts.by_smallest
    rows_looked_at, size = (0, 0) if found is None else (found.progress.rows, found.progress.size)
    return UniquesResult(
        verdict=Verdict.INCONCLUSIVE if run.unfinished or rows == 0 else Verdict.FINISHED,
        reason=_reason(policy, counts, run.unfinished),
        k=policy.k,
        algorithm="none" if found is None else found.method,
        combinations=0 if counts is None else counts.combinations,
        by_size={} if counts is None else counts.by_size,
        by_column=_columns(names, counts),
        column_sets=tuple(SetUniques(search.names(mask), number) for mask, number in top),
        column_sets_in_all=in_all,
        rows_unsafe=sum(smallest.values()),
        by_smallest=smallest,
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


def _columns(names: tuple[str, ...], counts: "UniqueCounts | None") -> tuple[ColumnUniques, ...]:
    from qidsql.protection.uniques.counts import contributions

    if counts is None:
        return ()
    return tuple(
        ColumnUniques(name, sum(sizes.values()), share)
        for name, sizes, share in zip(names, counts.by_column(), contributions(counts), strict=True)
    )


def _scores(request: UniquesRequest, kind: ScoreKind, counts: "UniqueCounts", keys: RecordKeys | None) -> Scores:
    import numpy as np

    from qidsql.protection.uniques.counts import dis_scores, suda_scores

    suda = suda_scores(counts)
    fraction = request.fraction or FRACTION
    scores = suda if kind is ScoreKind.SUDA else dis_scores(suda, counts.records, fraction)
    total = sum(int(score) * int(size) for score, size in zip(suda, counts.records.sizes, strict=True))
    order = [int(record) for record in np.argsort(-scores, kind="stable")[: request.limit] if scores[record] > 0]
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


def _distribution(kind: ScoreKind, scores: "NDArray[Any]", counts: "UniqueCounts") -> tuple[ScoreBin, ...]:
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


def _reason(policy: Policy, counts: "UniqueCounts | None", unfinished: str) -> str:
    if counts is None:
        return "not searched: the rows could not be coded in time"
    rows = counts.records.rows
    if rows == 0:
        return "there is nothing to search: no row"
    if rows < policy.k:
        return f"{plural(rows, 'row')}, fewer than k = {policy.k}: even without any column none is safe"
    number, unsafe = counts.combinations, sum(counts.by_smallest.values())
    what = "minimal sample unique" if policy.k == 2 else "minimal unsafe combination"
    found = f"{plural(number, what)} in {count(unsafe)} of {plural(rows, 'row')}"
    if unfinished:
        return f"at least {found}; the search did not finish"
    if counts.largest < counts.records.columns:
        found += f"; sets of more than {plural(counts.largest, 'column')} were not searched (--max-size)"
    return found
