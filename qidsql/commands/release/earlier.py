"""A release against the earlier ones of the same table: what was added or removed, and what both say together."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from qidsql.commands.release.command import (
    UNCOMPARED,
    EarlierRelease,
    LineState,
    Measured,
    ReleaseRequest,
    Subject,
    worst_of,
)
from qidsql.commands.release.subject import file_subject, subject_of
from qidsql.core.tables import PolicyRole, Table
from qidsql.declarations.results import plain
from qidsql.engines.base import Engine
from qidsql.engines.connect import connect
from qidsql.errors import BudgetSpent, Interrupted, QidsqlError
from qidsql.sql.releases import (
    ChangedClasses,
    ChangedValues,
    changed_classes,
    changed_values,
    gone_by_key,
    joint_classes,
    joint_values,
    same_places,
    values_in_one,
)
from qidsql.wording.texts import count, plural
from qidsql.wording.texts import few as few_names

MET, NOT_MET, NOT_EXAMINED = LineState.MET, LineState.NOT_MET, LineState.NOT_EXAMINED
NO_LEDGER = Measured(NOT_EXAMINED, "there is no history that could name an earlier release: qidsql run makes one")
FIRST = Measured(MET, "no earlier release of this table is recorded in the history")
WRITTEN = {"whole": "u?(tiny|small|big|huge)?int(eger|[248])?$", "text": "(text|(var)?char.*|character varying.*)$"}
_Side: TypeAlias = tuple[Table, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Compared:
    """What was found of one earlier release, or of all of them: of rows, persons, and their sensitive values."""

    changes: Measured
    order: Measured
    together: Measured
    values: Measured

    @classmethod
    def alike(cls, found: Measured) -> "Compared":
        return cls(*[found] * len(cls.__dataclass_fields__))


@dataclass(frozen=True, slots=True)
class Required:
    """The rows of a class, and its different sensitive values; 0: the policy limits nothing that classes disclose."""

    k: int
    values: int

    @property
    def words(self) -> str:
        return f"k = {self.k}"


def against_earlier(
    engine: Engine, table: Table, request: ReleaseRequest, subject: Sequence[Subject], required: Required
) -> Compared:
    """The worst that was found of any release with other bytes. Raises BudgetSpent, Interrupted."""
    if request.earlier is None:
        return Compared.alike(NO_LEDGER)
    own = [dict(each.digest) for each in subject]
    others = [each for each in request.earlier if plain(each.digest) not in own]
    if not others:
        return Compared.alike(FIRST)
    found = [_Comparison(engine, table, request, each, required).compared() for each in others]
    worst = Compared(*(worst_of([getattr(each, name) for each in found]) for name in Compared.__dataclass_fields__))
    if len(found) > 1:
        worst = replace(
            worst, together=_in_pairs(worst.together, len(found)), values=_in_pairs(worst.values, len(found))
        )
    return replace(worst, values=replace(worst.values, threshold=f"at least {required.values} values"))


def _in_pairs(found: Measured, releases: int) -> Measured:
    """Whoever has all of them may join all; each was joined with this one alone."""
    if found.state is not MET:
        return found
    text = f"{found.measured}; each of {releases} earlier releases was joined alone, and not all together"
    return replace(found, state=NOT_EXAMINED, measured=text)


class _Comparison:
    """The comparison with one earlier release."""

    def __init__(
        self, engine: Engine, table: Table, request: ReleaseRequest, earlier: EarlierRelease, required: Required
    ) -> None:
        self._engine, self._table, self._request = engine, table, request
        self._earlier, self._required = earlier, required
        self._recoded: list[str] = []  # columns with values that only one of them has

    def compared(self) -> Compared:
        """Raises BudgetSpent, Interrupted."""
        earlier, unknown = self._earlier, self._measured(NOT_EXAMINED, "")
        changes = order = together = values = unknown
        try:
            with _both(self._engine, self._table, earlier.place) as (pair, before, now, subject):
                if not earlier.digest:
                    raise QidsqlError("its record in the history was changed")
                if plain(subject.digest) != dict(earlier.digest):
                    raise QidsqlError(f"{earlier.place} is not what was recorded")
                changes, together, values = self._changes(pair, before, now)
                order = self._order(pair, before, now)
            if self._request.key is not None:
                by_cells, changes, together, values = changes, unknown, unknown, unknown
                gone, together, values = self._joint()
                changes = gone if self._recoded else worst_of([by_cells, gone])
        except (BudgetSpent, Interrupted):
            raise
        except QidsqlError as error:
            why = f"{earlier.name} {UNCOMPARED}: {error}"
            told = (replace(each, measured=each.measured or why) for each in (changes, order, together, values))
            return Compared(*told)
        return Compared(changes, order, together, values)

    def _measured(self, state: LineState, text: str) -> Measured:
        return Measured(state, text, self._required.words)

    def _changes(self, pair: Engine, before: Table, now: Table) -> tuple[Measured, Measured, Measured]:
        """Rows added and removed; and, where rows were only added or only removed, what both together say."""
        k, name = self._required.k, self._earlier.name
        common = _alike(before, now)
        classes = [each for each in common if _is_quasi(self._request, each)]
        if not classes:
            raise QidsqlError("they have no quasi-identifier in common")
        others = [each for each in common if each not in classes]
        found = pair.run(changed_classes(pair.dialect, before, now, classes, others, k))
        few = self._few_values(pair, before, now, classes, others)
        moved = [
            f"{count(below)} of {plural(rows, f'row {kind}', f'rows {kind}')} since {name} in classes of fewer than {k}"
            for kind, rows, below in (
                ("added", found.added, found.added_below),
                ("removed", found.removed, found.removed_below),
            )
        ]
        moved += [
            f"{plural(rows, f'row {kind}', f'rows {kind}')} in classes of fewer than {self._required.values} values"
            for kind, rows in (("added", few.added), ("removed", few.removed))
            if rows
        ]
        changes = self._measured(MET, ", ".join(moved))
        if found.added_below or found.removed_below or few.added or few.removed:
            changes = replace(changes, state=NOT_MET)
        elif found.added and found.removed and self._coded_anew(pair, before, now, classes):
            if_anew = f"if {few_names(self._recoded)} is coded anew, a key has to tell who left and who came"
            changes = self._measured(NOT_EXAMINED, f"{changes.measured}; {if_anew}")
        elif not found.stayed:
            text = f"no row of {name} is here, if both are coded alike; {changes.measured}"
            changes = self._measured(NOT_EXAMINED, text)
        return changes, *self._stayed(found, few, _different(before, now))

    def _coded_anew(self, pair: Engine, before: Table, now: Table, classes: Sequence[str]) -> bool:
        """Whether a column has values that only one of them has: rows of a coarser coding do not cancel out."""
        asked = [values_in_one(pair.dialect, before, now, each) for each in classes]
        self._recoded = [name for name, alone in zip(classes, pair.run_many(asked), strict=True) if alone]
        return bool(self._recoded)

    def _order(self, pair: Engine, before: Table, now: Table) -> Measured:
        """Whether more lines of two files are alike than in a random order, by three deviations: then the place of a
        row may tell whose it is."""
        if not pair.data_files and not (before.row_address and now.row_address):
            return Measured(NOT_EXAMINED, f"the order in which the rows of {now.name} leave is not known")
        found = pair.run(same_places(pair.dialect, before, now, _alike(before, now)))
        more = found.alike - found.chance
        text = f"{count(found.alike)} of {plural(found.lines, 'line')} as in {self._earlier.name}"
        if more <= 1 or more * more <= 9 * found.chance:
            return Measured(MET, f"{text}, as a random order would have")
        text += f", {count(round(found.chance))} by chance: both are sorted, or tell by the place whose a row is"
        return Measured(NOT_EXAMINED, text)

    def _few_values(
        self, pair: Engine, before: Table, now: Table, classes: list[str], others: list[str]
    ) -> ChangedValues:
        """The most rows of any sensitive column that the policy limits."""
        found = [ChangedValues(0, 0, 0)]
        for each in self._limited(others):
            rest = [each, *(name for name in others if name != each)]
            asked = changed_values(pair.dialect, before, now, classes, rest, self._required.values)
            found.append(pair.run(asked))
        return ChangedValues(*(max(getattr(each, name) for each in found) for name in ("added", "removed", "stayed")))

    def _limited(self, names: Iterable[str]) -> list[str]:
        """The sensitive columns among them, if the policy limits what classes disclose."""
        if not self._required.values:
            return []
        return [each for each in names if self._request.roles.get(each) is PolicyRole.SENSITIVE]

    def _stayed(self, found: ChangedClasses, few: ChangedValues, different: Sequence[str]) -> tuple[Measured, Measured]:
        """What both say of whoever is in both: of their classes, and of their values."""
        k, name = self._required.k, self._earlier.name
        if different or (found.added and found.removed):
            own = f"columns that only one of them has: {few_names(different)}"
            why = own if different else "rows were added and removed"
            text = f"with {name}: {why}, so a person's two classes need copies with a key"
            unknown = self._measured(NOT_EXAMINED, text)
            return unknown, unknown
        rows = plural(found.stayed, "row")
        texts = (
            (found.stayed_below, f"{count(found.stayed_below)} of {rows} also in {name} below {k} together"),
            (few.stayed, f"{count(few.stayed)} of {rows} left with fewer than {self._required.values} values"),
        )
        assumed = f"if nobody in {name} has other values since, which copies with a key can show: "
        return tuple(  # type: ignore[return-value]
            self._measured(NOT_MET, text) if wrong else self._measured(NOT_EXAMINED, f"{assumed}{text}")
            for wrong, text in texts
        )

    def _joint(self) -> tuple[Measured, Measured, Measured]:
        """Who left and who came, and the classes and values of whoever is in both, by copies with a key that have the
        released rows exactly."""
        engine, earlier, keyed = self._engine, self._earlier, self._request.keyed
        if keyed is None or not earlier.keyed or self._request.key is None:
            raise QidsqlError("both releases need a copy with the key (--keyed, and when the earlier one was recorded)")
        with _both(engine, self._table, keyed) as (pair, copy, now, _):
            _same_rows(pair, copy, now)
        if engine.data_files:
            with connect(earlier.keyed, beside=earlier.place) as pair:
                _same_rows(pair, pair.describe(None), pair.describe_beside(None))
            with connect(keyed, beside=earlier.keyed) as pair:
                return self._together(pair, pair.describe_beside(None), pair.describe(None))
        first, second = engine.describe(earlier.keyed), engine.describe(keyed)
        _same_rows(engine, first, engine.describe(earlier.place))
        return self._together(engine, first, second)

    def _together(self, pair: Engine, before: Table, now: Table) -> tuple[Measured, Measured, Measured]:
        key, k, name = str(self._request.key), self._required.k, self._earlier.name
        if before.column(key).type != now.column(key).type:
            raise QidsqlError(f"{key} has another type in each of the copies with a key")
        for each in (before, now):
            found = pair.run(joint_classes(pair.dialect, (each, (key,)), (each, (key,)), key, k))
            rows = pair.run(changed_classes(pair.dialect, each, each, (key,), (), k)).stayed
            if not rows == found.rows == found.classes:
                raise QidsqlError(f"{key} does not tell the rows of {each.name} apart")
        roles = self._request.roles
        hidden = {key, *self._earlier.sensitive, *(each for each in roles if roles[each] is PolicyRole.SENSITIVE)}
        first, second = ((each, [it.name for it in each.columns if it.name not in hidden]) for each in (before, now))
        left, left_below = pair.run(gone_by_key(pair.dialect, first, now, key, k))
        came, came_below = pair.run(gone_by_key(pair.dialect, second, before, key, k))
        who = f"{count(left_below)} of {count(left)} who left, {count(came_below)} of {count(came)} who came"
        text = f"by {key}, {who} since {name} in classes of fewer than {k}"
        gone = self._measured(NOT_MET if left_below or came_below else MET, text)
        joint = pair.run(joint_classes(pair.dialect, first, second, key, k))
        if not joint.rows:
            nobody = self._measured(NOT_EXAMINED, f"nobody is in {name} too, if {key} stayed the same")
            return nobody, nobody, nobody
        below = f"{count(joint.below)} of {plural(joint.rows, 'row')} below {k}"
        text = f"with {name}: jointly {count(joint.smallest)}, {below}, {count(joint.alone)} alone"
        classes = self._measured(NOT_MET if joint.below else MET, text)
        values = [self._joint_values(pair, first, second, each) for each in self._limited(_alike(before, now))]
        none = self._measured(MET, f"{name} has none of the sensitive columns")
        return gone, classes, worst_of(values) if values else none

    def _joint_values(self, pair: Engine, first: _Side, second: _Side, sensitive: str) -> Measured:
        least = self._required.values
        found = pair.run(joint_values(pair.dialect, first, second, str(self._request.key), sensitive, least))
        few = f"{count(found.few)} of {plural(found.rows, 'row')} left with fewer than {least} values of {sensitive}"
        text = f"with {self._earlier.name}: {few}, {count(found.certain)} with one"
        return self._measured(NOT_MET if found.few else MET, text)


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


def _alike(before: Table, now: Table) -> list[str]:
    """The columns that both have. Raises QidsqlError if their values are written in two ways."""
    types = {each.name: each.type for each in before.columns}
    common = [each for each in now.columns if each.name in types]
    if other := [each.name for each in common if _written(each.type) != _written(types[each.name])]:
        raise QidsqlError(f"other types: {few_names(other)}")
    return [each.name for each in common]


def _written(kind: str) -> str:
    """A type by how its values are written: whole numbers of any size alike, and texts."""
    return next((name for name, types in WRITTEN.items() if re.match(types, kind, re.IGNORECASE)), kind)


def _different(before: Table, now: Table) -> list[str]:
    """The columns that only one of them has."""
    names = [[each.name for each in table.columns] for table in (now, before)]
    return [each for own, other in (names, names[::-1]) for each in own if each not in other]


def _same_rows(pair: Engine, keyed: Table, released: Table) -> None:
    """Raises QidsqlError unless a copy with a key has exactly the released rows."""
    names = [each.name for each in released.columns]
    found = pair.run(changed_classes(pair.dialect, keyed, released, names, (), 2))
    if found.added or found.removed:
        raise QidsqlError(f"{keyed.name} has other rows than {released.name}")


def _is_quasi(request: ReleaseRequest, name: str) -> bool:
    """Columns without a role count, too."""
    return request.roles.get(name) not in (PolicyRole.SENSITIVE, PolicyRole.DIRECT_IDENTIFIER, PolicyRole.OTHER)
