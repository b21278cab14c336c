"""The fewest cells to suppress so that nobody stands out: the plan, a script for it, or the copy itself."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from sqlglot import exp

from qidsql.commands import gate
from qidsql.commands.keys.result import Outcome
from qidsql.commands.suppress.result import ColumnLoss, SuppressResult, ValueLoss
from qidsql.commands.table_protection import Protecting
from qidsql.commands.table_search import one_answer
from qidsql.core.policy import Policy
from qidsql.core.tables import FILES, Nulls, TableName, weight_of
from qidsql.core.wording import count, plural
from qidsql.engines.base import Engine
from qidsql.errors import Stopped, UsageError
from qidsql.profiling.profiler import TableProfiler
from qidsql.protection.copies import Target
from qidsql.protection.row_patterns import RowPatterns
from qidsql.protection.suppression.plan import SuppressionPlan
from qidsql.protection.suppression.shared import shared
from qidsql.protection.suppression.verification import wildcard_check
from qidsql.sql.relation import Relation
from qidsql.sql.row_codes import dictionary
from qidsql.sql.statements import Row, Statement, integer
from qidsql.sql.suppression import create_table, create_view, suppressed_by_counts, suppression_in_place
from qidsql.sql.templates import fill

MAX_WINDOWS = 200  # column sets that a printed statement tries: each is a sort of the table there
NAMED_VALUES = 3


class Method(StrEnum):
    """How cells are chosen."""

    OPTIMAL = "optimal"  # the lightest of each row by itself [Wilson]
    SHARED = "shared"  # fewer in all: the blank cells of one row protect other rows too


class Script(StrEnum):
    """Which statements to print."""

    VIEW = "view"
    TABLE = "table"
    UPDATE = "update"


def method(text: str) -> Method:
    """How cells are chosen, by its name. Raises UsageError."""
    try:
        return Method(text)
    except ValueError:
        raise UsageError(f"--method must be {', '.join(Method)}; got {text}") from None


def script(text: str) -> Script:
    """The statements to print, by their name. Raises UsageError."""
    try:
        return Script(text)
    except ValueError:
        raise UsageError(f"--sql must be {', '.join(Script)}; got {text}") from None


@dataclass(frozen=True, slots=True)
class SuppressQuestion:
    """What to suppress, and where it goes. Raises UsageError when the options cannot be right.

    `into` names the copy that is written, `script` the statements that are printed; neither: the plan alone.
    """

    policy: Policy
    weights: Mapping[str, int] = field(default_factory=dict)
    method: Method = Method.OPTIMAL
    into: str | None = None
    replace: bool = False
    script: Script | None = None
    show_values: bool = False

    def __post_init__(self) -> None:
        if self.policy.entity is not None:
            raise UsageError("--entity means nothing to a suppression, which is of single rows")
        if self.into is not None and self.script is not None:
            raise UsageError("--into writes the copy and --sql prints statements for it; choose one")
        if self.replace and self.into is None:
            raise UsageError("--replace needs --into, the copy to replace")
        if self.script is not None and self.method is Method.SHARED:
            raise UsageError(
                "a printed statement suppresses each row by itself, so it takes no --method shared; use --into"
            )
        if self.script is not None and self.policy.nulls == Nulls.WILDCARD:
            raise UsageError("a printed statement counts equal rows, so it takes no --nulls wildcard; use --into")


@one_answer
def suppress(
    engine: Engine, table: str | None, question: SuppressQuestion, on_stage: Callable[[str], None] = lambda stage: None
) -> SuppressResult:
    """The lightest cells to suppress so that every row matches k - 1 others, and the copy where one was asked for.

    The rows are coded by one statement, the plan is computed in a workbench of our own; a copy is written and audited
    in the engine's one transaction and kept only when every row of it matches k rows. A stop (budget, lost connection,
    Ctrl-C) makes the outcome inconclusive, and then nothing is written. Raises UsageError, UnknownName, AccessError,
    StatementError, SourceError.
    """
    on_stage("reading the catalog")
    return _Suppression(engine, table, question, on_stage).run()


class _Suppression:
    """One run of `suppress`, its result growing."""

    def __init__(
        self, engine: Engine, table: str | None, question: SuppressQuestion, on_stage: Callable[[str], None]
    ) -> None:
        self._engine, self._question, self._on_stage = engine, question, on_stage
        self._protecting = Protecting(engine, table, question.policy, question.weights, question.into, question.replace)
        self._rows: int | None = None
        self._plan: SuppressionPlan | None = None
        self._losses: tuple[ColumnLoss, ...] = ()
        self._written = False
        self._at_risk: int | None = None
        self._script: tuple[str, ...] = ()

    def run(self) -> SuppressResult:
        try:
            return self._run()
        except Stopped as stop:
            return self._result(Outcome.INCONCLUSIVE, "not worked out to the end, and nothing was written", str(stop))
        except KeyboardInterrupt:
            return self._result(
                Outcome.INCONCLUSIVE, "not worked out to the end, and nothing was written", "interrupted"
            )

    def _run(self) -> SuppressResult:
        question, k = self._question, self._question.policy.k
        self._protecting.recognise(self._on_stage)
        self._on_stage("coding the rows")
        with RowPatterns.of(self._profiler) as patterns:
            self._rows = patterns.rows
            if not patterns.rows:
                which = "no row meets the where condition" if question.policy.where else "the table is empty"
                return self._result(Outcome.INCONCLUSIVE, f"there is nothing to suppress: {which}")
            if patterns.rows < k:
                rows = plural(patterns.rows, "row")
                return self._result(
                    Outcome.VIOLATION, f"no suppression helps: {rows} are fewer than k = {k}, even if all are blank"
                )
            plan = SuppressionPlan.of(
                patterns,
                k,
                self._protecting.weights,
                wildcard=question.policy.nulls == Nulls.WILDCARD,
                deadline=self._profiler.deadline,
                on_stage=self._on_stage,
            )
            if question.method is Method.SHARED:
                self._on_stage("looking for rows that blank cells of others protect")
                plan = shared(plan, deadline=self._profiler.deadline)
            self._on_stage("checking the plan")
            by_itself = question.method is Method.OPTIMAL and question.policy.nulls == Nulls.EQUAL
            self._plan = gate.suppression(plan, by_itself, self._profiler.deadline)
            self._losses = self._lost(patterns)
            if question.script is not None:
                self._script = self._statements(question.script)
            if self._protecting.target is not None:
                return self._write(self._protecting.target, patterns)
        return self._result(Outcome.FINISHED, self._reason())

    @property
    def _profiler(self) -> TableProfiler:
        return self._protecting.profiler

    @property
    def _names(self) -> tuple[str, ...]:
        return self._protecting.names

    def _lost(self, patterns: RowPatterns) -> tuple[ColumnLoss, ...]:
        """What each column and its values lose."""
        assert self._plan is not None
        queries = []
        for place in range(len(self._names)):
            query = fill(
                "workbench/suppressed_values",
                place=place,
                code=exp.column(f"c{place}", table="patterns"),
                bit=exp.cast(exp.Literal.number(1 << place), "BIGINT"),
            )
            assert isinstance(query, exp.Query)
            queries.append(query)
        lost = queries[0] if len(queries) == 1 else exp.union(*queries, distinct=False)
        most: dict[int, list[Row]] = {}
        for row in patterns.bench.ask(
            "values_lost",
            "values that lose cells",
            self._profiler.deadline,
            lost=lost.subquery("lost"),
            most=NAMED_VALUES,
        ):
            most.setdefault(integer(row[0]), []).append(row)
        losses = []
        for place, cells in enumerate(self._plan.by_column):
            rows = most.get(place, [])
            touched, gone = (integer(rows[0][1]), integer(rows[0][2])) if rows else (0, 0)
            shown = self._values(place, rows, patterns.shuffle_key) if self._question.show_values and rows else ()
            losses.append(
                ColumnLoss(
                    self._names[place],
                    self._protecting.weights[place],
                    cells,
                    patterns.values[place],
                    touched,
                    gone,
                    shown,
                )
            )
        return tuple(losses)

    def _values(self, place: int, rows: Sequence[Row], shuffle_key: str) -> tuple[ValueLoss, ...]:
        """The values that lose most, as text. Asked only where the user wants to see values."""
        dialect = self._engine.dialect
        codes = [integer(row[3]) for row in rows]
        query = fill(
            "values_at",
            column=self._profiler.source.column(self._names[place]),
            relation=self._profiler.source.node,
            dictionary=dictionary(dialect, place, shuffle_key, "v0").subquery("dictionary"),
            text=exp.Cast(this=exp.column("value"), to=dialect.text.copy()),
            places=[exp.Literal.number(code) for code in codes],
        )
        statement = Statement(dialect.render(query), f"values of {self._names[place]}", lambda rows: rows)
        texts = {integer(code): str(value) for code, value in self._profiler.ask([statement])[0]}
        return tuple(ValueLoss(texts.get(integer(row[3])), integer(row[4]), integer(row[5])) for row in rows)

    def _statements(self, script: Script) -> tuple[str, ...]:
        """What would suppress the same cells, in the engine alone."""
        assert self._plan is not None
        table, dialect = self._protecting.table, self._engine.dialect
        if table.kind in FILES:
            raise UsageError("a file takes no statements; --into writes a copy of it")
        weights = self._plan.weights
        masks = sorted(self._plan.masks, key=lambda mask: (weight_of(mask, weights), mask))
        if len(masks) > MAX_WINDOWS:
            raise UsageError(
                f"the plan suppresses {count(len(masks))} different column sets, too many for one statement "
                f"({MAX_WINDOWS}); write the copy with --into, or suppress fewer columns (--column)"
            )
        if script is Script.UPDATE:
            if not table.row_address:
                raise UsageError(f"{table.name} is a {table.kind}, whose rows have no addresses; use --sql view")
            lost = [c.name for c, loss in zip(self._protecting.columns, self._losses, strict=True) if loss.cells]
            fixed = [c.name for c in self._protecting.columns if c.name in lost and not c.nullable]
            if fixed:
                raise UsageError(f"{', '.join(fixed)} may not be NULL in {table.name}; use --sql view, or --into")
            return dialect.script(suppression_in_place(dialect, table, self._protecting.columns, masks, self._plan.k))
        name = TableName(dialect.name_beside(table.name.name, "_suppressed"), table.name.schema, table.name.catalog)
        query = suppressed_by_counts(
            dialect, table, self._protecting.columns, self._protecting.copied, masks, self._plan.k
        )
        make = create_view if script is Script.VIEW else create_table
        return dialect.script(make(dialect, name, query))

    def _write(self, goal: Target, patterns: RowPatterns) -> SuppressResult:
        """Writes the copy, audits it, and keeps it only when it passes."""
        profiler, k = self._profiler, self._question.policy.k
        self._on_stage(f"writing {goal}")
        goal.write(patterns, self._protecting.columns, profiler.deadline)
        self._on_stage(f"auditing {goal}")
        copy = TableProfiler(self._engine, Relation(goal.rows(self._protecting.columns)), self._names, k)
        with RowPatterns.of(copy) as written:
            check = wildcard_check(written, k, profiler.deadline)
        self._at_risk = check.at_risk
        if not check.passes or check.rows != patterns.rows:
            return self._result(
                Outcome.VIOLATION,
                f"the copy failed its audit ({count(check.at_risk)} rows at risk), so it was not kept",
            )
        goal.keep()
        self._written = True
        return self._result(Outcome.FINISHED, f"{self._reason()}; {goal} was written and passed its audit")

    def _reason(self) -> str:
        assert self._plan is not None
        plan = self._plan
        cells = plural(plan.cells, "cell")
        if not plan.cells:
            return f"nothing needs to be suppressed: every row matches {plural(plan.k - 1, 'other')}"
        proof = "proved: no row is safe with fewer blanks of its own" if plan.optimal else "fewer may do"
        weighted = f", of the weight {count(plan.weight)}," if any(each != 1 for each in plan.weights) else ""
        return f"{cells}{weighted} in {plural(plan.records, 'row')} are to be suppressed; {proof}"

    def _result(self, outcome: Outcome, reason: str, unfinished: str = "") -> SuppressResult:
        plan, question = self._plan, self._question
        return SuppressResult(
            outcome=outcome,
            reason=reason,
            k=question.policy.k,
            method=question.method,
            cost=plan.weight if plan else None,
            lower_bound=plan.lower_bound if plan else None,
            cells=plan.cells if plan else None,
            records=plan.records if plan else None,
            by_cells=plan.by_cells if plan else {},
            losses=self._losses,
            ways=plan.ways if plan else (),
            masks=len(plan.masks) if plan else 0,
            target=str(self._protecting.target) if self._written else None,
            copied=tuple(column.name for column in self._protecting.copied) if self._written else (),
            not_copied=self._protecting.not_copied,
            at_risk=self._at_risk,
            script=self._script,
            work=self._protecting.work(self._rows, [unfinished] if unfinished else []),
        )
