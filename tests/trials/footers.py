"""Parquet files whose footers say something else than their values, against the values that pyarrow reads.

Bounds, numbers of NULLs and of values, filters (Bloom) and orders of random column chunks are changed, of files of two
writers with random types, pages and row groups. A third of the files is honest. No figure and no verdict may differ,
and none may be refused: what readers see is there.
"""

import operator
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

import qidsql
from qidsql.errors import QidsqlError
from tests.parquet_footers import (
    BINARY,
    BLOOM,
    CHUNKS,
    DISTINCT,
    KIND,
    LIST,
    MAX,
    MAX_VALUE,
    MIN,
    MIN_VALUE,
    NULLS,
    STATISTICS,
    STRUCT,
    TRUE,
    VALUES,
    Fields,
    changed,
    chunks,
    footer,
    groups,
)
from tests.trials import Ground, Trials
from tests.ways import measured_set

I64 = 6  # Thrift's compact type
FIXED = 7  # the physical type of bytes of a fixed length
PATH = 3  # of a column chunk
SORTED = 4  # of a row group: the columns that it claims to be sorted by
WIDTHS = {1: 4, 2: 8, 4: 4, 5: 8}  # bytes of a value, by the physical type
TYPES: dict[str, tuple[Any, Callable[[int], object], str]] = {  # type, the value of a number, its literal
    "byte": (pa.int8(), lambda n: n % 100, "{}"),
    "small": (pa.int16(), lambda n: n * 7, "{}"),
    "whole": (pa.int32(), lambda n: n * 1_001, "{}"),
    "long": (pa.int64(), lambda n: n * 10**10, "{}"),
    "unsigned": (pa.uint32(), lambda n: n * 10_007, "{}"),
    "real": (pa.float32(), lambda n: n + 0.5, "{}"),
    "double": (pa.float64(), lambda n: n / 8, "{}"),
    "money": (pa.decimal128(9, 2), lambda n: Decimal(n) / 4, "{}"),
    "sum": (pa.decimal128(30, 4), lambda n: Decimal(n) * 10**12, "{}"),
    "text": (pa.string(), lambda n: f"t{n:05d}", "'{}'"),
    "long text": (pa.string(), lambda n: "long " * 20 + f"{n:05d}", "'{}'"),
    "day": (pa.date32(), lambda n: date(1990, 1, 1) + timedelta(days=n), "DATE '{}'"),
    "moment": (pa.timestamp("us"), lambda n: datetime(1990, 1, 1) + timedelta(hours=n), "TIMESTAMP '{}'"),
    "flag": (pa.bool_(), lambda n: n % 2 == 0, "{}"),
}
NUMBERS = {">": operator.gt, "<=": operator.le, "=": operator.eq, "<>": operator.ne}


def footers(number: int, seed: int, ground: Ground) -> Iterator[str | None]:
    """One trial is one figure of the classes of one file, or of two."""
    for place in range(number):
        random = Random(f"{seed}.{place}")
        folder = ground.folder / f"footers-{seed}-{place}"
        folder.mkdir()
        try:
            wrong = _tried(folder, random)
        except QidsqlError as error:
            denied = "are NULL, and they are not" in str(error) and _denies(folder)
            wrong = None if denied else f"{type(error).__name__}: {error}"
        yield wrong and f"{seed}.{place}: {wrong}"


def _tried(folder: Path, random: Random) -> str | None:
    names = random.sample(list(TYPES), random.randint(1, 4))
    honest = random.random() < 1 / 3
    for part in range(random.choice((1, 1, 2))):
        path = folder / f"{part}.parquet"
        _write(path, names, random)
        if not honest:
            changed(path, lambda file, body: _change(file, body, random))
    rows = [row for path in sorted(folder.iterdir()) for row in _read(path, names)]
    columns = sorted(random.sample(names, random.randint(1, len(names))))
    where, keeps = random.choice((_everything, _condition))(names, rows, random)
    nulls = random.choice(("equal", "equal", "wildcard"))
    way = random.choice(("path", "path", "connection"))
    rows = [row for row in rows if keeps(row)]
    right = _figures([tuple(row[name] for name in columns) for row in rows], nulls)
    with ExitStack() as held:
        source, table = _source(way, folder, held)
        options: dict[str, Any] = {"columns": columns, "k": 5, "nulls": nulls}
        if where:
            options["where"] = where
        found = measured_set(source, table, **options).profile
        audit = qidsql.audit(source, table, **options)
    unread = way == "connection" and any("DuckDB 2 reads no value" in note for note in audit.account.notes)
    if unread and _denies(folder):
        return None  # it is said
    if (found.rows, found.classes, found.smallest, found.unique_rows) != right:
        return f"{way} {'honest' if honest else 'changed'} {columns} {nulls} {where}: {found}, not {right}"
    empty = unread and any(all(row[name] is None for row in rows) for name in columns)  # bars a pass: no value was read
    verdict = "violation" if rows and right[2] < 5 else "pass" if rows and not empty else "inconclusive"
    return None if audit.verdict == verdict else f"{way} {columns} {nulls} {where}: {audit.verdict}, not {verdict}"


