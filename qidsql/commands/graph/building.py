"""The attribute graph of a whole source: its catalog, the links that its values show, and facts known outside."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from qidsql.attribute_graph.graph import AttributeGraph, GraphTable, Refusal, attribute_graph
from qidsql.attribute_graph.outside import Outside, outside_names, read_outside
from qidsql.commands.graph.command import GraphRequest
from qidsql.commands.table_search import interruptible, table_profiler
from qidsql.core.policy import Policy
from qidsql.core.tables import Attribute, Catalog, Dependency, TableName, find_attribute
from qidsql.engines.base import Engine
from qidsql.errors import BudgetSpent, Stopped, UnknownName, UsageError
from qidsql.linkage.lineage import Linkage, same_attributes
from qidsql.search.redundant_columns import dependencies


@dataclass
class BuiltGraph:
    """The graph and the facts about its construction."""

    graph: AttributeGraph
    outside: Outside
    typed: frozenset[Attribute]  # named in the request, so preferred as names in the answer
    excluded: tuple[Attribute, ...] = ()
    unfinished: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    silent: frozenset[TableName] = frozenset()  # tables without a value to compare
    keys: frozenset[Attribute] = frozenset()  # declared unique


def build(engine: Engine | None, request: GraphRequest, on_stage: Callable[[str], None]) -> BuiltGraph:
    """The graph of a source and of the tables outside it.

    Raises UsageError, UnknownName, AccessError, StatementError.
    """
    on_stage("reading the catalog")
    if engine is None and (request.then or request.schema):
        raise UsageError(f"--{'then' if request.then else 'schema'} applies to tables of a source, and none is given")
    catalog = Catalog(()) if engine is None else engine.catalog(request.schema)
    tables = [GraphTable(each.name, tuple(c.name for c in each.columns), each.kind) for each in catalog.tables]
    outside = read_outside(request.file, tables)
    kept = _without(outside.tables, request.left_out)
    found = Linkage(()) if engine is None else _linkage(engine, catalog, request, outside.refused, on_stage)
    same = [*outside.same_attributes, *found.same_attributes]
    if request.accept_names:
        same += outside_names(outside.tables)
    attributes = {attribute for table in kept for attribute in table.attributes}
    excluded = tuple(each for table in outside.tables for each in table.attributes if each not in attributes)
    typed = frozenset(matching_attributes((*request.who, *request.what), list(attributes)))
    made = attribute_graph([*kept, *_computed(found.dependencies)], same, outside.refused, typed)
    notes = list(found.notes)
    if engine is not None and not request.containment:
        notes.append("values were not compared (--no-containment): columns that only values would link stay separate")
    return BuiltGraph(made, outside, typed, excluded, list(found.unfinished), notes, found.silent, _keys(catalog))


def _keys(catalog: Catalog) -> frozenset[Attribute]:
    return frozenset(
        Attribute(table.name, columns[0]) for table in catalog.tables for columns in table.unique if len(columns) == 1
    )


def matching_attributes(names: Iterable[str], attributes: Sequence[Attribute]) -> Iterator[Attribute]:
    """The attributes that these names identify; unknown and ambiguous names are skipped."""
    for name in names:
        with suppress(UnknownName, UsageError):
            yield find_attribute(name, attributes)


def _linkage(
    engine: Engine,
    catalog: Catalog,
    request: GraphRequest,
    refused: Iterable[Refusal],
    on_stage: Callable[[str], None],
) -> Linkage:
    """The links that the source declares, and those that values show if they are to be compared."""
    with interruptible():
        return same_attributes(
            engine,
            catalog,
            values=request.containment,
            names=request.accept_names,
            refused=[frozenset((each.left, each.right)) for each in refused],
            max_statements=request.max_statements,
            deadline=None if request.max_seconds is None else time.monotonic() + request.max_seconds,
            on_stage=on_stage,
        )


def with_dependencies(
    engine: Engine,
    built: BuiltGraph,
    between: set[int],
    budget: tuple[int | None, float | None],
    on_stage: Callable[[str], None],
) -> BuiltGraph:
    """The graph with the dependencies that are true of all rows, in those of the source's own tables that lie between:
    dependencies remove paths, so no other table can come between.
    """
    statements, seconds = budget
    give_up = None if seconds is None else time.monotonic() + seconds
    tables, unfinished = list(built.graph.tables), list(built.unfinished)
    before = engine.statements
    with interruptible():
        for number in sorted(between):
            table = tables[number]
            if table.kind not in ("table", "partitioned table", "file", "data file"):
                continue
            on_stage(f"looking for dependencies in {table.name}")
            try:
                left = None if statements is None else statements - (engine.statements - before)
                still = None if give_up is None else give_up - time.monotonic()
                if (left is not None and left <= 0) or (still is not None and still <= 0):
                    raise BudgetSpent("the budget (--max-statements, --max-seconds) is used up")
                described = engine.describe(str(table.name))
                columns = [c for c in described.columns if c.readable and c.name in table.columns]
                profiler = table_profiler(engine, described, columns, Policy(max_statements=left, max_seconds=still))
                pairs = tuple((columns[a].name, columns[b].name) for a, b in dependencies(profiler))
            except Stopped as stop:
                unfinished.append(f"dependencies were not searched in {table.name} and the tables after it: {stop}")
                break
            tables[number] = replace(table, dependencies=tuple(dict.fromkeys((*table.dependencies, *pairs))))
    graph = attribute_graph(tables, built.graph.same_attributes, preferred=built.typed)
    return replace(built, graph=graph, unfinished=unfinished)


def _computed(computed: Iterable[Dependency]) -> list[GraphTable]:
    """A table for each computed column of a view and the columns it is computed from: these link to one another."""
    return [
        GraphTable(TableName(f"{each.dependent} computed"), (), "computed", others=(each.dependent, *each.determinants))
        for each in computed
    ]


def _without(tables: Sequence[GraphTable], left_out: Sequence[str]) -> list[GraphTable]:
    """The tables without the excluded tables and columns. Raises UnknownName, UsageError."""
    names = {str(each.name) for each in tables}
    gone_tables: set[str] = set()
    gone: set[Attribute] = set()
    for typed in left_out:
        hit = {each.name for each in tables if fnmatchcase(str(each.name), typed) or fnmatchcase(each.name.name, typed)}
        if hit:
            gone_tables |= {str(name) for name in hit}
            continue
        try:
            gone.add(find_attribute(typed, [attribute for each in tables for attribute in each.attributes]))
        except UnknownName:
            known = [*names, *(str(attribute) for each in tables for attribute in each.attributes)]
            raise UnknownName("table or attribute", [typed], "the graph", known) from None
    return [
        replace(
            each,
            columns=tuple(a.column for a in each.attributes if a not in gone),
            dependencies=tuple(
                pair for pair in each.dependencies if not {Attribute(each.name, c) for c in pair} & gone
            ),
        )
        for each in tables
        if str(each.name) not in gone_tables
    ]
