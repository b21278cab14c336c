"""Completes the request of a graph with the roles of all tables that the policy file lists of its source.

Without --identifier, who is known by the direct identifiers and entities of the tables that are not to be published;
without --sensitive, the secrets are the sensitive columns. Roles marked CHECK count: they can only add paths. The k and
entity of the one table of --protect count for --then.
"""

from dataclasses import replace

from qidsql.commands.graph.request import GraphRequest, Then
from qidsql.core.policy import PolicyOrigin
from qidsql.core.tables import PolicyRole, fits
from qidsql.operations.policy_file import PolicyFile, TableEntry
from qidsql.operations.policy_lookup import files_for, sources_of
from qidsql.wording.texts import few


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
        taken = ("k", "entity") if request.then in (Then.AUDIT, Then.MASK) else ("k",)
        options = hidden[0].options
        settings = {name: options[name] for name in taken if name in options and name not in request.given}
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
