"""All that is known of a source about which attributes of different tables are one, each with its ground."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from qidsql.core.catalog import Attribute, Catalog, Dependency, Ground, Joint
from qidsql.core.tables import TableName
from qidsql.engines.base import Engine
from qidsql.linkage.containment import Measured, Measuring
from qidsql.linkage.joinable import Containment
from qidsql.linkage.lineage import lineage
from qidsql.wording.numbers import some


@dataclass(frozen=True, slots=True)
class Linkage:
    """Joints and dependencies between the attributes of a catalog, and what it took to find them.

    `containments` are the measurements behind the joints by containment. `unfinished` says in words what is left
    undone, closed tables too, `notes` what else to know; `silent` tables hold no value that could be compared.
    """

    joints: tuple[Joint, ...]
    dependencies: tuple[Dependency, ...] = ()
    containments: tuple[Containment, ...] = ()
    statements: int = 0
    unfinished: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    silent: frozenset[TableName] = frozenset()


def joints(
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
    """The joints of a catalog: by its foreign keys and views, with `values` by containment measured in the engine,
    with `names` by equal names and types too.

    Foreign keys, views and names cost no statement. Values are compared of columns that are not one already, also
    through others; `refused` pairs make nothing one and are not compared. A spent budget, Ctrl-C or a failed statement
    do not raise: what was found by then stands, and `unfinished` says what is open. `deadline` is of `time.monotonic`.
    """
    asked = engine.asked
    found = lineage(catalog, engine.dialect)
    known = [*foreign_keys(catalog), *found.joints]
    measured = Measured()
    if values:
        apart = set(refused)
        one = {frozenset((joint.left, joint.right)) for joint in known} - apart
        tables = [table for table in catalog.tables if table.definition is None or table.kind != "view"]
        measured = Measuring(
            engine,
            tables,
            known=one,
            apart=apart,
            max_statements=max_statements,
            deadline=deadline,
            on_stage=on_stage,
        ).run()
    contained = [each for each in measured.containments if each.joinable]
    known += [Joint(each.left, each.right, Ground.CONTAINMENT, each.ground) for each in contained]
    if names:
        known += same_names(catalog)
    return Linkage(
        tuple(known),
        tuple(found.dependencies),
        tuple(contained),
        engine.asked - asked,
        (*measured.unfinished, *(_closed(catalog) if values else ())),
        (*found.notes, *_without_value(measured), *_by_chance(measured)),
        _silent(measured),
    )


def _closed(catalog: Catalog) -> list[str]:
    """Whose values could not be compared, so that a joint may be missing."""
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


def _silent(measured: Measured) -> frozenset[TableName]:
    valued = {attribute.table for attribute, _ in measured.valued}
    return frozenset(attribute.table for attribute in measured.empty) - valued


def _without_value(measured: Measured) -> list[str]:
    """What could not be compared since it holds nothing, table by table where that is all of one."""
    silent = _silent(measured)
    notes = []
    if silent:
        notes.append(
            f"not compared, since no value stands in them: {some(sorted(map(str, silent)), 6)}; what their values "
            f"would tie together once they are filled stays apart"
        )
    columns = [str(attribute) for attribute in measured.empty if attribute.table not in silent]
    if columns:
        notes.append(f"not compared, since NULL stands in every row: {some(columns, 6)}")
    return notes


def _by_chance(measured: Measured) -> list[str]:
    if not measured.by_names:
        return []
    return [
        f"columns of few codes, or of numbers close together near zero, stand in one another by accident, and were "
        f"compared only where names agree: {some(list(map(str, measured.by_names)), 6)}"
    ]


def foreign_keys(catalog: Catalog) -> list[Joint]:
    """A joint for each column of each foreign key."""
    found = []
    for key in catalog.foreign_keys:
        for own, other in zip(key.columns, key.referenced, strict=True):
            together = f", one of {len(key.columns)} columns together" if len(key.columns) > 1 else ""
            found.append(Joint(own, other, Ground.FOREIGN_KEY, f"{own} references {other}{together}"))
    return found


def same_names(catalog: Catalog) -> list[Joint]:
    """Joints of columns of different tables that have one name, letter case aside, and values that can be compared.

    Each column is joined with the first of its name: who follows the joints comes to all.
    """
    first: dict[tuple[str, object], Attribute] = {}
    found = []
    for table in catalog.tables:
        for column in table.columns:
            own = Attribute(table.name, column.name)
            known = first.setdefault((column.name.casefold(), column.kind or column.base or column.type), own)
            if known.table != own.table:
                found.append(Joint(known, own, Ground.NAME, f"{known} and {own} have one name and one type"))
    return found