def _denies(folder: Path) -> bool:
    """Whether a footer says of a column chunk with values that all are NULL."""
    for path in folder.iterdir():
        read = pq.ParquetFile(path)
        for place, group in enumerate(groups(footer(path))):
            rows = read.read_row_group(place, use_threads=False)
            for column, chunk in zip(rows.columns, chunks(group), strict=True):
                about: Fields = chunk.get(STATISTICS, [STRUCT, {}])[1]
                if NULLS in about and about[NULLS][1] == chunk[VALUES][1] > column.null_count:
                    return True
    return False


def _source(way: str, folder: Path, held: ExitStack) -> tuple[Any, str | None]:
    files = f"{folder}/*.parquet"
    if way == "path":
        return files, None
    connection = held.enter_context(duckdb.connect())
    connection.execute(f"CREATE VIEW v AS FROM '{files}'")
    return connection, "v"


def _write(path: Path, names: Sequence[str], random: Random) -> None:
    size = random.choice((1, 7, 40, 120))
    spread, nulls = random.choice((1, 3, 12, 300)), random.choice((0, 0, 0.1, 0.6))
    shift = random.choice((0, 0, 100))
    made = {}
    for name in names:
        kind, value, _ = TYPES[name]
        numbers = [shift + random.randrange(spread) for _ in range(size)]
        if random.random() < 0.5:
            numbers.sort()
        made[name] = pa.array([None if random.random() < nulls else value(each) for each in numbers], kind)
    table = pa.table(made)
    per_group = random.choice((5, 30, 1000))
    if random.random() < 0.3:
        with duckdb.connect() as connection:
            connection.register("made", table)
            connection.execute(f"COPY made TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE {per_group})")
        return
    pq.write_table(
        table,
        path,
        row_group_size=per_group,
        use_dictionary=random.random() < 0.6,
        compression=random.choice(("none", "snappy")),
        data_page_size=random.choice((64, 1 << 20)),
        data_page_version=random.choice(("1.0", "2.0")),
        write_statistics=random.random() < 0.9,
        write_page_index=random.random() < 0.3,
        store_schema=random.random() < 0.5,
    )


