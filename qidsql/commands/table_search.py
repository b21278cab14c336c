"""The common part of the commands that search: a table's columns as profiler and sampler, the account of the work, and
what a row is.
"""

import shlex
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import wraps
from types import FrameType
from typing import Concatenate, ParamSpec, TypeAlias, TypedDict, TypeVar

from qidsql.column_roles.proposal import TableEvidence, ValueCounts, named_like, persons
from qidsql.column_roles.resolution import Columns, Roles, columns_of
from qidsql.core.budget import SIGNALS
from qidsql.core.policy import EACH_ROW, Policy
from qidsql.core.results import Account, LeftOut, SearchAccount, Verdict
from qidsql.core.tables import CatalogColumn, CatalogTable, Column, Comparison, Nulls, Table, TableName, names_of
from qidsql.engines.base import Engine
from qidsql.errors import Interrupted, QidsqlError, StatementError, Stopped, Unconfirmed, UsageError
from qidsql.measures.criteria import Criterion
from qidsql.measures.disclosure_limits import DistantInOrder
from qidsql.profiling.by_entity import profiler_for
from qidsql.profiling.disclosing import disclosing
from qidsql.profiling.knowledge import Budget
from qidsql.profiling.known_rows import linking
from qidsql.profiling.profiler import TableProfiler
from qidsql.profiling.samples import PairsThatAgree, TableSampler, coded, rarest_rows
from qidsql.search.result import OnBounds, ignore_bounds
from qidsql.search.smallest import Witnesses
from qidsql.sql.classes import column_counts
from qidsql.sql.relation import Relation, relation, sample, sample_of_entities
from qidsql.wording.texts import few, plural, role, setting

# What a row is: another person, or one of several of a person, where nobody has said which.


def named_like_persons(
    profiler: TableProfiler, table: Table, policy: Policy, measured: Mapping[str, ValueCounts]
) -> tuple[str, ...]:
    """The columns that are named like the persons and repeat, as far as nobody has confirmed what a row is.

    One statement for the columns that are named so and not `measured`, one more if they have fewer values than rows.
    Raises Stopped, StatementError.
    """
    if policy.entity is not None or policy.each_row:
        return ()
    columns = tuple(CatalogColumn(each.name, each.type, base=each.base) for each in table.columns)
    listed = TableEvidence(CatalogTable(table.name, table.kind, columns))
    named = {each.name for each in columns if named_like(listed, each)[0] is not None}
    if not named:
        return ()
    left = [each for each in table.columns if each.name in named - {*measured} and each.readable]
    counts = {**measured, **_counted(profiler, table, left)}
    return tuple(persons(replace(listed, measured=counts), {}))


def repeats(profiler: TableProfiler, table: Table, name: str) -> tuple[bool, int]:
    """Whether a column has fewer values than rows, as far as it can be read, and its NULLs.

    Raises UnknownName, Stopped, StatementError.
    """
    [column] = table.resolve([name])
    if not column.readable:
        return True, 0
    alone = profiler.by_value.over(relation(profiler.engine.dialect, table, [column]), profiler.rows, [column.name])
    [profile], [nulls] = alone.singles(), alone.counts()[1]
    return profile.classes < profile.rows, nulls


def _counted(profiler: TableProfiler, table: Table, columns: Sequence[Column]) -> dict[str, ValueCounts]:
    if not columns:
        return {}
    source = relation(profiler.engine.dialect, table, columns)
    alone = profiler.by_value.over(source, profiler.rows, [each.name for each in columns])
    profiles = alone.singles()
    unique = all(each.classes == each.rows for each in profiles)
    nulls = (0,) * len(columns) if unique else alone.counts()[1]
    return {
        name: ValueCounts(profile, missing) for name, profile, missing in zip(alone.names, profiles, nulls, strict=True)
    }


# The account of a command's work on one table: started when it is made, closed when the result is put together.


