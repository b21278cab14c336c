"""The measures of one column set of a table."""

import time
from dataclasses import asdict, dataclass

from qidsql import __version__
from qidsql.audit import assign_roles, audited_columns
from qidsql.engines.base import Engine
from qidsql.measures import ClassProfile, ClassSizes, SizeBin, bin_starts, size_bins
from qidsql.policy import Policy
from qidsql.schema import Table
from qidsql.sql.relation import relation
from qidsql.sql.statements import Statement, class_sizes


@dataclass(frozen=True, slots=True)
class ProfileResult:
    """The measures of one column set; a report is rendered from nothing else."""

    source: str
    engine: str
    table: str
    kind: str
    policy: Policy
    columns: tuple[str, ...]
    profile: ClassProfile
    class_sizes: tuple[SizeBin, ...]
    statements: int
    seconds: float
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, object]:
        """Plain lists, dicts, strings and numbers, ready for JSON."""
        return {
            "format": 1,
            "qidsql": __version__,
            "source": self.source,
            "engine": self.engine,
            "table": self.table,
            "kind": self.kind,
            "policy": self.policy.to_dict(),
            "rows": self.profile.rows,
            "column_sets": [{"columns": list(self.columns), **self.profile.to_dict()}],
            "class_sizes": [asdict(size) for size in self.class_sizes],
            "statements": self.statements,
            "seconds": round(self.seconds, 3),
            "unfinished": [],
            "notes": list(self.notes),
        }


def profile(engine: Engine, table: str | None, policy: Policy) -> ProfileResult:
    """The measures of the policy's columns together (all readable columns when it names none).

    One statement, one scan. Raises UsageError, UnknownName, AccessError, StatementError, Stopped.
    """
    clock, asked = time.monotonic(), engine.asked
    question = _question(engine, table, policy)
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
    """The statement that `profile` would ask; only the catalog is read."""
    return _question(engine, table, policy).statement


@dataclass(frozen=True, slots=True)
class _Question:
    table: Table
    columns: tuple[str, ...]
    statement: Statement[ClassSizes]


def _question(engine: Engine, table: str | None, policy: Policy) -> _Question:
    described = engine.describe(table)
    columns = audited_columns(described, assign_roles(described, policy))
    entity = described.resolve([policy.entity]) if policy.entity else ()
    source = relation(engine.dialect, described, columns + entity, policy.where)
    names = tuple(column.name for column in columns)
    statement = class_sizes(engine.dialect, source, names, entity[0].name if entity else None)
    return _Question(described, names, statement)
