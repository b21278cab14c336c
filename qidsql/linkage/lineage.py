"""Columns that are one attribute: by keys and views, whose lineage tells the table columns behind each column.

sqlglot parses a view's query; no statement is sent. A view that it cannot parse is reported in a note, as no error.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import sqlglot
from sqlglot import exp
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import Scope, build_scope
from sqlglot.schema import MappingSchema

from qidsql.core.tables import Attribute, Catalog, CatalogTable, Dependency, Ground, SameAttribute, TableName
from qidsql.engines.base import Engine
from qidsql.linkage.containment import Containments, ContainmentSearch
from qidsql.linkage.joinable import Containment
from qidsql.sql.dialects import Dialect
from qidsql.wording.texts import few

# Which attributes of different tables of a source are the same, each pair with its ground.


@dataclass(frozen=True, slots=True)
class Linkage:
    """Same attributes and dependencies in a catalog, and the work spent to find them.

    `containments` are the measurements behind the pairs found by containment. `unfinished` describes the parts not
    done, including closed tables, `notes` gives other facts; `silent` tables have no value to compare.
    """

    same_attributes: tuple[SameAttribute, ...]
    dependencies: tuple[Dependency, ...] = ()
    containments: tuple[Containment, ...] = ()
    statements: int = 0
    unfinished: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    silent: frozenset[TableName] = frozenset()


def same_attributes(
    engine: Engine,
    catalog: Catalog,
    *,
    values: bool = True,
    names: bool = False,
    refused: Iterable[frozenset[Attribute]] = (),
    max_statements: int | None = None,
    deadline: float | None = None,
    on_stage: Callable[[str], None] = lambda stage: None,
) -> Linkage:
    """Which columns of a catalog are one attribute: by its foreign keys and views, with `values` by containment
    measured in the engine, with `names` also by equal names and types.

    Foreign keys, views and names cost no statement. Values are compared only for columns that are not the same already,
    also through others; `refused` pairs are neither joined nor compared. A spent budget, Ctrl-C or a failed statement
    is not raised: the findings so far are returned, and `unfinished` describes the rest. `deadline` is of
    `time.monotonic`.
    """
    before = engine.statements
    found = lineage(catalog, engine.dialect)
    known = [*foreign_keys(catalog), *found.same_attributes]
    measured = Containments()
    if values:
        apart = set(refused)
        one = {frozenset((pair.left, pair.right)) for pair in known} - apart
        tables = [table for table in catalog.tables if table.definition is None or table.kind != "view"]
        measured = ContainmentSearch(
            engine,
            tables,
            known=one,
            apart=apart,
            max_statements=max_statements,
            deadline=deadline,
            on_stage=on_stage,
        ).run()
    contained = [each for each in measured.containments if each.joinable]
    known += [SameAttribute(each.left, each.right, Ground.CONTAINMENT, each.ground) for each in contained]
    if names:
        known += same_names(catalog)
    return Linkage(
        tuple(known),
        tuple(found.dependencies),
        tuple(contained),
        engine.statements - before,
        (*measured.unfinished, *(_closed(catalog) if values else ())),
        (*found.notes, *_without_value(measured), *_by_chance(measured)),
        _silent(measured),
    )


def _closed(catalog: Catalog) -> list[str]:
    """The tables and columns whose values could not be compared, so that a pair may be missing."""
    closed = [
        f"the values of {table.name} were not compared: {table.obstacle}"
        for table in catalog.tables
        if table.obstacle is not None
    ]
    hidden = [
        str(Attribute(table.name, column.name))
        for table in catalog.tables
        if table.obstacle is None
        for column in table.columns
        if not column.readable
    ]
    return closed + ([f"not compared, since this user may not read them: {', '.join(hidden)}"] if hidden else [])


def _silent(measured: Containments) -> frozenset[TableName]:
    valued = {attribute.table for attribute, _ in measured.valued}
    return frozenset(attribute.table for attribute in measured.empty) - valued


def _without_value(measured: Containments) -> list[str]:
    """Notes on columns that have nothing to compare, or on whole tables of such columns."""
    silent = _silent(measured)
    notes = []
    if silent:
        notes.append(
            f"not compared, since they have no values: {few(sorted(map(str, silent)), 6)}; columns that only values "
            f"would link stay separate until they are filled"
        )
    columns = [str(attribute) for attribute in measured.empty if attribute.table not in silent]
    if columns:
        notes.append(f"not compared, since every row is NULL: {few(columns, 6)}")
    return notes


def _by_chance(measured: Containments) -> list[str]:
    if not measured.by_names:
        return []
    return [
        f"columns of few codes, or of numbers close together near zero, are contained in one another by accident, and "
        f"were compared only where names agree: {few(list(map(str, measured.by_names)), 6)}"
    ]


def foreign_keys(catalog: Catalog) -> list[SameAttribute]:
    """A pair for each column of each foreign key."""
    found = []
    for key in catalog.foreign_keys:
        for own, other in zip(key.columns, key.referenced, strict=True):
            together = f", one of {len(key.columns)} columns together" if len(key.columns) > 1 else ""
            found.append(SameAttribute(own, other, Ground.FOREIGN_KEY, f"{own} references {other}{together}"))
    return found


def same_names(catalog: Catalog) -> list[SameAttribute]:
    """Columns of different tables with the same name, letter case aside, and comparable values.

    Each column is paired with the first of its name, so that all of them are connected.
    """
    first: dict[tuple[str, object], Attribute] = {}
    found = []
    for table in catalog.tables:
        for column in table.columns:
            own = Attribute(table.name, column.name)
            known = first.setdefault((column.name.casefold(), column.kind or column.base or column.type), own)
            if known.table != own.table:
                found.append(SameAttribute(known, own, Ground.NAME, f"{known} and {own} have one name and one type"))
    return found


# Nodes that make a column more than a function of the columns of its row.
BEYOND_THE_ROW = (exp.AggFunc, exp.Window, exp.Query, exp.Rand, exp.Randn, exp.Uuid)


@dataclass(slots=True)
class Lineage:
    """Columns that the views of a catalog show unchanged, columns computed from others, and notes."""

    same_attributes: list[SameAttribute] = field(default_factory=list)
    dependencies: list[Dependency] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class _Untraceable(Exception):
    """The reason, in words, why a view's query cannot be followed."""


