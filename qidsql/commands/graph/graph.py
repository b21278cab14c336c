"""Which attributes stand between a person and a secret: the graph of a whole source, and what separates in it."""

import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime

from qidsql.commands.graph.answer import Answer
from qidsql.commands.graph.building import build, with_dependencies
from qidsql.commands.graph.request import GraphQuestion
from qidsql.commands.graph.result import GraphResult, GraphWork
from qidsql.commands.keys.result import Outcome
from qidsql.engines.base import Engine
from qidsql.errors import Stopped


def graph(
    engine: Engine | None, question: GraphQuestion, on_stage: Callable[[str], None] = lambda stage: None
) -> GraphResult:
    """Which attributes separate the identifiers from the sensitive attributes, in a source, a file of outside tables,
    or both.

    A violation where nothing does, since both stand in one table, or where the tables to be published cannot by
    themselves. A stop while attributes are compared makes the answer inconclusive, unless it is such a violation: what
    was not found yet can only join more. Raises UsageError, UnknownName, AccessError, StatementError.
    """
    with nullcontext() if engine is None else engine.answer():
        return _graph(engine, question, on_stage)


def _graph(engine: Engine | None, question: GraphQuestion, on_stage: Callable[[str], None]) -> GraphResult:
    started, clock = datetime.now(UTC), time.monotonic()
    asked, scans = (engine.asked, engine.scans) if engine else (0, 0)

    def work(unfinished: Sequence[str], notes: Sequence[str] = ()) -> GraphWork:
        return GraphWork(
            source=engine.label if engine else "",
            engine=engine.version if engine else "",
            schema=question.schema,
            outside=None if question.outside is None else str(question.outside),
            exclude=question.exclude,
            algorithm=str(question.algorithm),
            started=started,
            seconds=time.monotonic() - clock,
            statements=engine.asked - asked if engine else 0,
            scans=engine.scans - scans if engine else 0,
            unfinished=tuple(unfinished),
            notes=tuple(notes),
        )

    try:
        built = build(engine, question, on_stage)
    except Stopped as stop:
        return _nothing(question, work([str(stop)]))
    on_stage("looking for what separates")
    answer = Answer(built, question)
    if engine is not None and question.find_dependencies:
        left = None if question.max_seconds is None else question.max_seconds - (time.monotonic() - clock)
        budget = (question.max_statements and question.max_statements - (engine.asked - asked), left)
        built = with_dependencies(engine, built, answer.tables_between, budget, on_stage)
        answer = Answer(built, question)
    return answer.result(work(built.unfinished, [*built.notes, *answer.notes()]))


def _nothing(question: GraphQuestion, work: GraphWork) -> GraphResult:
    """The answer where the work had to end before the catalog was read."""
    return GraphResult(
        outcome=Outcome.INCONCLUSIVE,
        reason="the source's tables were not read to the end",
        identifiers=question.identifiers,
        sensitive=question.sensitive,
        attributes=(),
        tables=(),
        merges=(),
        refused=(),
        directed=False,
        cut=None,
        cuts=(),
        complete=False,
        minimum=0,
        parts=(),
        undirected=None,
        together=(),
        paths=(),
        paths_complete=False,
        protection=None,
        work=work,
    )
