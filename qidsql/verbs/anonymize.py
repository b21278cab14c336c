"""k-anonymization of a table by suppression: the plan, its cost, and how far from the optimum it can be."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

from qidsql.anonymize_findings import AnonymizeResult
from qidsql.anonymizer import Anonymization, Anonymizer
from qidsql.engines.base import Engine
from qidsql.errors import Interrupted, Stopped, UsageError
from qidsql.figures import count, percent, plural
from qidsql.policy import Policy
from qidsql.row_patterns import RowPatterns
from qidsql.search_findings import Outcome
from qidsql.suppression_plan import SuppressionPlan
from qidsql.verbs.searching import Searching

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
    """What is to be anonymized, and how. Raises UsageError when the options cannot be right."""

    policy: Policy
    method: Method = Method.AUTO
    weights: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.policy.entity is not None:
            raise UsageError("anonymize makes rows identical, not persons: give a table with one row per person")
        if self.policy.max_size is not None:
            raise UsageError("--max-size means nothing to an anonymization")


def anonymize(
    engine: Engine,
    table: str | None,
    question: AnonymizeQuestion,
    on_stage: Callable[[str], None] = lambda stage: None,
) -> AnonymizeResult:
    """The cheapest anonymization that is found, with the bound that is proved. One statement to the source.

    No row and no value leaves the engine but as codes of row patterns, on the workbench. A stop (budget, lost
    connection, Ctrl-C) before an anonymization is found makes the outcome inconclusive. Raises UsageError,
    UnknownName, AccessError, StatementError. [Chakaravarthy, Pandit & Sabharwal, 2, 4]
    """
    on_stage("reading the catalog")
    search = Searching(engine, table, question.policy, question.weights)
    on_stage("coding the row patterns")
    patterns: RowPatterns | None = None
    found, stopped = None, ""
    try:
        patterns = RowPatterns.of(search.profiler)
        if patterns.rows:
            found = _anonymization(patterns, search, question, on_stage)
    except Stopped as stop:
        stopped = str(stop)
    except KeyboardInterrupt:
        stopped = "interrupted"
    finally:
        if patterns is not None:
            patterns.close()
    return _result(search, question, patterns, found, stopped)


def _anonymization(
    patterns: RowPatterns, search: Searching, question: AnonymizeQuestion, on_stage: Callable[[str], None]
) -> Anonymization:
    k, deadline = question.policy.k, search.profiler.deadline
    on_stage("the least that each row must lose")
    plan = SuppressionPlan.of(patterns, k, search.weights, deadline=deadline, on_stage=on_stage)
    anonymizer = Anonymizer(patterns, k, search.weights, deadline or time.monotonic() + PATIENCE)
    exact = question.method is Method.EXACT or (question.method is Method.AUTO and anonymizer.small)
    if exact and not anonymizer.solvable:
        raise UsageError(
            f"{plural(patterns.patterns, 'distinct row')} of {plural(len(patterns.names), 'column')} are too many for "
            f"--method exact; leave out columns (--exclude), make values coarser, or use --method heuristic"
        )
    everything = (1 << len(patterns.names)) - 1
    anonymizer.greedy([everything & ~mask for mask in plan.masks], on_stage)
    if exact:
        on_stage("solving the integer program")
        return anonymizer.exact(plan.weight)
    return anonymizer.improve(plan.weight, on_stage)


def _result(
    search: Searching,
    question: AnonymizeQuestion,
    patterns: RowPatterns | None,
    found: Anonymization | None,
    stopped: str,
) -> AnonymizeResult:
    rows = patterns.rows if patterns is not None else None
    cut_short = found is not None and found.stopped is not None and not found.optimal
    if found is not None and cut_short and (question.policy.max_seconds or isinstance(found.stopped, Interrupted)):
        stopped = str(found.stopped)
    return AnonymizeResult(
        outcome=Outcome.INCONCLUSIVE if stopped or not rows else Outcome.FINISHED,
        reason=_reason(found, question, rows),
        algorithm=found.algorithm if found else "none",
        cost=found.cost if found else 0,
        lower_bound=found.lower_bound if found else 0,
        optimal=found is not None and found.optimal,
        cells=sum(found.cells) if found else 0,
        by_column=dict(zip(search.profiler.names, found.cells, strict=True)) if found else {},
        rows_touched=found.rows if found else 0,
        rows_blank=found.rows_blank if found else 0,
        row_patterns=patterns.patterns if patterns is not None else 0,
        before=None,
        after=None,
        target=None,
        work=search.work(rows, [stopped] if stopped else []),
    )


def _reason(found: Anonymization | None, question: AnonymizeQuestion, rows: int | None) -> str:
    k = question.policy.k
    if rows == 0:
        return "there is nothing to anonymize: no row"
    if found is None:
        return "not searched to the end: no anonymization was found"
    if found.cost == 0:
        return f"nothing needs to be suppressed: the table is {k}-anonymous"
    assert rows is not None
    cells = plural(sum(found.cells), "cell")
    share = percent(Fraction(sum(found.cells), rows * len(found.cells)))
    made = f"suppressing {cells} ({share}) makes the table {k}-anonymous"
    if found.optimal:
        return f"{made}; proved: nothing less does"
    return f"{made}; proved: at least {count(found.lower_bound)} are needed"