@dataclass(frozen=True, slots=True)
class _Origin:
    """The base columns of a column of a query: `same` if its values are those of a single one."""

    bases: frozenset[Attribute]
    same: bool


def lineage(catalog: Catalog, dialect: Dialect) -> Lineage:
    """The columns behind the columns of all views: same attributes for columns shown under any name, dependencies for
    those that an expression computes from columns of the same row. Views of views are followed to the tables.
    """
    found = Lineage()
    for view in catalog.tables:
        if view.definition is None:
            continue
        try:
            origins = _Reading(catalog, dialect, view).origins()
        except _Untraceable as reason:
            found.notes.append(f"the view {view.name} was not followed to its tables: {reason}")
            continue
        for column, branches in zip(view.columns, origins, strict=False):
            own = Attribute(view.name, column.name)
            for origin in branches:
                if origin.same:
                    [base] = origin.bases
                    found.same_attributes.append(
                        SameAttribute(own, base, Ground.VIEW, f"the view {view.name} shows {base}")
                    )
                elif origin.bases:
                    names = sorted(map(str, origin.bases))
                    detail = f"the view {view.name} computes {column.name} from {', '.join(names)}"
                    found.dependencies.append(Dependency(tuple(sorted(origin.bases)), own, detail))
    return found


class _Reading:
    """One view's query, with its tables found in the catalog."""

    def __init__(self, catalog: Catalog, dialect: Dialect, view: CatalogTable) -> None:
        self._dialect = dialect
        self._view = view
        self._tables = catalog.tables
        self._met: dict[str, CatalogTable] = {}

    def origins(self) -> list[list[_Origin]]:
        """The origins of each column of the query, one per branch of a UNION. Raises _Untraceable."""
        try:
            tree = sqlglot.parse_one(str(self._view.definition), read=self._dialect.name)
            if not isinstance(tree, exp.Query):
                raise _Untraceable("its query is of an unknown kind")
            self._canonical(tree)
            columns: dict[str, object] = {
                key: {self._fold(c.name): "text" for c in table.columns} for key, table in self._met.items()
            }
            tree = qualify(
                tree,
                dialect=self._dialect.name,
                schema=MappingSchema(columns, dialect=self._dialect.name, normalize=False),
                validate_qualify_columns=False,
                quote_identifiers=True,
            )
            scope = build_scope(tree)
        except (sqlglot.errors.SqlglotError, ValueError, KeyError, AttributeError, RecursionError):
            raise _Untraceable("its query cannot be read") from None
        if scope is None:
            raise _Untraceable("its query cannot be read")
        names = _output(scope)
        if "*" in names:
            raise _Untraceable("its * cannot be resolved")
        return [list(self._column(scope, place, ())) for place in range(len(names))]

    def _canonical(self, tree: exp.Query) -> None:
        """Give every table an unambiguous name, and quote every identifier in its effective letter case."""
        for identifier in tree.find_all(exp.Identifier):
            identifier.set("this", self._fold(identifier.this))
            identifier.set("quoted", True)
        own = {cte.alias for cte in tree.find_all(exp.CTE)}
        for table in list(tree.find_all(exp.Table)):
            if not isinstance(table.this, exp.Identifier):
                raise _Untraceable("it reads from a function or a file")
            if not table.db and table.name in own:
                continue
            met = self._table(table)
            key = f"table {self._tables.index(met)}"
            self._met[key] = met
            if not table.alias:
                table.set("alias", exp.TableAlias(this=exp.to_identifier(table.name, quoted=True)))
            for part in ("db", "catalog"):
                table.set(part, None)
            table.set("this", exp.to_identifier(key, quoted=True))
        for column in tree.find_all(exp.Column):
            column.set("db", None)
            column.set("catalog", None)

    def _table(self, table: exp.Table) -> CatalogTable:
        """The catalog's table of that name: in the schema it is written with, else in the view's, else in any."""
        known = [each for each in self._tables if self._fold(each.name.name) == table.name]
        if table.db:
            # DuckDB's a.b may be a schema or, with the default schema, a database.
            exact = [each for each in known if self._fold(each.name.schema) == table.db]
        else:
            exact = [each for each in known if each.name.schema == self._view.name.schema] or known
        if len(exact) != 1:
            raise _Untraceable(
                f"{table.name} is not in the catalog that was read" if not exact else "its tables are ambiguous"
            )
        return exact[0]

    def _fold(self, name: str) -> str:
        return name.lower() if self._dialect.caseless else name

    def _column(self, scope: Scope, place: int, above: tuple[int, ...]) -> Iterator[_Origin]:
        """The origins of one column of a query, one per branch of a UNION."""
        if id(scope) in above:  # a recursive query, from its first branch on
            return
        above = (*above, id(scope))
        query = scope.expression
        assert isinstance(query, exp.Query)
        if isinstance(query, exp.SetOperation):
            branches = scope.set_operation_scopes
            for branch in branches[:1] if isinstance(query, exp.Except) else branches:
                yield from self._column(branch, place, above)
            return
        selected = query.selects
        if place < len(selected):
            yield from self._expression(scope, selected[place].unalias(), above)

    def _expression(self, scope: Scope, node: exp.Expr, above: tuple[int, ...]) -> Iterator[_Origin]:
        while isinstance(node, exp.Paren):
            node = node.this
        if isinstance(node, exp.Column):
            yield from self._source(scope, node, above)
            return
        if isinstance(node, BEYOND_THE_ROW) or any(node.find_all(*BEYOND_THE_ROW)):
            return
        bases: set[Attribute] = set()
        for column in node.find_all(exp.Column):
            origins = list(self._source(scope, column, above))
            if len(origins) != 1:  # unknown, or different from branch to branch
                return
            bases |= origins[0].bases
        yield _Origin(frozenset(bases), same=False)

    def _source(self, scope: Scope, column: exp.Column, above: tuple[int, ...]) -> Iterator[_Origin]:
        source = scope.sources.get(column.table)
        if isinstance(source, Scope):
            names = _output(source)
            if column.name in names:
                yield from self._column(source, names.index(column.name), above)
        elif isinstance(source, exp.Table) and source.name in self._met:
            table = self._met[source.name]
            for known in table.columns:
                if self._fold(known.name) == column.name:
                    yield _Origin(frozenset({Attribute(table.name, known.name)}), same=True)


def _output(scope: Scope) -> list[str]:
    """The names of a query's columns."""
    assert isinstance(scope.expression, exp.Query)
    return scope.expression.named_selects
