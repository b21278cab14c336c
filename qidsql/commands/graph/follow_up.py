"""What follows a graph: another command on the table to be published, with the columns to protect."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from qidsql.commands.audit.audit import audit
from qidsql.commands.graph.request import GraphQuestion, Then
from qidsql.commands.graph.result import Followed, GraphResult, ProtectedTable
from qidsql.commands.keys.result import Outcome
from qidsql.commands.mask.mask import MaskQuestion, mask
from qidsql.commands.suppress.suppress import SuppressQuestion, suppress
from qidsql.core.criterion_options import asked
from qidsql.core.policy import Policy
from qidsql.engines.base import Engine
from qidsql.errors import UsageError


def follow(
    engine: Engine, question: GraphQuestion, result: GraphResult, on_stage: Callable[[str], None] = lambda stage: None
) -> GraphResult:
    """The result with what was asked to follow it; as it is where nothing was, or where it would be in vain.

    That is so unless the graph was finished and protecting these columns of the table closes every path: a table that
    passes would say nothing. An entity is not published, and so not among them. The budgets of the question are for
    both: where nothing is left of them, the result is inconclusive. Raises UsageError, and as the command that follows.
    """
    if question.then is None or result.protection is None or result.outcome is not Outcome.FINISHED:
        return result
    [table] = result.protection.tables
    if not table.columns:
        return result
    if question.entity in table.columns:  # it tells persons apart and is not published: what else is to be protected?
        table = replace(table, columns=tuple(name for name in table.columns if name != question.entity))
        if not table.columns:
            raise UsageError(
                f"--entity {question.entity} is all there is to protect in {table.table}: withhold it, or replace it; "
                f"a person's number is no quasi-identifier"
            )
    statements, seconds = question.max_statements, question.max_seconds
    if statements is not None:
        statements -= result.work.statements
    if seconds is not None:
        seconds -= result.work.seconds
    if (statements is not None and statements <= 0) or (seconds is not None and seconds <= 0):
        why = f"--then {question.then} did not run: the budget (--max-statements, --max-seconds) is used up"
        work = replace(result.work, unfinished=(*result.work.unfinished, why))
        return replace(result, outcome=Outcome.INCONCLUSIVE, reason=f"{result.reason}; {why}", work=work)
    left = replace(question, max_statements=statements, max_seconds=seconds)
    return replace(result, then=_run(engine, left, question.then, table, on_stage))


def _run(
    engine: Engine, question: GraphQuestion, verb: Then, table: ProtectedTable, on_stage: Callable[[str], None]
) -> Followed:
    options: dict[str, Any] = {
        "max_seconds": question.max_seconds,
        "columns": table.columns,
        "identifiers": table.identifiers,
        "sensitive": table.sensitive,
    }
    if verb is Then.AUDIT:
        return Followed(
            verb,
            audit(
                engine,
                table.table,
                Policy.read(k=question.k, entity=question.entity, **options, max_statements=question.max_statements),
                on_stage,
            ),
        )
    if verb is Then.MASK:
        masking = MaskQuestion(
            **asked(violates=question.k, entity=question.entity, **options, max_statements=question.max_statements)
        )
        return Followed(verb, mask(engine, table.table, masking, on_stage))
    policy = Policy.read(k=question.k, **options)
    return Followed(verb, suppress(engine, table.table, SuppressQuestion(policy), on_stage))
