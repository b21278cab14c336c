"""k-anonymization of a table by suppression: the plan, its cost, and its distance from the optimum."""

import time
from collections.abc import Callable

from sqlglot import exp

from qidsql.commands import gate
from qidsql.commands.protect.cells.command import CellsMethod, CellsRequest
from qidsql.commands.protect.cells.identical_result import IdenticalRows, judged
from qidsql.commands.table_protection import Printed, TableProtection, printed, refuse_files, until_stopped
from qidsql.commands.table_search import one_answer
from qidsql.core.copies import Script
from qidsql.core.results import Verdict
from qidsql.engines.base import Engine
from qidsql.errors import Interrupted, UsageError
from qidsql.measures.profiles import ClassProfile
from qidsql.profiling.by_value import ByValue
from qidsql.protection.anonymization.anonymizer import Anonymization, Anonymizer, shares_by_mask, write_plan
from qidsql.protection.certificates import CellPlan
from qidsql.protection.copies import GivenBack, ProtectedCopy, plan_by_codes
from qidsql.protection.row_patterns import RowPatterns
from qidsql.sql.copies import suppressed_by_plan
from qidsql.sql.relation import Relation
from qidsql.sql.templates import integer
from qidsql.wording.texts import count, plural

# A statement that anonymizes a table by a plan, printed instead of a copy.


MAX_LINES = 10_000  # of a plan within a printed statement


def anonymizing(engine: Engine, protection: TableProtection, patterns: RowPatterns, script: Script) -> Printed:
    """The statement, by the table `shares` of the workbench. The plan in it consists of codes: it contains no value.

    Raises UsageError, StatementError.
    """
    table, columns, dialect = protection.table, protection.columns, engine.dialect
    refuse_files(table)
    if dialect.own_hashes:
        raise UsageError("no statement can make the codes of the plan in this engine by itself; leave out --sql")
    write_plan(patterns)
    codes = [f"c{place}" for place in range(len(columns))]
    ends = ["first_row", "last_row"]
    in_order = plan_by_codes(len(columns), parting=True).order_by("plan.pattern", "plan.first_row")
    rows = patterns.bench.query(in_order, "plan")
    if len(rows) > MAX_LINES:
        raise UsageError(
            f"the plan has {count(len(rows))} lines, too many for one statement ({count(MAX_LINES)}); write the "
            f"copy with --into, or protect fewer columns (--column)"
        )
    lines = [tuple(map(integer, row)) for row in rows] or [(0,) * (len(codes) + 3)]
    plan = exp.values(lines, alias="lines", columns=["mask", *codes, *ends])
    query = suppressed_by_plan(dialect, table, columns, protection.copied, plan, patterns.shuffle_key, parting=True)
    return printed(engine, script, table, "_anonymized", query, protection.copied)


BYTES_OF_CELLS = 1 << 30  # bytes, if the source runs in another process


@one_answer
def identical_rows(
    engine: Engine, request: CellsRequest, on_stage: Callable[[str], None] = lambda stage: None
) -> IdenticalRows:
    """The cheapest anonymization found, with the proved bound, and the copy if one was requested.

    One statement codes the rows; all else is computed on a local workbench. A copy is written and audited in one
    transaction of the engine and kept only if it is k-anonymous. Once the rows are coded there is a plan at any moment:
    where a budget ends the search, the best one is checked and written, and the verdict is finished; how much cheaper
    another may be is in the result (`lower_bound`, `factor`). A stop before, a lost connection or Ctrl-C make the
    verdict inconclusive, and nothing is written. Raises UsageError, UnknownName, AccessError, StatementError,
    SourceError. [Chakaravarthy, Pandit & Sabharwal, 2, 4]
    """
    on_stage("reading the catalog")
    return _Anonymization(engine, request, on_stage).run()


