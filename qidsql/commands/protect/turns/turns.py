"""The turns of Wilson's section 5: review the unsafe combinations, recode or drop a column, search again."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from qidsql.column_roles.resolution import columns_of
from qidsql.commands import gate
from qidsql.commands.protect.turns.command import Change, Turn, TurnsRequest, TurnsResult
from qidsql.commands.table_search import TableSearch, confirmed, one_answer
from qidsql.core.copies import by_rows, keeping
from qidsql.core.options import names
from qidsql.core.recodings import Recoding
from qidsql.core.results import LeftOut, Verdict
from qidsql.core.tables import FILES, Nulls, TableName
from qidsql.engines.base import Engine
from qidsql.errors import Stopped, UnknownName, UsageError
from qidsql.profiling.profiler import TableProfiler
from qidsql.protection.copies import ProtectedCopy, planned_copy
from qidsql.protection.row_patterns import RowPatterns
from qidsql.protection.suppression.plan import MAX_COLUMNS, SuppressionPlan
from qidsql.sql.copies import create_view, published_rows
from qidsql.sql.relation import Relation, recoded_relation
from qidsql.wording.texts import are, count, plural, share


@one_answer
def turns(engine: Engine, request: TurnsRequest, on_stage: Callable[[str], None] = lambda stage: None) -> TurnsResult:
    """The rows below k, the unsafe combinations and the cells to suppress, of the table and after each turn.

    A pass if no row is below k after the last turn, counted by the engine on the recoded columns. Two statements a
    turn: the class profile, and the codes of the rows, on which the search and the suppression work. A copy is written
    in one transaction, and kept only if it has the rows below k that the last turn has. A stop (budget, Ctrl-C) makes
    the verdict inconclusive: the result has the turns finished by then, and nothing is written. Raises UsageError,
    UnknownName, AccessError, StatementError, SourceError.

    [Wilson, section 5]
    """
    on_stage("reading the catalog")
    policy = keeping(by_rows(request.policy), names(request.keep))
    named = [*request.column_weights, *(change.column for change in request.changes)]
    resolve = partial(columns_of, engine, policy=policy, named=named)
    search = TableSearch(engine, request.table, policy, request.column_weights, resolve)
    review = _Review(engine, search, request, on_stage)
    unfinished = ""
    try:
        review.run()
    except Stopped as stop:
        unfinished = str(stop)
    except KeyboardInterrupt:
        unfinished = "interrupted"
    return review.result(unfinished)


@dataclass(frozen=True)
class _Stage:
    """The columns that are left after a turn, and the recodings of those that have any."""

    change: Change | None
    names: tuple[str, ...]
    recodings: Mapping[str, tuple[Recoding, ...]] = field(default_factory=dict)


class _Review:
    """One run; keeps the turns that are finished."""

    def __init__(
        self, engine: Engine, search: TableSearch, request: TurnsRequest, on_stage: Callable[[str], None]
    ) -> None:
        self._engine, self._search, self._request, self._on_stage = engine, search, request, on_stage
        self._rows: int | None = None
        self._values: dict[str, int] = {}  # of each column after the last turn
        self._done: list[Turn] = []
        self._weights = dict(zip(search.profiler.names, search.weights, strict=True))
        self._script: tuple[str, ...] = ()
        self._copy: ProtectedCopy | None = None
        self._written = False
        self._not_copied: tuple[LeftOut, ...] = ()

    def run(self) -> None:
        """Check all turns and the copy, then do them. Raises Stopped, UsageError, StatementError."""
        self._search.begin()
        stages = list(self._stages())
        published = self._published(stages[-1])
        into = self._request.into
        if into is not None:
            columns = self._search.table.resolve(published)
            self._copy = planned_copy(self._engine, self._search.table, columns, into, self._request.replace)
        self._search.confirm_rows(self._request.policy.entity, by_persons=False)
        for number, stage in enumerate(stages):
            self._on_stage(f"turn {number} of {len(self._request.changes)}")
            self._done.append(self._turn(number, stage))
        if not self._rows:
            return
        self._script = self._view(stages[-1], published)
        if self._copy is not None:
            self._write(self._copy, stages[-1], published)

    def _published(self, last: _Stage) -> tuple[str, ...]:
        """The columns that are left, sensitive ones and those kept on request; the others are noted with the reason."""
        search, columns = self._search, self._search.resolved
        kept = [column.name for column in search.table.resolve(names(self._request.keep))]
        dropped = {*search.profiler.names} - {*last.names}
        self._not_copied = (
            *columns.not_copied(kept),
            *(LeftOut(name, "dropped by a turn") for name in search.profiler.names if name in dropped),
        )
        return tuple(column.name for column in columns.copied(kept) if column.name not in dropped)

    def _view(self, last: _Stage, published: Sequence[str]) -> tuple[str, ...]:
        """The statement for a view of the table as after the last turn; none for files, and where nothing changed."""
        table, dialect = self._search.table, self._engine.dialect
        if table.kind in FILES or last.change is None:
            return ()
        name = TableName(dialect.name_beside(table.name.name, "_recoded"), table.name.schema, table.name.catalog)
        return dialect.script(create_view(dialect, name, published_rows(table, published, last.recodings)))

    def _write(self, copy: ProtectedCopy, last: _Stage, published: Sequence[str]) -> None:
        """Write the copy, and keep it if it has as many rows below k as the last turn. Raises Refuted."""
        profiler = self._search.profiler
        self._on_stage(f"writing {copy}")
        copy.write_rows(published_rows(self._search.table, published, last.recodings), profiler.deadline)
        self._on_stage(f"auditing {copy}")
        columns = self._search.table.resolve(last.names)
        written = Relation(copy.rows(columns))
        found = profiler.over(written, self._rows, last.names)
        gate.copy_of_turn(found.profile(found.everything), self._rows or 0, self._done[-1].rows_below_k)
        copy.keep()
        self._written = True

    def _stages(self) -> Iterator[_Stage]:
        """The table as it is, then after each change. Raises UnknownName, UsageError."""
        stage = _Stage(None, self._search.profiler.names)
        yield stage
        for change in self._request.changes:
            stage = self._after(stage, replace(change, column=self._column(stage, change)))
            yield stage

    def _column(self, stage: _Stage, change: Change) -> str:
        """The changed column as the table writes it."""
        name = self._search.table.column(change.column).name
        if name in stage.names:
            return name
        if name in self._search.profiler.names:
            raise UsageError(f"--turn {change}: an earlier turn dropped {name}")
        raise UnknownName("searched column", [name], str(self._search.table.name), stage.names)

    def _after(self, stage: _Stage, change: Change) -> _Stage:
        name, recoding = change.column, change.recoding
        if recoding is None:
            names = tuple(each for each in stage.names if each != name)
            if not names:
                raise UsageError(f"--turn {change}: no column is left; leave this turn out")
            left = {each: recodings for each, recodings in stage.recodings.items() if each != name}
            return _Stage(change, names, left)
        recoding.check(self._search.table.column(name), self._engine.dialect.recodable)
        recodings = {**stage.recodings, name: (*stage.recodings.get(name, ()), recoding)}
        return _Stage(change, stage.names, recodings)

    def _profiler(self, stage: _Stage) -> TableProfiler:
        search = self._search
        rows = recoded_relation(self._engine.dialect, search.table, search.table.resolve(stage.names), stage.recodings)
        return search.profiler.over(rows, self._rows, stage.names)

    def _turn(self, number: int, stage: _Stage) -> Turn:
        """What is unsafe at this stage."""
        from qidsql.protection.uniques.minimal_uniques import MinimalUniques, UniqueCounts

        k, profiler = self._request.k, self._profiler(stage)
        profile = profiler.profile(profiler.everything)
        self._rows = profile.rows
        with RowPatterns.of(profiler) as patterns:
            records = patterns.records()
            if not self._wildcard:
                gate.codes_of_rows(records, profile, k)
            found = MinimalUniques(records, k, self._request.max_size, self._wildcard, profiler.check_time)
            counts = UniqueCounts(records, found.largest)
            for block, masks in found:
                counts.add(block, masks)
            if found.largest >= records.columns and not self._wildcard:
                gate.unique_counts(counts, k)
            cells, weight = (0, 0) if not profile.rows_below_k else self._cells(patterns, profiler.deadline)
            values = dict(zip(stage.names, patterns.values, strict=True))
        before, self._values = self._values, values
        return Turn(
            number=number,
            change=None if stage.change is None else str(stage.change),
            values_before=None if stage.change is None else before[stage.change.column],
            values_after=None if stage.change is None else values.get(stage.change.column),
            columns=stage.names,
            rows_below_k=profile.rows_below_k,
            combinations=counts.combinations,
            rows_unsafe=sum(counts.by_smallest.values()),
            by_column={
                name: sum(sizes.values()) for name, sizes in zip(stage.names, counts.by_column(), strict=True) if sizes
            },
            cells=cells,
            weight=weight,
        )

    @property
    def _wildcard(self) -> bool:
        return self._request.policy.nulls == Nulls.WILDCARD

    def _cells(self, patterns: RowPatterns, deadline: float | None) -> tuple[int, int] | tuple[None, None]:
        """The cells of the optimal suppression and their weight; None if the rows, or too many columns, have none."""
        k, wildcard = self._request.k, self._wildcard
        if patterns.rows < k or len(patterns.names) > MAX_COLUMNS:
            return None, None
        weights = [self._weights[name] for name in patterns.names]
        plan = SuppressionPlan.of(patterns, k, weights, wildcard=wildcard, deadline=deadline)
        gate.suppression(plan, not wildcard, deadline)
        return plan.cells, plan.weight

    def result(self, unfinished: str) -> TurnsResult:
        account = self._search.account(self._rows, [unfinished] if unfinished else [])
        rests_on = () if self._written else account.left_out  # a copy does not have these columns
        verdict, reason = confirmed(self._verdict(unfinished), self._reason(unfinished), rests_on)
        return TurnsResult(
            verdict=verdict,
            reason=reason,
            k=self._request.k,
            max_size=self._request.max_size,
            turns=tuple(self._done),
            script=self._script,
            target=str(self._copy) if self._written else None,
            copied=tuple(column.name for column in self._copy.copied) if self._copy and self._written else (),
            not_copied=self._not_copied if self._written else (),
            account=account,
        )

    def _verdict(self, unfinished: str) -> Verdict:
        if unfinished or not self._rows:
            return Verdict.INCONCLUSIVE
        return Verdict.VIOLATION if self._done[-1].rows_below_k else Verdict.PASS

    def _reason(self, unfinished: str) -> str:
        k, asked = self._request.k, len(self._request.changes) + 1
        if unfinished:
            return f"{count(len(self._done))} of {plural(asked, 'turn')} (turn 0 included) were finished"
        if not self._rows:
            return "there is nothing to review: no row"
        last = self._done[-1]
        if last.rows_below_k:
            when = "in the table as it is" if last.change is None else f"after turn {last.number},"
            rows = f"{plural(last.rows_below_k, 'row')} ({share(last.rows_below_k, self._rows)})"
            return f"no turn is enough: {when} {rows} {are(last.rows_below_k)} below k = {k}"
        first = next(turn for turn in self._done if not turn.rows_below_k)
        later = "; the turns after it lose more than k needs" if first is not last else ""
        if first.change is None:
            return f"no row is below k = {k} even before the first turn{later.replace(' after it', '')}"
        return f"turn {first.number} ({first.change}) is the first with no row below k = {k}{later}"
