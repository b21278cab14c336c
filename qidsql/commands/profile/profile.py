"""The measures of one column set of a table."""

import time
from dataclasses import dataclass

from qidsql.commands.audit.result import ProfileResult
from qidsql.commands.table_search import one_answer, table_profiler
from qidsql.core.policy import Policy
from qidsql.core.roles import assign_roles, audited_columns
from qidsql.core.tables import Nulls, Table
from qidsql.engines.base import Engine
from qidsql.errors import UsageError
from qidsql.measures.profiles import ClassSizes, bin_starts, size_bins
from qidsql.sql.relation import relation
from qidsql.sql.statements import Statement, class_sizes


@one_answer
def profile(engine: Engine, table: str | None, policy: Policy) -> ProfileResult:
    """The measures of the policy's columns together (all readable columns when it names none).

    One statement, one scan; where a NULL matches anything, before it one to count the NULLs, and at most one for each
    column with some. Raises UsageError, UnknownName, AccessError, StatementError, Stopped.
    """
    clock, asked = time.monotonic(), engine.asked
    question = _question(engine, table, policy)
    if policy.nulls == Nulls.WILDCARD:
        profiler = table_profiler(engine, question.table, question.table.resolve(question.columns), policy)
        sizes = profiler.sizes(profiler.everything)
    else:
        sizes = engine.run(question.statement)
    return ProfileResult(
        source=engine.label,
        engine=engine.version,
        table=str(question.table.name),
        kind=question.table.kind,
        policy=policy,
        columns=question.columns,
        profile=sizes.profile(policy.k),
        class_sizes=size_bins(sizes, bin_starts(policy.k)),
        statements=engine.asked - asked,
        seconds=time.monotonic() - clock,
        notes=question.table.notes,
    )


def planned_statement(engine: Engine, table: str | None, policy: Policy) -> Statement[ClassSizes]:
    """The statement that `profile` would ask; only the catalog is read. Raises UsageError with a wildcard."""
    if policy.nulls == Nulls.WILDCARD:
        raise UsageError(
            "--dry-run does not know the statement of --nulls wildcard: it depends on which columns hold NULLs; "
            "use --show-sql"
        )
    return _question(engine, table, policy).statement


@dataclass(frozen=True, slots=True)
class _Question:
    table: Table
    columns: tuple[str, ...]
    statement: Statement[ClassSizes]


def _question(engine: Engine, table: str | None, policy: Policy) -> _Question:
    described = engine.narrowed(engine.describe(table), policy.where)
    columns = audited_columns(described, assign_roles(described, policy))
    entity = described.resolve([policy.entity]) if policy.entity else ()
    source = relation(engine.dialect, described, columns + entity)
    names = tuple(column.name for column in columns)
    statement = class_sizes(engine.dialect, source, names, entity[0].name if entity else None)
    return _Question(described, names, statement)
