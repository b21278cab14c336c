"""The command that follows a graph: it runs on the table to be published, with the columns to protect."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from qidsql.commands.audit.audit import audit
from qidsql.commands.audit.request import AuditRequest
from qidsql.commands.graph.request import GraphRequest, Then
from qidsql.commands.graph.result import Followed, GraphResult, ProtectedTable
from qidsql.commands.mask.mask import mask
from qidsql.commands.mask.request import MaskRequest
from qidsql.commands.suppress.request import SuppressRequest
from qidsql.commands.suppress.suppress import suppress
from qidsql.core.results import Verdict
from qidsql.engines.base import Engine
from qidsql.errors import UsageError


def follow(engine: Engine, request: GraphRequest, result: GraphResult, on_stage: Callable[[str], None]) -> GraphResult:
    """The result together with that of the command that --then requests.

    No command runs unless the graph was finished and protecting these columns of the table closes every path: a pass
    would prove nothing. An entity is not published, so it is not among the columns. The budgets of the request cover
    both: if nothing is left of them, the result is inconclusive. Raises UsageError, and the errors of the command.
    """
    if request.following is None or result.protection is None or result.verdict is not Verdict.FINISHED:
        return result
    [table] = result.protection.tables
    if not table.columns:
        return result
    if request.entity in table.columns:  # it identifies persons and is not published: other columns have to remain
        table = replace(table, columns=tuple(name for name in table.columns if name != request.entity))
        if not table.columns:
            raise UsageError(
                f"--entity {request.entity} is the only column to protect in {table.table}: withhold or replace it; "
                f"a person's number is no quasi-identifier"
            )
    statements, seconds = request.max_statements, request.max_seconds
    if statements is not None:
        statements -= result.account.statements
    if seconds is not None:
        seconds -= result.account.seconds
    if (statements is not None and statements <= 0) or (seconds is not None and seconds <= 0):
        why = f"--then {request.then} did not run: the budget (--max-statements, --max-seconds) is used up"
        account = replace(result.account, unfinished=(*result.account.unfinished, why))
        return replace(result, verdict=Verdict.INCONCLUSIVE, reason=f"{result.reason}; {why}", account=account)
    left = replace(request, max_statements=statements, max_seconds=seconds)
    return replace(result, then=_run(engine, left, request.following, table, on_stage))


def _run(
    engine: Engine, request: GraphRequest, verb: Then, table: ProtectedTable, on_stage: Callable[[str], None]
) -> Followed:
    options: dict[str, Any] = {
        "columns": table.columns,
        "identifiers": table.identifiers,
        "sensitive": table.sensitive,
        "max_seconds": request.max_seconds,
    }
    if verb is Then.SUPPRESS:
        return Followed(verb, suppress(engine, SuppressRequest(table.table, k=request.k, **options), on_stage))
    options |= {"entity": request.entity, "each_row": request.each_row, "max_statements": request.max_statements}
    if verb is Then.MASK:
        return Followed(verb, mask(engine, MaskRequest(table.table, violates=request.k, **options), on_stage))
    return Followed(verb, audit(engine, AuditRequest(table.table, k=request.k, **options), on_stage))
