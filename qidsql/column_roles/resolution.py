"""Which columns a command works on: by the given options, else the policy, else proposals, which nobody has confirmed.

Every command asks here, before it starts. No verdict and no copy rests on a proposal: what is left out by one is said,
and may be left out of a copy; a sensitive column is copied only once somebody has confirmed that it is one.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from qidsql.column_roles.proposal import Proposal, ValueCounts, proposed_roles
from qidsql.core.policy import EACH_ROW, Policy
from qidsql.core.results import LeftOut
from qidsql.core.tables import NO_PERSONS, NO_RIGHT, Column, PolicyRole, Role, Table
from qidsql.engines.base import Engine
from qidsql.errors import UsageError
from qidsql.wording.texts import role as option_of
from qidsql.wording.texts import setting

LEFT_OUT = {
    PolicyRole.DIRECT_IDENTIFIER: Role.DIRECT_IDENTIFIER,
    PolicyRole.SENSITIVE: Role.SENSITIVE,
    PolicyRole.OTHER: Role.EXCLUDED,
}
IN_COPIES = (Role.QUASI_IDENTIFIER, Role.SENSITIVE)


class Resolved(NamedTuple):
    """The role of a column, and why it has it. `proposed`: nobody has confirmed it."""

    role: Role
    reason: str = ""
    proposed: bool = False


Roles: TypeAlias = Mapping[str, Resolved]


@dataclass(frozen=True)
class Columns:
    """The columns of a table with their roles."""

    table: Table
    roles: Roles

    @cached_property
    def searched(self) -> tuple[Column, ...]:
        """Those by which rows are grouped."""
        return tuple(column for column in self.table.columns if self._role(column) is Role.QUASI_IDENTIFIER)

    @cached_property
    def left_out(self) -> tuple[LeftOut, ...]:
        others = ((name, each) for name, each in self.roles.items() if each.role is not Role.QUASI_IDENTIFIER)
        return tuple(LeftOut(name, each.reason, each.role, each.proposed) for name, each in others)

    @property
    def sensitive(self) -> tuple[str, ...]:
        return tuple(name for name, each in self.roles.items() if each.role is Role.SENSITIVE)

    def copied(self, kept: Collection[str] = ()) -> tuple[Column, ...]:
        """Those of a copy: what nobody protects or confirms could give protected values back."""
        return tuple(
            column
            for column in self.table.columns
            if column.name in kept or (self._role(column) in IN_COPIES and not self.roles[column.name].proposed)
        )

    def not_copied(self, kept: Collection[str] = ()) -> tuple[LeftOut, ...]:
        names = {column.name for column in self.copied(kept)}
        return tuple(each for each in self.left_out if each.name not in names)

    @property
    def protected(self) -> "Columns":
        """For a command that protects values: a sensitive column that nobody has confirmed is protected, too."""
        sensitive = {name: each for name, each in self.roles.items() if each.proposed and each.role is Role.SENSITIVE}
        return self.having({name: Resolved(Role.QUASI_IDENTIFIER, each.reason) for name, each in sensitive.items()})

    @property
    def notes(self) -> tuple[str, ...]:
        """What is searched although it is proposed as something else."""
        return tuple(
            f"{name} is protected too: {each.reason}, which nobody has confirmed; "
            f"with {option_of(Role.SENSITIVE, [name])} a copy has it as it is"
            for name, each in self.roles.items()
            if each.role is Role.QUASI_IDENTIFIER and each.reason
        )

    def having(self, roles: Roles) -> "Columns":
        """The columns with these roles instead of theirs."""
        return replace(self, roles={**self.roles, **roles})

    def checked(self) -> "Columns":
        """The columns, if any is left to search. Raises UsageError."""
        if self.searched:
            return self
        raise UsageError(f"no column of {self.table.name} is left to audit; every one is left out or unreadable")

    def _role(self, column: Column) -> Role:
        return self.roles[column.name].role


def columns_of(
    engine: Engine, table: Table, policy: Policy, named: Iterable[str] = (), publishing: bool = False
) -> Columns:
    """The columns of a command. Those that it has `named` in another option are searched, whatever is proposed.

    Where proposals would leave nothing, they leave nothing out; but nothing is to be published then. Queries only the
    system catalog. Raises UnknownName, UsageError, Stopped.
    """
    given = given_columns(table, policy)
    found = with_proposals(engine, given, policy, named=named)
    return found.checked() if found.searched or publishing else given


def with_proposals(
    engine: Engine,
    columns: Columns,
    policy: Policy,
    measured: Mapping[str, ValueCounts] | None = None,
    named: Iterable[str] = (),
    marked: Mapping[str, str] = MappingProxyType({}),
) -> Columns:
    """The columns without those that proposals beyond doubt leave out; with counts, only what these do not contradict.

    `marked` are roles that a policy file marks CHECK. Nothing is proposed where columns are named, nor for a
    column that a policy file does not mention. Queries only the system catalog. Raises Stopped.
    """
    if policy.columns:
        return columns
    place = "the policy" if policy.origin is None else policy.origin.place
    ideas = [(name, PolicyRole(role), f"marked CHECK in {place}") for name, role in marked.items()]
    if policy.origin is None or policy.origin.line is None:
        ideas += _beyond_doubt(proposed_roles(engine, columns.table, measured), measured)
    kept = {name.lower() for name in (*policy.quasi_identifiers, *named)}
    unwanted = (PolicyRole.QUASI_IDENTIFIER, *((PolicyRole.DIRECT_IDENTIFIER,) if policy.keep_identifiers else ()))
    names = {column.name for column in columns.searched if column.name.lower() not in kept}
    return columns.having(
        {
            name: Resolved(LEFT_OUT[role], f"proposed as {role} ({why})", proposed=True)
            for name, role, why in ideas
            if name in names and role not in unwanted
        }
    )


def _beyond_doubt(
    proposals: Mapping[str, Proposal], measured: Mapping[str, ValueCounts] | None
) -> Iterator[tuple[str, PolicyRole, str]]:
    """The proposals that leave columns out, each with its reason. A constant column singles nobody out."""
    for name, each in proposals.items():
        if measured is None:
            if not each.doubt:
                yield name, each.role, each.reason
        elif not each.doubt and name in measured and measured[name].profile.classes > 1:
            yield name, each.role, each.reason.rpartition("; ")[0]  # without counts


def stated_columns(table: Table, policy: Policy, left_out: Iterable[LeftOut]) -> Columns:
    """The columns as a result states them: what it left out by proposal stays so. Raises UnknownName, UsageError."""
    columns = given_columns(table, policy)
    names = {column.name for column in columns.searched}
    stated = [each for each in left_out if each.proposed and each.role is not None and each.name in names]
    return columns.having({each.name: Resolved(each.role, each.reason, True) for each in stated if each.role}).checked()


def given_columns(table: Table, policy: Policy) -> Columns:
    """The columns by the given options, the policy and the rights of the user; what a policy marks CHECK is a proposal.

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
    roles: dict[str, Resolved] = {}
    undecided = () if policy.origin is None else policy.origin.undecided
    for role, names in given.items():
        for column in table.resolve(names):
            if column.name in roles:
                raise UsageError(
                    f"column {column.name} is given as {roles[column.name].role} and as {role}; choose one"
                )
            if role in (Role.ENTITY, Role.QUASI_IDENTIFIER) and not column.readable:
                if column.obstacle:
                    raise UsageError(f"column {column.name} of {table.name} cannot be audited: {column.obstacle}")
                raise UsageError(
                    f"this user has no right to read column {column.name} of {table.name}; "
                    f"grant SELECT ({column.name}), or leave it out"
                )
            reason, of_file = reasons[role], policy.declares(column.name) and role is not Role.ENTITY
            if reason and of_file:
                reason = (reason if role is not Role.EXCLUDED else "declared as other, not published,") + declared
            marked = of_file and role is not Role.QUASI_IDENTIFIER and column.name in undecided
            roles[column.name] = Resolved(role, f"{reason}, marked CHECK" if marked else reason, marked)
    for column in table.columns:
        if column.name in roles:
            continue
        if policy.columns:
            roles[column.name] = Resolved(Role.EXCLUDED, "not among the requested columns")
        elif not column.readable:
            roles[column.name] = Resolved(Role.UNREADABLE, column.obstacle or NO_RIGHT)
        else:
            roles[column.name] = Resolved(Role.QUASI_IDENTIFIER)
    return Columns(table, roles).checked()