class _Anonymization:
    """One run; collects its result."""

    def __init__(self, engine: Engine, request: CellsRequest, on_stage: Callable[[str], None]) -> None:
        self._engine, self._request, self._on_stage = engine, request, on_stage
        self._protection = TableProtection.of(engine, request)
        self._rows: int | None = None
        self._patterns = 0
        self._found: Anonymization | None = None
        self._cells: CellPlan | None = None
        self._after: ClassProfile | None = None
        self._script: tuple[str, ...] = ()
        self._given_back: tuple[GivenBack, ...] | None = None
        self._written = False

    def run(self) -> IdenticalRows:
        return until_stopped(self._run, self._result)

    def _run(self) -> IdenticalRows:
        protection, request = self._protection, self._request
        protection.recognise(self._on_stage)
        self._on_stage("coding the rows")
        began = time.monotonic()
        with RowPatterns.of(protection.profiler) as patterns:
            self._rows, self._patterns = patterns.rows, patterns.patterns
            if patterns.rows < request.policy.k:
                return self._result()
            found = self._found = self._anonymization(patterns, time.monotonic() - began)
            self._cells = CellPlan.of(patterns.bench, patterns.names, shares_by_mask(patterns))
            if isinstance(found.stopped, Interrupted) and not found.optimal:
                return self._result(str(found.stopped))
            if request.script is not None:
                made = anonymizing(self._engine, protection, patterns, request.script)
                self._script = made.statements
                self._given_back = made.given_back(protection, self._blank(found), None)
            if protection.copy is not None:
                return self._write(protection.copy, patterns)
        return self._result()

    def _anonymization(self, patterns: RowPatterns, coding: float) -> Anonymization:
        """The plan, checked. A deadline leaves time for a copy and its audit, at most half of it: each takes about as
        long as `coding`."""
        request, protection = self._request, self._protection
        memory = (self._engine.memory_limit or BYTES_OF_CELLS) // 4
        deadline = protection.search_deadline(coding)
        k, weights = request.policy.k, protection.weights
        anonymizer = Anonymizer(patterns, k, weights, memory, deadline, self._on_stage, request.work)
        method = request.chosen_method
        exact = method is CellsMethod.EXACT or (method is CellsMethod.AUTO and anonymizer.small)
        if exact and not anonymizer.solvable:
            raise UsageError(
                f"{plural(patterns.patterns, 'distinct row')} of {plural(len(patterns.names), 'column')} are too many "
                f"for --method exact; leave out columns (--exclude), make values coarser, or use --method heuristic"
            )
        found = anonymizer.run(exact)
        return gate.anonymization(found, anonymizer)

    def _write(self, copy: ProtectedCopy, patterns: RowPatterns) -> IdenticalRows:
        """Write the copy, audit it, and keep it only if it passes."""
        profiler, k = self._protection.profiler, self._request.policy.k
        assert self._found is not None
        self._on_stage(f"writing {copy}")
        write_plan(patterns)
        copy.write(patterns, self._protection.columns, None, parting=True)
        self._on_stage(f"auditing {copy}")
        profiler_of_copy = ByValue(self._engine, Relation(copy.rows(self._protection.columns)), profiler.names, k)
        self._after = profiler_of_copy.profile(profiler_of_copy.everything)
        if self._after.smallest < k or self._after.rows != patterns.rows:
            return self._result()
        self._given_back = self._protection.given_back(copy.rows, self._blank(self._found), None)
        copy.keep()
        self._written = True
        return self._result()

    def _blank(self, found: Anonymization) -> dict[str, int]:
        """The blank cells of each column."""
        return dict(zip(self._protection.names, found.cells, strict=True))

    def _result(self, unfinished: str = "") -> IdenticalRows:
        """The result so far. `unfinished`: why the work ended before its plan, or its copy, was complete."""
        found, protection = self._found, self._protection
        stopped = bool(unfinished)
        if found and found.stopped and not found.optimal:
            unfinished = unfinished or str(found.stopped)
        result = IdenticalRows(
            verdict=Verdict.INCONCLUSIVE if stopped else Verdict.FINISHED,
            reason="",
            algorithm=found.algorithm if found else "none",
            cost=found.cost if found else None,
            lower_bound=found.lower_bound if found else 0,
            cells=sum(found.cells) if found else None,
            by_column=self._blank(found) if found else {},
            rows_touched=found.rows if found else 0,
            rows_blank=found.rows_blank if found else 0,
            row_patterns=self._patterns,
            plan=self._cells,
            proof=found.proof if found else None,
            after=self._after,
            target=str(protection.copy) if self._written else None,
            copied=tuple(column.name for column in protection.copied) if self._written else (),
            not_copied=protection.not_copied,
            kept=protection.kept or None,
            given_back=self._given_back,
            sql=self._request.script,
            script=self._script,
            account=protection.account(self._rows, [unfinished] if unfinished else []),
        )
        return judged(result)
