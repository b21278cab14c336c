"""The roles proposed for columns that are not declared, as in `init`, or marked CHECK in a policy.

A column is only left out if its proposal is beyond doubt. The verdict does not rest on that (`verdict.judge`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from qidsql.column_roles.proposal import Proposal, ValueCounts
from qidsql.column_roles.table_proposals import proposed_roles
from qidsql.commands.audit.command import AuditRequest, ColumnFinding, Persons, UndeclaredRoles
from qidsql.commands.persons import named_like_persons
from qidsql.core.policy import Policy
from qidsql.core.tables import Nulls, PolicyRole, Role, Table
from qidsql.errors import UsageError
from qidsql.profiling.disclosing import disclosing
from qidsql.profiling.profiler import TableProfiler
from qidsql.sql.classes import column_counts
from qidsql.sql.relation import relation

LEFT_OUT = {
    PolicyRole.DIRECT_IDENTIFIER: Role.DIRECT_IDENTIFIER,
    PolicyRole.SENSITIVE: Role.SENSITIVE,
    PolicyRole.OTHER: Role.EXCLUDED,
}


def with_proposals(
    findings: Sequence[ColumnFinding], profiler: TableProfiler, table: Table, request: AuditRequest
) -> list[ColumnFinding]:
    """The columns, with those left out for which a proposal says so. Queries only the system catalog.

    Nothing is proposed if the request names the columns to audit, nor if no quasi-identifier would remain.
    """
    if request.undeclared is UndeclaredRoles.NONE or request.policy.columns:
        return list(findings)
    counts = counts_of(findings, profiler)
    by_policy = request.policy.origin is not None and request.policy.origin.line is not None
    proposals = {} if by_policy else proposed_roles(profiler.engine, table, counts)
    found = [_proposed(finding, counts.get(finding.name), proposals, request) for finding in findings]
    return found if any(finding.audited for finding in found) else list(findings)


def counts_of(findings: Sequence[ColumnFinding], profiler: TableProfiler) -> dict[str, ValueCounts]:
    """The counts of the columns that were measured."""
    by_value = profiler.by_value.known()
    return {
        each.name: ValueCounts(by_value[each.name], each.nulls)
        for each in findings
        if each.nulls is not None and each.name in by_value
    }


def _proposed(
    finding: ColumnFinding, counts: ValueCounts | None, proposals: Mapping[str, Proposal], request: AuditRequest
) -> ColumnFinding:
    """The column in its proposed role, if this leaves it out."""
    policy = request.policy
    declared = finding.name.lower() in map(str.lower, policy.quasi_identifiers)
    if declared or not (finding.audited or finding.recognised):
        return finding
    marked = request.unconfirmed.get(finding.name)
    if marked is not None:
        role, why = PolicyRole(marked), f"marked CHECK in {policy.origin.place if policy.origin else 'the policy'}"
    else:
        proposal = proposals.get(finding.name)  # a column that a policy does not mention is audited
        if proposal is None or counts is None or counts.profile.classes < 2:  # a constant column singles nobody out
            return finding
        role, why = proposal.role, proposal.reason.rpartition("; ")[0]  # without counts
        if proposal.doubt:
            return finding
    return _left_out(finding, role, why, request)


def _left_out(finding: ColumnFinding, role: PolicyRole, why: str, request: AuditRequest) -> ColumnFinding:
    accepted = request.undeclared is UndeclaredRoles.ACCEPTED
    identifier = role is PolicyRole.DIRECT_IDENTIFIER
    if role not in LEFT_OUT or (identifier and (request.keep_identifiers or (finding.recognised and not accepted))):
        return finding
    verb = "accepted" if accepted else "proposed"
    return replace(
        finding, role=LEFT_OUT[role], reason=f"{verb} as {role} ({why})", recognised=False, proposed=not accepted
    )


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
    counting = profiler.over(source, profiler.rows, published, column)
    limited = disclosing(counting, table, policy.criteria)
    profile = limited.profile(limited.everything)
    [(_, (unnamed,))] = counting.ask([column_counts(dialect, source, (column,))])
    return Persons(column, profile, unnamed)
