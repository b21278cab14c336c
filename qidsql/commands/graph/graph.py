"""Which attributes lie between a person and a secret: the graph of a whole source, and its separating sets."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext

from qidsql.commands.graph.answer import Answer
from qidsql.commands.graph.building import build, with_dependencies
from qidsql.commands.graph.command import GraphRequest
from qidsql.commands.graph.report import follow
from qidsql.commands.graph.result import GraphAccount, GraphResult
from qidsql.commands.table_search import Accounting
from qidsql.core.options import names
from qidsql.core.results import Verdict
from qidsql.engines.base import Engine
from qidsql.engines.connect import Source
from qidsql.errors import Stopped


def graph(source: Source, request: GraphRequest, on_stage: Callable[[str], None] = lambda stage: None) -> GraphResult:
    """Which attributes separate the identifiers from the sensitive attributes, in a source, a file of outside tables,
    or both; then the command of --then.

    A violation if no set separates, since both are in one table, or if protecting the tables to be published does not
    suffice. A stop while attributes are compared makes the result inconclusive, unless it is such a violation: links
    not found yet can only add paths. Raises UsageError, UnknownName, AccessError, StatementError.
    """
    if request.outside is not None and not source.named:
        return separated(None, request, on_stage)
    with source.opened() as engine:
        return follow(engine, request, separated(engine, request, on_stage), on_stage)


def separated(engine: Engine | None, request: GraphRequest, on_stage: Callable[[str], None]) -> GraphResult:
    """The result of the graph alone."""
    with nullcontext() if engine is None else engine.answer():
        return _separated(engine, request, on_stage)


def _separated(engine: Engine | None, request: GraphRequest, on_stage: Callable[[str], None]) -> GraphResult:
    accounting = Accounting(engine)

    def account(unfinished: Sequence[str], notes: Sequence[str] = ()) -> GraphAccount:
        return GraphAccount(
            source=engine.label if engine else "",
            engine=engine.version if engine else "",
            schema=request.schema,
            outside=None if request.outside is None else str(request.outside),
            exclude=request.left_out,
            algorithm=str(request.chosen_algorithm),
            unfinished=tuple(unfinished),
            notes=(*(request.origin.sentences if request.origin else ()), *notes),
            **accounting.spent,
        )

    try:
        built = build(engine, request, on_stage)
    except Stopped as stop:
        return _nothing(request, account([str(stop)]))
    on_stage("computing separating sets")
    answer = Answer(built, request)
    if engine is not None and request.find_dependencies:
        spent = accounting.spent
        left = None if request.max_seconds is None else request.max_seconds - spent["seconds"]
        budget = (request.max_statements and request.max_statements - spent["statements"], left)
        built = with_dependencies(engine, built, answer.tables_between, budget, on_stage)
        answer = Answer(built, request)
    return answer.result(account(built.unfinished, [*built.notes, *answer.notes()]))


def _nothing(request: GraphRequest, account: GraphAccount) -> GraphResult:
    """The result if the work ended before the catalog was read."""
    return GraphResult(
        verdict=Verdict.INCONCLUSIVE,
        reason="the source's tables could not all be read",
        account=account,
        identifiers=names(request.identifiers),
        sensitive=names(request.sensitive),
        cut=None,
        column_sets=(),
        complete=False,
        lower_bound=None,
        by_sensitive={},
        directed=False,
        undirected_cut=None,
        together=(),
        paths=(),
        paths_complete=False,
        protection=None,
        attributes=(),
        tables=(),
        merges=(),
        refused=(),
    )