def _read(path: Path, names: Sequence[str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.ParquetFile(path).read(columns=list(names), use_threads=False).to_pylist()
    return found


def _change(file: Fields, body: bytearray, random: Random) -> None:
    """Has some of the column chunks say something else. Nothing that says where and how the values are stored."""
    every = [chunk for group in groups(file) for chunk in chunks(group)]
    for chunk in random.sample(every, random.randint(1, len(every))):
        random.choice((_bounds, _bounds, _bounds, _one_value, _nulls, _nulls, _others, _filter))(
            chunk, every, body, random
        )
    if random.random() < 0.1:
        group = random.choice(groups(file))
        place = random.randrange(len(group[CHUNKS][1][1]))
        group[SORTED] = [LIST, [STRUCT, [{1: [5, place], 2: [TRUE, random.random() < 0.5], 3: [TRUE, True]}]]]


def _statistics(chunk: Fields) -> Fields:
    found: Fields = chunk.setdefault(STATISTICS, [STRUCT, {}])[1]
    return found


def _bounds(chunk: Fields, every: Sequence[Fields], body: bytearray, random: Random) -> None:
    """Those of other chunks, exchanged, or any."""
    own = _statistics(chunk)
    alike = [_statistics(each) for each in every if _of_one_type(each, chunk) and STATISTICS in each]
    others = [each[place][1] for each in alike for place in (MAX_VALUE, MIN_VALUE) if place in each]
    some = random.choice(others) if others and random.random() < 0.7 else _any(chunk[KIND][1], random, others)
    way = random.choice(("one", "exchanged", "both"))
    if way == "exchanged" and MIN_VALUE in own and MAX_VALUE in own:
        own[MIN_VALUE], own[MAX_VALUE] = own[MAX_VALUE], own[MIN_VALUE]
    elif way == "one":
        own[random.choice((MIN_VALUE, MAX_VALUE, MIN, MAX))] = [BINARY, some]
    else:
        _set_both(own, some, some if random.random() < 0.5 else random.choice([*others, some]))


def _of_one_type(one: Fields, other: Fields) -> bool:
    return bool(one[KIND] == other[KIND] and (one[KIND][1] != FIXED or one[PATH] == other[PATH]))


def _one_value(chunk: Fields, every: Sequence[Fields], body: bytearray, random: Random) -> None:
    """As if all were the same, and none NULL."""
    own = _statistics(chunk)
    value = own.get(random.choice((MIN_VALUE, MAX_VALUE)), [BINARY, _any(chunk[KIND][1], random, [])])[1]
    _set_both(own, value, value)
    own[NULLS], own[DISTINCT] = [I64, 0], [I64, 1]


def _set_both(own: Fields, low: bytes, high: bytes) -> None:
    own[MIN_VALUE] = own[MIN] = [BINARY, low]
    own[MAX_VALUE] = own[MAX] = [BINARY, high]


def _nulls(chunk: Fields, every: Sequence[Fields], body: bytearray, random: Random) -> None:
    _statistics(chunk)[NULLS] = [I64, random.choice((0, 0, 1, chunk[VALUES][1], chunk[VALUES][1], 10**9))]


def _others(chunk: Fields, every: Sequence[Fields], body: bytearray, random: Random) -> None:
    own = _statistics(chunk)
    own[DISTINCT] = [I64, random.choice((0, 1, 2, 10**6))]
    own[7] = [TRUE, True]  # the bounds are exact
    own[8] = [TRUE, True]


def _filter(chunk: Fields, every: Sequence[Fields], body: bytearray, random: Random) -> None:
    """A Bloom filter that holds nothing."""
    if BLOOM in chunk:
        start = chunk[BLOOM][1] + 32  # after its header
        size = chunk.get(15, [0, 64])[1] - 32
        body[start : start + size] = bytes(size)


def _any(kind: int, random: Random, others: Sequence[bytes]) -> bytes:
    """The bytes of a value of the physical type; those of a fixed length are as long as others of the file."""
    if kind == FIXED:
        return random.randbytes(len(others[0])) if others else b""
    if kind == 0:
        return bytes([random.randrange(2)])
    if kind in (4, 5):  # reals: no NaN
        return bytes(WIDTHS[kind])
    return random.randbytes(WIDTHS.get(kind, random.randint(0, 16)))


def _everything(names: Sequence[str], rows: Sequence[dict[str, Any]], random: Random) -> tuple[str, Any]:
    return "", lambda row: True


def _condition(names: Sequence[str], rows: Sequence[dict[str, Any]], random: Random) -> tuple[str, Any]:
    """A condition on one column, and what it means."""
    name = random.choice(list(names))
    _, value, literal = TYPES[name]
    column = f'"{name}"'
    if random.random() < 0.25:
        return (f"{column} IS NULL", lambda row: row[name] is None)
    if random.random() < 0.15:
        return (f"{column} IS NOT NULL", lambda row: row[name] is not None)
    met = [row[name] for row in rows if row[name] is not None]
    one = random.choice(met) if met and random.random() < 0.8 else value(random.randrange(400))
    if random.random() < 0.25 and met:
        two = random.choice(met)
        return (
            f"{column} IN ({literal.format(one)}, {literal.format(two)})",
            lambda row: row[name] is not None and row[name] in (one, two),
        )
    sign = random.choice(list(NUMBERS))
    return f"{column} {sign} {literal.format(one)}", lambda row: row[name] is not None and NUMBERS[sign](row[name], one)


def _figures(rows: Sequence[tuple[object, ...]], nulls: str) -> tuple[int, int, int, int]:
    """Rows, classes, the size of the smallest, and how many rows are alone."""
    counted = Counter(rows)
    if nulls == "equal":
        sizes: Mapping[tuple[object, ...], int] = counted
    else:
        sizes = {row: sum(n for other, n in counted.items() if _match(row, other)) for row in counted}
    alone = sum(counted[row] for row, size in sizes.items() if size == 1)
    return len(rows), len(counted) if nulls == "equal" else 0, min(sizes.values(), default=0), alone


def _match(row: tuple[object, ...], other: tuple[object, ...]) -> bool:
    return all(a is None or b is None or a == b for a, b in zip(row, other, strict=True))


TRIALS = Trials("parquet files with changed footers, against their values", 500, 8, footers)
