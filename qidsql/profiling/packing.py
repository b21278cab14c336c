"""When packing the rows of a table into a few integers each pays, and the packed rows, held by the engine."""

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

from qidsql.engines.base import Engine
from qidsql.errors import StatementError
from qidsql.measures.profiles import ClassProfile
from qidsql.sql.classes import column_counts
from qidsql.sql.packed_rows import Lanes, PackedRows
from qidsql.sql.relation import Relation
from qidsql.sql.statements import Statement

Answer = TypeVar("Answer")

ROWS = 5_000  # at least; for fewer, a statement's start is its whole cost
WORDS = 4  # at most; more are no faster to group than the columns
SHARE = 16  # of the memory limit, at most
WORD = 8  # bytes


class Profiled(Protocol):
    """What of a profiler tells whether copies of its rows pay."""

    @property
    def engine(self) -> Engine: ...
    @property
    def source(self) -> Relation: ...
    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def rows(self) -> int | None: ...
    @property
    def known_rows(self) -> int | None: ...
    @property
    def deadline(self) -> float | None: ...
    @property
    def statements_left(self) -> int: ...
    def most_classes(self, mask: int) -> int: ...
    def known(self) -> Mapping[str, ClassProfile]: ...
    def ask(self, statements: Sequence[Statement[Answer]]) -> list[Answer]: ...


def can_be_packed(profiler: Profiled, statements: int) -> bool:
    """Whether the rows can be packed now, and so many statements sent afterwards: every single column is profiled."""
    affordable = profiler.statements_left > statements + 2
    every = len(profiler.known()) == len(profiler.names)
    return affordable and every and not profiler.engine.latency and not profiler.source.is_sample


def packed_rows(profiler: Profiled, guarded: bool = False) -> PackedRows | None:
    """The rows of a profiler that knows the profile of each column, packed by its engine.

    `guarded`: for comparing rows. None if packing does not pay, if the engine holds no rows, or if the words do not
    code each value as one number. Two statements. Raises as `TableProfiler.ask`, but StatementError.
    """
    engine, names, rows, known = profiler.engine, profiler.names, profiler.known_rows or 0, profiler.known()
    packing = Lanes.of(names, [known[name].classes for name in names], guarded)
    words = tuple(packing.words)
    if rows < ROWS or len(words) > WORDS or rows * len(words) * WORD * SHARE > (engine.memory_limit or 0):
        return None
    try:
        table = engine.hold(packing.query(engine.dialect, profiler.source), "packed rows", profiler.deadline)
        if table is None:
            return None
        packed = PackedRows(table, packing)
        [counts] = profiler.ask([column_counts(engine.dialect, packed.relation, words)])
    except StatementError:  # such as too little memory
        return None
    return packed if counts == (rows, (0,) * len(words)) else None
