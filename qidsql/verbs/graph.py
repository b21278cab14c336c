"""Which attributes stand between a person and a secret: the graph of a whole source, and what separates in it."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path

from qidsql.attribute_graph.graph import AttributeGraph, GraphTable, Refusal, attribute_graph
from qidsql.attribute_graph.joints import outside_names
from qidsql.attribute_graph.network import Membership, every_path, leading, network, paths
from qidsql.attribute_graph.network import Path as Way
from qidsql.attribute_graph.outside import Outside, read_outside
from qidsql.attribute_graph.protection import least_protection, way_round
from qidsql.attribute_graph.separation import Algorithm, separate
from qidsql.catalog import Attribute, Catalog, Dependency, find_attribute
from qidsql.engines.base import Engine
from qidsql.errors import BudgetSpent, Stopped, UnknownName, UsageError
from qidsql.figures import plural, some
from qidsql.findings.graph import (
    AttributeFinding,
    GraphResult,
    GraphWork,
    MergeFinding,
    Part,
    PathFinding,
    ProtectedTable,
    Protection,
    TableFinding,
)
from qidsql.findings.search import Outcome
from qidsql.linkage.joints import Linkage
from qidsql.linkage.joints import joints as linked
from qidsql.policy import Policy
from qidsql.schema import TableName
from qidsql.search.dependencies import dependencies
from qidsql.verbs.searching import interruptible, table_profiler

MAX_CUTS = 100  # smallest sets listed
MAX_PATHS = 10  # paths listed unless asked for more


class Then(StrEnum):
    """What can be run on the table to be published."""

    AUDIT = "audit"
    MASK = "mask"
    SUPPRESS = "suppress"


@dataclass(frozen=True, slots=True)
class GraphQuestion:
    """Who is to be kept apart from what, and where to look. Raises UsageError when the options cannot be right."""

    identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    schema: str | None = None
    outside: Path | None = None
    exclude: tuple[str, ...] = ()
    protect: tuple[str, ...] = ()
    algorithm: Algorithm = Algorithm.MINIMUM_CUT
    accept_names: bool = False
    containment: bool = True
    find_dependencies: bool = False
    max_paths: int = MAX_PATHS
    every_path: bool = False
    then: Then | None = None
    k: int = 5
    max_statements: int | None = None
    max_seconds: float | None = None

    def __post_init__(self) -> None:
        if not self.identifiers or not self.sensitive:
            raise UsageError(
                "name what is to be kept apart: --identifier TABLE.COLUMN (who) and --sensitive TABLE.COLUMN (what)"
            )
        if self.k < 2:
            raise UsageError(f"--k must be at least 2, got {self.k}: every table is 1-anonymous")
        for name in ("max_statements", "max_seconds"):
            limit: float | None = getattr(self, name)
            if limit is not None and limit <= 0:
                raise UsageError(f"--{name.replace('_', '-')} must be more than 0")
        if self.max_paths < 1:
            raise UsageError(f"--max-paths must be at least 1, got {self.max_paths}")
        if self.then is not None and len(self.protect) != 1:
            raise UsageError(f"--then {self.then} works on one table: name it with --protect TABLE")


def algorithm(text: str) -> Algorithm:
    """The algorithm of that name. Raises UsageError."""
    try:
        return Algorithm(text)
    except ValueError:
        raise UsageError(f"--algorithm must be {' or '.join(Algorithm)}; got {text}") from None


def then(text: str) -> Then:
    """What to run afterwards, by its name. Raises UsageError."""
    try:
        return Then(text)
    except ValueError:
        raise UsageError(f"--then must be {', '.join(Then)}; got {text}") from None


def graph(
    engine: Engine | None, question: GraphQuestion, on_stage: Callable[[str], None] = lambda stage: None
) -> GraphResult:
    """Which attributes separate the identifiers from the sensitive attributes, in a source, a file of outside tables,
    or both.

    A violation where nothing does, since both stand in one table, or where the tables to be published cannot by
    themselves. A stop while attributes are compared makes the answer inconclusive, unless it is such a violation: what
    was not found yet can only join more. Raises UsageError, UnknownName, AccessError, StatementError.
    """
    started, clock = datetime.now(UTC), time.monotonic()
    asked, scans = (engine.asked, engine.scans) if engine else (0, 0)
    built = _build(engine, question, on_stage)
    on_stage("looking for what separates")
    answer = _Answer(built, question)
    if engine is not None and question.find_dependencies:
        left = None if question.max_seconds is None else question.max_seconds - (time.monotonic() - clock)
        budget = (question.max_statements and question.max_statements - (engine.asked - asked), left)
        built = _directed(engine, built, answer.tables_between, budget, on_stage)
        answer = _Answer(built, question)
    work = GraphWork(
        source=engine.label if engine else "",
        engine=engine.version if engine else "",
        schema=question.schema,
        outside=None if question.outside is None else str(question.outside),
        exclude=question.exclude,
        algorithm=str(question.algorithm),
        started=started,
        seconds=time.monotonic() - clock,
        statements=engine.asked - asked if engine else 0,
        scans=engine.scans - scans if engine else 0,
        unfinished=tuple(built.unfinished),
        notes=tuple(built.notes),
    )
    return answer.result(work)


@dataclass
class _Built:
    """The graph, and how it came about."""

    graph: AttributeGraph
    outside: Outside
    typed: frozenset[Attribute]  # what the question names, so that the answer names it so too
    excluded: tuple[Attribute, ...] = ()
    unfinished: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def _build(engine: Engine | None, question: GraphQuestion, on_stage: Callable[[str], None]) -> _Built:
    on_stage("reading the catalog")
    if engine is None and question.outside is None:
        raise UsageError("there is nothing to look at: name a source, or tables in a file (--outside FILE)")
    if engine is None and (question.then or question.schema):
        raise UsageError(f"--{'then' if question.then else 'schema'} is about tables of a source, and none is named")
    catalog = Catalog(()) if engine is None else engine.catalog(question.schema)
    tables = [GraphTable(each.name, tuple(c.name for c in each.columns), each.kind) for each in catalog.tables]
    outside = read_outside(question.outside, tables)
    kept = _without(outside.tables, question.exclude)
    found = Linkage(()) if engine is None else _linkage(engine, catalog, question, outside.refused, on_stage)
    joints = [*outside.joints, *found.joints]
    if question.accept_names:
        joints += outside_names(outside.tables)
    attributes = {attribute for table in kept for attribute in table.attributes}
    excluded = tuple(each for table in outside.tables for each in table.attributes if each not in attributes)
    typed = frozenset(_typed((*question.identifiers, *question.sensitive), list(attributes)))
    made = attribute_graph([*kept, *_computed(found.dependencies)], joints, outside.refused, typed)
    notes = list(found.notes)
    if engine is not None and not question.containment:
        notes.append("values were not compared (--no-containment): what only they would tie together stays apart")
    return _Built(made, outside, typed, excluded, list(found.unfinished), notes)


def _typed(names: Iterable[str], attributes: Sequence[Attribute]) -> Iterator[Attribute]:
    """The attributes of these names, of those that name one alone."""
    for name in names:
        with suppress(UnknownName, UsageError):
            yield find_attribute(name, attributes)


def _linkage(
    engine: Engine,
    catalog: Catalog,
    question: GraphQuestion,
    refused: Iterable[Refusal],
    on_stage: Callable[[str], None],
) -> Linkage:
    """What the source says of its attributes, and what their values do where these are to be compared."""
    with interruptible():
        return linked(
            engine,
            catalog,
            values=question.containment,
            names=question.accept_names,
            refused=[frozenset((each.left, each.right)) for each in refused],
            max_statements=question.max_statements,
            deadline=None if question.max_seconds is None else time.monotonic() + question.max_seconds,
            on_stage=on_stage,
        )


def _directed(
    engine: Engine,
    built: _Built,
    between: set[int],
    budget: tuple[int | None, float | None],
    on_stage: Callable[[str], None],
) -> _Built:
    """The graph with the dependencies that hold in all rows of the source's own tables, those between alone: closing
    ways leads to no other table.
    """
    statements, seconds = budget
    give_up = None if seconds is None else time.monotonic() + seconds
    tables, unfinished = list(built.graph.tables), list(built.unfinished)
    asked = engine.asked
    with interruptible():
        for number in sorted(between):
            table = tables[number]
            if table.kind not in ("table", "partitioned table", "file", "data file"):
                continue
            on_stage(f"looking for dependencies in {table.name}")
            try:
                left = None if statements is None else statements - (engine.asked - asked)
                still = None if give_up is None else give_up - time.monotonic()
                if (left is not None and left <= 0) or (still is not None and still <= 0):
                    raise BudgetSpent("the budget (--max-statements, --max-seconds) is used up")
                described = engine.describe(str(table.name))
                columns = [c for c in described.columns if c.readable and c.name in table.columns]
                profiler = table_profiler(engine, described, columns, Policy(max_statements=left, max_seconds=still))
                pairs = tuple((columns[a].name, columns[b].name) for a, b in dependencies(profiler))
            except Stopped as stop:
                unfinished.append(f"dependencies were not looked for in {table.name} and those after it: {stop}")
                break
            tables[number] = replace(table, dependencies=tuple(dict.fromkeys((*table.dependencies, *pairs))))
    graph = attribute_graph(tables, built.graph.joints, preferred=built.typed)
    return replace(built, graph=graph, unfinished=unfinished)


def _computed(computed: Iterable[Dependency]) -> list[GraphTable]:
    """The columns of views that are computed from others, each with these: who has the one can link to the others."""
    return [
        GraphTable(TableName(f"{each.dependent} computed"), (), "computed", others=(each.dependent, *each.determinants))
        for each in computed
    ]


def _without(tables: Sequence[GraphTable], left_out: Sequence[str]) -> list[GraphTable]:
    """The tables without those, and without those columns, that are left out. Raises UnknownName, UsageError."""
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


class _Answer:
    """What the graph says to the question."""

    def __init__(self, built: _Built, question: GraphQuestion) -> None:
        self.built, self.graph, self.question = built, built.graph, question
        self.identifiers = self._nodes(question.identifiers)
        self.sensitive = self._nodes(question.sensitive)
        both = set(self.identifiers) & set(self.sensitive)
        if both:
            raise UsageError(self._both(both.pop()))
        self.protected = self._protected(question.protect)
        self.found = separate(self.graph, self.identifiers, self.sensitive, question.algorithm, MAX_CUTS)
        self.network = leading(network(self.graph, self.identifiers, self.sensitive))
        self.tables_between = {stop.table for stop in self.network if not isinstance(stop, (int, str))}
        self.ends = {*self.identifiers, *self.sensitive}
        self.chosen = min(self.found.cuts, key=self._preference, default=None)

    def result(self, work: GraphWork) -> GraphResult:
        protection = self._protection()
        outcome, reason = self._judge(protection, work)
        names = self.graph.labels
        paths, complete = self._paths()
        return GraphResult(
            outcome=outcome,
            reason=reason,
            identifiers=self._names(self.identifiers),
            sensitive=self._names(self.sensitive),
            attributes=self._attributes(),
            tables=self._tables(),
            merges=tuple(MergeFinding(str(j.left), str(j.right), str(j.ground), j.detail) for j in self.graph.joints),
            refused=tuple((str(each.left), str(each.right)) for each in self.built.outside.refused),
            directed=self.graph.directed,
            cut=None if self.chosen is None else self._names(self.chosen),
            cuts=tuple(self._names(cut) for cut in self.found.cuts),
            complete=self.found.complete,
            minimum=self.found.minimum,
            parts=tuple((names[node], self._names(part)) for node, part in self.found.parts),
            undirected=self._undirected(),
            together=tuple(str(self.graph.tables[table].name) for table in self.found.together),
            paths=paths,
            paths_complete=complete,
            protection=protection,
            work=work,
        )

    # who and what

    def _nodes(self, typed: Sequence[str]) -> tuple[int, ...]:
        return tuple(dict.fromkeys(self._node(each) for each in typed))

    def _node(self, typed: str) -> int:
        try:
            return self.graph.node(typed)
        except UnknownName:
            if any(True for _ in _typed([typed], self.built.excluded)):
                raise UsageError(
                    f"{typed} is left out by --exclude; name what is kept apart, or do not leave it out"
                ) from None
            raise

    def _names(self, nodes: Iterable[int]) -> tuple[str, ...]:
        return tuple(self.graph.labels[node] for node in nodes)

    def _both(self, node: int) -> str:
        one = next(each for each in self.question.identifiers if self.graph.node(each) == node)
        other = next(each for each in self.question.sensitive if self.graph.node(each) == node)
        if one == other:
            return f"{one} is given as identifier and as sensitive; choose one"
        why = [j for j in self.graph.joints if self.graph.place.get(j.left) == node]
        shown = some([f"{j.left} = {j.right} ({j.ground})" for j in why], 3)
        return f"identifier {one} and sensitive {other} are one attribute: {shown}; refuse the merge in --outside FILE"

    def _protected(self, typed: Sequence[str]) -> tuple[int, ...]:
        found = []
        for name in typed:
            for fold in (str, str.casefold):
                hits = [
                    number
                    for number, table in enumerate(self.graph.tables)
                    if fold(name) in (fold(str(table.name)), fold(table.name.name))
                ]
                if hits:
                    break
            left_out = {each.table for each in self.built.excluded}
            if not hits and any(name.casefold() in (str(t).casefold(), t.name.casefold()) for t in left_out):
                raise UsageError(f"table {name} is left out by --exclude; it cannot be protected, too")
            if not hits:
                raise UnknownName("table", [name], "the graph", [str(table.name) for table in self.graph.tables])
            if len(hits) > 1:
                shown = ", ".join(str(self.graph.tables[hit].name) for hit in hits)
                raise UsageError(f"table {name} is ambiguous: {shown}; write its schema before it")
            found += hits
        return tuple(dict.fromkeys(found))

    # the cut

    def _preference(self, cut: tuple[int, ...]) -> tuple[bool, int, tuple[int, ...]]:
        """Among cuts of one size: those that protecting the tables to be published can carry out, then in them."""
        if not self.protected:
            return False, 0, cut
        here = {node for table in self.protected for node in self.graph.members[table]}
        return self._open(self._memberships(cut)) is not None, len(set(cut) - here), cut

    def _memberships(self, nodes: Iterable[int]) -> frozenset[Membership]:
        chosen = set(nodes)
        return frozenset(
            Membership(t, node) for t in self.protected for node in self.graph.members[t] if node in chosen
        )

    def _open(self, kept: frozenset[Membership]) -> Way | None:
        return way_round(self.graph, self.identifiers, self.sensitive, kept)

    def _undirected(self) -> tuple[str, ...] | None:
        """A smallest cut where every way is open, if it is larger: what the dependencies are relied on for."""
        if not self.graph.directed:
            return None
        tables = [replace(each, dependencies=()) for each in self.graph.tables]
        open_ways = attribute_graph(tables, self.graph.joints)
        found = separate(open_ways, self.identifiers, self.sensitive, Algorithm.MINIMUM_CUT, 1)
        if not found.cuts or len(found.cuts[0]) <= self.found.minimum:
            return None
        return self._names(found.cuts[0])

    def _protection(self) -> Protection | None:
        if not self.protected or self.chosen is None:
            return None
        of_cut = self._memberships(self.chosen)
        way = self._open(of_cut)
        least = None if way is None else least_protection(self.graph, self.identifiers, self.sensitive, self.protected)
        used = of_cut if least is None else least
        tables = []
        for number in self.protected:
            table = self.graph.tables[number].name
            tables.append(
                ProtectedTable(
                    table=str(table),
                    columns=self._columns(number, [each.node for each in used if each.table == number]),
                    cut=self._columns(number, [each.node for each in of_cut if each.table == number]),
                    identifiers=self._columns(number, self.identifiers),
                    sensitive=self._columns(number, self.sensitive),
                )
            )
        shown = {str(self.graph.tables[number].name) for number in self.protected}
        exposed = [
            (self.graph.labels[node], tuple(str(t) for t in self.graph.tables_of(node) if str(t) not in shown))
            for node in self.chosen
        ]
        return Protection(
            tables=tuple(tables),
            sufficient=way is None or least is not None,
            exposed=tuple((name, others) for name, others in exposed if others),
            way_round=None if way is None else self._path(way),
        )

    def _columns(self, table: int, nodes: Iterable[int]) -> tuple[str, ...]:
        """The columns of a table that belong to these nodes, in the table's order."""
        of = self.graph.tables[table]
        chosen = set(nodes)
        return tuple(each.column for each in of.attributes if self.graph.place[each] in chosen)

    # what it looks like

    def _paths(self) -> tuple[tuple[PathFinding, ...], bool]:
        """The paths, shortest first, and whether these are all."""
        most = self.question.max_paths
        if self.question.every_path:
            ways = (
                (path, ())
                for one in self.identifiers
                for other in self.sensitive
                for path in every_path(self.graph, one, other)
            )
            found: list[Way] = list(islice(ways, most + 1))
        else:
            found = list(islice(paths(self.network), most + 1))
        found.sort(key=lambda way: len(way[0]))
        return tuple(self._path(way) for way in found[:most]), len(found) <= most

    def _path(self, way: Way) -> PathFinding:
        nodes, tables = way
        cut = self.chosen or ()
        return PathFinding(
            self._names(nodes),
            tuple(str(self.graph.tables[table].name) for table in tables),
            self._names(node for node in nodes if node in cut),
        )

    def _attributes(self) -> tuple[AttributeFinding, ...]:
        cut = self.chosen or ()
        found = []
        for node, columns in enumerate(self.graph.nodes):
            if node in self.identifiers:
                part = Part.IDENTIFIER
            elif node in self.sensitive:
                part = Part.SENSITIVE
            elif node in cut:
                part = Part.CUT
            else:
                part = Part.BETWEEN if node in self.network else Part.ASIDE
            found.append(AttributeFinding(self.graph.labels[node], part, tuple(map(str, columns))))
        return tuple(found)

    def _tables(self) -> tuple[TableFinding, ...]:
        found = []
        for number, table in enumerate(self.graph.tables):
            name = {
                column: self.graph.labels[self.graph.place[Attribute(table.name, column)]] for column in table.columns
            }
            found.append(
                TableFinding(
                    name=str(table.name),
                    kind=table.kind,
                    attributes=self._names(self.graph.members[number]),
                    dependencies=tuple((name[a], name[b]) for a, b in table.dependencies),
                    reason=table.reason,
                    between=number in self.tables_between,
                    protected=number in self.protected,
                )
            )
        return tuple(found)

    # in a sentence

    def _judge(self, protection: Protection | None, work: GraphWork) -> tuple[Outcome, str]:
        who, what = (" and ".join(self._names(each)) for each in (self.identifiers, self.sensitive))
        if self.chosen is None:
            where = some([str(self.graph.tables[table].name) for table in self.found.together], 3)
            return Outcome.VIOLATION, (
                f"no separating set: an identifier and a sensitive attribute stand in one table, {where}. Publish it "
                f"without one of them; --exclude TABLE.COLUMN asks again as if that were done"
            )
        if not self.chosen:
            answer = f"nothing leads from {who} to {what} in these {plural(len(self.graph.tables), 'table')}"
        else:
            answer = self._cut_words(self.chosen, f"{who} from {what}")
        if protection is not None and self.chosen:
            tables = " and ".join(each.table for each in protection.tables)
            columns = " and ".join(
                f"{', '.join(each.columns)} in {each.table}" for each in protection.tables if each.columns
            )
            if not protection.sufficient:
                return Outcome.VIOLATION, (
                    f"{answer}, but protecting {tables} alone does not: a path goes round it, {self._way(protection)}"
                )
            if protection.way_round is None:
                answer += f"; to protect: {columns}"
            else:
                answer += f"; where only {tables} can be protected it takes {columns}"
        if work.unfinished:
            return Outcome.INCONCLUSIVE, f"as far as attributes were compared, {answer}; more may be one"
        return Outcome.FINISHED, answer

    def _cut_words(self, cut: Sequence[int], apart: str) -> str:
        """That a cut separates, and how it stands among the others."""
        names, more = self._names(cut), len(self.found.cuts) - 1
        if self.question.algorithm is Algorithm.PATHS or self.found.parts:
            how = "" if len(cut) > self.found.minimum else ", and no fewer do"
            return f"{_listed(names)} separate{'s' if len(cut) == 1 else ''} {apart}{how if len(cut) > 1 else ''}"
        others = "" if not more else f" (as would {plural(more, 'other set')} of {len(cut)})"
        if not self.found.complete:
            others = f" (as would more than {more} other sets of {len(cut)})"
        if len(cut) == 1:
            return f"{names[0]} alone separates {apart}{others}"
        return f"{_listed(names)} together separate {apart}, and no fewer do{others}"

    @staticmethod
    def _way(protection: Protection) -> str:
        way = protection.way_round
        assert way is not None
        return " - ".join(way.attributes)


def _listed(names: Sequence[str]) -> str:
    """a, b and c; the first of them when they are many"""
    if len(names) > 12:
        return some(names)
    return " and ".join([*([", ".join(names[:-1])] if len(names) > 1 else []), *names[-1:]])
