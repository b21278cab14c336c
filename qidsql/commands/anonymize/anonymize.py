"""k-anonymization of a table by suppression: the plan, its cost, and how far from the optimum it can be."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

from sqlglot import exp

from qidsql.commands import gate
from qidsql.commands.anonymize.result import AnonymizeResult
from qidsql.commands.keys.result import Outcome
from qidsql.commands.suppress.suppress import Script
from qidsql.commands.table_protection import Protecting
from qidsql.commands.table_search import one_answer
from qidsql.core.policy import Policy
from qidsql.core.tables import FILES, Nulls, TableName
from qidsql.core.wording import count, percent, plural
from qidsql.engines.base import Engine
from qidsql.errors import Interrupted, Stopped, UsageError
from qidsql.measures.profiles import ClassProfile
from qidsql.profiling.profiler import TableProfiler
from qidsql.protection.anonymization.anonymizer import Anonymization, Anonymizer
from qidsql.protection.copies import Target
from qidsql.protection.row_patterns import RowPatterns
from qidsql.protection.suppression.plan import SuppressionPlan
from qidsql.sql.relation import Relation
from qidsql.sql.statements import integer
from qidsql.sql.suppression import create_table, create_view, suppressed_by_plan

MAX_LINES = 10_000  # of a plan that stands in a printed statement
PATIENCE = 60.0  # seconds that go into a proof or an improvement when no limit is given


class Method(StrEnum):
    """How an anonymization is looked for."""

    AUTO = "auto"  # exact where that is small enough
    EXACT = "exact"
    HEURISTIC = "heuristic"

    @classmethod
    def read(cls, text: str) -> "Method":
        """The method of that name. Raises UsageError."""
        if text not in set(cls):
            raise UsageError(f"--method must be {', '.join(cls)}; got {text}")
        return cls(text)


@dataclass(frozen=True, slots=True)
class AnonymizeQuestion:
    """What is to be anonymized, and where it goes. Raises UsageError when the options cannot be right.

    `into` names the copy that is written, `script` the statement that is printed; neither: the plan alone.
    """

    policy: Policy
    method: Method = Method.AUTO
    weights: Mapping[str, int] = field(default_factory=dict)
    into: str | None = None
    replace: bool = False
    script: Script | None = None

    def __post_init__(self) -> None:
        if self.into is not None and self.script is not None:
            raise UsageError("--into writes the copy and --sql prints a statement for it; choose one")
        if self.script is Script.UPDATE:
            raise UsageError("--sql must be view or table: an update cannot tell equal rows apart")
        if self.policy.entity is not None:
            raise UsageError("anonymize makes rows identical, not persons: give a table with one row per person")
        if self.policy.nulls != Nulls.EQUAL:
            raise UsageError("anonymize takes a NULL for a value, as it does a suppressed cell; use qidsql suppress")
        if self.policy.max_size is not None:
            raise UsageError("--max-size means nothing to an anonymization")
        if self.replace and self.into is None:
            raise UsageError("--replace needs --into, the copy to replace")


@one_answer
def anonymize(
    engine: Engine,
    table: str | None,
    question: AnonymizeQuestion,
    on_stage: Callable[[str], None] = lambda stage: None,
) -> AnonymizeResult:
    """The cheapest anonymization that is found, with the bound that is proved, and the copy where one was asked for.

    The rows are coded by one statement, all else is worked out on a workbench of our own. A copy is written and audited
    in the engine's one transaction and kept only when it is k-anonymous. A stop (budget, lost connection, Ctrl-C)
    before an anonymization is found makes the outcome inconclusive, and then nothing is written. Raises UsageError,
    UnknownName, AccessError, StatementError, SourceError. [Chakaravarthy, Pandit & Sabharwal, 2, 4]
    """
    on_stage("reading the catalog")
    return _Anonymization(engine, table, question, on_stage).run()


class _Anonymization:
    """One run of `anonymize`, its result growing."""

    def __init__(
        self, engine: Engine, table: str | None, question: AnonymizeQuestion, on_stage: Callable[[str], None]
    ) -> None:
        self._engine, self._question, self._on_stage = engine, question, on_stage
        self._protecting = Protecting(engine, table, question.policy, question.weights, question.into, question.replace)
        self._rows: int | None = None
        self._patterns = 0
        self._found: Anonymization | None = None
        self._after: ClassProfile | None = None
        self._script: tuple[str, ...] = ()
        self._written = False

    def run(self) -> AnonymizeResult:
        nothing = "not searched to the end, and nothing was written"
        try:
            return self._run()
        except Stopped as stop:
            return self._result(Outcome.INCONCLUSIVE, nothing, str(stop))
        except KeyboardInterrupt:
            return self._result(Outcome.INCONCLUSIVE, nothing, "interrupted")

    def _run(self) -> AnonymizeResult:
        protecting, question = self._protecting, self._question
        k = question.policy.k
        protecting.recognise(self._on_stage)
        self._on_stage("coding the rows")
        with RowPatterns.of(protecting.profiler) as patterns:
            self._rows, self._patterns = patterns.rows, patterns.patterns
            if not patterns.rows:
                which = "no row meets the where condition" if question.policy.where else "the table is empty"
                return self._result(Outcome.INCONCLUSIVE, f"there is nothing to anonymize: {which}")
            if patterns.rows < k:
                rows = plural(patterns.rows, "row")
                return self._result(
                    Outcome.VIOLATION, f"no suppression helps: {rows} are fewer than k = {k}, even if all are blank"
                )
            found = self._found = self._anonymization(patterns)
            unproved = found.stopped is not None and not found.optimal
            if unproved and (question.policy.max_seconds or isinstance(found.stopped, Interrupted)):
                return self._result(Outcome.INCONCLUSIVE, self._reason(found), str(found.stopped))
            if question.script is not None:
                self._script = self._engine.dialect.script(self._statement(question.script, patterns))
            if protecting.target is not None:
                return self._write(protecting.target, patterns)
        return self._result(Outcome.FINISHED, self._reason(found))

    def _anonymization(self, patterns: RowPatterns) -> Anonymization:
        k, weights, deadline = self._question.policy.k, self._protecting.weights, self._protecting.profiler.deadline
        self._on_stage("the least that each row must lose")
        plan = SuppressionPlan.of(patterns, k, weights, deadline=deadline, on_stage=self._on_stage)
        anonymizer = Anonymizer(patterns, k, weights, deadline or time.monotonic() + PATIENCE)
        method = self._question.method
        exact = method is Method.EXACT or (method is Method.AUTO and anonymizer.small)
        if exact and not anonymizer.solvable:
            raise UsageError(
                f"{plural(patterns.patterns, 'distinct row')} of {plural(len(patterns.names), 'column')} are too many "
                f"for --method exact; leave out columns (--exclude), make values coarser, or use --method heuristic"
            )
        everything = (1 << len(patterns.names)) - 1
        anonymizer.greedy([everything & ~mask for mask in plan.masks], self._on_stage)
        if exact:
            self._on_stage("solving the integer program")
            found = anonymizer.exact(plan.weight)
        else:
            found = anonymizer.improve(plan.weight, self._on_stage)
        return gate.anonymization(found, anonymizer)

    def _statement(self, script: Script, patterns: RowPatterns) -> str:
        """What would make the same copy: the plan stands in it by codes, so that it holds no value."""
        table, columns, dialect = self._protecting.table, self._protecting.columns, self._engine.dialect
        if table.kind in FILES:
            raise UsageError("a file takes no statements; --into writes a copy of it")
        patterns.bench.ask("plan_of_shares", "plan", everything=(1 << len(columns)) - 1)
        codes = [f"c{place}" for place in range(len(columns))]
        ends = ["first_row", "last_row"]
        chosen = [
            *(exp.column(code, table="patterns") for code in codes),
            *(exp.column(end, table="plan") for end in ends),
        ]
        rows = patterns.bench.ask("plan_by_codes", "plan", codes=chosen)
        if len(rows) > MAX_LINES:
            raise UsageError(
                f"the plan has {count(len(rows))} lines, too many for one statement ({count(MAX_LINES)}); write the "
                f"copy with --into, or anonymize fewer columns (--column)"
            )
        lines = [tuple(map(integer, row)) for row in rows] or [(0,) * (len(codes) + 3)]
        plan = exp.values(lines, alias="lines", columns=["mask", *codes, *ends])
        query = suppressed_by_plan(
            dialect, table, columns, self._protecting.copied, plan, patterns.shuffle_key, parting=True
        )
        name = TableName(dialect.name_beside(table.name.name, "_anonymized"), table.name.schema, table.name.catalog)
        make = create_view if script is Script.VIEW else create_table
        return make(dialect, name, query)

    def _write(self, goal: Target, patterns: RowPatterns) -> AnonymizeResult:
        """Writes the copy, audits it, and keeps it only when it passes."""
        profiler, k = self._protecting.profiler, self._question.policy.k
        assert self._found is not None
        self._on_stage(f"writing {goal}")
        everything = (1 << len(profiler.names)) - 1
        patterns.bench.ask("plan_of_shares", "plan", everything=everything)
        goal.write(patterns, self._protecting.columns, profiler.deadline, parting=True)
        self._on_stage(f"auditing {goal}")
        copy = TableProfiler(self._engine, Relation(goal.rows(self._protecting.columns)), profiler.names, k)
        self._after = copy.profile(copy.everything)
        if self._after.smallest < k or self._after.rows != patterns.rows:
            rows = count(self._after.rows_at_risk)
            return self._result(
                Outcome.VIOLATION, f"the copy failed its audit ({rows} rows at risk), so it was not kept"
            )
        goal.keep()
        self._written = True
        return self._result(Outcome.FINISHED, f"{self._reason(self._found)}; {goal} was written and passed its audit")

    def _reason(self, found: Anonymization) -> str:
        k = self._question.policy.k
        if found.cost == 0:
            return f"nothing needs to be suppressed: the table is {k}-anonymous"
        assert self._rows is not None
        cells = sum(found.cells)
        share = percent(Fraction(cells, self._rows * len(found.cells)))
        made = f"suppressing {plural(cells, 'cell')} ({share}) makes the table {k}-anonymous"
        if found.optimal:
            return f"{made}; proved: nothing less does"
        least = count(found.lower_bound)
        weighted = any(each != 1 for each in self._protecting.weights)
        return f"{made}; proved: {f'a weight of at least {least} is' if weighted else f'at least {least} are'} needed"

    def _result(self, outcome: Outcome, reason: str, unfinished: str = "") -> AnonymizeResult:
        found, protecting = self._found, self._protecting
        return AnonymizeResult(
            outcome=outcome,
            reason=reason,
            algorithm=found.algorithm if found else "none",
            cost=found.cost if found else None,
            lower_bound=found.lower_bound if found else 0,
            cells=sum(found.cells) if found else None,
            by_column=dict(zip(protecting.names, found.cells, strict=True)) if found else {},
            rows_touched=found.rows if found else 0,
            rows_blank=found.rows_blank if found else 0,
            row_patterns=self._patterns,
            after=self._after,
            target=str(protecting.target) if self._written else None,
            copied=tuple(column.name for column in protecting.copied) if self._written else (),
            not_copied=protecting.not_copied,
            script=self._script,
            work=protecting.work(self._rows, [unfinished] if unfinished else []),
        )
