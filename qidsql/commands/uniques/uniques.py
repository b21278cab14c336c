"""The minimal unsafe value combinations of a table, counted and scored."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qidsql.commands import gate
from qidsql.commands.keys.result import Outcome
from qidsql.commands.table_search import Searching, one_answer
from qidsql.commands.uniques.result import By, ColumnUniques, RecordScore, ScoreKind, Scores, SetUniques, UniquesResult
from qidsql.core.policy import Policy
from qidsql.core.tables import Nulls
from qidsql.core.wording import count, plural
from qidsql.engines.base import Engine
from qidsql.errors import Stopped, UsageError
from qidsql.protection.copies import Target, target
from qidsql.protection.row_patterns import RowPatterns
from qidsql.protection.uniques.listing import RecordKeys, UniquesList, check_file, is_file

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from qidsql.protection.uniques.counts import UniqueCounts
    from qidsql.protection.uniques.minimal_uniques import MinimalUniques

FRACTION = Fraction(1, 100)  # sdcMicro's default too
DIS_ENDS = tuple(tenth / 10 for tenth in range(8))
SHOWN = 10


@dataclass(frozen=True, slots=True)
class UniquesQuestion:
    """What to look for: combinations of fewer than `policy.k` rows, of at most `policy.max_size` columns.

    `fraction` is the sampling fraction of DIS scores.
    `key` names the column by whose values records are called, `into` the file or the table of the source for the list,
    with values where wanted.
    Raises UsageError when the options cannot be right.
    """

    policy: Policy
    scores: ScoreKind | None = None
    fraction: Fraction | None = None
    by: tuple[By, ...] = ()
    shown: int = SHOWN
    key: str | None = None
    into: Path | None = None
    replace: bool = False
    show_values: bool = False

    @property
    def makes_table(self) -> bool:
        """Whether the list goes into a table of the source, which has to be opened for writing."""
        return self.into is not None and not is_file(self.into)

    def __post_init__(self) -> None:
        if self.makes_table and self.into is not None and len(self.into.parts) > 1:
            raise UsageError(f"--into {self.into}: a file has to end in .parquet or .csv, a table stands in no folder")
        if self.fraction is not None and self.scores is not ScoreKind.DIS:
            raise UsageError("--sampling-fraction is for DIS scores: give --scores dis as well")
        if self.fraction is not None and not 0 < self.fraction <= 1:
            raise UsageError("--sampling-fraction must lie above 0 and at most at 1")
        if self.scores is not None and self.policy.k != 2:
            raise UsageError("SUDA and DIS scores are defined for sample uniques: leave out --k, or --scores")
        if self.show_values and self.into is None:
            raise UsageError("--show-values is for the list: give --into FILE as well")
        if self.key is not None and self.scores is None and self.into is None:
            raise UsageError("--key names the records of --scores and of the list (--into): give one of them as well")
        if self.replace and self.into is None:
            raise UsageError("--replace is for the list: give --into FILE as well")


@one_answer
def uniques(
    engine: Engine, table: str | None, question: UniquesQuestion, on_stage: Callable[[str], None] = lambda stage: None
) -> UniquesResult:
    """Every minimal unsafe combination of the searched columns, counted by size, column, column set and record.

    One statement to the source, which codes the rows; the search works on codes. A stop (budget, Ctrl-C) makes the
    outcome inconclusive: what was counted by then, and how far the search came. Raises UsageError, UnknownName,
    AccessError, StatementError.

    [Wilson, 2 and 3.2; Elliot et al. for the scores]
    """
    policy = question.policy
    if question.into is not None and not question.makes_table:
        check_file(question.into, question.replace)
    on_stage("reading the catalog")
    if question.key is not None:
        with suppress(Stopped):  # the search will meet it again, and reports it
            key = engine.describe(table).column(question.key).name
            policy = replace(policy, exclude=(*policy.exclude, key))
    search = Searching(engine, table, policy, {})
    goal = None
    if question.into is not None and question.makes_table and not search.stopped:
        goal = target(engine, search.table, (), str(question.into), question.replace)
    run = _Run(goal)
    try:
        run.search(search, question, on_stage)
    except Stopped as stop:
        run.unfinished = str(stop)
    except KeyboardInterrupt:
        run.unfinished = "interrupted"
    if run.unfinished and question.into is not None:
        run.unfinished += "; the list was not written"
    return _result(search, question, run)


class _Run:
    """One search; what it found so far stays when it is stopped."""

    def __init__(self, goal: Target | None) -> None:
        self.goal = goal
        self.counts: UniqueCounts | None = None
        self.found: MinimalUniques | None = None
        self.scores: Scores | None = None
        self.listed: int | None = None
        self.unfinished = ""

    def search(self, search: Searching, question: UniquesQuestion, on_stage: Callable[[str], None]) -> None:
        from qidsql.protection.uniques.counts import UniqueCounts
        from qidsql.protection.uniques.minimal_uniques import MinimalUniques

        policy, profiler = question.policy, search.profiler
        search.begin()
        on_stage("coding the rows")
        with RowPatterns.of(profiler) as patterns:
            records = patterns.records()
            self.found = found = MinimalUniques(
                records, policy.k, policy.max_size, policy.nulls == Nulls.WILDCARD, profiler.check_time
            )
            self.counts = counts = UniqueCounts(records, found.largest)
            path = question.into
            if self.goal is not None:
                path = profiler.engine.exports() / f"uniques.{profiler.engine.export_format}"
            listing = None if path is None else UniquesList(patterns, path)
            for block, masks in found:
                counts.add(block, masks)
                if listing is not None:
                    listing.add(block, masks)
                on_stage(_stage(found, records.rows))
            if found.largest >= records.columns and policy.nulls == Nulls.EQUAL:
                gate.uniques(counts, policy.k)
            keys = None
            if question.key is not None:
                on_stage("fetching keys")
                key = search.table.column(question.key).name
                keys = RecordKeys(patterns, profiler, search.with_column(key), key)
            if question.scores is not None:
                self.scores = _scores(question, question.scores, counts, keys)
            if listing is not None:
                on_stage("writing the list")
                if question.show_values:
                    listing.add_values(profiler)
                sets = (mask for mask, _ in counts.sets())
                listed = listing.write(sets, keys is not None, question.show_values, profiler.deadline)
                if self.goal is not None and path is not None:
                    types = listing.types(keys is not None, question.show_values)
                    self.goal.receive(path, types, profiler.deadline)
                    self.goal.keep()
                self.listed = listed


def _stage(found: "MinimalUniques", rows: int) -> str:
    if found.way == "pairs":
        return f"comparing records: {count(found.progress.rows)} of {plural(rows, 'row')} looked at"
    return f"counting classes of column sets: all of up to {plural(found.progress.size, 'column')} looked at"


def _result(search: Searching, question: UniquesQuestion, run: _Run) -> UniquesResult:
    policy, names, counts, found = question.policy, search.profiler.names, run.counts, run.found
    rows = None if counts is None else counts.records.rows
    in_all, top = (0, []) if counts is None else counts.top_sets(question.shown)
    smallest = {} if counts is None else counts.by_smallest
    rows_looked_at, size = (0, 0) if found is None else (found.progress.rows, found.progress.size)
    return UniquesResult(
        outcome=Outcome.INCONCLUSIVE if run.unfinished or rows == 0 else Outcome.FINISHED,
        reason=_reason(policy, counts, run.unfinished),
        k=policy.k,
        algorithm="none" if found is None else found.way,
        combinations=0 if counts is None else counts.combinations,
        by_size={} if counts is None else counts.by_size,
        by_column=_columns(names, counts),
        column_sets=tuple(SetUniques(search.names(mask), number) for mask, number in top),
        column_sets_in_all=in_all,
        rows_at_risk=sum(smallest.values()),
        by_smallest=smallest,
        complete=bool(rows) and rows_looked_at == rows and size == len(names),
        rows_looked_at=rows_looked_at,
        complete_to_size=size,
        scores=run.scores,
        into=None if run.listed is None else str(run.goal or question.into),
        listed=run.listed,
        key=question.key,
        values_listed=question.show_values,
        shown=question.by or tuple(By),
        work=search.work(rows, [run.unfinished] if run.unfinished else []),
    )


def _columns(names: tuple[str, ...], counts: "UniqueCounts | None") -> tuple[ColumnUniques, ...]:
    from qidsql.protection.uniques.counts import contributions

    if counts is None:
        return ()
    return tuple(
        ColumnUniques(name, sum(sizes.values()), share)
        for name, sizes, share in zip(names, counts.by_column(), contributions(counts), strict=True)
    )


def _scores(question: UniquesQuestion, kind: ScoreKind, counts: "UniqueCounts", keys: RecordKeys | None) -> Scores:
    import numpy as np

    from qidsql.protection.uniques.counts import dis_scores, suda_scores

    suda = suda_scores(counts)
    fraction = question.fraction or FRACTION
    scores = suda if kind is ScoreKind.SUDA else dis_scores(suda, counts.records, fraction)
    total = sum(int(score) * int(size) for score, size in zip(suda, counts.records.sizes, strict=True))
    order = [int(record) for record in np.argsort(-scores, kind="stable")[: question.shown] if scores[record] > 0]
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
        fraction=fraction if kind is ScoreKind.DIS else None,
        total=total if kind is ScoreKind.SUDA else None,
        distribution=_distribution(kind, scores, counts),
        top=tuple(top),
    )


def _distribution(
    kind: ScoreKind, scores: "NDArray[Any]", counts: "UniqueCounts"
) -> tuple[tuple[int | float | None, int | float | None, int], ...]:
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
        found.append((low, high, int(counts.records.sizes[inside.astype(bool)].sum())))
    return tuple(found)


def _reason(policy: Policy, counts: "UniqueCounts | None", unfinished: str) -> str:
    if counts is None:
        return "not searched: the rows could not be coded in time"
    rows = counts.records.rows
    if rows == 0:
        return "there is nothing to look at: no row"
    if rows < policy.k:
        return f"{plural(rows, 'row')}, fewer than k = {policy.k}: even without any column none is safe"
    number, at_risk = counts.combinations, sum(counts.by_smallest.values())
    what = "minimal sample unique" if policy.k == 2 else "minimal unsafe combination"
    found = f"{plural(number, what)} in {count(at_risk)} of {plural(rows, 'row')}"
    if unfinished:
        return f"at least {found}; not searched to the end"
    if counts.largest < counts.records.columns:
        found += f"; sets of more than {plural(counts.largest, 'column')} were not looked at (--max-size)"
    return found