class Spent(TypedDict):
    """Time, statements, rounds, scans and bytes since the start."""

    started: datetime
    seconds: float
    statements: int
    rounds: int
    scans: int
    bytes_read: int | None
    bytes_exact: bool


class Accounting:
    """Counts from the moment it is made. Without an engine only the time."""

    def __init__(self, engine: Engine | None) -> None:
        self._engine = engine
        self._started, self._clock = datetime.now(UTC), time.monotonic()
        self._before = self._counters
        if engine is not None:
            engine.counts_bytes = True

    @property
    def _counters(self) -> tuple[int, ...]:
        found = self._engine
        return (found.statements, found.rounds, found.scans, found.bytes_read, found.unmeasured) if found else (0,) * 5

    @property
    def spent(self) -> Spent:
        pairs = zip(self._counters, self._before, strict=True)
        statements, rounds, scans, read, unmeasured = (now - before for now, before in pairs)
        return Spent(
            started=self._started,
            seconds=time.monotonic() - self._clock,
            statements=statements,
            rounds=rounds,
            scans=scans,
            bytes_read=None if unmeasured else read,
            bytes_exact=self._engine is None or self._engine.bytes_exact,
        )

    def account(
        self,
        table: Table,
        policy: Policy,
        rows: int | None,
        sets_profiled: int,
        unfinished: Sequence[str],
        notes: Sequence[str],
    ) -> Account:
        """The account of work on one table so far."""
        engine = self._engine
        assert engine is not None
        doubts: tuple[str, ...] = ()
        with suppress(QidsqlError):  # the connection can be lost
            doubts = () if rows is None else engine.doubts(table, rows)
        return Account(
            source=engine.label + engine.read_with,
            engine=engine.version,
            table=str(table.name),
            kind=table.kind,
            snapshot=engine.snapshot,
            reader=engine.role or None,
            time_zone=engine.time_zone or None,
            policy=policy,
            rows=rows,
            sets_profiled=sets_profiled,
            unfinished=tuple(unfinished),
            notes=(*(policy.origin.sentences if policy.origin else ()), *notes, *doubts, *engine.remarks),
            **self.spent,
        )


PROOF = 20_000  # column sets; more are not written into a result

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def table_profiler(engine: Engine, table: Table, columns: Sequence[Column], policy: Policy) -> TableProfiler:
    """The profiler of these columns, with the policy's entity and budget. Raises UsageError, UnknownName."""
    entity = table.resolve([policy.entity]) if policy.entity else ()
    return profiler_for(
        engine,
        relation(engine.dialect, table, (*columns, *entity)),
        [column.name for column in columns],
        policy.k,
        entity[0].name if entity else None,
        table.estimated_rows,
        Budget(policy.max_statements, policy.max_seconds),
        Nulls(policy.nulls),
    )


def unknown_table(typed: str | None) -> Table:
    """A placeholder for a table whose catalog entry was not read before the work ended."""
    return Table(TableName(typed or "unknown table"), "table", ())


def one_answer(
    verb: Callable[Concatenate[Engine, Arguments], Result],
) -> Callable[Concatenate[Engine, Arguments], Result]:
    """Run a command in one session of its engine: all its statements see one state of the data."""

    @wraps(verb)
    def answering(engine: Engine, /, *args: Arguments.args, **options: Arguments.kwargs) -> Result:
        with engine.answer():
            return verb(engine, *args, **options)

    return answering


COMPARED = {
    Comparison.TEXT: "compared by their text, since the type has no equality or hash of the engine's own",
    Comparison.PUBLISHED: "compared by their text, since the type's equality merges values that look different",
    Comparison.BYTES: "compared byte by byte, since the collation merges texts that look different",
}


def comparison_notes(columns: Sequence[Column]) -> tuple[str, ...]:
    """Which columns are not compared by the engine's own equality, and how they are compared instead."""
    by_kind = {words: [c.name for c in columns if c.comparison is kind] for kind, words in COMPARED.items()}
    return tuple(f"{', '.join(names)}: {words}" for words, names in by_kind.items() if names)


