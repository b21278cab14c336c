"""View lineage: the table columns behind each column of a view. sqlglot parses the view's query; no statement is sent.
A view that it cannot parse is reported in a note and is no error."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import sqlglot
from sqlglot import exp
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import Scope, build_scope
from sqlglot.schema import MappingSchema

from qidsql.core.catalog import Attribute, Catalog, CatalogTable, Dependency, Ground, SameAttribute
from qidsql.sql.dialects import Dialect

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
