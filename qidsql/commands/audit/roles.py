"""The roles proposed for columns that are not declared, as in `init`, or marked CHECK in a policy.

A column is only left out if its proposal is beyond doubt. The verdict does not rest on that (`verdict.judge`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from qidsql.column_roles import resolution
from qidsql.column_roles.proposal import ValueCounts
from qidsql.column_roles.resolution import Columns, Resolved
from qidsql.commands.audit.command import AuditRequest, ColumnFinding, Persons, UndeclaredRoles
from qidsql.commands.table_search import named_like_persons
from qidsql.core.policy import Policy
from qidsql.core.tables import Nulls, Role, Table
from qidsql.errors import UsageError
from qidsql.profiling.by_entity import ByEntity
from qidsql.profiling.disclosing import disclosing
from qidsql.profiling.profiler import TableProfiler
from qidsql.sql.classes import column_counts
from qidsql.sql.relation import relation


def findings_in_roles(
    findings: Sequence[ColumnFinding], profiler: TableProfiler, table: Table, request: AuditRequest
) -> list[ColumnFinding]:
    """The columns, with those left out for which a proposal says so. Queries only the system catalog.

    Nothing is proposed if the request names the columns to audit, nor if no quasi-identifier would remain.
    """
    if request.undeclared is UndeclaredRoles.NONE or request.policy.columns:
        return list(findings)
    given = {
        each.name: Resolved(Role.QUASI_IDENTIFIER if each.recognised else each.role, each.reason) for each in findings
    }
    columns, counts = Columns(table, given), counts_of(findings, profiler)
    policy, marked = request.policy, request.unconfirmed
    found = resolution.with_proposals(profiler.engine, columns, policy, counts, marked=marked).roles
    accepted = request.undeclared is UndeclaredRoles.ACCEPTED
    new = [_in_role(each, found[each.name], accepted) for each in findings]
    return new if any(each.audited for each in new) else list(findings)


def _in_role(finding: ColumnFinding, found: Resolved, accepted: bool) -> ColumnFinding:
    """The column in its proposed role, if that leaves it out. A direct identifier by its values stays one."""
    recognised = finding.recognised and found.role is Role.DIRECT_IDENTIFIER and not accepted
    if not found.proposed or recognised:
        return finding
    reason = found.reason.replace("proposed", "accepted", 1) if accepted else found.reason
    return replace(finding, role=found.role, reason=reason, recognised=False, proposed=not accepted)


def counts_of(findings: Sequence[ColumnFinding], profiler: TableProfiler) -> dict[str, ValueCounts]:
    """The counts of the columns that were measured."""
    by_value = profiler.by_value.known()
    return {
        each.name: ValueCounts(by_value[each.name], each.nulls)
        for each in findings
        if each.nulls is not None and each.name in by_value
    }


# What a row is: another person, or one of several of a person, where nobody has said which.
#
# A pass by rows counts only if no column that is named like the persons repeats, or if the table also passes by each
# such column. An entity confirms what a row is: a column, or "row".


def unconfirmed_persons(
    profiler: TableProfiler,
    table: Table,
    policy: Policy,
    published: Sequence[str],
    measured: Mapping[str, ValueCounts],
) -> tuple[Persons, ...]:
    """The columns that may identify the persons, as far as nobody has confirmed what a row is.

    As many statements as `named_like_persons` sends, and two for each column that repeats and is not `published`.
    Raises Stopped, StatementError.
    """
    found = named_like_persons(profiler, table, policy, measured)
    return tuple(_in_persons(profiler, table, policy, published, name) for name in found)


def _in_persons(
    profiler: TableProfiler, table: Table, policy: Policy, published: Sequence[str], column: str
) -> Persons:
    """The column, with the classes of the published columns counted in its values."""
    if column in published or policy.nulls != Nulls.EQUAL or not table.column(column).readable:
        return Persons(column)
    try:
        replace(policy, entity=column)
    except UsageError:  # a requirement measures rows
        return Persons(column)
    dialect = profiler.engine.dialect
    source = relation(dialect, table, table.resolve([*published, column]))
    about = profiler.engine, source, published, profiler.k
    counting = ByEntity(*about, column, profiler.rows, meter=profiler.meter)
    limited = disclosing(counting, table, policy.criteria)
    profile = limited.profile(limited.everything)
    [(_, (unnamed,))] = counting.ask([column_counts(dialect, source, (column,))])
    return Persons(column, profile, unnamed)