def order_notes(table: Table, criteria: Sequence[Criterion]) -> tuple[str, ...]:
    """In which order limits by order take the values of their columns."""
    limits = {each.sensitive.lower(): each for each in criteria if isinstance(each, DistantInOrder)}
    named = ((column, limits.get(column.name.lower())) for column in table.columns)
    return tuple(f"{column.name}: {limit.ordering(column.type)}" for column, limit in named if limit is not None)


@contextmanager
def interruptible() -> Iterator[None]:
    """Make Ctrl-C raise Interrupted while the block runs, also between two statements: a search keeps its results.

    The same holds for every signal whose handler raises KeyboardInterrupt. Outside the main thread nothing changes.
    A library that was interrupted can make another error of it, as sqlglot's tokenizer does.
    """
    stopped = threading.Event()
    before: dict[int, Callable[[int, FrameType | None], object]] = {}

    def stop(number: int, frame: FrameType | None) -> None:
        try:
            before[number](number, frame)
        except KeyboardInterrupt:
            stopped.set()
            raise Interrupted("interrupted") from None

    if threading.current_thread() is threading.main_thread():
        handlers = {number: signal.getsignal(number) for number in SIGNALS}
        before = {number: handler for number, handler in handlers.items() if callable(handler)}
    try:
        for number in before:
            signal.signal(number, stop)
        yield
    except Exception as error:
        if stopped.is_set() and not isinstance(error, Stopped):
            raise Interrupted("interrupted") from None
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def rows_of_nobody(rows: int, person: str) -> Unconfirmed:
    return Unconfirmed(
        f"{plural(rows, 'row has', 'rows have')} no {person} and may be of persons counted already",
        f": fill it in, or leave these rows out ({setting('where')})",
    )


def rows_of_persons(column: str) -> str:
    return f"{column} is named like the persons and repeats: several rows of a person would pass for several persons"


def say_what(column: str | None) -> str:
    """What to give, so that it is clear what is counted; with a column if the command can count its values."""
    entity = setting("entity")
    persons = "" if column is None else f"{entity} {shlex.quote(column)}, or "
    return f"Say what is counted: {persons}{entity} {EACH_ROW} if each row is another person"


def confirmed(verdict: Verdict, reason: str, left_out: Sequence[LeftOut]) -> tuple[Verdict, str]:
    """The verdict and its reason; no pass if columns were left out by proposal."""
    unconfirmed = [each for each in left_out if each.proposed]
    if verdict is not Verdict.PASS or not unconfirmed:
        return verdict, reason
    roles = " ".join(role(str(each.role).replace("excluded", "other"), [each.name]) for each in unconfirmed)
    names = few([each.name for each in unconfirmed])
    return Verdict.INCONCLUSIVE, f"{reason}, but nobody has confirmed that {names} can be left out: {roles}"


Resolve: TypeAlias = Callable[[Table], Columns]


