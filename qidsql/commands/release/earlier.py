"""A release against the earlier ones of the same table: what was added or removed, and what both say together."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from qidsql.commands.release.command import (
    EarlierRelease,
    LineState,
    Measured,
    ReleaseRequest,
    Subject,
    uncompared,
    worst_of,
)
from qidsql.commands.release.measured import UNKNOWN
from qidsql.commands.release.subject import both, file_subject, subject_of
from qidsql.core.tables import PolicyRole, Table
from qidsql.declarations.results import plain
from qidsql.engines.base import Engine
from qidsql.engines.connect import connect
from qidsql.errors import BudgetSpent, Interrupted, QidsqlError, UsageError
from qidsql.sql.releases import (
    ChangedClasses,
    ChangedValues,
    KeyedRelease,
    changed_classes,
    changed_values,
    joint_classes,
    joint_values,
    same_places,
    same_values,
    tells_apart,
    values_in_one,
)
from qidsql.wording.texts import count, plural
from qidsql.wording.texts import few as few_names

MET, NOT_MET, NOT_EXAMINED = LineState.MET, LineState.NOT_MET, LineState.NOT_EXAMINED
NO_LEDGER = Measured(
    NOT_EXAMINED,
    "there is no history that could name an earlier release: qidsql run makes one, --first says that nothing left",
)
DECLARED = Measured(
    LineState.PERSON, "there is no history; that nothing of this table left earlier was declared (--first)"
)
FIRST = Measured(MET, "no earlier release of this table is recorded in the history")
WRITTEN = {"whole": "u?(tiny|small|big|huge)?int(eger|[248])?$", "text": "(text|(var)?char.*|character varying.*)$"}


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
        return Compared.alike(DECLARED if request.first else NO_LEDGER)
    own = [dict(each.digest) for each in subject]
    others = [each for each in request.earlier if plain(each.digest) not in own]
    if not others:
        return Compared.alike(FIRST)
    if request.first:
        raise UsageError(
            f"--first, but the history has {plural(len(others), 'earlier release')} of this table: leave it out"
        )
    if engine.data_files:
        others = [
            replace(each, place=request.beside_policy(each.place), keyed=request.beside_policy(each.keyed))
            for each in others
        ]
    comparisons = [_Comparison(engine, table, request, each, required) for each in others]
    found = [each.compared() for each in comparisons]
    if joined := [each.earlier for each in comparisons if each.can_be_joined]:
        found.append(_Joint(engine, table, request, joined, required).compared())
    worst = Compared(*(worst_of([getattr(each, name) for each in found]) for name in Compared.__dataclass_fields__))
    return replace(worst, values=replace(worst.values, threshold=f"at least {required.values} values"))


class _Comparison:
    """The comparison with one earlier release. `can_be_joined`: its copy with a key has exactly its rows."""

    def __init__(
        self, engine: Engine, table: Table, request: ReleaseRequest, earlier: EarlierRelease, required: Required
    ) -> None:
        self._engine, self._table, self._request = engine, table, request
        self.earlier, self._required, self.can_be_joined = earlier, required, False
        self._recoded: list[str] = []  # columns with values that only one of them has

    def compared(self) -> Compared:
        """Raises BudgetSpent, Interrupted."""
        earlier, unknown = self.earlier, self._measured(NOT_EXAMINED, "")
        changes = order = together = values = unknown
        try:
            with both(self._engine, self._table, earlier.place) as (pair, before, now):
                if not earlier.digest:
                    raise QidsqlError("its record in the history was changed")
                if plain(_subject(pair, before, earlier.place).digest) != dict(earlier.digest):
                    raise QidsqlError("what lies there now is not what was recorded")
                changes, together, values = self._changes(pair, before, now)
                order = self._order(pair, before, now)
            if self._request.key is not None:
                by_cells, changes, together, values = changes, unknown, unknown, unknown
                self._check_copy()
                self.can_be_joined = True
                by_key = self._measured(MET, "")  # what _Joint finds of all
                changes, together, values = by_key if self._recoded else by_cells, by_key, by_key
        except (BudgetSpent, Interrupted):
            raise
        except QidsqlError as error:
            why = uncompared(earlier.name, error)
            told = (replace(each, measured=each.measured or why) for each in (changes, order, together, values))
            return Compared(*told)
        return Compared(changes, order, together, values)

    def _check_copy(self) -> None:
        """Raises QidsqlError unless the copy with the key has exactly the rows of the release."""
        engine, earlier = self._engine, self.earlier
        if self._request.keyed is None or not earlier.keyed:
            raise QidsqlError("both releases need a copy with the key (--keyed, and when the earlier one was recorded)")
        if engine.data_files:
            with connect(earlier.keyed, beside=earlier.place) as pair:
                _same_rows(pair, pair.describe(None), pair.describe_beside(None))
        else:
            _same_rows(engine, engine.describe(earlier.keyed), engine.describe(earlier.place))

    def _measured(self, state: LineState, text: str) -> Measured:
        return Measured(state, text, self._required.words)

    def _changes(self, pair: Engine, before: Table, now: Table) -> tuple[Measured, Measured, Measured]:
        """Rows added and removed; and, where rows were only added or only removed, what both together say."""
        k, name = self._required.k, self.earlier.name
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
            return Measured(NOT_EXAMINED, UNKNOWN.format(now.name))
        found = pair.run(same_places(pair.dialect, before, now, _alike(before, now)))
        text = f"{count(found.alike)} of {plural(found.rows, 'line')} as in {self.earlier.name}"
        if found.by_chance:
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
        k, name = self._required.k, self.earlier.name
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


class _Joint:
    """The comparison with all earlier releases at once, by copies with a key that have the released rows exactly:
    whoever has all of them joins all."""

    def __init__(
        self,
        engine: Engine,
        table: Table,
        request: ReleaseRequest,
        earlier: Sequence[EarlierRelease],
        required: Required,
    ) -> None:
        self._engine, self._table, self._request = engine, table, request
        self._earlier, self._required = earlier, required
        self._name = few_names([each.name for each in earlier])

    def compared(self) -> Compared:
        """Raises BudgetSpent, Interrupted."""
        keyed, none = str(self._request.keyed), Measured(MET, "")
        try:
            with both(self._engine, self._table, keyed) as (pair, copy, now):
                _same_rows(pair, copy, now)
            with _all(self._engine, [keyed, *(each.keyed for each in self._earlier)]) as (engine, tables):
                changes, together, values = self._joined(engine, tables)
        except (BudgetSpent, Interrupted):
            raise
        except QidsqlError as error:
            unknown = Measured(NOT_EXAMINED, uncompared(self._name, error))
            return Compared(unknown, none, unknown, unknown)
        return Compared(changes, none, together, values)

    def _joined(self, engine: Engine, tables: Sequence[Table]) -> tuple[Measured, Measured, Measured]:
        """Who left and who came, and the classes and the values of whoever is in several."""
        key, k, name = str(self._request.key), self._required.k, self._name
        if len({each.column(key).type for each in tables}) > 1:
            raise QidsqlError(f"{key} has another type in each of the copies with a key")
        for release, table in zip(("this release", *(each.name for each in self._earlier)), tables, strict=True):
            if not engine.run(tells_apart(engine.dialect, table, key)):
                raise QidsqlError(f"{key} does not tell the rows of {release} apart")
        own = {each for each, role in self._request.roles.items() if role is PolicyRole.SENSITIVE}
        sensitive = [own, *(own.union(each.sensitive) for each in self._earlier)]
        releases = [
            KeyedRelease(each, key, [it.name for it in each.columns if it.name not in {key, *hidden}])
            for each, hidden in zip(tables, sensitive, strict=True)
        ]
        found = engine.run(joint_classes(engine.dialect, releases, k))
        left, came, both = (found[kind] for kind in ("left", "came", "both"))
        moved = f"{count(left.below)} of {count(left.persons)} who left, "
        moved += f"{count(came.below)} of {count(came.persons)} who came"
        state = NOT_MET if left.below or came.below else MET
        changes = Measured(state, f"by {key}, {moved} since {name} in classes of fewer than {k}")
        if not both.persons:
            nobody = Measured(NOT_EXAMINED, f"nobody is in {name} too, if {key} stayed the same")
            return nobody, nobody, nobody
        below = f"{count(both.below)} of {plural(both.persons, 'row')} below {k}"
        text = f"with {name}: jointly {count(both.smallest)}, {below}, {count(both.alone)} alone"
        classes = Measured(NOT_MET if both.below else MET, text)
        values = [told for each in sorted(own) if (told := self._values(engine, releases, each))]
        none = Measured(MET, f"{name} has none of the sensitive columns")
        doubt = self._doubt(engine, tables)

        def doubted(told: Measured) -> Measured:
            if not doubt or told.state is not MET:
                return told
            return replace(told, state=NOT_EXAMINED, measured=f"{told.measured}; {doubt}")

        return doubted(changes), doubted(classes), doubted(worst_of(values) if values else none)

    def _doubt(self, engine: Engine, tables: Sequence[Table]) -> str:
        """Whether the keys may be those of others: in no column that both releases code alike do people have the same
        value more often than by chance."""
        now, key = tables[0], str(self._request.key)
        for release, before in zip(self._earlier, tables[1:], strict=True):
            common = [each for each in _alike(before, now) if each != key]
            alone = engine.run_many([values_in_one(engine.dialect, before, now, each) for each in common])
            coded_alike = [each for each, other in zip(common, alone, strict=True) if not other]
            found = engine.run_many([same_values(engine.dialect, before, now, key, each) for each in coded_alike])
            told = [each for each in found if each.chance < each.rows]  # not of a single value
            if told and all(each.by_chance and each.alike < each.rows for each in told):
                return f"by {key}, people have other values in {release.name}, as if it were somebody else's {key}"
        return ""

    def _values(self, engine: Engine, releases: Sequence[KeyedRelease], sensitive: str) -> Measured | None:
        """The values that all releases with the column leave; None if it is not limited, or in one release alone."""
        with_it = [each for each in releases if any(it.name == sensitive for it in each.table.columns)]
        least = self._required.values
        if not least or len(with_it) < 2 or with_it[0] is not releases[0]:
            return None
        found = engine.run(joint_values(engine.dialect, with_it, sensitive, least))
        few = f"{count(found.few)} of {plural(found.persons, 'row')} left with fewer than {least} values of {sensitive}"
        text = f"with {self._name}: {few}, {count(found.certain)} with one"
        return Measured(NOT_MET if found.few else MET, text)


@contextmanager
def _all(engine: Engine, places: Sequence[str]) -> Iterator[tuple[Engine, list[Table]]]:
    """An engine that reads the tables at all places, and the tables: of files, one of a folder that links to them."""
    if not engine.data_files:
        yield engine, [engine.describe(each) for each in places]
        return
    with TemporaryDirectory() as folder:
        for number, each in enumerate(places):
            if "?" in each or not Path(each).is_file():
                raise QidsqlError(f"{each} is not one file without options")
            (Path(folder) / f"release_{number}{Path(each).suffix}").symlink_to(Path(each).resolve())
        with connect(folder) as session:
            yield session, [session.describe(f"release_{number}") for number in range(len(places))]


def _subject(engine: Engine, table: Table, place: str) -> Subject:
    """What is there: a file by its bytes, a table by its rows. Raises UsageError, BudgetSpent."""
    return file_subject(Path(place)) if engine.data_files else subject_of(engine, table)[0][0]


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
