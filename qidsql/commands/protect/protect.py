"""Coarser values that make each row equal to k - 1 others: the levels, what they keep, and the copy."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

from sqlglot import exp

from qidsql.commands.protect.command import ProtectRequest, Way
from qidsql.commands.protect.comparison import compared
from qidsql.commands.protect.result import ProtectResult, PublishedColumn, UnsafeNode, judged
from qidsql.commands.table_protection import TableProtection
from qidsql.commands.table_search import one_answer
from qidsql.core.results import Verdict
from qidsql.core.tables import Column
from qidsql.engines.base import Engine
from qidsql.errors import Stopped, UsageError
from qidsql.generalization.classes import CodedClasses
from qidsql.generalization.hierarchies import Codes, dates_among, files_in, proposed_hierarchies
from qidsql.generalization.levels import MOST, FoundLevels, Levels, Search, search_of
from qidsql.generalization.local_recoding import LocalFigures, LocalRecoding
from qidsql.generalization.measures import Measure, Shape
from qidsql.measures.disclosure_limits import limits_among
from qidsql.measures.profiles import ClassProfile
from qidsql.profiling.profiler import TableProfiler
from qidsql.protection.copies import GivenBack, ProtectedCopy, rows_of_query
from qidsql.sql.disclosure import disclosing_profile
from qidsql.sql.relation import Relation
from qidsql.wording.texts import setting


def protect(
    engine: Engine, request: ProtectRequest, on_stage: Callable[[str], None] = lambda stage: None
) -> ProtectResult:
    """The levels that keep most of all that reach k, proved, or a plan row by row; and the copy if one was requested.
    Without a way, what each of them keeps.

    The engine codes the values by their hierarchies. By levels, it then counts the classes of one choice of levels
    after another, a batch a statement; by values, one statement makes the plan. A copy is written and audited in one
    transaction of the engine, and kept only if it has k equal rows of each. When --max-seconds ends the search, the
    best choice so far is checked and written, and is called not proved. A stop before, a lost connection or Ctrl-C
    make the verdict inconclusive, and nothing is written. Raises UsageError, UnknownName, AccessError, StatementError,
    SourceError.
    """
    if request.way is None:
        return compared(engine, request, _by_one_way, on_stage)
    return _by_one_way(engine, request, on_stage)


@one_answer
def _by_one_way(engine: Engine, request: ProtectRequest, on_stage: Callable[[str], None]) -> ProtectResult:
    on_stage("reading the catalog")
    return _Protection(engine, request, on_stage).run()


class _Protection:
    """One run of `protect`; collects its result."""

    def __init__(self, engine: Engine, request: ProtectRequest, on_stage: Callable[[str], None]) -> None:
        self._engine, self._request, self._on_stage = engine, request, on_stage
        self._protection = TableProtection.of(engine, request)
        self._codes: Codes | None = None
        self._shape: Shape | None = None
        self._search: Search | None = None
        self._recoded: LocalFigures | None = None
        self._found_back: tuple[GivenBack, ...] | None = None
        self._missing: list[int] = []  # leaves, of the rows left out by the best choice
        self._rows: int | None = None
        self._after: ClassProfile | None = None
        self._written = False

    def run(self) -> ProtectResult:
        try:
            return self._run()
        except Stopped as stop:
            return self._result(str(stop) or "stopped")
        except KeyboardInterrupt:
            return self._result("interrupted")

    def _run(self) -> ProtectResult:
        protection, dialect = self._protection, self._engine.dialect
        if self._request.way is Way.VALUES and not dialect.nested_recursion:
            raise UsageError(
                f"--by values needs an engine such as DuckDB or Postgres; on {dialect.name} take --by levels"
            )
        protection.recognise(self._on_stage, dates_among(protection.columns, dialect))
        codes = self._codes = self._coded()
        if self._request.way is Way.VALUES:
            return self._by_values(codes)
        self._on_stage("coding the rows")
        profiler = protection.profiler
        classes = CodedClasses(self._engine, profiler.ask, codes, self._request.k, profiler.deadline)
        shape = self._shape = classes.figures(protection.weights).shape
        self._rows = shape.rows
        if not shape.rows:
            return self._result()
        self._on_stage("searching the levels")
        limit = int(self._request.share * shape.rows)
        measure = self._request.chosen_measure

        def price(nodes: Sequence[Levels], below: Sequence[int]) -> list[Fraction]:
            return classes.costs(shape, measure, nodes, below)

        self._search = search_of(shape, measure, limit, classes.below, price)
        best = self._search.run(protection.search_deadline(1)).best
        if best is None:
            return self._result()
        [self._missing] = classes.missing_leaves([best.levels], [best.below])
        if protection.copy is not None:
            query = codes.copy(best.levels, self._request.k, protection.copied)
            self._write(protection.copy, query, protection.columns, shape.rows - best.below)
        return self._result()

    def _by_values(self, codes: Codes) -> ProtectResult:
        """The plan by local recoding, row by row."""
        protection, policy = self._protection, self._request.policy
        dialect, table = self._engine.dialect, protection.table
        recoding = LocalRecoding(dialect, table, codes, protection.weights, policy)
        self._on_stage("recoding row by row")
        [found] = protection.profiler.ask([recoding.figures()])
        self._rows = found.rows
        if not found.rows or found.unsafe:
            return self._result()
        self._recoded = found
        if protection.copy is not None:
            query = recoding.copy(protection.copied, found)
            columns = recoding.published(protection.columns, found)
            self._write(protection.copy, query, columns, found.rows, lambda: self._given_back(recoding, found))
        return self._result()

    def _given_back(self, recoding: LocalRecoding, found: LocalFigures) -> tuple[GivenBack, ...]:
        """The coarser cells whose values other columns of the copy give back."""
        coarser = {each.name: sum(each.cells[1:]) for each in found.columns}
        protection = self._protection
        rows = partial(rows_of_query, self._engine.dialect, recoding.copy(protection.copied, found, blank=True))
        return protection.given_back(rows, coarser, protection.profiler.deadline)

    def _coded(self) -> Codes:
        """The hierarchies of the columns, checked, and their codes."""
        protection, folder = self._protection, self._request.folder
        self._on_stage("reading the levels of each column")
        table, columns = protection.table, protection.columns
        files = {} if folder is None else files_in(folder, columns)
        if folder is not None and not files:
            raise UsageError(
                f"{setting('hierarchies')} {folder} has no file for a column that is protected; expected names "
                f"such as {columns[0].name}.csv"
            )
        dialect = self._engine.dialect
        hierarchies = proposed_hierarchies(protection.profiler.ask, dialect, table, columns, files)
        return Codes(dialect, table, hierarchies)

    def _write(
        self,
        copy: ProtectedCopy,
        query: exp.Query,
        columns: Sequence[Column],
        rows: int,
        given_back: Callable[[], tuple[GivenBack, ...] | None] = lambda: None,
    ) -> None:
        """Write the copy, audit it, and keep it only if it passes, with so many rows."""
        self._on_stage(f"writing {copy}")
        copy.write_rows(query, self._protection.profiler.deadline)
        self._on_stage(f"auditing {copy}")
        k, names = self._request.k, self._protection.names
        limits = limits_among(self._request.policy.criteria)
        sensitive = [column.learned for column in self._protection.table.resolve([each.sensitive for each in limits])]
        source = Relation(copy.rows((*columns, *dict.fromkeys(sensitive))))
        audited = TableProfiler(self._engine, source, names, k)
        self._after = audited.profile(audited.everything)
        if self._after.rows_below_k or self._after.rows != rows:
            return
        if limits:
            pairs = [(limit, column.name) for limit, column in zip(limits, sensitive, strict=True)]
            [[profile]] = audited.ask([disclosing_profile(self._engine.dialect, source, names, k, pairs)])
            self._after = profile
            if any(limit.met_by(profile) for limit in limits):
                return
        self._found_back = given_back()
        copy.keep()
        self._written = True

    def _result(self, unfinished: str = "") -> ProtectResult:
        """The result so far. `unfinished`: why the work ended before its plan, or its copy, was complete."""
        protection, request, shape = self._protection, self._request, self._shape
        found = self._search.found if self._search else FoundLevels()
        best = found.best
        kept = None
        if best is not None and shape is not None and (self._missing or not best.below):
            kept = 1 - shape.loss(best.levels, best.below, self._missing or [0] * len(best.levels))
        local = self._recoded
        stopped = [unfinished] if unfinished else []
        if best is not None and not found.proved and not unfinished:
            few = shape is None or shape.nodes <= MOST
            stopped = ["the proof: " + ("the time was used up" if few else "there are too many choices of levels")]
        result = ProtectResult(
            verdict=Verdict.INCONCLUSIVE if unfinished else Verdict.FINISHED,
            reason="",
            by=request.way,
            measure=request.chosen_measure,
            suppress=request.share,
            hierarchies=None if request.hierarchies is None else str(request.hierarchies),
            columns_published=self._columns(best.levels) if best else (),
            recoded=local,
            rows_left_out=best.below if best else 0 if local else None,
            kept=local.kept if local else kept,
            precision=shape.precision(best.levels) if shape and best else None,
            precision_charged=shape.precision(best.levels, best.below) if shape and best else None,
            bound=None if found.lower_bound is None else 1 - found.lower_bound,
            proved=found.proved and best is not None,
            choices=shape.nodes if shape and self._search else None,
            measured=len(found.asked),
            unsafe=self._certificate(found),
            after=self._after,
            target=str(protection.copy) if self._written else None,
            copied=tuple(column.name for column in protection.copied) if self._written else (),
            not_copied=protection.not_copied,
            kept_columns=protection.kept or None,
            given_back=self._found_back,
            account=protection.account(self._rows, stopped),
        )
        return judged(result)

    def _columns(self, levels: Levels) -> tuple[PublishedColumn, ...]:
        assert self._codes is not None and self._shape is not None
        shares = self._shape.shares(Measure.LOSS)
        total, found = sum(self._shape.weights), []
        for place, (coded, level) in enumerate(zip(self._codes.columns, levels, strict=True)):
            own, null = coded.hierarchy, coded.hierarchy.null
            lost = shares[place][level] * total / self._shape.weights[place]
            found.append(
                PublishedColumn(
                    name=coded.name,
                    level=level,
                    height=coded.height,
                    becomes=own.name(level),
                    hierarchy=own.why,
                    levels=tuple(each.name for each in own.levels),
                    values=own.leaves,
                    left=1 if level and level == coded.height else own.labels[level] + null,
                    kept=1 - lost,
                )
            )
        return tuple(found)

    def _certificate(self, found: FoundLevels) -> tuple[UnsafeNode, ...]:
        """The unsafe nodes that were asked, without those below another."""
        limit = int(self._request.share * (self._rows or 0))
        unsafe = {node: below for node, below in found.asked.items() if below > limit}
        return tuple(
            UnsafeNode(levels=node, rows_below_k=below)
            for node, below in sorted(unsafe.items())
            if not any(node != other and all(map(int.__le__, node, other)) for other in unsafe)
        )
