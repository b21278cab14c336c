"""A release against the earlier ones of the same table: what was added or removed, and what both say together."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from qidsql.commands.release.command import EarlierRelease, LineState, Measured, ReleaseRequest, Subject, worst_of
from qidsql.commands.release.subject import file_subject, subject_of
from qidsql.core.tables import PolicyRole, Table
from qidsql.declarations.results import plain
from qidsql.engines.base import Engine
from qidsql.engines.connect import connect
from qidsql.errors import BudgetSpent, Interrupted, QidsqlError
from qidsql.sql.releases import changed_classes, joint_classes
from qidsql.wording.texts import count, few, plural

MET, NOT_MET, NOT_EXAMINED = LineState.MET, LineState.NOT_MET, LineState.NOT_EXAMINED
NO_LEDGER = Measured(NOT_EXAMINED, "no history of releases was read")
FIRST = Measured(MET, "the history has no earlier release of this table")


@dataclass(frozen=True, slots=True)
class Compared:
    """What was found of one earlier release, or of all of them."""

    changes: Measured
    together: Measured


def against_earlier(
    engine: Engine, table: Table, request: ReleaseRequest, subject: Sequence[Subject], k: int
) -> Compared:
    """The worst that was found of any release with other bytes. Raises BudgetSpent, Interrupted."""
    if request.earlier is None:
        return Compared(NO_LEDGER, NO_LEDGER)
    own = [dict(each.digest) for each in subject]
    found = [_against(engine, table, request, each, k) for each in request.earlier if dict(each.digest) not in own]
    if not found:
        return Compared(FIRST, FIRST)
    return Compared(worst_of([each.changes for each in found]), worst_of([each.together for each in found]))


def _against(engine: Engine, table: Table, request: ReleaseRequest, earlier: EarlierRelease, k: int) -> Compared:
    unknown = Measured(NOT_EXAMINED, "", f"k = {k}")
    changes = together = unknown
    try:
        with _both(engine, table, earlier.place) as (pair, before, now, subject):
            if plain(subject.digest) != dict(earlier.digest):
                raise QidsqlError(f"{earlier.place} is not what was recorded")
            changes, together = _changes(pair, before, now, request, earlier, k)
        if request.key is not None:
            together = unknown
            together = _joint(engine, table, request, earlier, k)
    except (BudgetSpent, Interrupted):
        raise
    except QidsqlError as error:
        why = f"{earlier.name} could not be compared: {error}"
        changes, together = (replace(each, measured=each.measured or why) for each in (changes, together))
    return Compared(changes, together)


@contextmanager
def _both(engine: Engine, table: Table, place: str) -> Iterator[tuple[Engine, Table, Table, Subject]]:
    """An engine that reads the released rows and those at another place, and what is there. Raises QidsqlError."""
    if not engine.data_files:
        other = engine.describe(place)
        yield engine, other, table, subject_of(engine, other)[0][0]
        return
    if len(engine.data_files) != 1:
        raise QidsqlError("the release is of several files")
    with connect(str(engine.data_files[0]), beside=place) as pair:
        yield pair, pair.describe_beside(None), pair.describe(None), file_subject(Path(place))


def _changes(
    pair: Engine, before: Table, now: Table, request: ReleaseRequest, earlier: EarlierRelease, k: int
) -> tuple[Measured, Measured]:
    """Rows added and removed; and, where rows were only added or only removed, the classes of both together."""
    names = [[each.name for each in table.columns] for table in (before, now)]
    common = [name for name in names[1] if name in names[0]]
    classes = [name for name in common if _is_quasi(request, name)]
    if not classes:
        raise QidsqlError("they have no quasi-identifier in common")
    others = [name for name in common if name not in classes]
    found = pair.run(changed_classes(pair.dialect, before, now, classes, others, k))
    since = f"since {earlier.name} in classes of fewer than {k}"
    moved = [
        f"{count(below)} of {plural(rows, f'row {kind}', f'rows {kind}')} {since}"
        for kind, rows, below in (
            ("added", found.added, found.added_below),
            ("removed", found.removed, found.removed_below),
        )
    ]
    changes = Measured(NOT_MET if found.added_below or found.removed_below else MET, ", ".join(moved), f"k = {k}")
    new = [name for name in names[1] if name not in names[0]]
    gone = [name for name in names[0] if name not in names[1]]
    if new or gone or (found.added and found.removed):
        own = f"columns that only one of them has: {few([*new, *gone])}"
        why = own if new or gone else "rows were added and removed"
        text = f"with {earlier.name}: {why}, so a person's two classes need copies with a key"
        return changes, Measured(NOT_EXAMINED, text, f"k = {k}")
    text = f"{count(found.stayed_below)} of {plural(found.stayed, 'row')} also in {earlier.name} below {k} together"
    if found.stayed_below:
        return changes, Measured(NOT_MET, text, f"k = {k}")
    assumed = f"if nobody in {earlier.name} has other values since, which copies with a key can show: {text}"
    return changes, Measured(LineState.PERSON, assumed, f"k = {k}")


def _joint(engine: Engine, table: Table, request: ReleaseRequest, earlier: EarlierRelease, k: int) -> Measured:
    """The classes of the persons in both, by copies with a key that hold exactly the released rows."""
    if request.keyed is None or not earlier.keyed or request.key is None:
        raise QidsqlError("both releases need a copy with the key (--keyed, and when the earlier one was recorded)")
    with _both(engine, table, request.keyed) as (pair, keyed, now, _):
        _same_rows(pair, keyed, now)
    before = Path(earlier.place)
    if engine.data_files:
        with connect(earlier.keyed, beside=str(before)) as pair:
            _same_rows(pair, pair.describe(None), pair.describe_beside(None))
        with connect(request.keyed, beside=earlier.keyed) as pair:
            return _together(pair, pair.describe_beside(None), pair.describe(None), request, earlier, k)
    first, second = engine.describe(earlier.keyed), engine.describe(request.keyed)
    _same_rows(engine, first, engine.describe(earlier.place))
    return _together(engine, first, second, request, earlier, k)


def _together(
    pair: Engine, before: Table, now: Table, request: ReleaseRequest, earlier: EarlierRelease, k: int
) -> Measured:
    key = str(request.key)
    for each in (before, now):
        found = pair.run(joint_classes(pair.dialect, (each, (key,)), (each, (key,)), key, k))
        rows = pair.run(changed_classes(pair.dialect, each, each, (key,), (), k)).stayed
        if not rows == found.rows == found.classes:
            raise QidsqlError(f"{key} does not tell the rows of {each.name} apart")
    hidden = {key, *earlier.sensitive, *(name for name, role in request.roles.items() if role is PolicyRole.SENSITIVE)}
    sides = [(each, [column.name for column in each.columns if column.name not in hidden]) for each in (before, now)]
    joint = pair.run(joint_classes(pair.dialect, sides[0], sides[1], key, k))
    if not joint.rows:
        return Measured(MET, f"nobody is in {earlier.name} too", f"k = {k}")
    below = f"{count(joint.below)} of {plural(joint.rows, 'row')} below {k}"
    text = f"with {earlier.name}: jointly {count(joint.smallest)}, {below}, {count(joint.alone)} alone"
    return Measured(NOT_MET if joint.below else MET, text, f"k = {k}")


def _same_rows(pair: Engine, keyed: Table, released: Table) -> None:
    """Raises QidsqlError unless a copy with a key has exactly the released rows."""
    names = [each.name for each in released.columns]
    found = pair.run(changed_classes(pair.dialect, keyed, released, names, (), 2))
    if found.added or found.removed:
        raise QidsqlError(f"{keyed.name} has other rows than {released.name}")


def _is_quasi(request: ReleaseRequest, name: str) -> bool:
    """Columns without a role count, too."""
    return request.roles.get(name) not in (PolicyRole.SENSITIVE, PolicyRole.DIRECT_IDENTIFIER, PolicyRole.OTHER)