class TableSearch:
    """One search of one table. Reads the catalog on creation and sends no statement on its own.

    `resolved` are its columns with their roles, by `resolve`; without it a column with a weight is searched, whatever
    is proposed. `stopped` is the stop that ended the work while the catalog was read: then the table has no columns,
    and `begin` raises it. Raises UsageError, UnknownName, AccessError.
    """

    def __init__(
        self,
        engine: Engine,
        table: str | None,
        policy: Policy,
        weights: Mapping[str, int],
        resolve: Resolve | None = None,
    ) -> None:
        self._accounting = Accounting(engine)
        self._engine, self._policy = engine, policy
        self.stopped: Stopped | None = None
        try:
            self.table = engine.narrowed(engine.describe(table), policy.where)
            self.resolved = resolve(self.table) if resolve else columns_of(engine, self.table, policy, weights)
        except Stopped as stop:  # the policy cannot be checked against a table that was not read
            self.stopped, self.table = stop, unknown_table(table)
            self.resolved = Columns(self.table, {})
            policy, weights = replace(policy, where=None, entity=None), {}
        self._columns = self.resolved.searched
        self.profiler = table_profiler(engine, self.table, self._columns, policy)
        self.profiler.stop_at_failures()
        self._by_name = self._weights(weights)
        self._witnesses: Witnesses | None = None
        self._sampler: TableSampler | None = None
        self._notes = self.table.notes + comparison_notes(self._columns) + self.resolved.notes
        self.on_bounds: OnBounds = ignore_bounds  # told by a search for a lightest set

    def begin(self) -> None:
        """Raise the stop that ended the work while the catalog was read, if any."""
        if self.stopped is not None:
            raise self.stopped

    def confirm_rows(self, entity: str | None, *, by_persons: bool, several: bool = False) -> bool:
        """Raise Unconfirmed if a row may be one of several of a person. `by_persons`: the command can count these;
        `several`: it can where it has to, so that it is returned whether an `entity` has several rows.

        An `entity` of a command that counts rows must tell them apart; that of one that counts persons must have a
        value in each row, since a row of nobody may be of somebody counted already. One statement or two, if there is
        one, or columns are named like the persons. Raises Stopped, StatementError, UnknownName.
        """
        self.begin()
        if by_persons and self.profiler.entity is not None:
            self.confirm_persons()
        elif entity is None:
            if found := named_like_persons(self.profiler, self.table, self._policy, {}):
                raise Unconfirmed(rows_of_persons(found[0]), f". {say_what(found[0] if by_persons else None)}")
        else:
            repeated, nulls = repeats(self.profiler, self.table, entity)
            if nulls and several:
                raise rows_of_nobody(nulls, entity)
            if (repeated or nulls) and not several:
                raise Unconfirmed(
                    f"rows are counted here, and {entity} repeats or has NULLs: several rows of a person would pass "
                    f"for several persons",
                    f". Take a view with one row for each person, or withhold columns ({setting('by')} columns), which "
                    f"counts persons, as {setting('by')} values does if one row of each is known. {say_what(None)}",
                )
            if not repeated:
                self._notes += (f"{entity} has another value in each row, so that each row is another person",)
            return repeated
        return False

    def confirm_persons(self) -> None:
        """Raise Unconfirmed if persons are counted, and rows have none. One statement then. Raises as `begin` does."""
        self.begin()
        if (person := self.profiler.entity) is None:
            return
        [(_, (rows,))] = self.profiler.ask([column_counts(self._engine.dialect, self.profiler.source, (person,))])
        if rows:
            raise rows_of_nobody(rows, person)

    def note_persons(self) -> None:
        """Note that a row may be one of several of a person, if so. Sends what `confirm_rows` does."""
        with suppress(Stopped, StatementError):  # the figures hold without the note
            if found := named_like_persons(self.profiler, self.table, self._policy, {}):
                words = "is named like the persons and repeats: a person may have several"
                self._notes += (f"rows are counted, and {found[0]} {words}",)

    def measure(self, criterion: Criterion) -> None:
        """Measure what the criterion is about in every profile from now on. Raises UnknownName, UsageError, Stopped."""
        self.begin()
        self.profiler = linking(disclosing(self.profiler, self.table, [criterion]), criterion.linked)
        self._notes += order_notes(self.table, [criterion])

    def use_workspace(self, on_stage: Callable[[str], None]) -> None:
        """Code the columns, if the engine was opened with a workspace; they are profiled as codes from then on.

        One statement. Samples are still drawn from the table itself. Raises as `begin` and `Engine.make_working_copy`.
        """
        self.begin()
        if self._engine.workspace:
            on_stage(f"coding {self.profiler.columns} columns")
            self.profiler, note = coded(self.profiler)
            self._notes += (note,)

    def leave_out(self, roles: Roles) -> None:
        """Give columns these roles, which leave them out of the search from now on."""
        self.resolved = self.resolved.having(roles)
        self._columns = self.resolved.searched
        self.profiler = self.profiler.narrowed([column.name for column in self._columns])

    @property
    def weights(self) -> tuple[int, ...]:
        return tuple(self._by_name.get(name, 1) for name in self.profiler.names)

    def names(self, mask: int) -> tuple[str, ...]:
        return names_of(mask, self.profiler.names)

    def proof(self, masks: Sequence[int]) -> tuple[tuple[str, ...], ...] | None:
        """The column sets that prove a claim, by their names; None if they are more than a document should hold."""
        return tuple(map(self.names, masks)) if len(masks) <= PROOF else None

    @property
    def row_pairs(self) -> PairsThatAgree | None:
        """Pairs of rows that agree, if single rows are counted and agreement is transitive; else None: use profiles."""
        return PairsThatAgree(self.profiler) if self._plain else None

    def witnesses(self, criterion: Criterion) -> Witnesses | None:
        """Witness rows for a search, if a single small class proves the criterion and classes are of rows."""
        k = criterion.proved_below
        if k is None or not self._plain:
            return None
        profiler = self.profiler
        self._witnesses = Witnesses(lambda: rarest_rows(profiler, k), profiler.columns, k)
        return self._witnesses

    @property
    def _plain(self) -> bool:
        return self.profiler.entity is None and self.profiler.nulls is Nulls.EQUAL

    def sampler(self, seed: int) -> TableSampler:
        self._sampler = TableSampler(self.profiler, self.table, self._columns, seed)
        return self._sampler

    def sample(self, size: int, seed: int) -> Relation:
        """So many of the rows, drawn at random; with an entity, of the entities. Raises UsageError."""
        dialect, entity = self._engine.dialect, self.profiler.entity
        if entity is None:
            return sample(dialect, self.table, self._columns, size, seed)
        return sample_of_entities(dialect, self.table, self._columns, self.table.column(entity), size, seed)

    def with_columns(self, *names: str) -> Relation:
        """The rows with more columns, unchanged. Raises UnknownName."""
        more = (replace(self.table.column(name), comparison=Comparison.VALUE) for name in names)
        return relation(self._engine.dialect, self.table, (*self._columns, *more))

    def account(self, rows: int | None, unfinished: Sequence[str]) -> SearchAccount:
        """The account of the work so far. `rows` are those of a profile: with an entity, distinct entities."""
        persons = self._policy.entity is not None
        plain = self._accounting.account(
            self.table, self._policy, None if persons else rows, self.profiler.sets, unfinished, self._all_notes
        )
        return SearchAccount(
            **vars(plain),
            entities=rows if persons else None,
            columns=self.profiler.names,
            left_out=self.resolved.left_out,
            weights={n: w for n, w in zip(self.profiler.names, self.weights, strict=True) if w != 1},
        )

    @property
    def _all_notes(self) -> tuple[str, ...]:
        notes, witnesses = self._notes, self._witnesses
        if witnesses is not None and witnesses.sets:
            sets = plural(witnesses.sets, "column set was", "column sets were")
            notes += (f"{sets} decided by {plural(witnesses.rows, 'witness row')}, without measuring them",)
        if self._sampler is not None and self._sampler.coded:
            rows = plural(self._sampler.coded, "row")
            notes += (f"sample: {rows} left the engine as codes, not values; codes of few values can be decoded",)
        return notes

    def _weights(self, given: Mapping[str, int]) -> dict[str, int]:
        by_name: dict[str, int] = {}
        for name, weight in given.items():
            column = self.table.column(name)
            if column not in self._columns:
                raise UsageError(f"--weights names {column.name}, which is left out of the search")
            if weight < 1:
                raise UsageError(f"the weight of {column.name} must be a positive whole number, got {weight}")
            by_name[column.name] = weight
        return by_name
