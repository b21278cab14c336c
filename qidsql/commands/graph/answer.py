"""The answer of an attribute graph to the request: a separating set, columns to protect, the paths that are cut."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice

from qidsql.attribute_graph.graph import Membership, Path, attribute_graph, every_path, leading, network, paths
from qidsql.attribute_graph.separation import CutAlgorithm, bypass, least_protection, separate
from qidsql.commands.graph.building import BuiltGraph, matching_attributes
from qidsql.commands.graph.command import GraphRequest
from qidsql.commands.graph.result import (
    AttributeFinding,
    Cut,
    GraphAccount,
    GraphResult,
    MergeFinding,
    Part,
    PathFinding,
    ProtectedTable,
    Protection,
    TableFinding,
)
from qidsql.core.results import Verdict
from qidsql.core.tables import Attribute
from qidsql.errors import BudgetSpent, UnknownName, UsageError
from qidsql.wording.texts import few, plural

MAX_CUTS = 100  # smallest sets listed


class Answer:
    """The graph's answer to a request."""

    def __init__(self, built: BuiltGraph, request: GraphRequest) -> None:
        self.built, self.graph, self.request = built, built.graph, request
        self._who, self._what = self._present(request.who), self._present(request.what)
        self.identifiers = self._nodes(self._who)
        self.sensitive = self._nodes(self._what)
        both = set(self.identifiers) & set(self.sensitive)
        if both:
            raise UsageError(self._both(both.pop()))
        self.protected = self._protected(request.published)
        self.found = separate(self.graph, self.identifiers, self.sensitive, request.chosen_algorithm, MAX_CUTS)
        self.network = leading(network(self.graph, self.identifiers, self.sensitive))
        self.tables_between = {vertex.table for vertex in self.network if not isinstance(vertex, (int, str))}
        self.ends = {*self.identifiers, *self.sensitive}
        self.chosen = min(self.found.cuts, key=self._preference, default=None)
        self.protection = self._protection()

    def result(self, account: GraphAccount) -> GraphResult:
        verdict, reason = self._judge(self.protection, account)
        names = self.graph.labels
        paths, complete = self._paths()
        return GraphResult(
            verdict=verdict,
            reason=reason,
            account=account,
            identifiers=self._names(self.identifiers),
            sensitive=self._names(self.sensitive),
            cut=None if self.chosen is None else self._names(self.chosen),
            column_sets=tuple(Cut(self._names(cut)) for cut in self.found.cuts),
            complete=self.found.complete,
            lower_bound=None if self.chosen is None else self.found.minimum,
            by_sensitive={names[node]: self._names(part) for node, part in self.found.parts},
            directed=self.graph.directed,
            undirected_cut=self._undirected(),
            together=tuple(str(self.graph.tables[table].name) for table in self.found.together),
            paths=paths,
            paths_complete=complete,
            protection=self.protection,
            attributes=self._attributes(),
            tables=self._tables(),
            merges=tuple(
                MergeFinding(str(each.left), str(each.right), str(each.ground), each.detail)
                for each in self.graph.same_attributes
            ),
            refused=tuple((str(each.left), str(each.right)) for each in self.built.outside.refused),
        )

    def notes(self) -> list[str]:
        """Notes on columns to protect that are the key of another table: rows of one person may belong together."""
        found = []
        for number, table in zip(self.protected, self.protection.tables if self.protection else (), strict=False):
            own = self.graph.tables[number].name
            for column in table.columns:
                node = self.graph.place[Attribute(own, column)]
                other = next((a for a in self.graph.nodes[node] if a.table != own and a in self.built.keys), None)
                if other is not None and Attribute(own, column) not in self.built.keys:
                    found.append(
                        f"{own}.{column} is the key of {other.table}: if that table lists persons, it is a person's "
                        f"number, to be withheld or replaced, and the rows of one person are no crowd"
                    )
        return found

    # identifiers, sensitive attributes, tables to be published

    def _present(self, typed: Sequence[str]) -> tuple[str, ...]:
        """The names, without those of the policy file that the graph does not have. Raises UsageError."""
        known = list(self.graph.place)
        gone = {name for name in self.request.by_policy if not any(True for _ in matching_attributes([name], known))}
        found = tuple(name for name in typed if name not in gone)
        if not found:
            raise UsageError(
                f"the graph has none of the columns that the policy lists ({few(typed)}); name the attributes: "
                f"--identifier TABLE.COLUMN (who) and --sensitive TABLE.COLUMN (what)"
            )
        return found

    def _nodes(self, typed: Sequence[str]) -> tuple[int, ...]:
        return tuple(dict.fromkeys(self._node(each) for each in typed))

    def _node(self, typed: str) -> int:
        try:
            return self.graph.node(typed)
        except UnknownName:
            if any(True for _ in matching_attributes([typed], self.built.excluded)):
                raise UsageError(
                    f"{typed} is left out by --exclude; name attributes that are not left out, or do not exclude it"
                ) from None
            raise

    def _names(self, nodes: Iterable[int]) -> tuple[str, ...]:
        return tuple(self.graph.labels[node] for node in nodes)

    def _both(self, node: int) -> str:
        one = next(each for each in self._who if self.graph.node(each) == node)
        other = next(each for each in self._what if self.graph.node(each) == node)
        if one == other:
            return f"{one} is given as identifier and as sensitive; choose one"
        why = [each for each in self.graph.same_attributes if self.graph.place.get(each.left) == node]
        shown = few([f"{each.left} = {each.right} ({each.ground})" for each in why], 3)
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
                raise UsageError(f"table {name} is left out by --exclude; it cannot be protected too")
            if not hits:
                raise UnknownName("table", [name], "the graph", [str(table.name) for table in self.graph.tables])
            if len(hits) > 1:
                shown = ", ".join(str(self.graph.tables[hit].name) for hit in hits)
                raise UsageError(f"table {name} is ambiguous: {shown}; write its schema before it")
            found += hits
        return tuple(dict.fromkeys(found))

    # the cut

    def _preference(self, cut: tuple[int, ...]) -> tuple[bool, int, tuple[int, ...]]:
        """Sort key of cuts of one size: first those that the tables to be published can carry out, then inside them."""
        if not self.protected:
            return False, 0, cut
        here = {node for table in self.protected for node in self.graph.members[table]}
        return self._open(self._memberships(cut)) is not None, len(set(cut) - here), cut

    def _memberships(self, nodes: Iterable[int]) -> frozenset[Membership]:
        chosen = set(nodes)
        return frozenset(
            Membership(t, node) for t in self.protected for node in self.graph.members[t] if node in chosen
        )

    def _open(self, kept: frozenset[Membership]) -> Path | None:
        return bypass(self.graph, self.identifiers, self.sensitive, kept)

    def _undirected(self) -> tuple[str, ...] | None:
        """A smallest cut without the dependencies, if it is larger: shows what the answer relies on them for."""
        if not self.graph.directed:
            return None
        tables = [replace(each, dependencies=()) for each in self.graph.tables]
        undirected = attribute_graph(tables, self.graph.same_attributes)
        found = separate(undirected, self.identifiers, self.sensitive, CutAlgorithm.MINIMUM_CUT, 1)
        if not found.cuts or len(found.cuts[0]) <= self.found.minimum:
            return None
        return self._names(found.cuts[0])

    def _protection(self) -> Protection | None:
        if not self.protected or self.chosen is None:
            return None
        of_cut = self._memberships(self.chosen)
        open_path = self._open(of_cut)
        least = (
            None
            if open_path is None
            else least_protection(self.graph, self.identifiers, self.sensitive, self.protected)
        )
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
            sufficient=open_path is None or least is not None,
            exposed={name: others for name, others in exposed if others},
            way_round=None if open_path is None else self._path(open_path),
        )

    def _columns(self, table: int, nodes: Iterable[int]) -> tuple[str, ...]:
        """The columns of a table that belong to these nodes, in the table's order."""
        of = self.graph.tables[table]
        chosen = set(nodes)
        return tuple(each.column for each in of.attributes if self.graph.place[each] in chosen)

    # findings

    def _paths(self) -> tuple[tuple[PathFinding, ...], bool]:
        """The paths, shortest first, and whether the list is complete."""
        most = self.request.max_paths
        if self.request.every_path:
            every: Iterator[Path] = (
                (path, ())
                for one in self.identifiers
                for other in self.sensitive
                for path in every_path(self.graph, one, other)
            )
        else:
            every = paths(self.network)
        found: list[Path] = []
        complete = False
        with suppress(BudgetSpent):
            for path in islice(every, most + 1):
                found.append(path)
            complete = len(found) <= most
        found.sort(key=lambda path: len(path[0]))
        return tuple(self._path(path) for path in found[:most]), complete

    def _path(self, path: Path) -> PathFinding:
        nodes, tables = path
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

    # verdict and reason

    def _judge(self, protection: Protection | None, account: GraphAccount) -> tuple[Verdict, str]:
        who, what = (" and ".join(self._names(each)) for each in (self.identifiers, self.sensitive))
        if self.chosen is None:
            where = few([str(self.graph.tables[table].name) for table in self.found.together], 3)
            return Verdict.VIOLATION, (
                f"no separating set: an identifier and a sensitive attribute are in one table, {where}. Publish it "
                f"without one of them; --exclude TABLE.COLUMN gives the answer for that case"
            )
        if not self.chosen:
            answer = f"no path leads from {who} to {what} in these {plural(len(self.graph.tables), 'table')}"
        else:
            answer = self._cut_words(self.chosen, f"{who} from {what}")
        if protection is not None and self.chosen:
            tables = " and ".join(each.table for each in protection.tables)
            columns = " and ".join(
                f"{', '.join(each.columns)} in {each.table}" for each in protection.tables if each.columns
            )
            if not protection.sufficient:
                return Verdict.VIOLATION, (
                    f"{answer}, but protecting {tables} alone does not: a path avoids it, {self._open_path(protection)}"
                )
            if protection.way_round is None:
                answer += f"; to protect: {columns}"
            else:
                answer += f"; if only {tables} can be protected, protect {columns}"
        silent = [] if self.chosen else self._silent()
        if silent:
            return (
                Verdict.INCONCLUSIVE,
                f"as far as there are values, {answer}; {few(silent, 3)} has no values to compare",
            )
        if account.unfinished:
            return Verdict.INCONCLUSIVE, f"as far as attributes were compared, {answer}; more of them may be the same"
        return Verdict.FINISHED, answer

    def _silent(self) -> list[str]:
        """The tables of identifiers and sensitive attributes without any value to compare."""
        named = {str(attribute.table) for node in self.ends for attribute in self.graph.nodes[node]}
        return sorted(named & {str(table) for table in self.built.silent})

    def _cut_words(self, cut: Sequence[int], apart: str) -> str:
        """The sentence that a cut separates, with the number of other cuts."""
        names, more = self._names(cut), len(self.found.cuts) - 1
        if self.request.chosen_algorithm is CutAlgorithm.PATHS:
            how = "" if len(cut) > self.found.minimum else ", and no fewer do"
            return f"{_listed(names)} separate{'s' if len(cut) == 1 else ''} {apart}{how if len(cut) > 1 else ''}"
        others = "" if not more else f" (as would {plural(more, 'other set')} of {len(cut)})"
        if not self.found.complete:
            others = f" (as would more than {more} other sets of {len(cut)})"
        if len(cut) == 1:
            return f"{names[0]} alone separates {apart}{others}"
        return f"{_listed(names)} together separate {apart}, and no fewer do{others}"

    @staticmethod
    def _open_path(protection: Protection) -> str:
        path = protection.way_round
        assert path is not None
        return " - ".join(path.attributes)


def _listed(names: Sequence[str]) -> str:
    """a, b and c; only the first names of a long list"""
    if len(names) > 12:
        return few(names)
    return " and ".join([*([", ".join(names[:-1])] if len(names) > 1 else []), *names[-1:]])
