"""Completes the request of a command with the roles and requirements that the policy file has for its table.

`link` and `risk --population` take those of the table to be published, `impact` those of the original; a graph, which
is about all tables, has a function of its own.

The file is the one that the request names, else the first that lists the table: the qidsql.toml of the current
directory, then that beside the data, which the auditor may not have written. What the user gives counts:

- a setting (k, where, entity, a limit) that is given replaces that of the file;
- the role given to a column replaces its role in the file; all other columns keep theirs, so lists add up;
- with `columns`, exactly these are quasi-identifiers; the others are left out, whatever their role in the file;
- a weight that is given replaces the weight of that column.

The origin of what was taken goes into the policy, and so into every report.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar, cast

from qidsql.commands.audit.command import AuditRequest
from qidsql.commands.graph.command import GraphRequest
from qidsql.commands.release.command import NO_POLICY, ReleasedAudit, ReleaseRequest
from qidsql.commands.release.subject import FILE
from qidsql.core.options import names
from qidsql.core.policy import BUDGETS, EACH_ROW, OF_COPIES, ROLES, PolicyOptions, PolicyOrigin
from qidsql.core.tables import PolicyRole, Table, fits
from qidsql.engines.base import Engine
from qidsql.errors import BudgetSpent, QidsqlError, Stopped, UnknownName, UsageError
from qidsql.operations.history.opening import open_history
from qidsql.operations.history.releases import ReleaseLedger
from qidsql.operations.plan import TableIndex
from qidsql.operations.policy_file import PolicyFile, TableEntry
from qidsql.operations.policy_lookup import REMEDY, files_for, sources_of
from qidsql.wording.texts import few, plural

# Completes the request of a graph with the roles of all tables that the policy file lists of its source.
#
# Without --identifier, who is known by the direct identifiers and entities of the tables that are not to be published;
# without --sensitive, the secrets are the sensitive columns. Roles marked CHECK count: they can only add paths. The k
# and entity of the one table of --protect count for --then.


def graph_with_policy(request: GraphRequest, source: str | None, search: bool) -> GraphRequest:
    """The completed request; columns that the graph does not have are left out there. Raises UsageError."""
    listed = []
    for file in files_for(request, source, search):
        sources = sources_of(file, source, request.policy_file is not None)
        of_source = [each for each in file.tables if each.source in sources]
        if not all(each.is_pattern for each in of_source):
            listed.append((file, of_source))
    if not listed:
        return replace(request, awaits_policy=False)
    (file, of_source), *others = listed
    return _completed(request, file, of_source, tuple(str(each.path) for each, _ in others))


def _completed(
    request: GraphRequest, file: PolicyFile, of_source: list[TableEntry], ignored: tuple[str, ...]
) -> GraphRequest:
    entries = [each for each in of_source if not each.is_pattern]
    patterns = [each.label for each in of_source if each.is_pattern]
    hidden = [each for each in entries if _published(request, each)]
    who = (
        []
        if request.who
        else [
            name
            for each in entries
            if each not in hidden
            for name in _columns(each, PolicyRole.DIRECT_IDENTIFIER, each.entity)
        ]
    )
    what = [] if request.what else [name for each in entries for name in _columns(each, PolicyRole.SENSITIVE)]
    settings = {}
    if len(hidden) == 1 and request.then is not None:
        options = hidden[0].options
        settings = {name: options[name] for name in ("k", "entity") if name in options and name not in request.given}
    origin = PolicyOrigin(
        file=str(file.path),
        line=entries[0].line,
        settings=tuple(f"{name} = {value}" for name, value in settings.items()),
        columns=(*who, *what),
        ignored=ignored,
        notes=(f"not used for a graph: {few(patterns)}; list the tables one by one",) if patterns else (),
        undecided=tuple(
            name for each in entries for name in _typed(each, sorted(each.undecided)) if name in (*who, *what)
        ),
    )
    return replace(
        request,
        identifiers=request.who or tuple(who),
        sensitive=request.what or tuple(what),
        by_policy=(*who, *what),
        origin=origin,
        awaits_policy=False,
        **settings,
    )


def _published(request: GraphRequest, entry: TableEntry) -> bool:
    return entry.table is not None and any(fits(name, entry.table) for name in request.published)


def _columns(entry: TableEntry, role: PolicyRole, entity: object = None) -> list[str]:
    names = [name for name, given in entry.roles.items() if given == role]
    names += [str(entity)] if entity is not None and entity not in names else []
    return _typed(entry, names)


def _typed(entry: TableEntry, names: list[str]) -> list[str]:
    return [name if entry.table is None else f"{entry.table}.{name}" for name in names]


Request = TypeVar("Request")
Roles: TypeAlias = dict[str, tuple[str, ...]]

POLICY_ROLE = {
    "identifiers": PolicyRole.DIRECT_IDENTIFIER,
    "sensitive": PolicyRole.SENSITIVE,
    "exclude": PolicyRole.OTHER,
}
LEFT_OUT = tuple(POLICY_ROLE)
OTHERS = (
    "columns",
    "entity",
    "reveals",
    "weight",
    "keep",
)  # options that also give a role to the columns that they name
NAMELESS = ("where",)  # settings whose value is not repeated, since it can contain cell values


def with_policy(engine: Engine | None, request: Request, source: str | None, search: bool = True) -> Request:
    """The request, completed by the policy file; unchanged without one, and if the command does not take one.

    `source` is the user's text for the source; with `search`, a file that is not named is looked for. Describes the
    table if there is a file. Raises UsageError (a broken file, or a named one that does not list the table),
    UnknownName, and as `Engine.describe`.
    """
    if not isinstance(request, PolicyOptions):
        return request
    if isinstance(request, GraphRequest):
        return cast(Request, graph_with_policy(request, source, search))
    assert engine is not None, "only a graph takes its policy without a table"
    if isinstance(request, ReleaseRequest):
        return cast(Request, _release_with_policy(engine, request, source, search))
    return replace(request, **_completion(engine, request, source, search), awaits_policy=False)


def _release_with_policy(engine: Engine, request: ReleaseRequest, source: str | None, search: bool) -> ReleaseRequest:
    """The release with the audit that the policy asks for. The columns of the persons may not have been released."""
    asked = ReleasedAudit(
        request.table,
        roles="none",
        policy_file=request.policy_file,
        no_policy=request.no_policy,
        awaits_policy=True,
        given=frozenset({"table"}),
        **{name: getattr(request, name) for name in BUDGETS},
    )
    found = _found_entry(engine, asked, source, search, request.of)
    if not isinstance(found, _Entry):
        raise UsageError(NO_POLICY)
    columns = [each.name for each in found.table.columns]
    given = {**found.entry.default_roles_of(columns), **found.entry.roles}
    declared = {name.lower(): role for name, role in given.items()}
    asked = replace(asked, **found.fields(), awaits_policy=False)
    entity = asked.entity
    listed = found.entry.table if found.entry.table and not found.entry.is_pattern else str(found.table.name)
    like = found.entry.table if found.entry.table and found.table.kind == FILE else listed  # one name a release
    missing = entity is not None and entity.lower() not in [name.lower() for name in columns]
    ledger = ReleaseLedger(open_history(found.file.history_url, found.file.history_schema))
    confirmed = found.file.release is not None and found.file.release.each_row
    return replace(
        request,
        asked=replace(asked, entity=EACH_ROW if confirmed else None) if missing else asked,
        roles={name: PolicyRole(declared[name.lower()]) for name in columns if name.lower() in declared},
        missing_entity=entity if missing and not confirmed else None,
        policy_hash=found.file.hash,
        of=listed,
        earlier=ledger.of_table(like),
        source=ledger.source_of(listed),
        source_url=found.file.sources[found.entry.source].url if found.entry.source in found.file.sources else None,
        awaits_policy=False,
    )


def _completion(engine: Engine, request: PolicyOptions, source: str | None, search: bool) -> dict[str, Any]:
    """The fields of the request that follow from the policy file."""
    found = _found_entry(engine, request, source, search)
    return found.fields() if isinstance(found, _Entry) else found


def _found_entry(
    engine: Engine, request: PolicyOptions, source: str | None, search: bool, of: str | None = None
) -> "_Entry | dict[str, Any]":
    """The entry about the table, or about the table `of` that it was made from; else what follows without one."""
    named = request.policy_file
    files = files_for(request, source, search)
    if not files:
        return {}
    try:
        table = engine.describe(getattr(request, request.subject))
    except BudgetSpent:  # every further statement raises it again
        return {}
    if of is None:
        entries = [(file, _entry(engine, file, source, table, named is not None)) for file in files]
    else:
        entries = [(file, _entry_named(file, of)) for file in files]
    listed = [(file, entry) for file, entry in entries if entry is not None]
    unlisted = tuple(_unlisted(file, table) for file, entry in entries if entry is None)
    if not listed and of is not None:
        raise UnknownName("table", [of], str(files[0].path), [each.table for each in files[0].tables if each.table])
    if not listed and named is not None:
        raise UsageError(f"{unlisted[0]}; add it with: qidsql init SOURCE --update -o {named}")
    if not listed:
        return {"origin": PolicyOrigin(file=str(files[0].path), notes=unlisted)}
    (file, entry), *others = listed
    entry, gone = _fitted(file, entry, table, isinstance(request, ReleasedAudit))
    if gone:
        unlisted += (f"in the policy, but not in the table: {few(gone)}: dropped, or misspelt?",)
    ignored = tuple(f"{each.path}:{other.line}" for each, other in others)
    return _Entry(request, file, entry, table, unlisted, ignored)


def _entry_named(file: PolicyFile, of: str) -> TableEntry | None:
    """The only entry of this name. Raises UsageError."""
    named = [each for each in file.tables if each.table and not each.is_pattern and fits(of, each.table)]
    if len(named) > 1:
        lines = ", ".join(str(each.line) for each in named)
        raise UsageError(f"{file.path} lists several tables {of} (lines {lines}); name its schema")
    return next(iter(named), None)


def _unlisted(file: PolicyFile, table: Table) -> str:
    return f"{file.path} does not list {table.name} of this source, so no role or requirement is taken from it"


def _fitted(file: PolicyFile, entry: TableEntry, table: Table, released: bool) -> tuple[TableEntry, tuple[str, ...]]:
    try:
        return entry.fitted(table, released)
    except UsageError as error:
        raise UsageError(f"{error} (with the policy of {file.path}:{entry.line}; {REMEDY})") from None


def _entry(engine: Engine, file: PolicyFile, source: str | None, table: Table, named: bool) -> TableEntry | None:
    """The entry about the table: one that names it before a pattern.

    If the file was named and none of its sources is this one, its entries are compared by the table's name alone.
    """
    sources = sources_of(file, source, named)
    entries = [entry for entry in file.tables if entry.source in sources and _is_about(engine, entry, table)]
    plain = [entry for entry in entries if not entry.is_pattern]
    if len({entry.source for entry in plain or entries}) > 1:
        lines = ", ".join(str(entry.line) for entry in plain or entries)
        raise UsageError(
            f"{file.path} lists {table.name} for several sources (lines {lines}), none of which is this one"
        )
    exact = [entry for entry in plain if entry.table == str(table.name)]
    return next(iter(exact or plain or entries), None)


def _is_about(engine: Engine, entry: TableEntry, table: Table) -> bool:
    """Whether an entry is about the table, as in a run."""
    if entry.table == str(table.name):
        return True
    if entry.is_pattern:
        return entry.matches(str(table.name))
    if not TableIndex([table.name]).about(entry):
        return False
    try:  # a name without its schema, or none, can mean another table
        return engine.describe(entry.table).name == table.name
    except Stopped:
        raise
    except QidsqlError:
        return False


@dataclass(frozen=True)
class _Entry:
    """The entry of a table, and the request to complete."""

    given: PolicyOptions
    file: PolicyFile
    entry: TableEntry
    table: Table
    notes: tuple[str, ...]
    ignored: tuple[str, ...]

    def fields(self) -> dict[str, Any]:
        """The fields of the completed request. Raises UsageError."""
        try:
            roles, unconfirmed = self._confirmed(self._roles())
            settings = self.given.settings_of(self._settings())
            more = {**self.given.roles_of({role: roles[role] for role in self._taken_roles}), **settings}
            more |= {**self._weights(roles), **unconfirmed, "origin": self._origin(roles, settings)}
            replace(self.given, **more, awaits_policy=False)  # checks the values
        except UsageError as error:
            raise UsageError(f"{error} (with the policy of {self.file.path}:{self.entry.line}; {REMEDY})") from None
        return more

    def _settings(self) -> dict[str, Any]:
        """The settings of the file that no given option replaces."""
        taken = type(self.given).taken()
        found = {
            name: value for name, value in self.entry.options.items() if name in taken and name not in self.given.given
        }
        if "keep" in found and self.entry.is_pattern:  # it may name columns of other tables
            found["keep"] = sorted(self._present(found["keep"]))
        return found

    def _roles(self) -> Roles:
        """The columns of each role: those given, and those of the file to which the user gives no other role."""
        policy = self.entry.policy([column.name for column in self.table.columns])
        mine = self._named_here
        of_file = {role: self._resolved(getattr(policy, role)) for role in ROLES}
        entity = self.entry.entity
        if entity is not None and "entity" in self.given.given:  # then the table may have lost it
            of_file["identifiers"] += tuple(self._present((entity,)))
        elif entity is not None and "entity" not in type(self.given).taken():
            of_file["identifiers"] += self._resolved((entity,))  # not published, also where it is not counted
        if names(getattr(self.given, "columns", ())):
            of_file["quasi_identifiers"] = ()
        return {
            role: (*names(getattr(self.given, role, ())), *(name for name in of_file[role] if name not in mine))
            for role in ROLES
        }

    def _confirmed(self, roles: Roles) -> tuple[Roles, dict[str, Any]]:
        """For a verdict, the roles without those that are marked CHECK and leave a column out, since nobody has
        confirmed them; for an audit, these on their own.
        """
        if not self.given.confirmed:
            return roles, {}
        open_ones = self._present(self.entry.undecided) - self._named_here
        marked = {name: POLICY_ROLE[role] for role in LEFT_OUT for name in roles[role] if name in open_ones}
        others = {"unconfirmed": marked} if isinstance(self.given, AuditRequest) else {}
        return {role: tuple(n for n in roles[role] if n not in marked) for role in ROLES}, others

    @property
    def _taken_roles(self) -> tuple[str, ...]:
        return type(self.given).taken_roles()

    @property
    def _named_here(self) -> frozenset[str]:
        """The columns to which the user gives a role."""
        typed = [name for option in (*ROLES, *OTHERS) for name in names(getattr(self.given, option, ()))]
        return frozenset(self._resolved(typed))

    def _resolved(self, typed: Sequence[str]) -> tuple[str, ...]:
        return tuple(column.name for column in self.table.resolve(typed))

    def _present(self, typed: Iterable[str]) -> frozenset[str]:
        """The columns of these names, without those that the table does not have: a pattern may name others."""
        folded = {name.lower() for name in typed}
        return frozenset(column.name for column in self.table.columns if column.name.lower() in folded)

    def _overruled_roles(self, roles: Roles) -> list[str]:
        """The columns to which the user gives another role than the file."""
        given = {name.lower(): str(POLICY_ROLE[role]) for role in LEFT_OUT for name in roles[role]}
        given |= {name.lower(): "quasi-identifier" for name in names(getattr(self.given, "columns", ()))}
        mine = self._named_here
        return [
            column.name
            for column in self.table.columns
            for name, role in self.entry.roles.items()
            if name.lower() == column.name.lower() and column.name in mine and given.get(name.lower()) != role
        ]

    def _weights(self, roles: Roles) -> dict[str, Any]:
        """The weights of the columns that are not left out."""
        if not self.given.weighs:
            return {}
        out = {name for role in LEFT_OUT for name in roles[role]} | {self.entry.entity}
        chosen = names(getattr(self.given, "columns", ()))
        columns = [c.name for c in self.table.columns if c.name not in out and (not chosen or c.name in chosen)]
        weights = {name: weight for name, weight in self.entry.weights_of(columns).items() if weight != 1}
        return {"weights": {**weights, **self.given.column_weights}} if weights else {}  # type: ignore[attr-defined]

    def _origin(self, roles: Roles, settings: Mapping[str, Any]) -> PolicyOrigin:
        """What was taken from the file, and what was not."""
        options, entry, given = self.entry.options, self.entry, self.given
        mine = self._named_here
        undecided = self._present(entry.undecided)
        if not set(LEFT_OUT) <= set(self._taken_roles):  # a command that does not use all roles
            undecided &= {name for role in self._taken_roles for name in self._roles()[role]}
        of_file = ({name for role in self._taken_roles for name in roles[role]} | undecided) - mine
        taken = type(given).taken()
        unused = [name for name in options if name not in taken or (name not in given.given and name not in settings)]
        unused += ["weights"] if entry.all_weights and not given.weighs else []
        notes = list(self.notes)
        if not entry.audit:
            notes.append(f"{self.file.path} leaves this table out of runs (audit = false)")
        if entry.exemptions:
            notes.append(
                f"{plural(len(entry.exemptions), 'exception')} of {self.file.path} not applied: only in qidsql run"
            )
        return PolicyOrigin(
            file=str(self.file.path),
            line=entry.line,
            release=self.file.release,
            settings=tuple(_shown(name, options[name]) for name in options if name in settings),
            columns=tuple(column.name for column in self.table.columns if column.name in of_file),
            overruled=(
                *(_shown(name, options[name]) for name in options if name in taken and name in given.given),
                *(f"the role of {name}" for name in self._overruled_roles(roles)),
            ),
            unused=tuple(name for name in unused if name not in ("entity", *OF_COPIES)),
            undecided=tuple(column.name for column in self.table.columns if column.name in undecided - mine),
            ignored=self.ignored,
            notes=tuple(notes),
        )


def _shown(name: str, value: object) -> str:
    return name if name in NAMELESS else f"{name} = {value}"
