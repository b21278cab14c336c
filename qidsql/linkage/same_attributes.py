"""Which attributes of different tables of a source are the same, each pair with its ground."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from qidsql.core.catalog import Attribute, Catalog, Dependency, Ground, SameAttribute
from qidsql.core.tables import TableName
from qidsql.engines.base import Engine
from qidsql.linkage.containment import Containments, ContainmentSearch
from qidsql.linkage.joinable import Containment
from qidsql.linkage.lineage import lineage
from qidsql.wording.texts import few


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
