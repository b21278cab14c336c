"""The role of each column in an audit: from the policy, from the user's rights, or recognised from its measures."""

from qidsql.core.policy import EACH_ROW, Policy
from qidsql.core.tables import Column, Role, Table
from qidsql.errors import UsageError
from qidsql.measures.profiles import ClassProfile
from qidsql.wording.texts import setting

NO_RIGHT = "this user has no right to read it"
EMPTY = "NULL in every row, as where files have another name or type for it"
NO_PERSONS = "persons are counted by {}: name another column of theirs, or {} if each row is another person"
IDENTIFIER_ROWS = 20  # with fewer rows, nearly every column looks like a key


def assign_roles(table: Table, policy: Policy) -> dict[str, tuple[Role, str]]:
    """The role of every column and its reason, from the policy and the rights of the user.

    Raises UnknownName, UsageError (a column in two roles, nothing left to audit).
    """
    if policy.each_row and any(column.name == EACH_ROW for column in table.columns):
        raise UsageError(
            f"{setting('entity')} {EACH_ROW} says that each row is another person, and {table.name} has a column "
            f"{EACH_ROW}: rename it in a view"
        )
    given = {
        Role.ENTITY: (policy.entity,) if policy.entity else (),
        Role.EXCLUDED: policy.exclude,
        Role.DIRECT_IDENTIFIER: policy.identifiers,
        Role.SENSITIVE: policy.sensitive,
        Role.QUASI_IDENTIFIER: (*policy.columns, *policy.quasi_identifiers),
    }
    there = {column.name.lower() for column in table.columns}
    hint = NO_PERSONS.format(policy.entity, EACH_ROW) if policy.entity and policy.entity.lower() not in there else ""
    table.resolve([name for names in given.values() for name in names], hint)  # one error with all wrong names
    reasons = {
        Role.ENTITY: f"identifies the entities ({setting('entity')})",
        Role.EXCLUDED: "left out on request",
        Role.DIRECT_IDENTIFIER: "declared a direct identifier",
        Role.SENSITIVE: "declared sensitive",
        Role.QUASI_IDENTIFIER: "",
    }
    declared = "" if policy.origin is None else f" in {policy.origin.place}"
    roles: dict[str, tuple[Role, str]] = {}
    for role, names in given.items():
        for column in table.resolve(names):
            if column.name in roles:
                raise UsageError(f"column {column.name} is given as {roles[column.name][0]} and as {role}; choose one")
            if role in (Role.ENTITY, Role.QUASI_IDENTIFIER) and not column.readable:
                if column.obstacle:
                    raise UsageError(f"column {column.name} of {table.name} cannot be audited: {column.obstacle}")
                raise UsageError(
                    f"this user has no right to read column {column.name} of {table.name}; "
                    f"grant SELECT ({column.name}), or leave it out"
                )
            reason = reasons[role]
            if reason and role is not Role.ENTITY and policy.declares(column.name):
                reason = (reason if role is not Role.EXCLUDED else "declared as other, not published,") + declared
            roles[column.name] = (role, reason)
    for column in table.columns:
        if column.name in roles:
            continue
        if policy.columns:
            roles[column.name] = (Role.EXCLUDED, "not among the requested columns")
        elif not column.readable:
            roles[column.name] = (Role.UNREADABLE, column.obstacle or NO_RIGHT)
        else:
            roles[column.name] = (Role.QUASI_IDENTIFIER, "")
    if not any(role is Role.QUASI_IDENTIFIER for role, _ in roles.values()):
        raise UsageError(f"no column of {table.name} is left to audit; every one is left out or unreadable")
    return roles


def audited_columns(table: Table, roles: dict[str, tuple[Role, str]]) -> tuple[Column, ...]:
    """The columns by which the audit groups rows."""
    return tuple(column for column in table.columns if roles[column.name][0] is Role.QUASI_IDENTIFIER)


def identifies(profile: ClassProfile, nulls: int, entity: str | None) -> bool:
    """True for a direct identifier: 95 % of the rows that have a value are alone with it (or of the entities)."""
    having = profile.rows - (0 if entity else nulls)
    return having >= IDENTIFIER_ROWS and 100 * profile.unique_rows >= 95 * having
